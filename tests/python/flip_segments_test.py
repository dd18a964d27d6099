#!/usr/bin/python3
# Exif and XMP data, thumbnails and other segments of pictures that are rotated, mirrored and
# cropped, judged by jpegtran, exiftool and a parser of the tests' own.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import warnings
from functools import partial

import cudatransform as ct
import pictures
from flips import ORIENTATIONS, Base, Tiff, exif, file_of, turned_by_jpegtran, upright_xmp, xmp


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
                        made = self.quietly(picture.transpose, way)
                        tiff = Tiff(made.markers)
                        self.assertEqual(tiff.ifd0[0x112][1], 1 if way == "auto" else orientation)
                        self.assertEqual((tiff.exif[0xA002][1], tiff.exif[0xA003][1]),
                                         (made.width, made.height))
                        if pictures.have_tools():
                            self.check_equal(tiff.thumbnail(),
                                             turned_by_jpegtran(thumbnail, direction))

    def test_thumbnail_goes(self):
        for thumbnail, change in (
                (file_of(160, 112), lambda p: p.crop((0, 0, 64, 64))),
                (file_of(160, 120), lambda p: p.transpose("90r")),  # half an MCU
                (b"no image at all", lambda p: p.transpose("180"))):
            picture = ct.read(file_of(320, 240, segments=exif(1, thumbnail, last=b"behind")))
            made = self.loudly("Exif thumbnail", change, picture)
            self.assertIsNone(Tiff(made.markers).thumbnail())
            self.assertNotIn(thumbnail[:200], made.markers)
            self.assertTrue(made.markers.endswith(b"behind"))

    def test_thumbnail_of_another_orientation(self):
        thumbnail = file_of(160, 112)
        for own, change in ((6, self.quietly), (1, partial(self.loudly, "Exif thumbnail"))):
            segments = exif(6, thumbnail, (320, 240), thumbnail_orientation=own)
            tiff = Tiff(change(ct.read(file_of(320, 240, segments=segments)).transpose,
                               "auto").markers)
            if own == 1:
                self.assertIsNone(tiff.thumbnail())
            else:
                self.assertEqual(tiff.ifd1[0x112][1], 1)

    def test_hostile_xmp(self):
        """Text that names a property again and again becomes no longer, and takes no time."""
        for text in (' p:Regions><p:Regions/>', "<p:Regions>", "</p:Regions>", ' p:Regions="',
                     "<p:Regions/>", "p:Regions"):
            text = 'xmlns:p="http://www.metadataworkinggroup.com/schemas/regions/"' + text * 2000
            picture = ct.read(file_of(320, 240, segments=xmp(text)))
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = picture.transpose("180")
            self.assertLess(time.process_time() - began, 2)
            self.assertLessEqual(len(made.markers), len(picture.markers))

    def test_an_edge_of_less_than_a_sample(self):
        """trim drops 8 columns of 328, which is half a sample of a thumbnail's 20."""
        picture = ct.read(file_of(324, 240, "gray", segments=exif(1, file_of(32, 24, "gray"))))
        made = self.quietly(picture.transpose, "horiz", trim=True)
        self.assertEqual(made.width, 320)
        self.assertIsNotNone(Tiff(made.markers).thumbnail())

    def test_previews_in_maker_notes(self):
        preview = file_of(160, 112, seed=4)
        note = b"MAKER\0" + preview + bytes(300) + b"end"
        picture = ct.read(file_of(320, 240, segments=exif(1, file_of(64, 48), note=note)))
        for direction in ("180", "90r"):
            made = self.quietly(picture.transpose, direction)
            begin = made.markers.index(b"MAKER") + 6
            self.assertEqual(made.markers[begin + len(note) - 9:begin + len(note) - 6], b"end")
            if pictures.have_tools():
                self.check_equal(made.markers[begin:begin + len(preview)],
                                 turned_by_jpegtran(preview, direction))
        made = self.loudly("preview in Exif data", picture.crop, (0, 0, 64, 64))
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
            self.assertEqual(read(picture.transpose("90r")), turned)
            self.assertEqual(read(picture.crop((64, 32, 128, 96))), (36, 18, *subject[2:]))
            self.assertEqual(read(picture.crop((128, 32, 192, 96))), ())

    def test_xmp(self):
        picture = ct.read(file_of(320, 240, segments=exif(6) + upright_xmp(6, 320, 240)))
        made = self.quietly(picture.transpose, "auto")
        for word in (b'tiff:Orientation="1"', b'exif:PixelXDimension="240"',
                     b"<exif:PixelYDimension>320</exif:PixelYDimension>"):
            self.assertIn(word, made.markers)
        made = self.quietly(picture.transpose, "180")
        self.assertIn(b'tiff:Orientation="6"', made.markers)
        for more, what in ((
                '<m:Regions xmlns:m="http://www.metadataworkinggroup.com/schemas/regions/">'
                '<a/></m:Regions>', "XMP regions"), (
                '<xmp:Thumbnails xmlns:xmp="http://ns.adobe.com/xap/1.0/">abc</xmp:Thumbnails>',
                "XMP thumbnails")):
            segments = upright_xmp(1, 320, 240, more + "<kept/>")
            picture = ct.read(file_of(320, 240, segments=segments))
            made = self.loudly(what, picture.transpose, "180")
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
            made = self.loudly(what, picture.transpose, "90r").markers
            self.assertEqual(made[len(exif(1)):], left)
        kept = pictures.segment(0xE2, b"ICC_PROFILE\0\1\1" + preview) + \
            pictures.segment(0xFE, preview) + pictures.segment(0xE5, b"\xff\xd8\xffnothing")
        picture = ct.read(file_of(320, 240, segments=exif(1) + kept))
        self.assertEqual(self.quietly(picture.transpose, "90r").markers[len(exif(1)):], kept)

    def test_edges(self):
        """Partial MCUs that auto leaves as they are: a warning; asked for by hand: none."""
        picture = ct.read(file_of(320, 248, segments=exif(6)))
        self.loudly("partial MCUs.*right edge", picture.transpose, "auto")
        self.quietly(picture.transpose, "90r")
        self.quietly(picture.transpose, "auto", trim=True)
        self.quietly(ct.read(file_of(320, 240, segments=exif(6))).transpose, "auto")

    @unittest.skipUnless(shutil.which("exiftool"), "no exiftool (libimage-exiftool-perl)")
    def test_exiftool(self):
        thumbnail = file_of(160, 112)
        with tempfile.TemporaryDirectory() as top:
            made = os.path.join(top, "made.jpg")
            path, small = os.path.join(top, "one.jpg"), os.path.join(top, "small.jpg")
            with open(small, "wb") as file:
                file.write(thumbnail)
            ct.write(ct.read(pictures.with_others(file_of(320, 240), (file_of(160, 120, "gray"),))),
                     path)
            subprocess.run(("exiftool", "-q", "-overwrite_original", f"-ThumbnailImage<={small}",
                            "-Orientation#=6", "-XMP-tiff:Orientation#=6", path), check=True)

            def told(*what):
                return subprocess.run(("exiftool", "-s3", "-n", *what, made), check=True,
                                      stdout=subprocess.PIPE).stdout
            for change, thumb, size in ((lambda p: p.transpose("auto"), (112, 160), "120 160"),
                                        (lambda p: p.crop((0, 0, 160, 128)), None, "80 64")):
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
