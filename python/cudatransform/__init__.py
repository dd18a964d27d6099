"""JPEG coefficients as arrays: read, write, transform and stream them, on CPUs and GPUs.

read(path) gives a Picture: quantized coefficients of each component as int16 arrays, the tables and
the markers of the file. write(picture, path) makes a file of them again, without any loss.
decode(path) and encode(array) are pixels, with the bytes of libjpeg-turbo and Pillow. info(path) is
what a file's header says. Reader(paths) reads many at once, into memory or onto a GPU; a Writer
encodes many. dct(), idct() and psnr() are the transforms and the measure. docs/python.md is the
manual.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from . import color, jpeg  # noqa: F401
from ._info import Info, info
from .errors import Failure, ReadError, Unavailable, WriteError
from .jpeg import decode, encode, read, thumbnail, write
from .picture import ZIGZAG, Component, Picture
from .planes import Planes
from .reader import Batch, Reader
from .resampling import resize
from .tables import quality_tables
from .transform import dct, idct, psnr
from .version import VERSION
from .writer import Writer

__all__ = ["Batch", "Component", "Failure", "Info", "Picture", "Planes", "ReadError", "Reader",
           "Unavailable", "WriteError", "Writer", "ZIGZAG", "dct", "decode", "encode", "idct",
           "info", "psnr", "quality_tables", "read", "resize", "thumbnail", "write"]
__version__ = VERSION
