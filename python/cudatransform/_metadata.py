"""Exif data, color profiles and comments as the APPn and COM segments of a JPEG file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, List

from .errors import WriteError

EXIF, ICC, JFIF, _JFXX = b"Exif\0\0", b"ICC_PROFILE\0", b"JFIF\0", b"JFXX\0"
_LARGEST = 65533  # bytes of a segment after its length
_ICC_CHUNK = _LARGEST - len(ICC) - 2  # ICC.1, annex B.4: a number and a count, from 1
# As libjpeg writes it: version 1.1, square pixels, no thumbnail.
_OWN_JFIF = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"


def segments_of(markers: Any) -> List[bytes]:
    """A picture's markers one by one, each from its FF on. Raises TypeError for what is not bytes,
    WriteError for bytes other than segments."""
    if not isinstance(markers, (bytes, bytearray)):
        raise TypeError(f"markers must be bytes, not {type(markers).__name__}")
    at, found = 0, []
    while at < len(markers):
        head = markers[at:at + 4]
        if len(head) < 4 or head[0] != 0xFF or not (0xE0 <= head[1] <= 0xEF or head[1] == 0xFE):
            raise WriteError(f"byte {at} of the markers: APPn or COM (FF E0 to FF EF, FF FE) and a "
                             f"length of two bytes are expected, not {head.hex(' ').upper()}")
        size = int.from_bytes(head[2:], "big")
        if size < 2 or at + 2 + size > len(markers):
            raise WriteError(f"byte {at} of the markers: its segment has {size} bytes, "
                             f"where at least 2 and at most {len(markers) - at - 2} are possible")
        found.append(bytes(markers[at:at + 2 + size]))
        at += 2 + size
    return found


def segments_with(exif: Any, icc: Any, comment: Any, markers: Any, sampling: str) -> bytes:
    """The arguments of encode() as segments: JFIF's, Exif data, profile, comment, the markers.

    Raises TypeError, ValueError for Exif data that are none and for what is in `markers`, too, and
    WriteError for more bytes than a file takes.
    """
    exif, icc = _bytes_of("exif", exif), _bytes_of("icc", icc)
    comment = _bytes_of("comment", comment.encode() if isinstance(comment, str) else comment)
    others = segments_of(markers)
    for name, data, kind in (("exif", exif, EXIF), ("icc", icc, ICC)):
        if data and any(one.startswith(kind, 4) for one in others):
            raise ValueError(f"{name}= and markers= both have such data")
    jfif = [one for one in others if one[4:9] in (JFIF, _JFXX)]  # which belong together
    if exif and not jfif and sampling.startswith(("GRAY", "YCbCr")):
        jfif = [_OWN_JFIF]  # the library adds none to a file with Exif data
    made = jfif + _exif(exif) + _icc(icc)
    if comment:
        made.append(_segment("comment", 0xFE, b"", comment))
    return b"".join(made + [one for one in others if one not in jfif])


def _bytes_of(name: str, given: Any) -> bytes:
    """Bytes, or what an object such as Pillow's Image.Exif makes of itself."""
    if isinstance(given, (bytes, bytearray)):
        return bytes(given)
    if given is None:
        return b""
    if not callable(getattr(given, "tobytes", None)):
        raise TypeError(f"{name} must be bytes{' or a str' * (name == 'comment')}, not "
                        f"{type(given).__name__}")
    return bytes(given.tobytes())


def _segment(name: str, code: int, head: bytes, data: bytes) -> bytes:
    if len(head) + len(data) > _LARGEST:
        raise WriteError(f"{name} has {len(data)} bytes, more than the {_LARGEST - len(head)} of a "
                         "segment")
    return b"\xff%c%b%b%b" % (code, (len(head) + len(data) + 2).to_bytes(2, "big"), head, data)


def _exif(data: bytes) -> List[bytes]:
    if not data:
        return []
    tiff = data[len(EXIF):] if data.startswith(EXIF) else data
    if tiff[:4] not in (b"II*\0", b"MM\0*"):
        raise ValueError(f"exif must begin with Exif, II or MM, not {data[:6].hex(' ').upper()}")
    return [_segment("exif", 0xE1, EXIF, tiff)]


def _icc(data: bytes) -> List[bytes]:
    count = -(-len(data) // _ICC_CHUNK)
    if count > 255:
        raise WriteError(f"icc has {len(data)} bytes, more than the {255 * _ICC_CHUNK} of 255 "
                         "segments")
    return [_segment("icc", 0xE2, b"%b%c%c" % (ICC, number + 1, count),
                     data[number * _ICC_CHUNK:(number + 1) * _ICC_CHUNK])
            for number in range(count)]
