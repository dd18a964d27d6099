#!/usr/bin/python3
# Gain maps, previews, thumbnails, Exif and XMP data and trailing data of pictures that are rotated,
# mirrored and cropped, judged by jpegtran, Pillow, exiftool and a parser of the test's own.
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import cudatransform as ct
import pictures

try:
    from PIL import Image
except ImportError:
    Image = None

JPEGTRAN = {"90r": ["-rotate", "90"], "180": ["-rotate", "180"], "90l": ["-rotate", "270"],
            "horiz": ["-flip", "horizontal"], "vert": ["-flip", "vertical"],
            "ul-lr": ["-transpose"], "ur-ll": ["-transverse"]}
# numpy's of the same.
TURNS = {"90r": lambda a: np.rot90(a, -1), "180": lambda a: np.rot90(a, 2), "90l": np.rot90,
         "horiz": np.fliplr, "vert": np.flipud, "ul-lr": lambda a: a.swapaxes(0, 1),
         "ur-ll": lambda a: np.rot90(a, 2).swapaxes(0, 1)}
ORIENTATIONS = dict(zip(("identity", "horiz", "180", "vert", "ul-lr", "90r", "ur-ll", "90l"),
                        range(1, 9)))
HDRGM = "http://ns.adobe.com/hdr-gain-map/1.0/"
XAP = b"http://ns.adobe.com/xap/1.0/\0"
FILM = b"\0\0\0\x10ftypmp42\0\0\0\0" + b"film" * 50


def file_of(width, height, sampling="4:2:0", segments=b"", seed=1, quality=85):
    """A JPEG file without JFIF header, with `segments`."""
    channels = pictures.channels_of(sampling)
    picture = ct.Picture.from_pixels(pictures.pixels(width, height, channels, seed), quality,
                                     sampling)
    picture.markers = segments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lengths of what is to follow
        return ct.write(picture)


def exif(orientation, thumbnail=b"", size=(0, 0), order=">", note=b"", subject=(), last=b""):
    """Exif data with a thumbnail in IFD1, a maker note, a subject area and `last` behind all."""
    def entry(tag, kind, count, value):
        packed = struct.pack(order + ("H" if kind == 3 and count == 1 else "I"), value)
        return struct.pack(order + "HHI", tag, kind, count) + packed.ljust(4, b"\0")
    ifd0, exif_at = 8, 8 + 2 + 12 * 2 + 4
    exif_count = 3 + bool(subject)
    ifd1 = exif_at + 2 + 12 * exif_count + 4
    data_at = ifd1 + 2 + 12 * 3 + 4 if thumbnail else ifd1
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
        body += struct.pack(order + "H", 3) + entry(0x103, 3, 1, 6)
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
        self.assertEqual(told.filename, __file__)
        return made

    def check_equal(self, file, expected):
        made = ct.read(file)
        made.markers = expected.markers = b""
        self.assertTrue(pictures.equal(made, expected))


@unittest.skipUnless(pictures.have_tools(), "no jpegtran (libjpeg-turbo-progs)")
class Attachments(Base):
    def photo(self, others, **more):
        return ct.read(pictures.with_others(file_of(320, 240), others, **more))

    def test_each_direction(self):
        others = (file_of(80, 64, "gray", seed=2), file_of(160, 96, "4:2:2", seed=3))
        for direction in JPEGTRAN:
            with self.subTest(direction):
                made = self.quietly(self.photo(others, gap=b"\0" * 5).turned, direction)
                self.assertEqual(made.gaps, (b"\0" * 5,) * 2)
                file = ct.write(made)
                for one, other in zip(pictures.others_of(file), others):
                    self.check_equal(one, turned_by_jpegtran(other, direction))
                    if Image:
                        image = np.asarray(Image.open(io.BytesIO(one)).convert("L")).astype(int)
                        before = np.asarray(Image.open(io.BytesIO(other)).convert("L"))
                        self.assertLessEqual(abs(image - TURNS[direction](before)).max(), 3)

    def test_what_cannot_be_mirrored_goes(self):
        kept, lost = file_of(64, 48, "gray", seed=2), file_of(80, 60, "gray", seed=3)
        made = self.loudly("attachment 2 of 3", self.photo((kept, lost, kept)).turned, "90r")
        self.assertEqual(len(made.attachments), 2)
        self.assertEqual(len(pictures.others_of(self.quietly(ct.write, made))), 2)
        # Along its other side it can.
        self.assertEqual(len(self.quietly(self.photo((lost,)).turned, "horiz").attachments), 1)
        made = self.loudly("attachment 1 of 1", self.photo((lost,)).turned, "90r")
        self.assertEqual(made.attachments, ())
        self.assertNotIn(b"MPF", ct.write(made))

    def test_a_damaged_one_goes(self):
        data = file_of(64, 48, seed=2)
        photo = self.photo((data,))
        photo.attachments = (data[:40] + bytes(len(data) - 42) + data[-2:],)
        self.assertEqual(self.loudly("attachment", photo.turned, "180").attachments, ())

    def test_crop(self):
        # A quarter of the size: the crop lands on whole MCUs of 8 if it does on 32 of the picture.
        gain, stereo = file_of(80, 60, "gray", seed=2), file_of(320, 240, seed=3)
        for left, top, width, height in ((0, 0, 160, 240), (32, 64, 100, 76), (160, 128, 160, 112)):
            made = self.quietly(self.photo((gain, stereo)).cropped, left, top, width, height)
            first = ct.read(made.attachments[0])
            self.assertEqual((first.width, first.height), (width // 4, height // 4))
            with tempfile.TemporaryDirectory() as top_folder:
                path = pictures.write_all(top_folder, {"gain.jpg": gain})["gain.jpg"]
                expected = ct.read(subprocess.run(
                    ("jpegtran", "-copy", "none", "-crop",
                     f"{width // 4}x{height // 4}+{left // 4}+{top // 4}", path), check=True,
                    stdout=subprocess.PIPE).stdout)
            self.check_equal(made.attachments[0], expected)
            self.assertEqual(ct.read(made.attachments[1]).width, width)
        # Not at an MCU, between two samples, of another view.
        for crop in ((16, 0, 100, 100), (0, 0, 102, 100)):
            made = self.loudly("attachment 1 of 1", self.photo((gain,)).cropped, *crop)
            self.assertEqual(made.attachments, ())
        wide = file_of(80, 40, "gray", seed=2)
        self.loudly("attachment 1 of 1", self.photo((wide,)).cropped, 0, 0, 160, 240)

    def test_own_orientation(self):
        """An attachment that is upright already stays as it is; one that says so is turned."""
        first = file_of(320, 240, segments=exif(6, size=(320, 240)))
        others = (file_of(128, 160, segments=exif(1), seed=2),
                  file_of(160, 128, segments=exif(6, size=(160, 128)), seed=3))
        photo = ct.read(pictures.with_others(first, others))
        made = self.quietly(photo.turned, "auto")
        self.assertEqual(made.attachments[0], others[0])
        second = ct.read(made.attachments[1])
        self.assertEqual((second.width, second.height), (128, 160))
        tiff = Tiff(second.markers)
        self.assertEqual((tiff.ifd0[0x112][1], tiff.exif[0xA002][1], tiff.exif[0xA003][1]),
                         (1, 128, 160))
        # Asked for by hand, the orientation is nobody's.
        self.assertEqual(ct.read(photo.turned("horiz").attachments[1]).markers,
                         ct.read(others[1]).markers)

    def test_larger_than_the_picture(self):
        bomb = bytearray(file_of(64, 64, "gray"))
        at = bomb.index(b"\xff\xc0") + 5
        bomb[at:at + 4] = b"\xff\xff\xff\xff"
        photo = self.photo((file_of(16, 16),))
        photo.attachments = (bytes(bomb),)
        self.loudly("attachment", photo.turned, "180")


class GainMaps(Base):
    """Ultra HDR files: an index, and a Container in XMP data with lengths."""

    GAIN = xmp(f'<rdf:Description xmlns:hdrgm="{HDRGM}" hdrgm:GainMapMax="2"/>')

    def photo(self, size=(80, 64), trailer=b"", iso=True):
        gain = file_of(*size, "gray", self.GAIN, seed=2)
        items = (("GainMap", "image/jpeg", len(gain)),
                 *([("MotionPhoto", "video/mp4", len(trailer))] if trailer else []))
        segments = pictures.xmp(items, len(trailer) if trailer else None)
        segments = segments.replace(b"<rdf:Description",
                                    f'<rdf:Description xmlns:hdrgm="{HDRGM}" hdrgm:Version="1.0" '
                                    'GCamera:MotionPhoto="1"'.encode())
        segments = pictures.segment(0xE1, segments[4:])
        if iso:
            segments += pictures.segment(0xE2, b"urn:iso:std:iso:ts:21496:-1\0\0\0\0\0")
        first = file_of(320, 240, segments=exif(6) + segments)
        return ct.read(pictures.with_others(first, (gain,), trailer=trailer))

    def lengths(self, file):
        return [int(length) for length in re.findall(rb'Item:Length="(\d+)"', ct.read(file).markers)]

    def test_lengths_stay_true(self):
        for direction in ("auto", "180"):
            made = self.quietly(self.photo().turned, direction)
            file = self.quietly(ct.write, made)  # it compares lengths
            self.assertEqual(self.lengths(file), [len(made.attachments[0])])
            self.assertIn(b'hdrgm:Version="1.0"', made.markers)
            self.assertIn(b"21496", made.markers)
            self.assertIn(b"GainMapMax", ct.read(made.attachments[0]).markers)

    def test_gone_with_its_metadata(self):
        made = self.loudly("attachment 1 of 1 .a gain map", self.photo((80, 60)).turned, "90r")
        self.assertEqual(made.attachments, ())
        self.assertEqual(self.lengths(self.quietly(ct.write, made)), [])
        for word in (b"hdrgm:Version", b"21496", b"GainMap"):
            self.assertNotIn(word, made.markers)
        self.assertIn(b'Item:Semantic="Primary"', made.markers)

    def test_a_film(self):
        """It has an orientation of its own: it fits an upright picture, and no other."""
        made = self.quietly(self.photo(trailer=FILM).turned, "auto")
        self.assertEqual(made.trailer, FILM)
        file = self.quietly(ct.write, made)
        self.assertEqual(self.lengths(file), [len(made.attachments[0]), len(FILM)])
        for change in (lambda p: p.turned("180"), lambda p: p.cropped(0, 0, 160, 128)):
            made = self.loudly(f"trailing data of {len(FILM)} bytes", change,
                               self.photo((160, 120), FILM))
            self.assertEqual((made.trailer, len(made.attachments)), (b"", 1))
            self.assertEqual(self.lengths(self.quietly(ct.write, made)),
                             [len(made.attachments[0])])
            self.assertIn(b'GCamera:MotionPhoto="0"', made.markers)

    @unittest.skipUnless(Image, "no Pillow")
    def test_brightness_goes_along(self):
        """The picture's mean next to the map's, quarter by quarter."""
        steps = np.kron(np.array([[30, 220], [120, 60]], np.uint8), np.ones((120, 160), np.uint8))
        first = ct.Picture.from_pixels(steps, 95)
        first.attachments = (ct.encode(steps[::3, ::2][:80, :160].copy(), quality=95),)
        for direction in TURNS:
            file = ct.write(self.quietly(ct.read(ct.write(first)).turned, direction))
            halves = [[np.asarray(image)[y * image.height // 2:(y + 1) * image.height // 2,
                                         x * image.width // 2:(x + 1) * image.width // 2].mean()
                       for y in (0, 1) for x in (0, 1)]
                      for image in (Image.open(io.BytesIO(one)) for one in
                                    (file, pictures.others_of(file)[0]))]
            np.testing.assert_allclose(*halves, atol=3)


class ExifAndXmp(Base):
    def test_thumbnail_is_turned(self):
        thumbnail = file_of(160, 112, "4:2:0", seed=4)
        for order in "<>":
            for last in (b"", b"behind"):
                for direction, orientation in ORIENTATIONS.items():
                    if direction == "identity":
                        continue
                    segments = exif(orientation, thumbnail, (320, 240), order, last=last)
                    picture = ct.read(file_of(320, 240, segments=segments))
                    for way in ("auto", direction):
                        made = self.quietly(picture.turned, way)
                        tiff = Tiff(made.markers)
                        self.assertEqual(tiff.ifd0[0x112][1], 1 if way == "auto" else orientation)
                        self.assertEqual((tiff.exif[0xA002][1], tiff.exif[0xA003][1]),
                                         (made.width, made.height))
                        if pictures.have_tools():
                            self.check_equal(tiff.thumbnail(),
                                             turned_by_jpegtran(thumbnail, direction))

    def test_thumbnail_goes(self):
        for thumbnail, change in (
                (file_of(160, 112), lambda p: p.cropped(0, 0, 64, 64)),
                (file_of(160, 120), lambda p: p.turned("90r")),  # half an MCU
                (b"no image at all", lambda p: p.turned("180"))):
            picture = ct.read(file_of(320, 240, segments=exif(1, thumbnail, last=b"behind")))
            made = self.loudly("Exif thumbnail", change, picture)
            self.assertIsNone(Tiff(made.markers).thumbnail())
            self.assertNotIn(thumbnail[:200], made.markers)
            self.assertTrue(made.markers.endswith(b"behind"))

    def test_an_edge_of_less_than_a_sample(self):
        """trim drops 8 columns of 328, which is half a sample of a thumbnail's 20."""
        picture = ct.read(file_of(324, 240, "gray", segments=exif(1, file_of(32, 24, "gray"))))
        made = self.quietly(picture.turned, "horiz", trim=True)
        self.assertEqual(made.width, 320)
        self.assertIsNotNone(Tiff(made.markers).thumbnail())

    def test_previews_in_maker_notes(self):
        preview = file_of(160, 112, seed=4)
        note = b"MAKER\0" + preview + bytes(300) + b"end"
        picture = ct.read(file_of(320, 240, segments=exif(1, file_of(64, 48), note=note)))
        for direction in ("180", "90r"):
            made = self.quietly(picture.turned, direction)
            begin = made.markers.index(b"MAKER") + 6
            self.assertEqual(made.markers[begin + len(note) - 9:begin + len(note) - 6], b"end")
            if pictures.have_tools():
                self.check_equal(made.markers[begin:begin + len(preview)],
                                 turned_by_jpegtran(preview, direction))
        made = self.loudly("preview in Exif data", picture.cropped, 0, 0, 64, 64)
        begin = made.markers.index(b"MAKER") + 6
        self.assertEqual(made.markers[begin:begin + len(preview)], bytes(len(preview)))

    def test_subject(self):
        """A point, a circle or a rectangle, by its center."""
        for subject, turned in (((100, 50), (189, 100)), ((100, 50, 20), (189, 100, 20)),
                                ((100, 50, 20, 30), (189, 100, 30, 20))):
            picture = ct.read(file_of(320, 240, segments=exif(1, subject=subject)))

            def read(made):
                tiff = Tiff(made.markers)
                count, at = tiff.exif.get(0x9214, (0, 0))
                data = struct.pack(">I", at) if count == 2 else tiff.data[at:at + 2 * count]
                return struct.unpack(f">{count}H", data)
            self.assertEqual(read(picture.turned("90r")), turned)
            self.assertEqual(read(picture.cropped(64, 32, 64, 64)), (36, 18, *subject[2:]))
            self.assertEqual(read(picture.cropped(128, 32, 64, 64)), ())

    def test_xmp(self):
        picture = ct.read(file_of(320, 240, segments=exif(6) + upright_xmp(6, 320, 240)))
        made = self.quietly(picture.turned, "auto")
        for word in (b'tiff:Orientation="1"', b'exif:PixelXDimension="240"',
                     b"<exif:PixelYDimension>320</exif:PixelYDimension>"):
            self.assertIn(word, made.markers)
        made = self.quietly(picture.turned, "180")
        self.assertIn(b'tiff:Orientation="6"', made.markers)
        for more, what in ((
                '<m:Regions xmlns:m="http://www.metadataworkinggroup.com/schemas/regions/">'
                '<a/></m:Regions>', "XMP regions"), (
                '<xmp:Thumbnails xmlns:xmp="http://ns.adobe.com/xap/1.0/">abc</xmp:Thumbnails>',
                "XMP thumbnails")):
            picture = ct.read(file_of(320, 240, segments=upright_xmp(1, 320, 240, more + "<kept/>")))
            made = self.loudly(what, picture.turned, "180")
            self.assertTrue(made.markers.endswith(b"<kept/></rdf:Description>"))

    def test_other_segments(self):
        preview = file_of(32, 32)
        photoshop = b"Photoshop 3.0\0"
        block = b"8BIM\x04\x0c\0\0" + struct.pack(">I", 28 + len(preview)) + bytes(28) + preview
        block += b"\0" * (len(block) % 2)
        other = b"8BIM\x04\x04\0\0\0\0\0\x04iptc"
        jfif = pictures.segment(0xE0, b"JFIF\0\1\2\1\0\x48\0\x60\1\1abc")
        for segment, left, what in (
                (pictures.segment(0xED, photoshop + other + block + other),
                 pictures.segment(0xED, photoshop + other * 2), "Photoshop thumbnail"),
                (jfif, pictures.segment(0xE0, b"JFIF\0\1\2\1\0\x60\0\x48\0\0"), "JFIF thumbnail"),
                (pictures.segment(0xE0, b"JFXX\0\x10" + preview), b"", "JFIF thumbnail"),
                (pictures.segment(0xE4, b"MINE\0" + preview), b"", "preview in an APPn"),
                (pictures.segment(0xEB, b"JP\0\1\0\0\0\1abc"), b"", "JUMBF")):
            picture = ct.read(file_of(320, 240, segments=exif(1) + segment))
            made = self.loudly(what, picture.turned, "90r").markers
            self.assertEqual(made[len(exif(1)):], left)
        kept = pictures.segment(0xE2, b"ICC_PROFILE\0\1\1" + preview) + \
            pictures.segment(0xFE, preview) + pictures.segment(0xE5, b"\xff\xd8\xffnothing")
        picture = ct.read(file_of(320, 240, segments=exif(1) + kept))
        self.assertEqual(self.quietly(picture.turned, "90r").markers[len(exif(1)):], kept)

    def test_edges(self):
        """Partial MCUs that auto leaves as they are: a warning; asked for by hand: none."""
        picture = ct.read(file_of(320, 248, segments=exif(6)))
        self.loudly("partial MCUs.*right edge", picture.turned, "auto")
        self.quietly(picture.turned, "90r")
        self.quietly(picture.turned, "auto", trim=True)
        self.quietly(ct.read(file_of(320, 240, segments=exif(6))).turned, "auto")

    @unittest.skipUnless(shutil.which("exiftool"), "no exiftool (libimage-exiftool-perl)")
    def test_exiftool(self):
        thumbnail = file_of(160, 112)
        with tempfile.TemporaryDirectory() as top:
            path = os.path.join(top, "one.jpg")
            made = os.path.join(top, "made.jpg")
            with open(os.path.join(top, "small.jpg"), "wb") as file:
                file.write(thumbnail)
            ct.write(ct.read(pictures.with_others(file_of(320, 240), (file_of(160, 120, "gray"),))),
                     path)
            subprocess.run(("exiftool", "-q", "-overwrite_original", f"-ThumbnailImage<={top}/small"
                            ".jpg", "-Orientation#=6", "-XMP-tiff:Orientation#=6", path), check=True)

            def told(*what):
                return subprocess.run(("exiftool", "-s3", "-n", *what, made), check=True,
                                      stdout=subprocess.PIPE).stdout
            for change, thumb, size in ((lambda p: p.turned("auto"), (112, 160), "120 160"),
                                        (lambda p: p.cropped(0, 0, 160, 128), None, "80 64")):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ct.write(change(ct.read(path)), made)
                self.assertEqual(told("-a", "-Warning", "-Error"), b"")
                upright = b"1" if thumb else b"6"
                self.assertEqual(told("-a", "-Orientation").split(), [upright] * 2)
                image = told("-b", "-ThumbnailImage")
                self.assertEqual(bool(image), thumb is not None)
                if thumb:
                    self.assertEqual((ct.read(image).width, ct.read(image).height), thumb)
                second = ct.read(told("-b", "-MPImage2"))
                self.assertEqual(f"{second.width} {second.height}", size)


if __name__ == "__main__":
    unittest.main()
