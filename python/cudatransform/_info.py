"""What the header of a JPEG file says, without decoding: size, sampling, tables, orientation."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import contextlib
import os
import stat
import struct
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from . import color
from ._header import ReadAt, reader_of, segments
from ._metadata import EXIF, JFIF
from ._sources import Source, buffer_of, name_of, reason_of
from .errors import NO_DESCRIPTORS, ReadError, check_binary, is_interruption, read_error
from .picture import ZIGZAG
from .tables import estimated_quality

_SOFS = bytes(set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC})  # the others are DHT, JPG and DAC
_PROGRESSIVE = b"\xc2\xc6\xca\xce"
_EOI, _SOS, _DQT, _APP0, _APP1, _APP2, _APP14 = b"\xd9\xda\xdb\xe0\xe1\xe2\xee"
_STOPS = _SOFS + bytes((_EOI, _SOS, _DQT, _APP0, _APP1, _APP2, _APP14))
_MOST_SEGMENTS = 1 << 16  # that Python looks at: such files take .1 s
_MPF = b"MPF\0"
_ORIENTATION, _N_PICTURES = 0x0112, 0xB001  # tags of TIFF directories
_NUMBERS = {3: "H", 4: "I"}  # their types SHORT and LONG


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
    tables: np.ndarray = field(repr=False)
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
    """The header of a JPEG file, up to its first scan, in a tenth of a millisecond.

    source: as of read(); a file that can seek keeps its place
    What follows may be damaged. Raises ReadError for a file that is missing, that is no JPEG file
    or has no whole frame header, TypeError, and OSError where no file descriptor is free.
    """
    with _opened(source) as (name, read_at):
        start = read_at(0, 2)
        if start != b"\xff\xd8":
            found = " ".join(f"0x{byte:02x}" for byte in start)
            raise ReadError(name, f"Not a JPEG file: starts with {found}" if found else
                            "it has 0 bytes")
        try:
            return _Head(read_at).info()
        except ValueError as error:
            if is_interruption(error):
                raise
            raise ReadError(name, str(error)) from None


def orientation_of(source: Source) -> Optional[int]:
    """1 to 8, of a file's Exif data; None without. Raises as info()."""
    with _opened(source) as (_, read_at):
        for number, (code, body) in enumerate(segments(read_at, bytes((_EOI, _SOS, _APP1)))):
            if code == _APP1 and body.startswith(EXIF):
                return _orientation(body)
            if code != _APP1 or number > _MOST_SEGMENTS:
                break
    return None


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


@contextlib.contextmanager
def _opened(source: Any) -> Iterator[Tuple[str, ReadAt]]:
    """A source's name in messages, and what reads from a place on."""
    name = name_of(source)
    if hasattr(source, "read"):
        check_binary("source", source, "rb")
        if source.seekable():
            begin = source.tell()
            try:
                yield name, reader_of(source, begin)
            finally:
                source.seek(begin)
            return
        source = source.read()
    if not isinstance(source, (str, os.PathLike)):
        data = buffer_of(source)
        yield name, lambda at, size: data[at:at + size].tobytes()
        return
    try:
        file = open(source, "rb", buffering=0, opener=_open_at_once)
    except (OSError, ValueError) as error:
        if is_interruption(error) or getattr(error, "errno", None) in NO_DESCRIPTORS.values():
            raise
        raise read_error(name, reason_of(error)) from None
    with file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ReadError(name, "it is not a file")
        yield name, reader_of(file)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # of a pipe, which waits for a writer


class _Head:
    """What is in the segments of a file up to its first scan. Raises ValueError."""

    def __init__(self, read_at: ReadAt) -> None:
        self._tables: Dict[int, np.ndarray] = {}
        self._frame, self._code = b"", 0
        self._is_jfif, self._adobe = False, -1  # Adobe's transform code
        self._orientation: Optional[int] = None
        self._pictures = 1
        for number, (code, body) in enumerate(segments(read_at, _STOPS)):
            if code in (_EOI, _SOS) or number > _MOST_SEGMENTS:
                break
            self._take(code, body)

    def _take(self, code: int, body: bytes) -> None:
        if code == _DQT:
            self._take_tables(body)
        elif code in _SOFS:
            if not self._frame:
                self._frame, self._code = body, code
        elif code == _APP0:
            self._is_jfif |= len(body) >= 14 and body.startswith(JFIF)
        elif code == _APP1:
            if self._orientation is None and body.startswith(EXIF):
                self._orientation = _orientation(body)
        elif code == _APP2:
            if body.startswith(_MPF):
                count = _value_of(body[len(_MPF):], _N_PICTURES)
                self._pictures = count if count is not None and 1 <= count <= 256 else 1
        elif len(body) >= 12 and body.startswith(b"Adobe"):
            self._adobe = body[11]

    def _take_tables(self, body: bytes) -> None:
        while body:
            size = 128 if body[0] >> 4 else 64
            values = body[1:1 + size]
            if len(values) < size:
                raise ValueError("a quantization table is cut short")
            table = np.empty(64, np.uint16)
            table[ZIGZAG] = np.frombuffer(values, ">u2" if size == 128 else "u1")
            self._tables[body[0] & 15] = table.reshape(8, 8)
            body = body[1 + size:]

    def info(self) -> Info:
        frame = self._frame
        if not frame:
            raise ValueError("JPEG datastream contains no image")
        if len(frame) < 6 or len(frame) < 6 + 3 * frame[5] or frame[5] == 0:
            raise ValueError("the frame header is cut short")
        depth, height, width = struct.unpack_from(">BHH", frame)
        parts = [tuple(frame[at:at + 3]) for at in range(6, 6 + 3 * frame[5], 3)]
        used = dict.fromkeys(table for _, _, table in parts if table in self._tables)
        tables = np.array([self._tables[index] for index in used], np.uint16).reshape(-1, 8, 8)
        return Info(width, height, depth, self._sampling(parts), tables,
                    estimated_quality(tables[0]) if len(tables) else None, self._orientation,
                    self._code in _PROGRESSIVE, self._pictures)

    def _sampling(self, parts: List[Tuple[int, ...]]) -> Optional[str]:
        kind = self._color(tuple(id for id, _, _ in parts))
        factors = [(both >> 4, both & 15) for _, both, _ in parts]
        if kind is None or not all(1 <= part <= 4 for both in factors for part in both):
            return None
        return color.sampling_by(kind, factors)

    def _color(self, ids: Tuple[int, ...]) -> Optional[str]:
        """By libjpeg's rules (default_decompress_parms())."""
        if len(ids) == 3:
            if self._is_jfif or self._adobe > 0:
                return "YCbCr"
            return "RGB" if self._adobe == 0 or ids == tuple(b"RGB") else "YCbCr"
        if len(ids) == 4:
            return "YCCK" if self._adobe > 0 else "CMYK"
        return {1: "GRAYSCALE", 2: "2CLR"}.get(len(ids))


def _orientation(body: bytes) -> Optional[int]:
    """Of an Exif segment."""
    value = _value_of(body[len(EXIF):], _ORIENTATION)
    return value if value is not None and 1 <= value <= 8 else None


def _value_of(tiff: bytes, tag: int) -> Optional[int]:
    """A number in the first directory of TIFF data; None for anything else."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        return None
    with contextlib.suppress(struct.error):  # beyond the data
        at, = struct.unpack_from(order + "I", tiff, 4)
        count, = struct.unpack_from(order + "H", tiff, at)
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            found, kind, values = struct.unpack_from(order + "HHI", tiff, entry)
            if found == tag:
                is_number = values == 1 and kind in _NUMBERS
                return (struct.unpack_from(order + _NUMBERS[kind], tiff, entry + 8)[0]
                        if is_number else None)
    return None
