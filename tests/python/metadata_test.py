#!/usr/bin/python3
# encode()'s exif, icc, comment and markers: in the file, for Pillow, and counted by target_size.
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import unittest

import numpy as np

import cudatransform as ct
import pictures

try:
    from PIL import Image
except ImportError:
    Image = None

TIFF = (b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")  # orientation 6
EXIF = b"Exif\0\0" + TIFF
JFIF = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
XMP = pictures.segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>")


def profile(size):
    return bytes(np.random.default_rng(size).integers(0, 256, size, np.uint8))


class Metadata(unittest.TestCase):
    def setUp(self):
        self.pixels = pictures.pixels(40, 30)

    def test_order(self):
        icc = profile(200_000)
        data = ct.encode(self.pixels, exif=TIFF, icc=icc, comment="caf\u00e9", markers=XMP)
        chunks = [icc[at:at + 65519] for at in range(0, len(icc), 65519)]
        expected = [JFIF, pictures.segment(0xE1, EXIF)]
        expected += [pictures.segment(0xE2, b"ICC_PROFILE\0" + bytes([number, 4]) + chunk)
                     for number, chunk in enumerate(chunks, 1)]
        expected += [pictures.segment(0xFE, b"caf\xc3\xa9"), XMP]
        picture = ct.read(data)
        self.assertEqual(picture.markers, b"".join(expected))
        self.assertTrue(data.startswith(b"\xff\xd8" + picture.markers))
        self.assertTrue(np.array_equal(picture[0], ct.Picture.from_pixels(self.pixels)[0]))

    def test_nothing_changes_nothing(self):
        plain = ct.encode(self.pixels)
        self.assertEqual(ct.encode(self.pixels, exif=b"", icc=None, comment="", markers=b""), plain)
        self.assertEqual(ct.encode(self.pixels, markers=ct.read(plain).markers), plain)

    def test_forms(self):
        class Exif:
            def tobytes(self):
                return EXIF
        files = {ct.encode(self.pixels, exif=exif) for exif in
                 (TIFF, EXIF, bytearray(TIFF), memoryview(EXIF), Exif())}
        self.assertEqual(len(files), 1)
        self.assertEqual(ct.encode(self.pixels, comment=b"word"),
                         ct.encode(self.pixels, comment="word"))

    def test_of_every_color(self):
        """JFIF is of gray and YCbCr alone; Adobe's marker stays where it was."""
        own = np.array([np.full((8, 8), n) for n in (5, 7, 9)])
        for sampling, tables, adobe in (
                ("gray", "annex-k", False), ("4:2:0", "annex-k", False), ("4:4:4", own, False),
                ("rgb", "annex-k", True), ("rgb", own, True), ("cmyk", "annex-k", True),
                ("YCCK-4:2:0", "annex-k", True)):
            array = pictures.pixels(40, 30, pictures.channels_of(sampling))
            options = {"subsampling": sampling, "qtables": tables}
            data = ct.encode(array, exif=EXIF, comment="word", **options)
            kept = [pictures.segment(0xE1, EXIF), pictures.segment(0xFE, b"word")]
            if not adobe:
                kept = [JFIF] + kept
            self.assertIn(b"".join(kept), data)
            self.assertEqual((b"JFIF" in data, b"Adobe" in data), (not adobe, adobe), sampling)
            plain, picture = ct.read(ct.encode(array, **options)), ct.read(data)
            picture.markers = plain.markers
            self.assertEqual(picture, plain)

    def test_a_header_of_jfif_comes_first(self):
        dense = JFIF.replace(b"\0\1\0\1\0\0", b"\0\x48\0\x48\0\0")
        dense += pictures.segment(0xE0, b"JFXX\0\x13\1\1abc")  # a thumbnail
        data = ct.encode(self.pixels, exif=EXIF, markers=XMP + dense)
        self.assertEqual(ct.read(data).markers, dense + pictures.segment(0xE1, EXIF) + XMP)

    def test_target_size_counts_them(self):
        array, icc = pictures.pixels(200, 150), profile(3000)
        for options in ({}, {"qtables": "perceptual", "quantizer": "rd"}):
            data = ct.encode(array, target_size=9000, icc=icc, **options)
            self.assertLessEqual(len(data), 9000)
            self.assertGreater(len(data), 8700)
            self.assertIn(icc, data)
        self.assertLessEqual(len(ct.encode(array, quality=95, max_size=9000, icc=icc)), 9000)

    def test_refusals(self):
        largest = TIFF + bytes(65527 - len(TIFF))
        self.assertIn(largest, ct.encode(self.pixels, exif=largest))
        self.assertIn(bytes(65533), ct.encode(self.pixels, comment=bytes(65533)))
        for error, words, options in (
                (ct.WriteError, "exif has 65528 bytes, more than the 65527", {
                    "exif": largest + b"0"}),
                (ct.WriteError, "comment has 65534 bytes", {"comment": "x" * 65534}),
                (ct.WriteError, "icc has 16707346 bytes", {"icc": bytes(255 * 65519 + 1)}),
                (ct.WriteError, "markers have 1[0-9]* bytes", {"markers": (
                    pictures.segment(0xEA, bytes(65533)) * 257)}),
                (ct.WriteError, "byte 0 of the markers", {"markers": b"word"}),
                (ValueError, "exif must begin with Exif, II or MM", {"exif": b"word"}),
                (ValueError, "exif= and markers= both", {
                    "exif": EXIF, "markers": pictures.segment(0xE1, EXIF)}),
                (ValueError, "icc= and markers= both", {
                    "icc": b"x", "markers": pictures.segment(0xE2, b"ICC_PROFILE\0\1\1x")}),
                (TypeError, "exif must be bytes, not dict", {"exif": {}}),
                (TypeError, "comment must be bytes or a str, not int", {"comment": 5}),
                (TypeError, "markers must be bytes, not None", {"markers": None})):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                ct.encode(self.pixels, **options)

    @unittest.skipIf(Image is None, "no Pillow")
    def test_pillow_reads_them(self):
        icc, exif = profile(100_000), Image.Exif()
        exif[0x0112], exif[0x010E] = 6, "a title"
        data = ct.encode(Image.fromarray(self.pixels), exif=exif, icc=icc, comment="word")
        image = Image.open(io.BytesIO(data))
        self.assertEqual(dict(image.getexif()), dict(exif))
        self.assertEqual(image.info["icc_profile"], icc)
        self.assertEqual(image.info["comment"], b"word")
        self.assertIn("jfif", image.info)
        # What Pillow has of a file goes into the next one.
        again = ct.encode(image, exif=image.info["exif"], icc=image.info["icc_profile"],
                          comment=image.info["comment"])
        self.assertEqual(ct.read(again).markers, ct.read(data).markers)


if __name__ == "__main__":
    unittest.main(verbosity=2)
