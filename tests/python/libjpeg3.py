"""Files of 12 bits by libjpeg-turbo 3: imagecodecs' library, or the system's where it is as new."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
from ctypes import (POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint16, c_ulong,
                    c_void_p)
from typing import NamedTuple

import numpy as np

GRAYSCALE, YCBCR = 1, 3  # J_COLOR_SPACE


class _Decompress(ctypes.Structure):
    """The head of jpeg_decompress_struct, which all versions of the library share."""

    _fields_ = [("err", c_void_p), ("pointers", c_void_p * 3), ("states", c_int * 2),
                ("src", c_void_p), ("image_width", c_uint), ("image_height", c_uint),
                ("num_components", c_int), ("jpeg_color_space", c_int), ("out_color_space", c_int),
                ("scale_num", c_uint), ("scale_denom", c_uint), ("output_gamma", c_double),
                ("options", c_int * 12), ("output_width", c_uint), ("output_height", c_uint),
                ("out_color_components", c_int), ("rest", ctypes.c_byte * 600)]


class _Abi(NamedTuple):
    version: int
    decompress: int  # bytes of the structures
    compress: int
    restart_interval: int  # its place in the latter


def _open():
    """The library and its _Abi; None: there is none."""
    try:
        import imagecodecs._jpeg8
        library, abi = ctypes.CDLL(imagecodecs._jpeg8.__file__), _Abi(80, 656, 584, 316)
    except ImportError:
        try:
            library, abi = ctypes.CDLL("libjpeg.so.62"), _Abi(62, 632, 520, 280)
        except OSError:
            return None
    if not hasattr(library, "jpeg12_read_scanlines"):
        return None
    library.jpeg_std_error.restype = library.jpeg_read_coefficients.restype = c_void_p
    library.jpeg_CreateDecompress.argtypes = c_void_p, c_int, c_size_t
    library.jpeg_CreateCompress.argtypes = c_void_p, c_int, c_size_t
    library.jpeg_mem_src.argtypes = c_void_p, c_char_p, c_ulong
    library.jpeg_mem_dest.argtypes = c_void_p, POINTER(c_void_p), POINTER(c_ulong)
    library.jpeg_write_coefficients.argtypes = c_void_p, c_void_p
    library.jpeg12_read_scanlines.argtypes = c_void_p, POINTER(c_void_p), c_uint
    return library, abi


LIBRARY = _open()


def _opened(data, errors):
    """A _Decompress that has read the header."""
    library, abi = LIBRARY
    this = _Decompress(err=library.jpeg_std_error(errors))
    library.jpeg_CreateDecompress(byref(this), abi.version, abi.decompress)
    library.jpeg_mem_src(byref(this), data, len(data))
    library.jpeg_read_header(byref(this), 1)
    return this


def decoded(data, scale, colorspace):
    """uint16 (height, width, channels) of a file at 1/scale. Errors end the process."""
    library, _ = LIBRARY
    errors = ctypes.create_string_buffer(1024)
    this = _opened(data, errors)
    this.scale_num, this.scale_denom, this.out_color_space = 1, scale, colorspace
    library.jpeg_start_decompress(byref(this))
    made = np.empty((this.output_height, this.output_width, this.out_color_components), c_uint16)
    for row in made:
        library.jpeg12_read_scanlines(byref(this), byref(c_void_p(row.ctypes.data)), 1)
    library.jpeg_finish_decompress(byref(this))
    library.jpeg_destroy_decompress(byref(this))
    return made


def progressive(data, restart):
    """The file as jpegtran -progressive -copy none writes it. Errors end the process."""
    library, abi = LIBRARY
    errors = ctypes.create_string_buffer(1024)
    this = _opened(data, errors)
    arrays = library.jpeg_read_coefficients(byref(this))
    that = (ctypes.c_byte * abi.compress)()
    memory, size = c_void_p(), c_ulong()
    c_void_p.from_buffer(that).value = library.jpeg_std_error(errors)
    library.jpeg_CreateCompress(that, abi.version, abi.compress)
    library.jpeg_mem_dest(that, byref(memory), byref(size))
    library.jpeg_copy_critical_parameters(byref(this), that)
    library.jpeg_simple_progression(that)
    c_uint.from_buffer(that, abi.restart_interval).value = restart
    library.jpeg_write_coefficients(that, arrays)
    library.jpeg_finish_compress(that)
    made = ctypes.string_at(memory, size.value)
    library.jpeg_destroy_compress(that)
    library.jpeg_destroy_decompress(byref(this))
    ctypes.CDLL(None).free(memory)
    return made
