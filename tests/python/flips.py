# Files with metadata for the tests of flips, a parser of Exif data, and jpegtran as a judge.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import struct
import unittest
import warnings

import cudatransform as ct
import pictures

JPEGTRAN = {"90r": ["-rotate", "90"], "180": ["-rotate", "180"], "90l": ["-rotate", "270"],
            "horiz": ["-flip", "horizontal"], "vert": ["-flip", "vertical"],
            "ul-lr": ["-transpose"], "ur-ll": ["-transverse"]}
ORIENTATIONS = dict(zip(("identity", "horiz", "180", "vert", "ul-lr", "90r", "ur-ll", "90l"),
                        range(1, 9)))
XAP = b"http://ns.adobe.com/xap/1.0/\0"


def file_of(width, height, sampling="4:2:0", segments=b"", seed=1, quality=85):
    """A JPEG file without JFIF header, with `segments`."""
    channels = pictures.channels_of(sampling)
    picture = ct.Picture.from_pixels(pictures.pixels(width, height, channels, seed), quality,
                                     sampling)
    picture.markers = segments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lengths of what is to follow
        return ct.write(picture)


def exif(orientation, thumbnail=b"", size=(0, 0), order=">", note=b"", subject=(), last=b"",
         thumbnail_orientation=0):
    """Exif data with a thumbnail in IFD1, a maker note, a subject area and `last` after all."""
    def entry(tag, kind, count, value):
        packed = struct.pack(order + ("H" if kind == 3 and count == 1 else "I"), value)
        return struct.pack(order + "HHI", tag, kind, count) + packed.ljust(4, b"\0")
    ifd0, exif_at = 8, 8 + 2 + 12 * 2 + 4
    exif_count = 3 + bool(subject)
    ifd1 = exif_at + 2 + 12 * exif_count + 4
    ifd1_count = 3 + bool(thumbnail_orientation)
    data_at = ifd1 + 2 + 12 * ifd1_count + 4 if thumbnail else ifd1
    subject_at, note_at = data_at, data_at + 2 * len(subject)
    image_at = note_at + len(note)
    body = (b"MM\0*" if order == ">" else b"II*\0") + struct.pack(order + "I", ifd0)
    body += struct.pack(order + "H", 2) + entry(0x112, 3, 1, orientation)
    body += entry(0x8769, 4, 1, exif_at) + struct.pack(order + "I", ifd1 if thumbnail else 0)
    body += struct.pack(order + "H", exif_count)
    if subject:
        inline = struct.unpack(order + "I", struct.pack(order + "2H", *subject[:2]))[0]
        body += entry(0x9214, 3, len(subject), inline if len(subject) == 2 else subject_at)
    body += entry(0x927C, 7, len(note), note_at) + entry(0xA002, 4, 1, size[0])
    body += entry(0xA003, 4, 1, size[1]) + bytes(4)
    if thumbnail:
        body += struct.pack(order + "H", ifd1_count) + entry(0x103, 3, 1, 6)
        if thumbnail_orientation:
            body += entry(0x112, 3, 1, thumbnail_orientation)
        body += entry(0x201, 4, 1, image_at) + entry(0x202, 4, 1, len(thumbnail)) + bytes(4)
    body += struct.pack(order + f"{len(subject)}H", *subject) + note + thumbnail + last
    return pictures.segment(0xE1, b"Exif\0\0" + body)


def xmp(text):
    return pictures.segment(0xE1, XAP + text.encode())


def upright_xmp(orientation, width, height, more=""):
    return xmp('<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
               'xmlns:exif="http://ns.adobe.com/exif/1.0/" '
               f'tiff:Orientation="{orientation}" exif:PixelXDimension="{width}">'
               f'<exif:PixelYDimension>{height}</exif:PixelYDimension>{more}</rdf:Description>')


class Tiff:
    """A parser of Exif data of the test's own."""

    def __init__(self, markers):
        body = next(body for code, body in pictures.segments_of(b"\xff\xd8" + markers)[0]
                    if code == 0xE1 and body.startswith(b"Exif"))
        self.data = body[6:]
        self.order = ">" if self.data[:2] == b"MM" else "<"
        self.ifd0, next_at = self.directory(self.number("I", 4))
        self.ifd1 = self.directory(next_at)[0] if next_at else {}
        self.exif = self.directory(self.ifd0[0x8769][1])[0]

    def number(self, kind, at):
        return struct.unpack_from(self.order + kind, self.data, at)[0]

    def directory(self, at):
        count, found = self.number("H", at), {}
        for entry in range(at + 2, at + 2 + 12 * count, 12):
            kind, number = self.number("H", entry + 2), self.number("I", entry + 4)
            short = kind == 3 and number == 1
            found[self.number("H", entry)] = number, self.number("H" if short else "I", entry + 8)
        return found, self.number("I", at + 2 + 12 * count)

    def thumbnail(self):
        if 0x201 not in self.ifd1:
            return None
        at, size = self.ifd1[0x201][1], self.ifd1[0x202][1]
        return self.data[at:at + size]


def turned_by_jpegtran(file, direction):
    return ct.read(pictures.run("jpegtran", "-copy", "none", "-perfect", *JPEGTRAN[direction],
                                data=file))


class Base(unittest.TestCase):
    def quietly(self, function, *arguments, **named):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return function(*arguments, **named)

    def loudly(self, words, function, *arguments, **named):
        with self.assertWarnsRegex(UserWarning, words) as told:
            made = function(*arguments, **named)
        # The caller's line, in these files and not in the module's.
        self.assertEqual(os.path.dirname(os.path.realpath(told.filename)),
                         os.path.dirname(os.path.realpath(__file__)))
        return made

    def check_equal(self, file, expected):
        made = ct.read(file)
        made.markers = expected.markers = b""
        self.assertTrue(pictures.equal(made, expected))
