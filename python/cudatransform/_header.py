"""The segments of a JPEG file before its first scan, found without decoding (T.81, annex B)."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
import re
from typing import BinaryIO, Callable, Iterator, Tuple, Union

# Frame headers of the kinds that libcudatransform reads (table B.1), by the names of processes.
_PROCESSES = {0xC0: "baseline", 0xC1: "extended", 0xC2: "progressive", 0xC9: "arithmetic",
              0xCA: "arithmetic progressive"}

_WINDOW = 1 << 16  # bytes of the file in memory, and the bound of what one match keeps
_MAX_SHORT = 67    # longest segment that a match steps over, without its marker: a DQT of one table

ReadAt = Callable[[int, int], bytes]  # the bytes of a file from a place on, at most so many


@functools.lru_cache(maxsize=None)
def _hops(stops: bytes) -> "re.Pattern[bytes]":
    """Everything that libjpeg's next_marker() skips, markers without parameters, and segments so
    short that a turn of Python for each would cost more than their bytes."""
    lengths = [rb"\0[\0-\2]"]  # libjpeg takes lengths of 0 and 1 as 2
    lengths += [rb"\0\x%02x.{%d}" % (length, length - 2) for length in range(3, _MAX_SHORT + 1)]
    codes = b"".join(rb"\x%02x" % code for code in stops)
    return re.compile(rb"(?:[^\xff]+|\xff+(?:[\0\1\xd0-\xd8]|[^\0\1\xd0-\xd8\xff%s](?:%s)))*"
                      % (codes, b"|".join(lengths)), re.DOTALL)


_FILL = re.compile(rb"\xff+")
_SEGMENT = re.compile(rb"\xff+([^\xff])(..)", re.DOTALL)  # marker and length


def segments(read_at: ReadAt, stops: bytes) -> Iterator[Tuple[int, bytes]]:
    """The code and the bytes behind the length of each segment whose code is in `stops`, in order.

    A segment at the end of a file that is cut has fewer bytes than its length says.
    """
    hops, begin = _hops(stops), 2  # behind SOI
    while len(data := read_at(begin, _WINDOW)) >= 4:
        at = 0
        while at <= len(data):
            match = hops.match(data, at)
            at = match.end() if match else at
            segment = _SEGMENT.match(data, at)
            if segment is None:  # the data end in a marker; of fill bytes before it one is enough
                fill = _FILL.match(data, at)
                at = fill.end() - 1 if fill else at
                break
            size, at = max(0, int.from_bytes(segment[2], "big") - 2), segment.end()
            if segment[1][0] in stops:
                body = data[at:at + size]
                yield segment[1][0], body if len(body) == size else read_at(begin + at, size)
            at += size
        begin += at


def reader_of(file: BinaryIO, begin: int = 0) -> ReadAt:
    """Reads from a place on, counted from `begin`."""
    def read_at(at: int, size: int) -> bytes:
        file.seek(begin + at)
        return file.read(size)
    return read_at


def process_of(path: Union[str, bytes]) -> str:
    """The name of a file's process; `unknown` without a frame header. Raises OSError.

    Reads no further than the window with the frame header, and costs about as much as read().
    """
    with open(path, "rb", buffering=0) as file:
        return next((_PROCESSES[code] for code, _ in segments(reader_of(file), bytes(_PROCESSES))),
                    "unknown")
