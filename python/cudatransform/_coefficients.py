"""Pictures as the library expects them: checked, coefficients, tables and the rest of a file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import itertools
import re
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _native, color
from ._cuda_memory import CudaArray
from ._metadata import segments_of
from .errors import WriteError, is_interruption, whole_number

_LARGEST_SIDE = 65500  # JPEG_MAX_DIMENSION
# A decoder keeps none of a file's markers where they have more bytes, the writer's own included: a
# JFIF header, and an index of pictures with an entry for each.
_MAX_MARKERS = 1 << 24
_JFIF_BYTES, _INDEX_BYTES, _ENTRY_BYTES = 18, 58, 16
_SOI, _EOI = b"\xff\xd8", 0xD9
# A marker that is neither in entropy-coded data (FF 00, RSTn) nor without a meaning there (TEM).
_MARKER = re.compile(b"\xff[^\x00\x01\xd0-\xd7\xff]", re.DOTALL)


def check_markers(markers: Any, attachments: int = 0) -> None:
    """Raises TypeError for markers that are not bytes, WriteError for bytes other than segments and
    for more of them than read() takes."""
    kinds = {one[4:8] for one in segments_of(markers)}
    size = len(markers) + (0 if kinds & {b"JFIF", b"Exif"} else _JFIF_BYTES)
    if attachments > 0 and b"MPF\0" not in kinds:
        size += _INDEX_BYTES + _ENTRY_BYTES * (attachments + 1)
    if size > _MAX_MARKERS:
        raise WriteError(f"the markers have {size} bytes with those that are added, more than "
                         f"{_MAX_MARKERS}")


def check_sides(*sides: int) -> None:
    """Raises WriteError for a width or height that libjpeg does not write."""
    if max(sides) > _LARGEST_SIDE:
        raise WriteError(f"a JPEG file is written with {_LARGEST_SIDE} samples on a side at most, "
                         f"not {max(sides)}")


def check_rest(picture: Any) -> None:
    """Whether read() accepts what is written of a picture's markers and trailing data.

    Raises TypeError for markers, attachments, gaps and a trailer that are not bytes, WriteError for
    markers other than segments or above 16 MiB, for attachments that are not one JPEG picture each,
    and for gaps without one.
    """
    for name, several in (("attachments", picture.attachments), ("gaps", picture.gaps)):
        if not isinstance(several, (list, tuple)):
            raise TypeError(f"{name} must be a list or a tuple of bytes, not "
                            f"{type(several).__name__}")
    check_markers(picture.markers, len(picture.attachments))
    for name, one in (*(("an attachment", a) for a in picture.attachments),
                      *(("a gap", g) for g in picture.gaps), ("a trailer", picture.trailer)):
        if not isinstance(one, (bytes, bytearray)):
            raise TypeError(f"{name} must be bytes, not {type(one).__name__}")
    if len(picture.attachments) > 255:
        raise WriteError(f"a file takes 255 attachments, not {len(picture.attachments)}")
    for number, attachment in enumerate(picture.attachments):
        _check_attachment(f"attachment {number}", attachment)
    for number, gap in enumerate(picture.gaps):
        if number >= len(picture.attachments) and len(gap) > 0:
            count = len(picture.attachments)
            raise WriteError(f"gap {number} ({len(gap)} byte{'s' * (len(gap) > 1)}) has no "
                             f"attachment: there {'is' if count == 1 else 'are'} {count}")


def _check_attachment(name: str, data: Any) -> None:
    """Whether a decoder takes these bytes for one picture, by the rules of jpeg/mpf.h. Raises
    WriteError."""
    if data[:2] != _SOI:
        raise WriteError(f"{name}: a JPEG file is expected, which begins with FF D8, not "
                         f"{data[:2].hex(' ').upper()}")
    end = _end_of_picture(data)
    if end is None:
        raise WriteError(f"{name}: a whole JPEG file is expected, and {len(data)} bytes have no "
                         "EOI (FF D9) that ends a picture")
    another = data.find(_SOI, end)
    if another >= 0:
        raise WriteError(f"{name}: a file of one JPEG picture is expected, and another begins at "
                         f"byte {another} of {len(data)}: attach each by itself")


def _end_of_picture(data: Any) -> Optional[int]:
    """The end of the picture that begins with these bytes, after its EOI; None without one.

    Segments are stepped over by their lengths (ITU-T T.81, annex B): a thumbnail may be in one.
    """
    at, search, last = len(_SOI), _MARKER.search, len(data) - 2
    while found := search(data, at):
        at = found.end()
        code = data[at - 1]
        if code == _EOI:
            return at
        if code == _SOI[1] or at > last:
            return None
        at += max(2, data[at] << 8 | data[at + 1])
    return None


def device_of(picture: Any) -> Optional[int]:
    """The number of the GPU that a picture's coefficients are on; None: in system memory."""
    coefficients = picture.components[0].coefficients if picture.components else None
    return coefficients.device if isinstance(coefficients, CudaArray) else None


def native_of(picture: Any) -> Tuple[_native.Picture, List[Any]]:
    """A picture as the library takes it, and what holds its memory. Raises TypeError and
    WriteError."""
    for name, number in (("width", picture.width), ("height", picture.height),
                         ("depth", picture.depth)):
        whole_number(f"a picture's {name}", number)
    if picture.depth not in (8, 12):
        raise WriteError(f"samples of JPEG have 8 or 12 bits, not {picture.depth}")
    if min(picture.width, picture.height) < 1:
        raise WriteError(f"a picture has at least one sample, not {picture.width}x{picture.height}")
    try:
        sampling = color.sampling_of(picture.sampling)
    except ValueError as error:
        if is_interruption(error):
            raise
        raise WriteError(str(error)) from None
    _check(picture, sampling)
    native = _native.Picture(
        width=picture.width, height=picture.height, depth=picture.depth,
        components=len(picture.components), n_tables=len(picture.tables),
        color=_native.COLORS.index(sampling.partition("-")[0]))
    tables = np.ascontiguousarray(picture.tables)
    ctypes.memmove(native.tables, _native.address_of(tables), tables.nbytes)
    kept: List[Any] = []
    for index, component in enumerate(picture.components):
        coefs = component.coefficients
        if not isinstance(coefs, CudaArray) and (
                coefs.strides[1:] != (128, 16, 2) or coefs.strides[0] < 128 * coefs.shape[1]):
            coefs = np.ascontiguousarray(coefs)
        kept.append(coefs)
        rows, columns = coefs.shape[:2]
        address = coefs.address if isinstance(coefs, CudaArray) else _native.address_of(coefs)
        # An array of one row may have any stride.
        pitch = coefs.strides[0] if rows > 1 else 128 * columns
        native.component[index] = _native.Component(
            component.id, *color.factors_of(sampling)[index],
            *color.sides_of(sampling, index, picture.width, picture.height), columns, rows,
            component.table, address, pitch)
    return native, kept + _add_rest(native, picture)


def _add_rest(native: _native.Picture, picture: Any) -> List[Any]:
    """Adds markers, attachments and trailer. Returns what holds them."""
    markers = bytes(picture.markers)
    native.markers, native.markers_size = _address_of(markers), len(markers)
    count = len(picture.attachments)
    places, pieces, at = (_native.Place * count)(), [], 0
    gaps = itertools.chain(picture.gaps, itertools.repeat(b""))
    for place, gap, attachment in zip(places, gaps, picture.attachments):
        place.offset, place.size = at + len(gap), len(attachment)
        at += len(gap) + len(attachment)
        pieces += [gap, attachment]
    trailing = b"".join([*pieces, picture.trailer])
    native.trailing, native.trailing_size = _address_of(trailing), len(trailing)
    native.attachments, native.n_attachments = places, count
    return [markers, trailing, places]


def _address_of(data: bytes) -> Optional[int]:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value


def _check(picture: Any, sampling: str) -> None:
    count = len(color.ids_of(sampling))
    tables = picture.tables
    arrays = [("tables", tables), *((f"coefficients of component {index}", component.coefficients)
                                    for index, component in enumerate(picture.components))]
    for name, array in arrays:
        if not isinstance(array, (np.ndarray, CudaArray)):
            raise TypeError(f"{name} must be a numpy array, not {type(array).__name__}")
    if len(picture.components) != count:
        raise WriteError(f"{sampling} has {count} components, not {len(picture.components)}")
    if tables.dtype != np.uint16 or tables.shape[1:] != (8, 8) or not 1 <= len(tables) <= 4:
        raise WriteError("tables must be uint16 (1 to 4, 8, 8), "
                         f"not {tables.dtype} {tables.shape}")
    for index, component in enumerate(picture.components):
        width, height = color.sides_of(sampling, index, picture.width, picture.height)
        shape = (-(-height // 8), -(-width // 8), 8, 8)
        if component.coefficients.shape != shape or component.coefficients.dtype != np.int16:
            raise WriteError(f"coefficients of component {index} must be int16 {shape}, not "
                             f"{component.coefficients.dtype} {component.coefficients.shape}")
        if not 0 <= whole_number("the index of a table", component.table) < len(tables):
            raise WriteError(f"component {index} has no table")
