"""What is in a GstBuffer of coefficients by its metas: components, tables, the rest of a file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import functools
import struct
from typing import NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _gst, color

_PARTS = struct.Struct("=7I4xQQI")  # GstDctComponent, as far as it is read
_NAMES = {(color.ids_of(name), ratio): name for name, ratio in color.SAMPLINGS.items()}


class Part(NamedTuple):
    """A component in a buffer: the shape of its levels, their offset and strides in bytes, and the
    further arguments of Component()."""

    shape: Tuple[int, int, int, int]
    offset: int
    strides: Tuple[int, int, int, int]
    fields: Tuple[int, int, int, int, int, int]


class Layout(NamedTuple):
    """The contents of a GstDctMeta; `tables` as in Picture, to be copied into each."""

    parts: Tuple[Part, ...]
    tables: np.ndarray
    sampling: str
    width: int
    height: int


def layout_of(address: int) -> Layout:
    """The Layout of a GstDctMeta.

    A structure of ctypes gives one field a call, and three components have thirty fields. The metas
    of a corpus are often equal, so their layouts are cached by their bytes.
    """
    return _layout(ctypes.string_at(address, _META_BYTES))


@functools.lru_cache(maxsize=64)
def _layout(meta: bytes) -> Layout:
    count, = _NUMBER.unpack_from(meta, _COUNT_AT)
    components = [_PARTS.unpack_from(meta, _COMPONENTS_AT + index * _COMPONENT_BYTES)
                  for index in range(count)]
    n_tables, = _NUMBER.unpack_from(meta, _TABLE_COUNT_AT)
    tables = np.array(memoryview(meta)[_TABLES_AT:_TABLES_AT + 128 * n_tables].cast("H"), np.uint16)
    parts = tuple(Part((blocks_h, blocks_w, 8, 8), offset, (stride, 128, 16, 2),
                       (id, h_samp, v_samp, width, height, table))
                  for id, h_samp, v_samp, width, height, blocks_w, blocks_h, offset, stride, table
                  in components)
    return Layout(parts, tables.reshape(n_tables, 8, 8), _sampling(components), components[0][3],
                  components[0][4])


_NUMBER = struct.Struct("=I")
_META_BYTES = _gst.DctMeta.fence.offset
_COUNT_AT, _TABLE_COUNT_AT = _gst.DctMeta.n_components.offset, _gst.DctMeta.n_tables.offset
_COMPONENTS_AT, _TABLES_AT = _gst.DctMeta.components.offset, _gst.DctMeta.tables.offset
_COMPONENT_BYTES = ctypes.sizeof(_gst.DctComponent)


def _sampling(components: Sequence[Tuple]) -> str:
    """The name of a sampling, from the factors and ids of components."""
    ratio = None
    if len(components) > 1:
        first, second = components[:2]
        ratio = first[1] // second[1], first[2] // second[2]
    return _NAMES[tuple(component[0] for component in components), ratio]


_IRREGULARITIES = [(name.lower().replace("_", "-"), kind.value)
                   for name, kind in _gst.DctJpegIrregularity.__members__.items()]


class FileRest(NamedTuple):
    """What a file has besides coefficients, as in Picture."""

    markers: bytes = b""
    irregular: Tuple[str, ...] = ()
    attachments: Tuple[bytes, ...] = ()
    trailer: bytes = b""
    gaps: Tuple[bytes, ...] = ()


def rest_of(gst: _gst.Libraries, buffer: int) -> FileRest:
    """The FileRest in a buffer's GstDctJpegMeta."""
    address = gst.gst_buffer_get_dct_jpeg_meta(buffer)
    if not address:
        return FileRest()
    meta = _gst.JpegMeta.from_address(address)
    irregular = meta.irregular
    names = tuple(name for name, bit in _IRREGULARITIES if irregular & bit)
    markers = _bytes_of(gst, meta.segments)
    if not meta.behind:
        return FileRest(markers, names)
    behind = _bytes_of(gst, meta.behind)
    places = [(place.offset, place.offset + place.size)
              for place in meta.attachments[:meta.n_attachments]]
    ends = sorted([0, *(end for _, end in places)])
    return FileRest(markers, names, tuple(behind[begin:end] for begin, end in places),
                    behind[ends[-1]:],
                    tuple(behind[max(end for end in ends if end <= begin):begin]
                          for begin, _ in places))


def _bytes_of(gst: _gst.Libraries, held: Optional[int]) -> bytes:
    """A copy of a GBytes, or of nothing."""
    size = ctypes.c_size_t()
    data = gst.g_bytes_get_data(held, ctypes.byref(size)) if held else None
    return ctypes.string_at(data, size.value) if size.value else b""
