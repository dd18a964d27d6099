#!/usr/bin/python3
# Pictures transposed, cropped and requantized: in system memory, against jpegtran; or in CUDA
# memory, on the emulator or a GPU.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: coef_filters_test.py [cuda|emulated]
import os
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import cudatransform as ct
from cudatransform import cuda
import pictures

try:
    from PIL import Image
except ImportError:
    Image = None

PLACE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
TURNS = {"identity": [], "90r": ["-rotate", "90"], "180": ["-rotate", "180"],
         "90l": ["-rotate", "270"], "horiz": ["-flip", "horizontal"], "vert": ["-flip", "vertical"],
         "ul-lr": ["-transpose"], "ur-ll": ["-transverse"]}
ORIENTATIONS = dict(zip(("identity", "horiz", "180", "vert", "ul-lr", "90r", "ur-ll", "90l"),
                        range(1, 9)))
SAMPLINGS = ("4:2:0", "4:2:2", "4:4:4", "4:4:0", "4:1:1", "4:4:1", "gray", "rgb", "cmyk",
             "YCCK-4:2:2")
MCUS = {"YCbCr-4:2:0": (16, 16), "YCbCr-4:2:2": (16, 8), "YCbCr-4:4:0": (8, 16),
        "YCbCr-4:1:1": (32, 8), "YCbCr-4:4:1": (8, 32), "YCCK-4:2:2": (16, 8)}
ON_SIDE = {"YCbCr-4:2:2": "YCbCr-4:4:0", "YCbCr-4:1:1": "YCbCr-4:4:1",
           "YCbCr-4:4:0": "YCbCr-4:2:2", "YCbCr-4:4:1": "YCbCr-4:1:1", "YCCK-4:2:2": "YCCK-4:4:0"}


def picture_of(width, height, sampling, seed, quality=80):
    channels = pictures.channels_of(sampling)
    return ct.Picture.from_pixels(pictures.pixels(width, height, channels, seed), quality, sampling)


def exif(orientation):
    tiff = (b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + bytes([0, orientation]) +
            b"\0\0\0\0\0\0")
    return pictures.segment(0xE1, b"Exif\0\0" + tiff)


def jpegtran(picture, *options):
    """The picture of libjpeg-turbo's file; None where it refuses."""
    done = subprocess.run(("jpegtran", "-copy", "none", *options), input=ct.write(picture),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return ct.read(done.stdout) if done.returncode == 0 else None


class CoefFilters(unittest.TestCase):
    def on_place(self, picture):
        if PLACE == "cpu":
            return picture
        with tempfile.TemporaryDirectory() as folder:
            path = pictures.write_all(folder, {"one.jpg": ct.write(picture)})["one.jpg"]
            return ct.read(path, device="cuda")

    def back(self, picture):
        if PLACE != "cpu":
            self.assertIsInstance(picture, cuda.CudaPicture)
            picture = picture.cpu()
        return picture

    def check(self, got, expected):
        got = self.back(got)
        self.assertEqual((got.width, got.height, got.sampling),
                         (expected.width, expected.height, expected.sampling))
        for index in range(len(expected)):
            self.assertTrue(np.array_equal(got[index], expected[index]))
            self.assertTrue(np.array_equal(got.table(index), expected.table(index)))

    @unittest.skipUnless(pictures.have_tools(), "jpegtran is not there")
    def test_turned_is_jpegtran_s(self):
        chance = random.Random(4)
        for number, sampling in enumerate(SAMPLINGS * 3):
            width, height = chance.randrange(1, 120), chance.randrange(1, 120)
            picture = picture_of(width, height, sampling, number)
            placed = self.on_place(picture)
            for direction, options in TURNS.items():
                for trim in (False, True):
                    with self.subTest(sampling=sampling, size=(width, height), direction=direction,
                                      trim=trim):
                        expected = jpegtran(picture, *options, *["-trim"] * trim)
                        self.check(placed.transpose(direction, trim=trim), expected)
                expected = jpegtran(picture, *options, "-perfect")
                if expected is None:
                    with self.assertRaisesRegex(ValueError, "perfect"):
                        placed.transpose(direction, perfect=True)
                else:
                    self.check(placed.transpose(direction, perfect=True), expected)

    @unittest.skipUnless(pictures.have_tools(), "jpegtran is not there")
    def test_crop_is_jpegtran_s(self):
        chance = random.Random(5)
        for number, sampling in enumerate(SAMPLINGS * 6):
            width, height = chance.randrange(1, 150), chance.randrange(1, 150)
            left, top = chance.randrange(width), chance.randrange(height)
            across, down = chance.randint(1, width - left), chance.randint(1, height - top)
            picture = picture_of(width, height, sampling, number)
            expected = jpegtran(picture, "-crop", f"{across}x{down}+{left}+{top}")
            self.check(self.on_place(picture).crop(pictures.box(left, top, across, down)), expected)

    def test_turns_undo_each_other(self):
        for sampling in SAMPLINGS:
            full = ct.color.sampling_of(sampling)
            mcu = MCUS.get(full, (8, 8))
            picture = picture_of(3 * mcu[0], 2 * mcu[1], sampling, 7)
            on_its_side = self.on_place(picture).transpose("90r")
            self.assertEqual(on_its_side.sampling, ON_SIDE.get(full, full))
            self.check(on_its_side.transpose("90l"), picture)

    def test_pillows_transpose(self):
        picture = picture_of(48, 32, "4:4:4", 3)
        placed, pixels = self.on_place(picture), picture.pixels()
        # FLIP_LEFT_RIGHT, FLIP_TOP_BOTTOM, ROTATE_90, ROTATE_180, ROTATE_270, TRANSPOSE, TRANSVERSE
        for number, expected in enumerate((
                pixels[:, ::-1], pixels[::-1], np.rot90(pixels), pixels[::-1, ::-1],
                np.rot90(pixels, 3), pixels.swapaxes(0, 1), np.rot90(pixels, 2).swapaxes(0, 1))):
            made = self.back(placed.transpose(number)).pixels()
            # A transform of moved samples rounds otherwise.
            self.assertLess(np.abs(made.astype(int) - expected).max(), 4, number)
            if Image is not None:
                member = np.asarray(Image.fromarray(pixels).transpose(Image.Transpose(number)))
                self.assertTrue(np.array_equal(member, expected))
        for wrong, error in ((90, ValueError), (7, ValueError), (-1, ValueError), (True, TypeError),
                             (None, TypeError), (2.0, TypeError)):
            with self.assertRaises(error):
                placed.transpose(wrong)

    def test_auto_makes_upright(self):
        for direction, orientation in ORIENTATIONS.items():
            picture = picture_of(48, 32, "4:2:0", orientation)
            picture.markers += exif(orientation) + pictures.segment(0xFE, b"a comment")
            other = picture_of(16, 8, "gray", 1)
            expected = picture.transpose(direction)
            picture.attachments, picture.trailer = (ct.write(other),), b"end"
            placed = self.on_place(picture)
            got = self.back(placed.transpose("auto"))
            self.check_same(got, expected)
            self.assertEqual(got.markers, placed.markers.replace(exif(orientation), exif(1)))
            self.check_same(ct.read(got.attachments[0]), other.transpose(direction))
            self.assertEqual(got.trailer, picture.trailer)
            again = ct.read(ct.write(got))
            self.check_same(again.transpose("auto"), got)

    def test_metadata_are_the_picture_s(self):
        """Those that it has now, wherever it is, not those of the file that was read."""
        for direction in ("identity", "180"):
            picture = picture_of(48, 32, "4:2:0", 1)
            picture.markers += pictures.segment(0xFE, b"of the file")
            placed = self.on_place(picture)
            placed.markers = exif(1)
            placed.attachments = (ct.write(picture_of(16, 16, "gray", 1)),)
            got = placed.transpose(direction)
            self.assertEqual(got.markers, exif(1))
            self.assertEqual(len(got.attachments), 1)

    def check_same(self, got, expected):
        for index in range(len(expected)):
            self.assertTrue(np.array_equal(got[index], expected[index]))

    def test_requantize_to_a_size(self):
        before = picture_of(200, 150, "4:2:0", 5, 90)
        placed, largest = self.on_place(before), len(ct.write(before))
        sizes = [len(ct.write(self.back(placed.requantize(quality)))) for quality in (1, 20, 45)]
        for size in (*sizes, sizes[1] + 1, 2 * sizes[1]):
            made = placed.requantize(target_size=size)
            self.assertEqual(type(made), type(placed))
            found = len(ct.write(self.back(made)))
            self.assertLessEqual(found, size)
            higher = next(quality for quality in range(1, 101)
                          if len(ct.write(self.back(placed.requantize(quality)))) > size)
            self.check_same(self.back(made), self.back(placed.requantize(higher - 1)))
        self.check_same(self.back(placed.requantize(target_size=largest)), before)
        with self.assertWarnsRegex(UserWarning, f"target_size=9 exceeded: {sizes[0]} bytes"):
            made = self.back(placed.requantize(target_size=9))
        self.assertEqual(len(ct.write(made)), sizes[0])
        for arguments in ({}, {"quality": 5, "target_size": 900}, {"target_size": 0}):
            with self.assertRaises(ValueError):
                placed.requantize(**arguments)
        with self.assertRaises(TypeError):
            placed.requantize(target_size=900.)

    def test_requantize(self):
        for number, sampling in enumerate(SAMPLINGS):
            before = picture_of(70 + number, 50, sampling, number)
            for quality in (1, 40, 79, 100):
                after = self.back(self.on_place(before).requantize(quality))
                for index in range(len(before)):
                    wanted = np.maximum(before.table(index), ct.quality_tables(quality)[
                        int(ct.color.is_chroma(before.sampling, index))])
                    self.assertTrue(np.array_equal(after.table(index), wanted))
                    twice = 2 * abs(before[index].astype(np.int64)) * before.table(index)
                    size = (twice + wanted) // (2 * wanted.astype(np.int64))
                    self.assertTrue(np.array_equal(after[index], np.sign(before[index]) * size))

    def test_results_own_their_memory(self):
        picture = picture_of(40, 40, "4:2:0", 3)
        for made in (picture.transpose("identity"), picture.requantize(100),
                     picture.transpose("180")):
            copy = made.copy()
            picture[0][:] += 1
            made[0][:] = made[0] + 0
            self.assertTrue(pictures.equal(made, copy))

    def test_twelve_bits(self):
        if PLACE != "cpu":
            return
        picture = picture_of(32, 16, "4:2:0", 5)
        picture.depth = 12
        self.assertEqual(picture.transpose("90r").depth, 12)

    def test_refusals(self):
        picture = self.on_place(picture_of(50, 40, "4:2:0", 2))
        for call, words in (
                (lambda: picture.transpose("left"), "method must be .identity.*not 'left'"),
                (lambda: picture.crop((50, 0, 51, 1)),
                 "box ends at .51, 1., the picture is 50x40"),
                (lambda: picture.crop((0, 0, 1, 41)), "ends at .1, 41."),
                (lambda: picture.crop((0, 0, 0, 1)), "box must be .*not empty"),
                (lambda: picture.crop((-1, 0, 1, 1)), "box .-1, 0, 1, 1. reaches beyond"),
                (lambda: picture.crop((0, 0, 1 << 32, 1)), "reaches beyond"),
                (lambda: picture.transpose("180", perfect=True), "perfect"),
                (lambda: picture.transpose("180", perfect=True), "perfect"),  # again
                (lambda: picture.requantize(0), "quality must be 1 to 100")):
            with self.assertRaisesRegex(ValueError, words):
                call()
            self.assertEqual(self.back(picture.transpose("90l")).width, 40)
        for option in ("trim", "perfect"):
            with self.assertRaisesRegex(TypeError, f"{option} must be True or False, not 'false'"):
                picture.transpose("180", **{option: "false"})
        for wrong in (("0", 0, 8, 8), 8, (0, 0, 8.5, 8)):
            with self.assertRaisesRegex(TypeError, "box must be"):
                picture.crop(wrong)


if __name__ == "__main__":
    if PLACE == "cuda":
        try:
            CoefFilters().on_place(picture_of(8, 8, "gray", 1))
        except ct.Unavailable as error:
            print(error)
            sys.exit(1 if os.environ.get("CUDATRANSFORM_REQUIRE_GPU") == "1" else pictures.SKIP)
    unittest.main(argv=sys.argv[:1], verbosity=2)
