"""Reduced decoding of 12 bits by libjpeg-turbo 3: imagecodecs' library, or Debian 13's."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
from ctypes import POINTER, byref, c_double, c_int, c_size_t, c_uint, c_uint16, c_void_p

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


def _open():
    """The library, and its version and the size of the structure; None: there is none."""
    try:
        import imagecodecs._jpeg8
        library, abi = ctypes.CDLL(imagecodecs._jpeg8.__file__), (80, 656)
    except ImportError:
        try:
            library, abi = ctypes.CDLL("libjpeg.so.62"), (62, 632)
        except OSError:
            return None
    if not hasattr(library, "jpeg12_read_scanlines"):
        return None
    library.jpeg_std_error.restype = c_void_p
    library.jpeg_CreateDecompress.argtypes = c_void_p, c_int, c_size_t
    library.jpeg_mem_src.argtypes = c_void_p, ctypes.c_char_p, ctypes.c_ulong
    library.jpeg12_read_scanlines.argtypes = c_void_p, POINTER(c_void_p), c_uint
    return library, abi


LIBRARY = _open()


def decoded(data, scale, colorspace):
    """uint16 (height, width, channels) of a file at 1/scale. Errors end the process."""
    library, abi = LIBRARY
    this, errors = _Decompress(), ctypes.create_string_buffer(1024)
    this.err = library.jpeg_std_error(errors)
    library.jpeg_CreateDecompress(byref(this), *abi)
    library.jpeg_mem_src(byref(this), data, len(data))
    library.jpeg_read_header(byref(this), 1)
    this.scale_num, this.scale_denom, this.out_color_space = 1, scale, colorspace
    library.jpeg_start_decompress(byref(this))
    made = np.empty((this.output_height, this.output_width, this.out_color_components), c_uint16)
    for row in made:
        library.jpeg12_read_scanlines(byref(this), byref(c_void_p(row.ctypes.data)), 1)
    library.jpeg_finish_decompress(byref(this))
    library.jpeg_destroy_decompress(byref(this))
    return made
