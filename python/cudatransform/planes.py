"""Coefficients as networks take them: a plane for each frequency, in a type of their choice."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _gst
from ._cuda_memory import CudaArray, context_of
from ._device_transform import caps_on_device, levels_in
from ._levels import described, in_one_piece
from ._gst_parts import FileRest, layout_of, rest_of
from ._stage import Stage
from ._stages import run
from .errors import Unavailable

_FORMATS = {"int16": "S16LE", "int32": "S32LE", "float32": "F32LE", "float16": "F16LE"}


class Planes(Tuple[Any, ...]):
    """A picture's coefficients: of each component an array (64, blocks_h, blocks_w).

    Plane 0 is DC, the others follow in the zigzag order of JPEG files. int16 arrays are levels;
    others are dequantised, in the units of JPEG: DC is eight times the mean of the samples less
    128, or less 2048 at 12 bits. Arrays are numpy's or, on a GPU, CudaArrays.

    tables: uint16 (n, 8, 8), the divisors of levels in natural order; (0, 8, 8) of dequantised ones
    which: a tuple of each component's index in `tables`, which has none if they are dequantised
    width, height, sampling, depth, path, irregular: as of a Picture
    """

    tables: np.ndarray
    which: Tuple[int, ...]
    width: int
    height: int
    sampling: str
    depth: int
    path: Optional[str]
    irregular: Tuple[str, ...]

    def __repr__(self) -> str:
        types = ", ".join(str(array.dtype) for array in self[:1])
        return f"<Planes {self.width}x{self.height} {self.sampling} {types}>"


class WantedPlanes(NamedTuple):
    """The planes that are made of coefficients; `device` is None for the CPU."""

    dtype: np.dtype
    device: Optional[int]

    def line(self, name: str = "") -> str:
        """The end of a line of elements behind coefficients in the same memory."""
        at, memory = "backend=cpu", ""
        if self.device is not None:
            at, memory = f"backend=cuda cuda-device-id={self.device}", "(memory:CUDAMemory)"
        return (f"cudadctconvert {name} {at} qos=false ! video/x-dct{memory},layout=band,"
                f"format={_FORMATS[self.dtype.name]}")

    def planes_of(self, gst: _gst.Libraries, sample: _gst.Sample, path: Optional[str],
                  rest: Optional[FileRest] = None) -> Planes:
        """A Sample of those elements. Raises Unavailable if the GPU failed."""
        address, on_device = gst.gst_buffer_get_dct_meta(sample.buffer), self.device is not None
        fence = _gst.DctMeta.from_address(address).fence
        if fence and not gst.gst_coef_fence_wait_written(fence, None):
            raise Unavailable("the GPU failed while it made planes")
        held, layout = _gst.HeldBuffer(gst, sample, cuda=on_device), layout_of(address)
        memory = None if on_device else np.asarray(held)
        size, made = self.dtype.itemsize, []
        for part in layout.parts:
            rows, columns = part.shape[:2]
            shape, row = (64, rows, columns), part.strides[0]
            strides = (rows * row, row, size)
            made.append(np.ndarray(shape, self.dtype, memory, part.offset, strides)
                        if self.device is None else
                        CudaArray(held, part.offset, shape, strides, self.device, self.dtype))
        planes = Planes(made)
        planes.tables, planes.which = layout.tables.copy(), tuple(p.fields[5] for p in layout.parts)
        planes.width, planes.height, planes.sampling = layout.width, layout.height, layout.sampling
        planes.depth, planes.path = sample.number(gst, b"depth"), path
        planes.irregular = (rest or rest_of(gst, sample.buffer)).irregular
        return planes


def wanted_planes(dtype: Any, device: Optional[int]) -> WantedPlanes:
    """Raises TypeError and ValueError for other types."""
    kind = np.dtype(dtype)
    if kind.name not in _FORMATS or kind.byteorder == ">":
        raise ValueError(f"planes are {', '.join(_FORMATS)}, not {kind}")
    return WantedPlanes(kind, device)


def planes_of_picture(picture: Any, dtype: Any) -> Planes:
    """The levels of a Picture in system memory, by the CPU engine."""
    gst, wanted = _gst.libraries(), wanted_planes(dtype, None)
    memory, info = in_one_piece(gst, picture)

    def prepare(stage: Stage) -> int:
        stage.set_caps_object(f"{picture.sampling} {picture.width}x{picture.height} "
                              f"{picture.depth}".encode(), gst.gst_dct_info_to_caps(info))
        return described(gst, memory, info, picture)
    made = run(wanted.line("name=first"), prepare, memory)
    return wanted.planes_of(gst, made, picture.path, FileRest(irregular=picture.irregular))


def planes_on_device(picture: Any, device: int, dtype: Any) -> Planes:
    """The levels of a CudaPicture, by the CUDA engine."""
    gst, wanted = _gst.libraries(), wanted_planes(dtype, device)
    info = _gst.DctInfo(gst, "S16LE", True, picture.depth, picture.sampling, picture.width,
                        picture.height)

    def prepare(stage: Stage) -> int:
        stage.set_caps_object(f"{picture.sampling} {picture.width}x{picture.height} "
                              f"{picture.depth}".encode(), caps_on_device(gst, info))
        return levels_in(gst, picture, info)
    made = run(wanted.line("name=first"), prepare, picture, context_of(device)[0])
    return wanted.planes_of(gst, made, picture.path, FileRest(irregular=picture.irregular))
