#!/usr/bin/python3
# Files of any sampling factors, against libjpeg-turbo's programs and Pillow.
# SPDX-License-Identifier: LGPL-2.1-or-later
import functools
import io
import itertools
import math
import os
import random
import subprocess
import tempfile
import unittest

import numpy as np

import cudatransform as ct
from cudatransform import color
import pictures

try:
    from PIL import Image
except ImportError:
    Image = None

# A few of each kind, and random ones.
FACTORS = ["1x1,2x1,1x1", "2x2,2x2,1x1", "1x1,2x2,2x2", "1x3,1x1,1x1", "3x1,1x1,1x1", "2x1,1x2,1x1",
           "1x1,1x1,2x2", "4x2,1x1,1x1", "4x4,1x1,1x1", "3x2,1x2,3x1", "1x2,1x1,1x2"]
FRACTIONS = ["3x1,2x1,2x1", "2x2,3x1,1x1", "4x3,2x2,1x1"]
MANY = os.environ.get("CUDATRANSFORM_TEST_QUICK") is None


def in_color(array, mode):
    return np.repeat(array[:, :, None], 3, 2) if mode == "RGB" and array.ndim == 2 else array


def random_factors(count, number):
    numbers = random.Random(number)
    return ",".join(f"{numbers.randint(1, 4)}x{numbers.randint(1, 4)}" for _ in range(count))


def blocks_of(factors):
    return sum(int(word[0]) * int(word[2]) for word in factors.split(","))


def pairs_of(factors):
    return [(int(word[0]), int(word[2])) for word in factors.split(",")]


@unittest.skipUnless(pictures.have_tools(), "no cjpeg and djpeg")
class BesideLibjpeg(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scans = os.path.join(cls.folder.name, "scans")
        with open(cls.scans, "w") as file:
            file.write("0;1;2;")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_program(self, *command, data):
        """The output; None: the program refuses."""
        done = subprocess.run(command, input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else None

    def file_of(self, array, factors, *options):
        scans = ["-scans", self.scans] if blocks_of(factors) > 10 else []
        return self.run_program("cjpeg", *options, *scans, "-sample", factors,
                                data=pictures.pnm(array))

    def check_pixels(self, data, what):
        for (reduce, upsampling), mode in itertools.product(
                ((1, "fancy"), (1, "nearest"), (2, "fancy"), (4, "nearest"), (8, "fancy")),
                ("RGB", "L")):
            if mode == "L" and (reduce > 1 or "rgb" in what):
                continue
            options = ["-nosmooth"] * (upsampling == "nearest") + ["-grayscale"] * (mode == "L")
            wanted = self.run_program("djpeg", "-dct", "int", "-ppm", "-scale", f"1/{reduce}",
                                      *options, data=data)
            got = ct.decode(data, mode, reduce=reduce, upsampling=upsampling)
            self.assertTrue(np.array_equal(got, in_color(pictures.from_pnm(wanted), mode)),
                            (what, mode, reduce, upsampling))

    def test_files_of_cjpeg(self):
        count = 0
        given = FACTORS + [random_factors(3, number) for number in range(200 if MANY else 30)]
        for number, factors in enumerate(given):
            for options in ((), ("-rgb", "-progressive"), ("-arithmetic",)):
                if blocks_of(factors) > 10 and "-progressive" in options:
                    continue
                width, height = 1 + 13 * number % 67, 1 + 7 * number % 45
                data = self.file_of(pictures.pixels(width, height, 3, number), factors, *options)
                if data is None:  # fractions, which cjpeg does not downsample by
                    continue
                what = factors, *options, *(name[1:] for name in options)
                read = ct.read(data)
                self.assertEqual(read.sampling, color.sampling_by(
                    "RGB" if "-rgb" in options else "YCbCr", pairs_of(factors)))
                self.assertEqual(ct.info(data).sampling, read.sampling)
                self.assertTrue(np.array_equal(read.pixels(), ct.decode(data)), what)
                self.check_pixels(data, what)
                self.check_flips(data, read, factors)
                count += 1
        self.assertGreater(count, 20)

    def check_flips(self, data, read, factors):
        # jpegtran keeps factors with a common divisor, and so larger MCUs.
        if any(functools.reduce(math.gcd, sides) > 1 for sides in zip(*pairs_of(factors))):
            return
        for direction, options in (("90r", ("-rotate", "90")), ("horiz", ("-flip", "horizontal")),
                                   ("ul-lr", ("-transpose",)), ("180", ("-rotate", "180"))):
            wanted = self.run_program("jpegtran", "-copy", "none", *options, data=data)
            if wanted is not None:  # more blocks than its one scan may have in an MCU
                self.assert_same_coefs(ct.read(wanted), read.transpose(direction),
                                        (factors, direction))

    def assert_same_coefs(self, one, other, what):
        self.assertEqual(one.sampling, other.sampling, what)
        for mine, its in zip(one.components, other.components):
            self.assertTrue(np.array_equal(mine.coefficients, its.coefficients), what)

    def test_written(self):
        """Any factors, and fractions, of all colors, by all processes."""
        given = [(kind, factors) for kind in ("YCbCr", "RGB") for factors in FACTORS + FRACTIONS]
        given += [(("YCbCr", "RGB", "CMYK", "YCCK")[number % 4],
                   random_factors(3 + number % 4 // 2, number))
                  for number in range(120 if MANY else 24)]
        for number, (kind, factors) in enumerate(given):
            sampling = color.sampling_by(kind, pairs_of(factors))
            made = pictures.made_of(sampling, 1 + 11 * number % 67, 1 + 5 * number % 45, number)
            for options in ({}, {"progressive": True, "restart": 3}, {"arithmetic": True},
                            {"optimize": True}):
                what = sampling, options
                data = ct.write(made, **options)
                read = ct.read(data)
                self.assert_same_coefs(read, made, what)
                self.assertEqual(ct.read(ct.write(read)), read, what)
                copied = self.run_program("jpegtran", "-copy", "all", data=data)
                if copied is not None:
                    self.assert_same_coefs(ct.read(copied), made, what)
                else:
                    self.assertGreater(blocks_of(",".join(
                        f"{h}x{v}" for h, v in color.factors_of(sampling))), 10, what)
            self.assert_same_coefs(made.transpose("ul-lr").transpose("ul-lr"), made, sampling)
            self.assertEqual(made.requantize(40).sampling, sampling)
            self.assertEqual(len(made.planes()), len(made))
            if Image is not None:
                self.check_beside_pillow(data, sampling)

    def check_beside_pillow(self, data, sampling):
        mode = "CMYK" if len(color.ids_of(sampling)) == 4 else "RGB"
        try:
            wanted = np.asarray(Image.open(io.BytesIO(data)).convert(mode))
        except OSError:  # libjpeg does not upsample by fractions
            wanted = None
        if color.why_no_pixels(sampling) is None:
            self.assertIsNotNone(wanted, sampling)
            for reduce, image in pictures.drafts_of(data):
                self.assertTrue(np.array_equal(ct.decode(data, mode, reduce=reduce),
                                               np.asarray(image.convert(mode))), (sampling, reduce))
            return
        self.assertIsNone(wanted, sampling)
        with self.assertRaisesRegex(ct.ReadError, "fractions"):
            ct.decode(data, mode)
        with self.assertRaisesRegex(ValueError, "fractions"):
            ct.read(data).pixels()


class Names(unittest.TestCase):
    def test_names(self):
        for name in ct.color.SAMPLINGS:
            self.assertEqual(color.sampling_of(name), name)
            kind = name.partition("-")[0]
            doubled = [(2 * h, 2 * v) for h, v in color.factors_of(name)]
            if max(max(pair) for pair in doubled) <= 4:
                self.assertEqual(color.sampling_by(kind, doubled), name)
        self.assertEqual(color.sampling_by("RGB", [(2, 2), (2, 2), (2, 1)]), "RGB-1x2,1x2,1x1")
        for wrong in ("YCbCr-2x2,1x1,1x1", "RGB-2x2,2x2,2x2", "YCbCr-5x1,1x1,1x1",
                      "CMYK-1x2,1x1,1x1", "YCbCr-2x4,2x2,2x4", "YCbCr-1x2", "Gray-1x1,2x1,1x1",
                      "YCbCr-1x2,1x1,1x1,1x1"):
            with self.assertRaisesRegex(ValueError, "sampling must be one of"):
                color.sampling_of(wrong)

    def test_pictures_that_contradict_themselves(self):
        made = pictures.made_of("YCbCr-1x2,1x1,1x2", 40, 30, 1)
        made.components[1].coefficients = made.components[1].coefficients[:, :-1]
        with self.assertRaisesRegex(ct.WriteError, "coefficients of component 1"):
            ct.write(made)
        with self.assertRaisesRegex(ValueError, "subsampling"):
            ct.encode(pictures.pixels(40, 30), subsampling="YCbCr-1x2,1x1,1x2")


class TwoComponents(unittest.TestCase):
    """libjpeg reads and writes them, and makes no pixels."""

    def test_coefficients(self):
        for sampling in ("2CLR-1x1,1x1", "2CLR-2x1,1x1", "2CLR-1x2,3x1", "2CLR-4x4,1x1"):
            made = pictures.made_of(sampling, 45, 31, 7)
            for kind in ({}, {"progressive": True}, {"arithmetic": True}, {"restart": 2}):
                with self.subTest(sampling=sampling, kind=kind):
                    data = ct.write(made, **kind)
                    again = ct.read(data)
                    self.assertEqual(again, made)
                    self.assertEqual((again.sampling, ct.info(data).sampling), (sampling,) * 2)
            self.assertEqual(made.transpose("ul-lr").transpose("ul-lr"), made)
            self.assertEqual([plane.shape for plane in again.samples()],
                             [(c.height, c.width) for c in made.components])
            for call in (again.pixels, lambda: ct.decode(data), lambda: ct.decode(data, "L")):
                with self.assertRaisesRegex(ValueError, "two components of unspecified color"):
                    call()

    @unittest.skipUnless(pictures.have_tools(), "no jpegtran")
    def test_jpegtran_writes_the_same(self):
        made = pictures.made_of("2CLR-2x1,1x1", 45, 31, 8)
        for switch, kind in (((), {}), (("-progressive",), {"progressive": True}),
                             (("-optimize",), {"optimize": True})):
            done = subprocess.run(("jpegtran", *switch), input=ct.write(made),
                                  stdout=subprocess.PIPE, check=True)
            self.assertEqual(done.stdout, ct.write(made, **kind))


class BadInput(unittest.TestCase):
    def setUp(self):
        self.data = bytearray(ct.encode(pictures.pixels(43, 29), subsampling="4:2:0"))
        self.frame = self.data.index(b"\xff\xc0")

    def assert_refused(self, words):
        for call in (ct.read, ct.decode):
            with self.assertRaisesRegex(ct.ReadError, words):
                call(bytes(self.data))

    def test_factors(self):
        for both in (0x00, 0x02, 0x20, 0x05, 0x51, 0xFF):
            self.data[self.frame + 11] = both
            self.assert_refused("Bogus sampling factors")
            self.assertIsNone(ct.info(bytes(self.data)).sampling)

    def test_many_blocks_in_one_scan(self):
        for first, second in ((0x44, 0x11), (0x33, 0x11), (0x42, 0x22)):
            self.data[self.frame + 11], self.data[self.frame + 14] = first, second
            self.assert_refused("too large for interleaved scan")

    def test_a_component_without_a_scan(self):
        scan = self.data.index(b"\xff\xda")
        self.data[scan + 2:scan + 14] = bytes((0, 8, 1, 1, 0, 0, 63, 0))
        self.assert_refused("component 2 of 3")

    def test_sizes_of_large_factors(self):
        self.data[self.frame + 11] = 0x44
        for side, words in ((0xFFFF, "image dimension is 65500"), (65500, "exceeds max_pixels")):
            self.data[self.frame + 5:self.frame + 9] = side.to_bytes(2, "big") * 2
            self.assert_refused(words)


if __name__ == "__main__":
    unittest.main()
