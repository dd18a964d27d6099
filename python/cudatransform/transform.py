"""The 8x8 DCT, its inverse and PSNR as functions of arrays."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import importlib
import math
import os
import sys
from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _device, _native
from ._cuda_memory import CudaArray
from ._native import address_of
from .errors import Unavailable, one_of, whole_number
from .tables import one_table

METHODS = ("islow", "ifast", "float", "reference", "naive", "matrix", "separable", "decomposed",
           "shuffle")
# Indexed by a sample's bits: types of samples and of coefficients.
_DEPTHS = {8: (np.uint8, np.int16), 12: (np.uint16, np.int16), 16: (np.uint16, np.int32)}
_ALIGNMENT = 16  # of rows of coefficients on a GPU
_COMPARED = "uint8", "uint16", "float32"


def check_method(method: Any) -> None:
    """Raises TypeError and ValueError."""
    if not isinstance(method, str):
        raise TypeError(f"method must be a str, not {type(method).__name__}")
    one_of("method", method, METHODS)


def _wanted_type(table: Optional[Any], depth: int) -> Any:
    return np.float32 if table is None else _DEPTHS[depth][1]


def _check_coefficients(shape: Tuple[int, ...], dtype: Any, wanted: Any, words: str) -> None:
    if len(shape) != 4 or shape[2:] != (8, 8) or dtype != wanted or 0 in shape:
        is_quantized = wanted == np.float32 and dtype == np.int16
        advice = ": quantized coefficients need table=" if is_quantized else ""
        raise ValueError(f"coefficients must be {np.dtype(wanted)} (blocks_h, blocks_w, 8, 8), not "
                         f"{words}{advice}")


def _size_of(shape: Tuple[int, ...], size: Optional[Tuple[int, int]]) -> Tuple[int, int]:
    rows, columns = shape[:2]
    if size is None:
        return 8 * rows, 8 * columns
    if not hasattr(size, "__len__"):
        raise TypeError(f"size must be (height, width), not {size!r}")
    if len(size) != 2:
        raise ValueError(f"size must be (height, width), not {size!r}")
    height, width = size
    height, width = whole_number("height", height), whole_number("width", width)
    if not (8 * rows - 8 < height <= 8 * rows and 8 * columns - 8 < width <= 8 * columns):
        raise ValueError(f"size={height, width} does not end in the last of {rows} x {columns} "
                         "blocks")
    return height, width


def _transform(forward: bool, device: Optional[int], table: Optional[Any], method: str, depth: int,
               plane: Tuple[int, ...], coefs: Tuple[int, ...]) -> None:
    """plane: address, bytes from row to row, width and height; coefs: likewise in blocks."""
    entries = None if table is None else one_table(table, int(forward))
    options = _native.DctOptions(ctypes.sizeof(_native.DctOptions), METHODS.index(method), depth,
                                 None if entries is None else entries.ctypes.data)
    samples, blocks, error = _native.Samples(*plane), _native.Coefficients(*coefs), _native.Error()
    library, engine = _native.library(), _native.engine(device)
    code = (library.ct_dct(engine, options, samples, blocks, error) if forward else
            library.ct_idct(engine, options, blocks, samples, error))
    _native.check(code, error)


def _dct_on_device(frame: _device.View, table: Optional[Any], method: str) -> CudaArray:
    if len(frame.shape) != 2 or 0 in frame.shape or frame.dtype != np.uint8:
        raise ValueError(f"frame on a GPU must be uint8 (height, width), not {frame.words}")
    height, width = _device.with_rows(frame, (1,)).shape
    rows, columns = -(-height // 8), -(-width // 8)
    dtype = np.dtype(_wanted_type(table, 8))
    strides = (64 * columns * dtype.itemsize, 64 * dtype.itemsize, 8 * dtype.itemsize,
               dtype.itemsize)
    block = _native.NewBlock(_native.engine(frame.device), rows * strides[0])
    _transform(True, frame.device, table, method, 8,
               (frame.address, max(width, frame.strides[0]), width, height),
               (block.address, strides[0], columns, rows))
    return CudaArray(block, 0, (rows, columns, 8, 8), strides, frame.device, dtype)


def _idct_on_device(given: _device.View, size: Optional[Tuple[int, int]], table: Optional[Any],
                    method: str, depth: int) -> CudaArray:
    if depth != 8:
        raise ValueError("depth=12 and depth=16 need coefficients in system memory")
    _check_coefficients(given.shape, given.dtype, _wanted_type(table, depth), given.words)
    height, width = _size_of(given.shape, size)
    item = given.dtype.itemsize
    rows, columns = _device.with_rows(given, (64 * item, 8 * item, item)).shape[:2]
    engine = _native.engine(given.device)
    address, pitch = given.address, given.strides[0] if rows > 1 else 64 * item * columns
    if address % _ALIGNMENT or pitch % _ALIGNMENT:
        copy = _native.NewBlock(engine, 64 * item * columns * rows)
        driver = _device.driver()
        with driver.on(given.device):
            driver.copy_rows(address, pitch, copy.address, 64 * item * columns,
                             64 * item * columns, rows)
        address, pitch = copy.address, 64 * item * columns
    row = -(-width // _ALIGNMENT) * _ALIGNMENT
    block = _native.NewBlock(engine, row * height)
    _transform(False, given.device, table, method, depth, (block.address, row, width, height),
               (address, pitch, columns, rows))
    return CudaArray(block, 0, (height, width), (row, 1), given.device, np.uint8)


def _dct_of(frame: Any, table: Optional[Any], method: str, depths: Dict[Any, int]) -> np.ndarray:
    """depths: by types of samples"""
    plane = np.asarray(frame)
    depth = depths.get(plane.dtype)
    if plane.ndim != 2 or depth is None or plane.size == 0:
        raise ValueError(f"frame must be uint8 or uint16 (height, width), not {plane.dtype} "
                         f"{plane.shape}")
    height, width = plane.shape
    row = width * plane.itemsize
    if plane.strides[1] != plane.itemsize or plane.strides[0] < row:
        plane = np.ascontiguousarray(plane)
    made = np.empty((-(-height // 8), -(-width // 8), 8, 8), _wanted_type(table, depth))
    _transform(True, None, table, method, depth,
               (address_of(plane), plane.strides[0] if height > 1 else row, width, height),
               (address_of(made), made.strides[0], made.shape[1], made.shape[0]))
    return made


def coefficients_of(plane: np.ndarray, table: np.ndarray, method: str, depth: int) -> np.ndarray:
    """The coefficients of a plane of JPEG, of 8 or 12 bits: int16 (blocks_h, blocks_w, 8, 8)."""
    check_method(method)
    return _dct_of(plane, table, method, {plane.dtype: depth})


def dct(frame: Any, *, table: Optional[Any] = None, method: str = "islow") -> Any:
    """The 8x8 DCT of a plane of samples; partial blocks repeat the last column and row.

    frame: uint8 or uint16 (height, width), from which 2 to the power of (bits - 1) is subtracted.
        Or a uint8 array on a GPU, of PyTorch, CuPy or any library with DLPack or
        __cuda_array_interface__, whose rows may have gaps between them
    table: (8, 8), the quantization table, 1 to 65535, natural order; None: no quantization
    method: as of cudadct8x8; `islow` has libjpeg-turbo's bits (of 16 bits it means `float`)
    Returns (blocks_h, blocks_w, 8, 8): with a table quantized: int16 (int32 for uint16); without
    float32, the orthonormal transform, whose DC is eight times the mean. It is a numpy array, or a
    CudaArray on the frame's device, complete when the function returns. Raises ValueError,
    TypeError and Unavailable.
    """
    check_method(method)
    if _device.is_on_device(frame):
        return _dct_on_device(_device.view(frame), table, method)
    return _dct_of(frame, table, method, {np.dtype(np.uint8): 8, np.dtype(np.uint16): 16})


def idct(coefficients: Any, *, size: Optional[Tuple[int, int]] = None, table: Optional[Any] = None,
         method: str = "islow", depth: int = 8) -> Any:
    """The inverse of dct(): a plane of samples, rounded and clipped.

    coefficients: (blocks_h, blocks_w, 8, 8): with a table quantized, int16 to depth 12 and int32 at
        depth 16; without one float32, values of the orthonormal transform. Or an array on a GPU,
        as of dct(), at depth 8, such as a CudaPicture's
    size: height and width of the plane, which ends in the last row and column of blocks; None:
        where they end
    table: (8, 8), the quantization table of the coefficients
    method: as of dct()
    depth: bits of a sample, 8, 12 (as JPEG has them) or 16
    Returns uint8 (uint16 above depth 8) (height, width): a numpy array, or a CudaArray on the
    coefficients' device, complete when the function returns. Raises as dct().
    """
    check_method(method)
    if whole_number("depth", depth) not in _DEPTHS:
        raise ValueError(f"depth must be 8, 12 or 16, not {depth}")
    if _device.is_on_device(coefficients):
        return _idct_on_device(_device.view(coefficients), size, table, method, depth)
    values = np.ascontiguousarray(coefficients)
    _check_coefficients(values.shape, values.dtype, _wanted_type(table, depth),
                        f"{values.dtype} {values.shape}")
    height, width = _size_of(values.shape, size)
    made = np.empty((height, width), _DEPTHS[depth][0])
    _transform(False, None, table, method, depth,
               (address_of(made), made.strides[0], width, height),
               (address_of(values), values.strides[0], values.shape[1], values.shape[0]))
    return made


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


def _squared_error(a: np.ndarray, b: np.ndarray) -> float:
    total, error = ctypes.c_double(), _native.Error()
    _native.check(_native.library().ct_squared_error(
        _native.engine(None), _native.TYPES.index(a.dtype.name),
        _native.Array(address_of(a), a.nbytes), _native.Array(address_of(b), b.nbytes), a.size, 1,
        total, error), error)
    return total.value


def psnr(a: Any, b: Any, data_range: Optional[float] = None) -> float:
    """The peak signal-to-noise ratio of two arrays of one shape in dB; infinity for equal ones.

    a, b: samples of any type and shape: numpy's, or both on one GPU, where PyTorch or CuPy
        computes. CudaArrays and other libraries' arrays need one of the two to be installed
    data_range: the largest sample less the smallest, more than 0; None: 255, of uint8 alone
    Raises ValueError for different shapes, for other types than uint8 without data_range and where
    only one is on a GPU, TypeError for Pictures and paths, and Unavailable.
    """
    for one in a, b:
        if hasattr(one, "components"):
            raise TypeError("psnr() compares arrays, such as picture.pixels(), not pictures")
        if one is None or isinstance(one, (str, bytes, os.PathLike)):
            raise TypeError("psnr() compares arrays, such as ct.decode(path), not "
                            f"{type(one).__name__}")
    if _device.is_on_device(a) or _device.is_on_device(b):
        a, b = _of_one_library(a, b)
    elif not hasattr(a, "shape") or not hasattr(b, "shape"):
        a, b = np.asarray(a), np.asarray(b)
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"the shapes differ: {tuple(a.shape)} and {tuple(b.shape)}")
    if 0 in a.shape:
        raise ValueError("there are no samples")
    if data_range is None:
        kinds = [str(one.dtype).rpartition(".")[2] for one in (a, b)]
        if kinds != ["uint8", "uint8"]:
            raise ValueError(f"psnr() of {' and '.join(dict.fromkeys(kinds))} needs data_range=, "
                             "such as 1 or 255 of floats, 4095 of 12-bit samples")
        data_range = 255
    if not data_range > 0:
        raise ValueError(f"data_range must be more than 0, not {data_range}")
    if isinstance(a, np.ndarray) and a.dtype == b.dtype and a.dtype.name in _COMPARED:
        mean = _squared_error(np.ascontiguousarray(a), np.ascontiguousarray(b)) / a.size
    else:  # arrays of PyTorch and CuPy compute where they are
        difference = (a.double() - b.double() if hasattr(a, "double") else
                      a.astype("float64") - b.astype("float64"))
        mean = float((difference * difference).mean())
    return math.inf if mean == 0 else 10 * math.log10(data_range * data_range / mean)
