"""What the header of a JPEG file says, without decoding: size, sampling, tables, orientation."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

import numpy as np

from . import _native, color
from ._sources import Source, buffer_of, name_of
from .errors import NO_DESCRIPTORS, ReadError, check_binary, read_error
from .tables import estimated_quality

if TYPE_CHECKING:
    import numpy.typing as npt

# Frame headers of the kinds that libcudatransform reads (T.81, table B.1), by the names of
# processes.
_PROCESSES = {0xC0: "baseline", 0xC1: "extended", 0xC2: "progressive", 0xC9: "arithmetic",
              0xCA: "arithmetic progressive"}
_PROGRESSIVE = 0xC2, 0xC6, 0xCA, 0xCE
_FIRST_BYTES, _MAX_BYTES = 1 << 16, 1 << 28  # of a file that Python reads


@dataclass(frozen=True, eq=False)
class Info:
    """The header of a JPEG file, as info() reads it. Those of one content are equal.

    width, height: samples, as the file has them, which may be on its side
    depth: bits of a sample
    sampling: as Picture.sampling; None: of no kind that read() takes
    tables: uint16 (n, 8, 8), quantization tables in natural order, in the order of components
    quality: libjpeg's quality with the nearest table of luma, 1 to 100; None without tables
    orientation: 1 to 8, of the Exif data; None without
    progressive: whether the first scan is a part of all bits
    pictures: of the file by its index (MPF), 1 without
    """

    width: int
    height: int
    depth: int
    sampling: Optional[str]
    tables: npt.NDArray[np.uint16] = field(repr=False)
    quality: Optional[int]
    orientation: Optional[int]
    progressive: bool
    pictures: int

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Info):
            return NotImplemented
        one, two = dict(vars(self)), dict(vars(other))
        return np.array_equal(one.pop("tables"), two.pop("tables")) and one == two

    def __hash__(self) -> int:
        return hash((self.width, self.height, self.sampling, self.quality, self.orientation))


def info(source: Source) -> Info:
    """The header of a JPEG file, up to its first scan, in a hundredth of a millisecond.

    source: as of read(); a file that can seek keeps its place
    What follows may be damaged. Raises ReadError for a file that is missing, that is no JPEG file
    or has no whole frame header, TypeError, and OSError where no file descriptor is free.
    """
    found, error = _read(source)
    if error.code != _native.OK:
        raise read_error(name_of(source), error.words)
    tables = np.frombuffer(found.tables, np.uint16)[:64 * found.n_tables].reshape(-1, 8, 8)
    return Info(found.width, found.height, found.depth, _sampling(found), tables,
                estimated_quality(tables[0]) if len(tables) else None, found.orientation or None,
                found.marker in _PROGRESSIVE, found.pictures)


def orientation_of(source: Source) -> Optional[int]:
    """1 to 8, of a file's Exif data; None without, or without a header. Raises as info()."""
    found, error = _read(source)
    if error.code == _native.UNREADABLE:
        raise read_error(name_of(source), error.words)
    return found.orientation or None


def process_of(path: Union[str, bytes]) -> str:
    """The name of a file's process; `unknown` without a frame header. Raises OSError."""
    found, error = _read(os.fsdecode(path))
    if error.code == _native.UNREADABLE:
        raise OSError(error.words)
    return _PROCESSES.get(found.marker, "unknown")


def upright(pixels: np.ndarray, orientation: Optional[int]) -> np.ndarray:
    """Pixels (height, width[, channels]) of a file as they are to be seen, contiguous."""
    if orientation is None or orientation == 1:
        return pixels
    if orientation > 4:
        pixels = pixels.swapaxes(0, 1)
    # By where the file's first row and column are (CP-3451, 4.6.4).
    down = -1 if orientation in (3, 4, 7, 8) else 1
    across = -1 if orientation in (2, 3, 6, 7) else 1
    return np.ascontiguousarray(pixels[::down, ::across])


def _sampling(found: _native.Info) -> Optional[str]:
    count = found.components
    if count > len(found.h_samp) or not all(
            1 <= factor <= 4 for side in (found.h_samp, found.v_samp) for factor in side[:count]):
        return None
    return color.sampling_by(_native.COLORS[found.color],
                             tuple(zip(found.h_samp[:count], found.v_samp[:count])))


def _read(source: Any) -> Tuple[_native.Info, _native.Error]:
    """What ct_info() says of a source. Raises TypeError, ReadError for a path that is none, and
    OSError where no file descriptor is free."""
    if hasattr(source, "read"):
        check_binary("source", source, "rb")
        if source.seekable():
            return _read_file(source)
        source = source.read()
    if not isinstance(source, (str, os.PathLike)):
        return _read_bytes(buffer_of(source))
    path = os.fsencode(source)
    if b"\0" in path:
        raise ReadError(name_of(source), "embedded null byte")
    found, error = _call(_native.HeldSource(path=path))
    if error.code == _native.UNREADABLE and error.words in NO_DESCRIPTORS:
        raise OSError(NO_DESCRIPTORS[error.words], error.words)
    return found, error


def _read_bytes(data: np.ndarray) -> Tuple[_native.Info, _native.Error]:
    return _call(_native.Source(_native.address_of(data), len(data)))


def _read_file(file: Any) -> Tuple[_native.Info, _native.Error]:
    """Reads no more than the header, and leaves the file where it was."""
    begin, size = file.tell(), _FIRST_BYTES
    try:
        while True:
            file.seek(begin)
            data = buffer_of(_read_all(file, size))
            found, error = _read_bytes(data)
            if found.size or len(data) < size or size >= _MAX_BYTES:
                return found, error
            size *= 8
    finally:
        file.seek(begin)


def _read_all(file: Any, size: int) -> Any:
    """The next `size` bytes, or all up to the end: a raw file's read() may return fewer."""
    data = file.read(size)
    while 0 < len(data) < size:
        more = file.read(size - len(data))
        if not more:
            break
        data = bytes(data) + bytes(more)
    return data


def _call(source: ctypes.Structure) -> Tuple[_native.Info, _native.Error]:
    found, error = _native.Info(), _native.Error()
    code = _native.library().ct_info(ctypes.byref(source), found, error)
    if code not in (_native.OK, _native.UNREADABLE, _native.DAMAGED):
        _native.check(code, error)
    return found, error
