#!/usr/bin/python3
# cudatransform.dct, idct and psnr against their definitions.
# SPDX-License-Identifier: LGPL-2.1-or-later
import math
import unittest

import numpy as np

import cudatransform as ct
import pictures


def matrix():
    """The orthonormal DCT-II of 8 points."""
    k, n = np.mgrid[:8, :8]
    return np.where(k == 0, math.sqrt(1 / 8), 1 / 2) * np.cos((2 * n + 1) * k * math.pi / 16)


def definition(plane, depth=8):
    """The transform of a plane in double precision."""
    height, width = plane.shape
    padded = np.pad(plane.astype(float), ((0, -height % 8), (0, -width % 8)), mode="edge")
    blocks = padded.reshape(-(-height // 8), 8, -(-width // 8), 8).transpose(0, 2, 1, 3)
    return matrix() @ (blocks - 2 ** (depth - 1)) @ matrix().T


class Transforms(unittest.TestCase):
    def test_against_the_definition(self):
        for size in ((1, 1), (8, 8), (61, 97), (120, 160)):
            plane = pictures.pixels(size[1], size[0], 1)
            for method, most in (("float", .01), ("reference", .001), ("islow", 1)):
                with self.subTest(size=size, method=method):
                    made = ct.dct(plane, method=method)
                    self.assertEqual((made.dtype, made.shape),
                                     (np.float32, definition(plane).shape))
                    self.assertLess(abs(made - definition(plane)).max(), most)

    def test_coefficients(self):
        plane = pictures.pixels(97, 61, 1)
        table = ct.quality_tables(60)[0]
        coefs = ct.dct(plane, table=table)
        self.assertEqual(coefs.dtype, np.int16)
        self.assertLessEqual(abs(coefs - definition(plane) / table).max(), .6)
        again = ct.idct(coefs, size=plane.shape, table=table)
        self.assertEqual((again.shape, again.dtype), (plane.shape, np.uint8))
        picture = ct.Picture.from_pixels(plane, 60)
        self.assertTrue(np.array_equal(picture[0], coefs))
        self.assertTrue(np.array_equal(picture.pixels(), again))

    def test_there_and_back(self):
        plane = pictures.pixels(97, 61, 1)
        for method in ("float", "reference", "naive", "matrix", "separable", "decomposed"):
            back = ct.idct(ct.dct(plane, method=method), size=plane.shape, method=method)
            self.assertTrue(np.array_equal(back, plane), method)
        deep = np.random.default_rng(1).integers(0, 65536, (61, 97)).astype(np.uint16)
        back = ct.idct(ct.dct(deep), size=deep.shape, depth=16)
        self.assertLessEqual(abs(back.astype(int) - deep).max(), 1)
        ones = np.ones((8, 8), int)
        back = ct.idct(ct.dct(deep, table=ones), size=deep.shape, depth=16, table=ones)
        self.assertLessEqual(abs(back.astype(int) - deep).max(), 3)
        deep >>= 4
        coefs = np.round(definition(deep, 12)).astype(np.int16)
        back = ct.idct(coefs, size=deep.shape, depth=12, table=ones)
        self.assertEqual(back.dtype, np.uint16)
        self.assertLessEqual(abs(back.astype(int) - deep).max(), 2)
        back = ct.idct(coefs.astype(np.float32), size=deep.shape, depth=12)
        self.assertLessEqual(abs(back.astype(int) - deep).max(), 2)

    def test_rows_with_gaps(self):
        plane = pictures.pixels(97, 61, 1)
        wide = np.zeros((122, 300), np.uint8)
        wide[::2, 3:100] = plane
        self.assertTrue(np.array_equal(ct.dct(wide[::2, 3:100]), ct.dct(plane)))
        coefs = ct.dct(plane)
        self.assertTrue(np.array_equal(ct.idct(coefs[::-1][::-1]), ct.idct(coefs)))

    def test_quality_tables(self):
        plain = ct.quality_tables(50)
        self.assertEqual(plain[:, 0, :3].tolist(), [[16, 11, 10], [17, 18, 24]])
        for sampling, chroma in (("4:2:0", [11, 16, 25]), ("4:1:1", [11, 16, 25]),
                                 ("4:2:2", [14, 26, 40]), ("4:4:0", [14, 26, 40]),
                                 ("YCbCr-4:4:4", [18, 43, 65])):
            made = ct.quality_tables(50, "perceptual", sampling)
            self.assertEqual(made[:, 0, :3].tolist(), [[12, 14, 20], chroma], sampling)
            self.assertTrue(np.array_equal(ct.quality_tables(50, subsampling=sampling), plain))
        self.assertTrue((ct.quality_tables(100, "perceptual") == 1).all())

    def test_refusals(self):
        plane, coefs = np.zeros((8, 8), np.uint8), np.zeros((1, 1, 8, 8), np.int16)
        ones = np.ones((8, 8), int)
        for call in (lambda: ct.dct(plane[0]), lambda: ct.dct(plane.astype(float)),
                     lambda: ct.dct(plane[:0]), lambda: ct.dct(plane, method="best"),
                     lambda: ct.dct(plane, table=np.zeros((8, 8), int)),
                     lambda: ct.dct(plane, table=np.ones((2, 8, 8), int)),
                     lambda: ct.idct(coefs), lambda: ct.idct(coefs, table=ones, depth=10),
                     lambda: ct.idct(coefs, table=ones, size=(9, 8)),
                     lambda: ct.idct(coefs.astype(np.int32), table=ones),
                     lambda: ct.idct(coefs[0], table=ones), lambda: ct.quality_tables(0),
                     lambda: ct.quality_tables(50, "flat"),
                     lambda: ct.quality_tables(50, "perceptual", "4:3:3")):
            with self.assertRaises(ValueError):
                call()

    def test_types_of_arguments(self):
        coefs = np.zeros((1, 1, 8, 8), np.float32)
        for call in (lambda: ct.idct(coefs, size=(8., 8)), lambda: ct.idct(coefs, size=8),
                     lambda: ct.idct(coefs, size=0), lambda: ct.idct(coefs, size=False),
                     lambda: ct.idct(coefs, depth=8.), lambda: ct.idct(coefs, depth="8"),
                     lambda: ct.quality_tables(50.5), lambda: ct.quality_tables("50"),
                     lambda: ct.quality_tables(50, 3),
                     lambda: ct.dct(coefs[0, 0, 0].astype(np.uint8), method=["islow"])):
            with self.assertRaises(TypeError):
                call()
        self.assertEqual(ct.idct(coefs, size=np.array([7, 3])).shape, (7, 3))
        for call in (lambda: ct.idct(coefs, size=(8, 8, 1)), lambda: ct.idct(coefs, size=()),
                     lambda: ct.idct(coefs, size=[]), lambda: ct.psnr(coefs, coefs, 0),
                     lambda: ct.psnr(coefs, coefs, math.nan)):
            with self.assertRaises(ValueError):
                call()
        self.assertEqual(ct.psnr([1, 2], [1, 2], 255), math.inf)

    def test_psnr(self):
        a = pictures.pixels(40, 30)
        b = a.copy()
        b[0, 0, 0] ^= 1
        self.assertEqual(ct.psnr(a, a), math.inf)
        self.assertAlmostEqual(ct.psnr(a, b), 10 * math.log10(255**2 * a.size))
        self.assertAlmostEqual(ct.psnr(a / 255., b / 255., data_range=1), ct.psnr(a, b))
        self.assertAlmostEqual(ct.psnr(a, b / 1., data_range=255), ct.psnr(a, b))
        for one, other, kinds in ((a / 1., b / 1., "float64"), (a, b / 1., "uint8 and float64"),
                                  (a.astype(np.uint16), b.astype(np.uint16), "uint16")):
            with self.assertRaisesRegex(ValueError, f"of {kinds} needs data_range="):
                ct.psnr(one, other)
        self.assertAlmostEqual(ct.psnr(a, b, data_range=100), 10 * math.log10(100**2 * a.size))
        with self.assertRaises(ValueError):
            ct.psnr(a, b[:5])
        for one, other, name in (("a.jpg", "b.jpg", "str"), (a, None, "NoneType")):
            with self.assertRaisesRegex(TypeError, rf"such as ct.decode\(path\), not {name}$"):
                ct.psnr(one, other)


if __name__ == "__main__":
    unittest.main(verbosity=2)
