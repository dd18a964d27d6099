"""The coding process of a JPEG file, by the marker of its frame header (ITU-T T.81, table B.1)."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import re
from typing import Optional, Tuple, Union

_PROCESSES = {0xC0: "baseline", 0xC1: "extended", 0xC2: "progressive", 0xC9: "arithmetic",
              0xCA: "arithmetic progressive"}

_WINDOW = 1 << 16  # bytes of the file in memory, and the bound of what one match keeps
_MAX_SHORT = 67    # longest segment that a match steps over, without its marker: a DQT of one table


def _hops() -> "re.Pattern[bytes]":
    """Everything that libjpeg's next_marker() skips, markers without parameters, and segments so
    short that a turn of Python for each would cost more than their bytes."""
    lengths = [rb"\0[\0-\2]"]  # libjpeg takes lengths of 0 and 1 as 2
    lengths += [rb"\0\x%02x.{%d}" % (length, length - 2) for length in range(3, _MAX_SHORT + 1)]
    frames = b"".join(rb"\x%02x" % code for code in _PROCESSES)
    return re.compile(rb"(?:[^\xff]+|\xff+(?:[\0\1\xd0-\xd8]|[^\0\1\xd0-\xd8\xff%s](?:%s)))*"
                      % (frames, b"|".join(lengths)), re.DOTALL)


_HOPS = _hops()
_FILL = re.compile(rb"\xff+")
_SEGMENT = re.compile(rb"\xff+([^\xff])(..)", re.DOTALL)  # marker and length


def process_of(path: Union[str, bytes]) -> str:
    """The name of a file's process; `unknown` without a frame header. Raises OSError.

    Reads no further than the window with the frame header, and costs about as much as read().
    """
    with open(path, "rb", buffering=0) as file:
        begin = 2  # behind SOI
        while True:
            file.seek(begin)
            data = file.read(_WINDOW)
            if len(data) < 4:
                return "unknown"
            name, size = _walk(data)
            if name is not None:
                return name
            begin += size


def _walk(data: bytes) -> Tuple[Optional[str], int]:
    """The process, or None and how many bytes are done: more than `data` has where a segment ends
    behind it, fewer where a marker is cut."""
    at = 0
    while at <= len(data):
        match = _HOPS.match(data, at)
        at = match.end() if match else at
        segment = _SEGMENT.match(data, at)
        if segment is None:  # the data end in a marker; of fill bytes before it one is enough
            fill = _FILL.match(data, at)
            return None, fill.end() - 1 if fill else at
        name = _PROCESSES.get(segment[1][0])
        if name is not None:
            return name, at
        at = segment.end() + max(0, int.from_bytes(segment[2], "big") - 2)
    return None, at
