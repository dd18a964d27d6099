#!/usr/bin/python3
# Gain maps, previews and trailing data of pictures that are rotated, mirrored and cropped, judged
# by jpegtran, Pillow and a parser of the tests' own.
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import re
import subprocess
import tempfile
import unittest

import numpy as np

import cudatransform as ct
import pictures
from flips import JPEGTRAN, Base, Tiff, exif, file_of, turned_by_jpegtran, xmp

try:
    from PIL import Image
except ImportError:
    Image = None

# numpy's of the same.
TURNS = {"90r": lambda a: np.rot90(a, -1), "180": lambda a: np.rot90(a, 2), "90l": np.rot90,
         "horiz": np.fliplr, "vert": np.flipud, "ul-lr": lambda a: a.swapaxes(0, 1),
         "ur-ll": lambda a: np.rot90(a, 2).swapaxes(0, 1)}
HDRGM = "http://ns.adobe.com/hdr-gain-map/1.0/"
FILM = b"\0\0\0\x10ftypmp42\0\0\0\0" + b"film" * 50


@unittest.skipUnless(pictures.have_tools(), "no jpegtran (libjpeg-turbo-progs)")
class Attachments(Base):
    def photo(self, others, **more):
        return ct.read(pictures.with_others(file_of(320, 240), others, **more))

    def test_each_direction(self):
        others = (file_of(80, 64, "gray", seed=2), file_of(160, 96, "4:2:2", seed=3))
        for direction in JPEGTRAN:
            with self.subTest(direction):
                made = self.quietly(self.photo(others, gap=b"\0" * 5).transpose, direction)
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
        made = self.loudly("attachment 2 of 3", self.photo((kept, lost, kept)).transpose, "90r")
        self.assertEqual(len(made.attachments), 2)
        self.assertEqual(len(pictures.others_of(self.quietly(ct.write, made))), 2)
        # Along its other side it can.
        self.assertEqual(len(self.quietly(self.photo((lost,)).transpose, "horiz").attachments), 1)
        made = self.loudly("attachment 1 of 1", self.photo((lost,)).transpose, "90r")
        self.assertEqual(made.attachments, ())
        self.assertNotIn(b"MPF", ct.write(made))

    def test_a_damaged_one_goes(self):
        data = file_of(64, 48, seed=2)
        photo = self.photo((data,))
        photo.attachments = (data[:40] + bytes(len(data) - 42) + data[-2:],)
        self.assertEqual(self.loudly("attachment", photo.transpose, "180").attachments, ())

    def test_crop(self):
        # A quarter of the size: the crop lands on whole MCUs of 8 if it does on 32 of the picture.
        gain, stereo = file_of(80, 60, "gray", seed=2), file_of(320, 240, seed=3)
        for left, top, width, height in ((0, 0, 160, 240), (32, 64, 100, 76), (160, 128, 160, 112)):
            made = self.quietly(self.photo((gain, stereo)).crop,
                                pictures.box(left, top, width, height))
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
            made = self.loudly("attachment 1 of 1", self.photo((gain,)).crop,
                               pictures.box(*crop))
            self.assertEqual(made.attachments, ())
        wide = file_of(80, 40, "gray", seed=2)
        self.loudly("attachment 1 of 1", self.photo((wide,)).crop, (0, 0, 160, 240))

    def test_own_orientation(self):
        """An attachment that is already upright stays as it is; others are rotated."""
        first = file_of(320, 240, segments=exif(6, size=(320, 240)))
        others = (file_of(128, 160, segments=exif(1), seed=2),
                  file_of(160, 128, segments=exif(6, size=(160, 128)), seed=3))
        photo = ct.read(pictures.with_others(first, others))
        made = self.quietly(photo.transpose, "auto")
        self.assertEqual(made.attachments[0], others[0])
        second = ct.read(made.attachments[1])
        self.assertEqual((second.width, second.height), (128, 160))
        tiff = Tiff(second.markers)
        self.assertEqual((tiff.ifd0[0x112][1], tiff.exif[0xA002][1], tiff.exif[0xA003][1]),
                         (1, 128, 160))
        # Asked for by hand, the orientation is nobody's.
        self.assertEqual(ct.read(photo.transpose("horiz").attachments[1]).markers,
                         ct.read(others[1]).markers)

    def test_larger_than_the_picture(self):
        bomb = bytearray(file_of(64, 64, "gray"))
        at = bomb.index(b"\xff\xc0") + 5
        bomb[at:at + 4] = b"\xff\xff\xff\xff"
        photo = self.photo((file_of(16, 16),))
        photo.attachments = (bytes(bomb),) * 2
        self.loudly("attachment 1 of 2", photo.transpose, "180")


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
        found = re.findall(rb'Item:Length="(\d+)"', ct.read(file).markers)
        return [int(length) for length in found]

    def test_lengths_stay_true(self):
        for direction in ("auto", "180"):
            made = self.quietly(self.photo().transpose, direction)
            file = self.quietly(ct.write, made)  # it compares lengths
            self.assertEqual(self.lengths(file), [len(made.attachments[0])])
            self.assertIn(b'hdrgm:Version="1.0"', made.markers)
            self.assertIn(b"21496", made.markers)
            self.assertIn(b"GainMapMax", ct.read(made.attachments[0]).markers)

    def test_gone_with_its_metadata(self):
        made = self.loudly("attachment 1 of 1 .a gain map", self.photo((80, 60)).transpose, "90r")
        self.assertEqual(made.attachments, ())
        self.assertEqual(self.lengths(self.quietly(ct.write, made)), [])
        for word in (b"hdrgm:Version", b"21496", b"GainMap"):
            self.assertNotIn(word, made.markers)
        self.assertIn(b'Item:Semantic="Primary"', made.markers)

    def test_a_film(self):
        """It has its own orientation: it fits an upright picture, and no other."""
        made = self.quietly(self.photo(trailer=FILM).transpose, "auto")
        self.assertEqual(made.trailer, FILM)
        file = self.quietly(ct.write, made)
        self.assertEqual(self.lengths(file), [len(made.attachments[0]), len(FILM)])
        for change in (lambda p: p.transpose("180"), lambda p: p.crop((0, 0, 160, 128))):
            made = self.loudly(f"trailing data of {len(FILM)} bytes", change,
                               self.photo((160, 120), FILM))
            self.assertEqual((made.trailer, len(made.attachments)), (b"", 1))
            self.assertEqual(self.lengths(self.quietly(ct.write, made)),
                             [len(made.attachments[0])])
            self.assertIn(b'GCamera:MotionPhoto="0"', made.markers)

    def test_trailing_data(self):
        """An image without an index is of no orientation that is known; padding is of none."""
        photo = ct.read(file_of(320, 240, segments=exif(6)) + b"\0" * 16)
        self.assertEqual(self.quietly(photo.transpose, "auto").trailer, photo.trailer)
        photo.trailer = b"\0" * 16 + file_of(80, 64)
        self.assertEqual(self.loudly("trailing data", photo.transpose, "auto").trailer, b"")

    @unittest.skipUnless(Image, "no Pillow")
    def test_brightness_goes_along(self):
        """The picture's mean next to the map's, quarter by quarter."""
        steps = np.kron(np.array([[30, 220], [120, 60]], np.uint8), np.ones((120, 160), np.uint8))
        first = ct.Picture.from_pixels(steps, 95)
        first.attachments = (ct.encode(steps[::3, ::2][:80, :160].copy(), quality=95),)
        for direction in TURNS:
            file = ct.write(self.quietly(ct.read(ct.write(first)).transpose, direction))
            halves = [[np.asarray(image)[y * image.height // 2:(y + 1) * image.height // 2,
                                         x * image.width // 2:(x + 1) * image.width // 2].mean()
                       for y in (0, 1) for x in (0, 1)]
                      for image in (Image.open(io.BytesIO(one)) for one in
                                    (file, pictures.others_of(file)[0]))]
            np.testing.assert_allclose(*halves, atol=3)


if __name__ == "__main__":
    unittest.main()
