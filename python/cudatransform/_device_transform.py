"""dct() and idct() of planes in CUDA memory: copied on the device, transformed and left there."""
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# GStreamer's CUDA memory holds no grey frames. So a plane becomes three bands of rows, one below
# the other, which the elements take for the components of a 4:4:4 frame with one table for all.
from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Optional, Tuple

import numpy as np

from . import _gst
from ._cuda_memory import CudaArray, context_of, frame_of, gstcuda, pools
from ._device import View, driver
from ._stage import Stage
from ._stages import run

_BANDS = 3
_LIMIT = 2**31 - 1  # rows and bytes of a row
_CUDA_FEATURES = b"memory:CUDAMemory"
FRAME = "video/x-raw(memory:CUDAMemory),format={},width={},height={},framerate=0/1"


def caps_on_device(gst: _gst.Libraries, info: _gst.DctInfo) -> int:
    """The GstCaps of such coefficients in CUDA memory."""
    caps = gst.gst_dct_info_to_caps(info)
    gst.gst_caps_set_features_simple(caps, gst.gst_caps_features_from_string(_CUDA_FEATURES))
    return caps


def rows_of_bands(rows_of_blocks: int) -> int:
    """Rows of blocks in each band. An even number leaves no gaps between bands of coefficients."""
    return -(-rows_of_blocks // (2 * _BANDS)) * 2


def copy_in(gst: _gst.Libraries, plane: View, width: int, buffer: int, pitch: int, begin: int,
             rows: int, repeated: int) -> None:
    """Copies a plane's rows of `width` bytes, and its last row `repeated` times behind them.

    The rest of `rows`, whose results nobody sees, is filled with rows from the top.
    """
    info = _gst.MapInfo()
    if not gst.gst_buffer_map(buffer, byref(info), _gst.MAP_WRITE | _gst.MAP_CUDA):
        raise MemoryError(f"memory of cuda:{plane.device} cannot be mapped")
    target, cuda = info.data + begin, driver()
    try:
        with cuda.on(plane.device):
            height = plane.shape[0]
            cuda.copy_rows(plane.address, plane.strides[0], target, pitch, width, height)
            done = height
            while done < height + repeated:
                cuda.copy_rows(target + pitch * (height - 1), pitch, target + pitch * done, pitch,
                               width, 1)
                done += 1
            while done < rows:
                step = min(done, rows - done)
                cuda.copy_rows(target, pitch, target + pitch * done, pitch, width, step)
                done += step
    finally:
        gst.gst_buffer_unmap(buffer, byref(info))


def levels_in(gst: _gst.Libraries, picture: Any, info: _gst.DctInfo) -> int:
    """A GstBuffer with a copy of a CudaPicture's levels, and its tables."""
    parts = [component.levels for component in picture.components]
    device = parts[0].device
    row = max(part.shape[1] for part in parts) * 128
    tables = np.ascontiguousarray(picture.tables)

    def fill(buffer: int) -> None:
        pitch, begin, _ = frame_of(buffer)
        meta, map_info = gst.gst_buffer_add_dct_meta(buffer, info).contents, _gst.MapInfo()
        meta.n_tables = len(tables)
        ctypes.memmove(meta.tables, tables.ctypes.data, tables.nbytes)
        if not gst.gst_buffer_map(buffer, byref(map_info), _gst.MAP_WRITE | _gst.MAP_CUDA):
            raise MemoryError(f"memory of cuda:{device} cannot be mapped")
        try:
            with driver().on(device):
                for index, component in enumerate(picture.components):
                    part, to = component.levels, meta.components[index]
                    driver().copy_rows(part.address, part.strides[0], map_info.data + begin, pitch,
                                       part.shape[1] * 128, part.shape[0])
                    to.offset, to.stride, to.table = begin, pitch, component.table
                    begin += part.shape[0] * pitch
        finally:
            gst.gst_buffer_unmap(buffer, byref(map_info))
    # Four bytes a pixel, as the elements' own blocks.
    return pools.buffer(device, FRAME.format("RGBA", row // 4, sum(p.shape[0] for p in parts)),
                        fill)


def with_rows(plane: View, inner: Tuple[int, ...]) -> View:
    """Checks that all dimensions but the first have those strides. Raises ValueError."""
    packed = all(extent == 1 or stride == wanted for extent, stride, wanted in
                 zip(plane.shape[1:], plane.strides[1:], inner))
    row = plane.shape[1] * inner[0]
    if not packed or plane.shape[0] > 1 and plane.strides[0] < row:
        raise ValueError("the rows of an array on a GPU are without gaps, one after the other: "
                         "make a contiguous copy of it")
    if row > _LIMIT or plane.shape[0] > _LIMIT // 8:
        raise ValueError(f"an array of {plane.words} is too large")
    return plane


def _check_planes(together: bool) -> None:
    if not together:
        raise ValueError("this version of GStreamer keeps the components of a frame apart in CUDA "
                         "memory")


def dct(plane: View, divisors: Optional[str], method: str) -> CudaArray:
    """See transform.dct. divisors: as of luma-qtable"""
    if len(plane.shape) != 2 or 0 in plane.shape or plane.dtype != np.uint8:
        raise ValueError(f"a plane on a GPU is uint8 (height, width), not {plane.words}")
    gst, (height, width) = _gst.libraries(), with_rows(plane, (1,)).shape
    rows, columns = -(-height // 8), -(-width // 8)
    band = rows_of_bands(rows)
    made_format = "F32LE" if divisors is None else "S16LE"
    caps = FRAME.format("Y444", width, 8 * band)

    def fill(buffer: int) -> None:
        pitch, begin, together = frame_of(buffer)
        _check_planes(together)
        copy_in(gst, plane, width, buffer, pitch, begin, _BANDS * 8 * band, 8 * rows - height)

    def prepare(stage: Stage) -> int:
        stage.set("method", method)
        for name in ("luma-qtable", "chroma-qtable"):
            if divisors is not None:
                stage.set(name, f"<{divisors}>")
        stage.set_caps(caps)
        return pools.buffer(plane.device, caps, fill)
    made = run(f"cudadct8x8 name=first backend=cuda cuda-device-id={plane.device} ! "
               f"video/x-dct(memory:CUDAMemory),layout=block,order=raster,format={made_format},"
               f"quantized={'false' if divisors is None else 'true'}", prepare, plane,
               context_of(plane.device)[0])
    meta = _gst.DctMeta.from_address(gst.gst_buffer_get_dct_meta(made.buffer))
    parts = [(part.offset, part.stride) for part in meta.components[:_BANDS]]
    held = _gst.HeldBuffer(gst, made, cuda=True)
    (offset, stride), size = parts[0], 2 if divisors is not None else 4
    _check_planes(parts == [(offset + index * band * stride, stride) for index in range(_BANDS)])
    return CudaArray(held, offset, (rows, columns, 8, 8), (stride, 64 * size, 8 * size, size),
                     plane.device, np.int16 if divisors is not None else np.float32)


def idct(levels: View, size: Tuple[int, int], divisors: Optional[np.ndarray],
         method: str) -> CudaArray:
    """See transform.idct."""
    item = levels.dtype.itemsize
    gst = _gst.libraries()
    rows, columns = with_rows(levels, (64 * item, 8 * item, item)).shape[:2]
    band, row_bytes = rows_of_bands(rows), columns * 64 * item
    info = _gst.DctInfo(gst, "F32LE" if item == 4 else "S16LE", divisors is not None, 8,
                        "YCbCr-4:4:4", 8 * columns, 8 * band)

    def fill(buffer: int) -> None:
        pitch, begin, _ = frame_of(buffer)
        copy_in(gst, levels, row_bytes, buffer, pitch, begin, _BANDS * band, 0)
        meta = gst.gst_buffer_add_dct_meta(buffer, info).contents
        for index in range(_BANDS):
            part = meta.components[index]
            part.offset, part.stride, part.table = begin + index * band * pitch, pitch, 0
        if divisors is not None:
            meta.n_tables = 1
            ctypes.memmove(meta.tables, divisors.ctypes.data, divisors.nbytes)

    def prepare(stage: Stage) -> int:
        stage.set("method", method)
        stage.set_caps_object(f"{columns}x{band} {item} {divisors is not None} cuda".encode(),
                              caps_on_device(gst, info))
        # Four bytes a pixel, as the elements' own blocks.
        frame = FRAME.format("RGBA", row_bytes // 4, _BANDS * band)
        return pools.buffer(levels.device, frame, fill)
    made = run(f"cudaidct8x8 name=first backend=cuda cuda-device-id={levels.device} ! "
               "video/x-raw(memory:CUDAMemory),format=Y444", prepare, levels,
               context_of(levels.device)[0])
    gstcuda().synchronize(gst, made.buffer)
    pitch, begin, together = frame_of(made.buffer)
    held = _gst.HeldBuffer(gst, made, cuda=True)
    _check_planes(together)
    return CudaArray(held, begin, size, (pitch, 1), levels.device, np.uint8)
