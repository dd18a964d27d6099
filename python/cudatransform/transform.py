"""The 8x8 DCT, its inverse and PSNR as functions of arrays."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import functools
import importlib
import math
import sys
from typing import Any, Optional, Tuple

import numpy as np

from . import _device, _device_transform, _gst, color
from ._stage import Stage
from ._stages import run
from .errors import Unavailable, whole_number

METHODS = ("islow", "ifast", "float", "reference", "naive", "matrix", "separable", "decomposed",
           "shuffle")
# Indexed by a sample's bits: GStreamer's format, and numpy's types of samples and of levels. Those
# of 12 bits are the upper bits of their words.
_DEPTHS = {8: ("GRAY8", np.uint8, "S16LE", np.int16),
           12: ("GRAY16_LE", np.uint16, "S16LE", np.int16),
           16: ("GRAY16_LE", np.uint16, "S32LE", np.int32)}
_ROW = 4  # GStreamer's rows of samples begin at multiples of this


def check_method(method: Any) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(method, str):
        raise TypeError(f"a method is a str, not {type(method).__name__}")
    if method not in METHODS:
        raise ValueError(f"no method is called {method!r}; there are {', '.join(METHODS)}")


def check_tables(values: Any) -> np.ndarray:
    """uint16 (n, 8, 8) of one table or several. Raises ValueError."""
    tables = np.asarray(values)
    if tables.ndim == 2:
        tables = tables[None]
    if tables.shape[1:] != (8, 8) or not 1 <= len(tables) <= 4:
        raise ValueError(f"tables are (8, 8) or (1 to 4, 8, 8), not {np.shape(values)}")
    if tables.dtype.kind not in "iu" or tables.min() < 1 or tables.max() > 65535:
        raise ValueError("a table's divisors are whole numbers from 1 to 65535")
    return np.ascontiguousarray(tables, np.uint16)


def one_table(table: Any) -> np.ndarray:
    """uint16 (8, 8) of the only table of a plane. Raises ValueError."""
    tables = check_tables(table)
    if len(tables) != 1:
        raise ValueError("one plane has one table, (8, 8)")
    return tables[0]


def _words(divisors: np.ndarray) -> str:
    return ",".join(map(str, divisors.ravel().tolist()))


def _wanted_type(table: Optional[Any], depth: int) -> Any:
    return np.float32 if table is None else _DEPTHS[depth][3]


def _check_levels(shape: Tuple[int, ...], dtype: Any, wanted: Any, words: str) -> None:
    if len(shape) != 4 or shape[2:] != (8, 8) or dtype != wanted or 0 in shape:
        raise ValueError(f"coefficients are {np.dtype(wanted)} (blocks_h, blocks_w, 8, 8), not "
                         f"{words}")


def _size_of(shape: Tuple[int, ...], size: Optional[Tuple[int, int]]) -> Tuple[int, int]:
    rows, columns = shape[:2]
    if size is None:
        return 8 * rows, 8 * columns
    if not hasattr(size, "__len__"):
        raise TypeError(f"a size is height and width, not {size!r}")
    if len(size) != 2:
        raise ValueError(f"a size is height and width, not {size!r}")
    height, width = size
    height, width = whole_number("a height", height), whole_number("a width", width)
    if not (8 * rows - 8 < height <= 8 * rows and 8 * columns - 8 < width <= 8 * columns):
        raise ValueError(f"{rows} x {columns} blocks are no plane of {height} x {width} samples")
    return height, width


def _idct_on_device(coefficients: Any, size: Optional[Tuple[int, int]], table: Optional[Any],
                    method: str, depth: int) -> Any:
    if depth != 8:
        raise ValueError("planes of 12 and 16 bits are transformed in system memory only")
    given = _device.view(coefficients)
    _check_levels(given.shape, given.dtype, _wanted_type(table, depth), given.words)
    return _device_transform.idct(given, _size_of(given.shape, size),
                                  None if table is None else one_table(table), method)


def dct(frame: Any, *, table: Optional[Any] = None, method: str = "islow") -> Any:
    """The 8x8 DCT of a plane of samples; partial blocks repeat the last column and row.

    frame: uint8 or uint16 (height, width), from which 2 to the power of (bits - 1) is subtracted.
        Or a uint8 array on a GPU, of PyTorch, CuPy or any library with DLPack or
        __cuda_array_interface__, whose rows may have gaps between them
    table: (8, 8) divisors from 1 to 65535, natural order; None: no quantisation
    method: as of cudadct8x8; `islow` has libjpeg-turbo's bits (for uint16 it means `float`)
    Returns (blocks_h, blocks_w, 8, 8): with a table levels, int16 (int32 for uint16); without one
    float32, the orthonormal transform, whose DC is eight times the mean. It is a numpy array, or a
    CudaArray on the frame's device, complete when the function returns. Raises ValueError,
    TypeError and Unavailable.
    """
    check_method(method)
    quantised = table is not None
    divisors = _words(one_table(table)) if quantised else None
    if _device.is_on_device(frame):
        return _device_transform.dct(_device.view(frame), divisors, method)
    plane = np.asarray(frame)
    depth = {np.dtype(np.uint8): 8, np.dtype(np.uint16): 16}.get(plane.dtype)
    if plane.ndim != 2 or depth is None or plane.size == 0:
        raise ValueError(f"a plane is uint8 or uint16 (height, width), not {plane.dtype} "
                         f"{plane.shape}")
    height, width = plane.shape
    raw_format, _, level_format, level_type = _DEPTHS[depth]
    coef_format = level_format if quantised else "F32LE"
    elements = (f"cudadct8x8 name=first backend=cpu ! video/x-dct,layout=block,order=raster,"
                f"format={coef_format},quantized={'true' if quantised else 'false'}")
    padded = np.zeros((height, -(-width * plane.itemsize // _ROW) * _ROW // plane.itemsize),
                      plane.dtype)
    padded[:, :width] = plane
    gst = _gst.libraries()

    def prepare(stage: Stage) -> int:
        stage.set("method", method)
        if quantised:
            stage.set("luma-qtable", f"<{divisors}>")
        stage.set_caps(f"video/x-raw,format={raw_format},width={width},height={height},"
                       "framerate=0/1")
        return _gst.buffer_around(gst, _gst.address_of(padded), padded.nbytes)
    values = np.asarray(_gst.HeldBuffer(gst, run(elements, prepare, padded)))
    return values.view(level_type if quantised else np.float32).reshape(
        -(-height // 8), -(-width // 8), 8, 8)


def idct(coefficients: Any, *, size: Optional[Tuple[int, int]] = None, table: Optional[Any] = None,
         method: str = "islow", depth: int = 8) -> Any:
    """The inverse of dct(): a plane of samples, rounded and clipped.

    coefficients: (blocks_h, blocks_w, 8, 8): with a table levels, int16 to depth 12 and int32 at
        depth 16; without one float32, values of the orthonormal transform. Or an array on a GPU,
        as of dct(), at depth 8, such as a CudaPicture's
    size: height and width of the plane, which ends in the last row and column of blocks; None:
        where they end
    table: (8, 8), the divisors of the levels
    method: as of dct()
    depth: bits of a sample, 8, 12 (as JPEG has them) or 16
    Returns uint8 (uint16 above depth 8) (height, width): a numpy array, or a CudaArray on the
    coefficients' device, complete when the function returns. Raises as dct().
    """
    check_method(method)
    if whole_number("a depth", depth) not in _DEPTHS:
        raise ValueError(f"samples have 8, 12 or 16 bits, not {depth}")
    if _device.is_on_device(coefficients):
        return _idct_on_device(coefficients, size, table, method, depth)
    raw_format, sample_type, coef_format, _ = _DEPTHS[depth]
    if table is None:
        coef_format = "F32LE"
    values = np.ascontiguousarray(coefficients)
    _check_levels(values.shape, values.dtype, _wanted_type(table, depth),
                  f"{values.dtype} {values.shape}")
    height, width = _size_of(values.shape, size)
    divisors = None if table is None else one_table(table)
    gst = _gst.libraries()
    info = _gst.DctInfo(gst, coef_format, table is not None, depth, "GRAYSCALE", width, height)

    def prepare(stage: Stage) -> int:
        stage.set("method", method)
        key = f"{width}x{height} {coef_format} {table is not None} {depth}".encode()
        stage.set_caps_object(key, gst.gst_dct_info_to_caps(info))
        buffer = _gst.buffer_around(gst, _gst.address_of(values), values.nbytes)
        meta = gst.gst_buffer_add_dct_meta(buffer, info).contents
        if divisors is not None:
            meta.n_tables = 1
            ctypes.memmove(meta.tables, divisors.ctypes.data, divisors.nbytes)
        return buffer
    made = run(f"cudaidct8x8 name=first backend=cpu ! video/x-raw,format={raw_format}", prepare,
               values)
    plane = np.asarray(_gst.HeldBuffer(gst, made)).view(sample_type).reshape(height, -1)[:, :width]
    return plane >> 4 if depth == 12 else plane


# Formats of raw video, by the pixels that a sample of chroma stands for.
_CHROMA_FORMATS = {1: "Y444", 2: "Y42B", 4: "I420"}


@functools.lru_cache(maxsize=400)
def _quality_tables(quality: int, preset: str, pixels: int) -> bytes:
    grey = np.zeros(256 + 512 // pixels, np.uint8)
    gst = _gst.libraries()

    def prepare(stage: Stage) -> int:
        stage.set("quality", str(quality))
        stage.set("quant-preset", preset)
        stage.set_caps(f"video/x-raw,format={_CHROMA_FORMATS[pixels]},width=16,height=16,"
                       "framerate=0/1")
        return _gst.buffer_around(gst, _gst.address_of(grey), grey.nbytes)
    made = run("cudadct8x8 name=first backend=cpu ! video/x-dct", prepare, grey)
    meta = _gst.DctMeta.from_address(gst.gst_buffer_get_dct_meta(made.buffer))
    return b"".join(bytes(meta.tables[meta.components[index].table]) for index in (0, 1))


def check_quality(quality: Any) -> None:
    """Raises TypeError and ValueError."""
    if not 1 <= whole_number("a quality", quality) <= 100:
        raise ValueError(f"a quality is 1 to 100, not {quality}")


def quality_tables(quality: int, preset: str = "annex-k", sampling: str = "4:2:0") -> np.ndarray:
    """The tables of luma and chroma for a quality: uint16 (2, 8, 8), in natural order.

    quality: 1 to 100.
    preset: `annex-k`, libjpeg's tables, or `perceptual`.
    sampling: of the picture; only `perceptual` has a table of chroma for each.
    Raises ValueError and TypeError.
    """
    check_quality(quality)
    if not isinstance(preset, str):
        raise TypeError(f"a preset is a str, not {type(preset).__name__}")
    if preset not in ("annex-k", "perceptual"):
        raise ValueError(f"a quality scales annex-k and perceptual, not {preset!r}")
    pixels = math.prod(color.ratio_of(color.sampling_of(sampling), 1))
    made = _quality_tables(int(quality), preset, pixels)
    return np.frombuffer(bytearray(made), np.uint16).reshape(2, 8, 8)


def _of_one_library(*arrays: Any) -> Tuple[Any, ...]:
    """Arrays on a GPU as tensors of PyTorch, or arrays of CuPy, without a copy."""
    if not all(map(_device.is_on_device, arrays)):
        raise ValueError("one array is on a GPU, the other in system memory")
    loaded = [name for name in ("torch", "cupy") if name in sys.modules]
    # The library that one of the arrays is from comes first.
    own = [name for name in loaded for array in arrays
           if type(array).__module__.partition(".")[0] == name]
    for name in (*own, *loaded, "torch", "cupy"):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return tuple(array if type(array).__module__.partition(".")[0] == name
                     else library.from_dlpack(array) if hasattr(array, "__dlpack__")
                     else library.asarray(array) for array in arrays)
    raise Unavailable("psnr() of arrays on a GPU needs PyTorch or CuPy, and neither is installed: "
                      "pip install torch")


def psnr(a: Any, b: Any, peak: Optional[float] = None) -> float:
    """The peak signal-to-noise ratio of two arrays of one shape in dB; infinity for equal ones.

    a, b: samples of any type and shape: numpy's, or both on one GPU, where PyTorch or CuPy
        computes. CudaArrays and other libraries' arrays need one of the two to be installed
    peak: the largest sample, more than 0; None: that of their integer type, 1 for floating point
    Raises ValueError for different shapes and where only one is on a GPU, and Unavailable.
    """
    if _device.is_on_device(a) or _device.is_on_device(b):
        a, b = _of_one_library(a, b)
    elif not hasattr(a, "shape") or not hasattr(b, "shape"):
        a, b = np.asarray(a), np.asarray(b)
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"the shapes differ: {tuple(a.shape)} and {tuple(b.shape)}")
    if 0 in a.shape:
        raise ValueError("there are no samples")
    if peak is not None and not peak > 0:
        raise ValueError(f"a peak is more than 0, not {peak}")
    if peak is None:
        kind = str(a.dtype).rpartition(".")[2]
        peak = float(np.iinfo(kind).max) if "int" in kind else 1.0
    # Arrays of PyTorch and CuPy compute where they are.
    difference = (a.double() - b.double() if hasattr(a, "double") else
                  a.astype("float64") - b.astype("float64"))
    mean = float((difference * difference).mean())
    return math.inf if mean == 0 else 10 * math.log10(peak * peak / mean)
