"""Pixels and coefficients to JPEG files by the library."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import itertools
from ctypes import byref, c_char_p, c_void_p
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _device, _native, color
from ._device_transform import with_rows
from ._levels import check_rest, levels_of
from .errors import WriteError, warn, whole_number

PRESETS = ("annex-k", "perceptual")
QUANTIZERS = ("round", "dead-zone", "rd")
_SAMPLINGS = ("YCbCr-4:2:0", "YCbCr-4:2:2", "YCbCr-4:4:4", "YCbCr-4:4:0", "YCbCr-4:1:1",
              "YCbCr-4:4:1", "RGB")  # CtSampling
_UNTRUE_LENGTHS = ("XMP data among the picture's markers name lengths that are not those of its "
                   "attachments and trailer")


class Options(NamedTuple):
    """How a file is coded, as write() takes it."""

    progressive: bool = False
    arithmetic: bool = False
    optimize: bool = False
    restart: int = 0

    def check(self) -> "Options":
        """Raises TypeError and WriteError."""
        for name in ("progressive", "arithmetic", "optimize"):
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{name} is True or False, not {value!r}")
        if not 0 <= whole_number("a restart interval", self.restart) <= 65535:
            raise WriteError(f"a restart interval is 0 to 65535 MCUs, not {self.restart}")
        return self

    def to_native(self) -> _native.EncodeOptions:
        return _native.EncodeOptions(
            ctypes.sizeof(_native.EncodeOptions), progressive=bool(self.progressive),
            arithmetic=bool(self.arithmetic), optimize=bool(self.optimize),
            restart=int(self.restart))


def encoded(pixels: Any, sampling: str, options: Options, quality: int, tables: Any,
            quantizer: str) -> bytes:
    """The JPEG file of uint8 pixels of grey or RGB: a numpy array or, on a GPU, a View.

    tables: a preset, or one or two arrays as of check_tables(). Raises WriteError, ValueError and
    Unavailable.
    """
    on_device = isinstance(pixels, _device.View)
    if not on_device:
        pixels = _in_rows(pixels)
    elif len(pixels.shape) == 2:
        with_rows(pixels, (1,))
    else:
        with_rows(pixels, (3, 1))
    height, width = pixels.shape[:2]
    native, kept = options.to_native(), None
    native.quality, native.quantizer = quality, QUANTIZERS.index(quantizer)
    native.sampling = _SAMPLINGS.index(sampling) if sampling in _SAMPLINGS else 0
    if isinstance(tables, str):
        native.preset = PRESETS.index(tables)
    else:
        kept = np.ascontiguousarray(tables, np.uint16)
        native.tables, native.n_tables = kept.ctypes.data, len(kept)
    address = pixels.address if on_device else pixels.__array_interface__["data"][0]
    channels = color.channels_of(pixels.shape)
    pitch = pixels.strides[0] if height > 1 else width * channels
    image = _native.Image(address, pitch, width, height, channels, on_device)
    made, error = _native.MadeFile(), _native.Error()
    engine = _native.engine(pixels.device if on_device else None)
    _native.check(_native.library().ct_encode(engine, native, image, 1, byref(made.file), error),
                  error)
    return _data_of(made)


def _in_rows(pixels: np.ndarray) -> np.ndarray:
    """The same pixels, without gaps in a row; rows may have gaps between them."""
    size = color.channels_of(pixels.shape)
    inner = (size, 1)[-pixels.ndim + 1:] if pixels.ndim == 3 else (1,)
    if pixels.strides[1:] != inner or pixels.strides[0] < size * pixels.shape[1]:
        return np.ascontiguousarray(pixels)
    return pixels


def _data_of(made: _native.MadeFile) -> bytes:
    error = made.file.error
    if error.code in (_native.NOT_FOUND, _native.DEVICE_LOST, _native.FORKED):
        _native.check(error.code, error)
    if error.code != _native.OK:
        raise WriteError(error.words)
    return made.data()


def written(picture: Any, options: Options) -> bytes:
    """The JPEG file of a Picture in system memory. Raises WriteError, TypeError and Unavailable."""
    check_rest(picture)
    sampling, levels = levels_of(picture)
    native = _native.Picture(width=picture.width, height=picture.height, depth=picture.depth,
                             components=len(levels), n_tables=len(picture.tables),
                             color=_color_of(sampling))
    tables = np.ascontiguousarray(picture.tables)
    ctypes.memmove(native.tables, tables.ctypes.data, tables.nbytes)
    for index, (component, array) in enumerate(zip(picture.components, levels)):
        rows, columns = array.shape[:2]
        h_samp, v_samp = factors_of(sampling, index)
        native.component[index] = _native.Component(
            component.id, h_samp, v_samp, component.width, component.height, columns, rows,
            component.table, array.__array_interface__["data"][0], 128 * columns)
    kept = _add_rest(native, picture)
    made, error = _native.MadeFile(), _native.Error()
    _native.check(_native.library().ct_write(_native.engine(None), options.to_native(), native, 1,
                                             byref(made.file), error), error)
    del kept
    data = _data_of(made)
    if made.file.error.text:
        warn(_UNTRUE_LENGTHS)
    return data


def _color_of(sampling: str) -> int:
    return _native.COLORS.index(sampling.partition("-")[0])


def factors_of(sampling: str, index: int) -> Tuple[int, int]:
    """A component's sampling factors in lowest terms."""
    columns, rows = color.SAMPLINGS[sampling] or (1, 1)
    across, down = color.ratio_of(sampling, index)
    return columns // across, rows // down


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
    behind = b"".join([*pieces, picture.trailer])
    native.behind, native.behind_size = _address_of(behind), len(behind)
    native.attachments, native.n_attachments = places, count
    return [markers, behind, places]


def _address_of(data: bytes) -> Optional[int]:
    return ctypes.cast(c_char_p(data), c_void_p).value
