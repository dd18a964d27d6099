"""What is in a CtPicture of coefficients: components, tables, the rest of a file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import functools
import struct
from typing import NamedTuple, Sequence, Tuple

import numpy as np

from . import _native, color

_PARTS = struct.Struct("=8iQq")  # CtComponent
_HEAD = struct.Struct("=3i")     # width, height, depth
_KINDS = {color.ids_of(name): name.partition("-")[0]
          for name in (*color.SAMPLINGS, "2CLR-1x1,1x1")}


class Part(NamedTuple):
    """A component in a block: the shape of its coefficients, their offset and strides in bytes,
    and the further arguments of Component()."""

    shape: Tuple[int, int, int, int]
    offset: int
    strides: Tuple[int, int, int, int]
    fields: Tuple[int, int, int, int, int, int]


class Layout(NamedTuple):
    """The contents of a CtPicture; `tables` as in Picture, to be copied into each; `size` in bytes
    from the first coefficient to the last."""

    parts: Tuple[Part, ...]
    tables: np.ndarray
    sampling: str
    width: int
    height: int
    size: int


def layout_of(picture: _native.Picture) -> Layout:
    """The Layout of a CtPicture.

    A structure of ctypes gives one field a call, and three components have thirty fields. The
    pictures of a corpus are often alike, so their layouts are cached by their bytes.
    """
    first = picture.component[0].data
    for component in picture.component[:picture.components]:
        component.data -= first
    at = ctypes.addressof(picture)
    layout = _layout(ctypes.string_at(at + _native.Picture.width.offset, _HEAD.size),
                     ctypes.string_at(at + _BEGIN, _END - _BEGIN))
    picture.component[0].data = first
    return layout


_BEGIN, _END = _native.Picture.components.offset, _native.Picture.markers.offset
_COMPONENTS_AT = _native.Picture.component.offset - _BEGIN
_TABLES_AT = _native.Picture.tables.offset - _BEGIN
_COMPONENT_BYTES = ctypes.sizeof(_native.Component)


@functools.lru_cache(maxsize=64)
def _layout(head: bytes, body: bytes) -> Layout:
    width, height, _ = _HEAD.unpack(head)
    count, n_tables = struct.unpack_from("=2i", body)
    components = [_PARTS.unpack_from(body, _COMPONENTS_AT + index * _COMPONENT_BYTES)
                  for index in range(count)]
    tables = np.frombuffer(body, np.uint16, 64 * n_tables, _TABLES_AT)
    parts = tuple(Part((blocks_h, blocks_w, 8, 8), offset, (stride, 128, 16, 2),
                       (id, h_samp, v_samp, width, height, table))
                  for id, h_samp, v_samp, width, height, blocks_w, blocks_h, table, offset, stride
                  in components)
    size = max(part.offset + part.shape[0] * part.strides[0] for part in parts)
    return Layout(parts, tables.reshape(n_tables, 8, 8), _sampling(components), width, height,
                  size)


def _sampling(components: Sequence[Tuple]) -> str:
    """The name of a sampling, from the factors and ids of components."""
    kind = _KINDS[tuple(component[0] for component in components)]
    return color.sampling_by(kind, [(h, v) for _, h, v, *_ in components])


# The bits of CtPicture.irregular.
_IRREGULARITIES = ("trailing-bytes", "extraneous-bytes", "scan-parameters", "missing-eoi",
                   "unexpected-marker", "unknown-header")


class FileRest(NamedTuple):
    """What a file has other than coefficients, as in Picture."""

    markers: bytes = b""
    irregular: Tuple[str, ...] = ()
    attachments: Tuple[bytes, ...] = ()
    trailer: bytes = b""
    gaps: Tuple[bytes, ...] = ()


@functools.lru_cache(maxsize=64)
def irregularities(bits: int) -> Tuple[str, ...]:
    return tuple(name for index, name in enumerate(_IRREGULARITIES) if bits >> index & 1)


def rest_of(picture: _native.Picture) -> FileRest:
    """The FileRest of a CtPicture."""
    names = irregularities(picture.irregular)
    markers = ctypes.string_at(picture.markers, picture.markers_size)
    if not picture.trailing_size:
        return FileRest(markers, names)
    trailing = ctypes.string_at(picture.trailing, picture.trailing_size)
    return with_places(markers, names, trailing, [
        (place.offset, place.offset + place.size)
        for place in picture.attachments[:picture.n_attachments]])


def with_places(markers: bytes, names: Tuple[str, ...], trailing: bytes,
                places: Sequence[Tuple[int, int]]) -> FileRest:
    """places: where attachments begin and end in the trailing data"""
    ends = sorted([0, *(end for _, end in places)])
    return FileRest(markers, names, tuple(trailing[begin:end] for begin, end in places),
                    trailing[ends[-1]:],
                    tuple(trailing[max(end for end in ends if end <= begin):begin]
                          for begin, _ in places))
