#!/usr/bin/python3
# Pictures of 12 bits a sample: coefficients, tables, samples, pixels, and what is written of them.
# SPDX-License-Identifier: LGPL-2.1-or-later
import itertools
import os
import pickle
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import cudatransform as ct
import libjpeg3
import pictures

try:
    import imagecodecs  # with libjpeg-turbo 3
except ImportError:
    imagecodecs = None

# islow's 8-point transform in units of 2^-13: between its roundings libjpeg's flow graph is linear,
# so that a matrix of the sums of its constants makes the same integers.
_HALVES = [[8192, 8192, 8192, 8192], [11363, 9633, 6437, 2260], [10703, 4433, -4433, -10703],
           [9633, -2259, -11362, -6436], [8192, -8192, -8192, 8192], [6437, -11362, 2261, 9633],
           [4433, -10704, 10704, -4433], [2260, -6436, 9633, -11363]]
ISLOW = np.array([row + [(-1) ** k * value for value in row[::-1]]
                  for k, row in enumerate(_HALVES)], np.int64)


def descaled(values, bits):
    return (values + (1 << (bits - 1))) >> bits


def blocks_of(plane):
    """int64 (blocks_h, blocks_w, 8, 8), the last column and row repeated."""
    height, width = plane.shape
    whole = np.pad(plane.astype(np.int64), ((0, -height % 8), (0, -width % 8)), mode="edge")
    return whole.reshape(len(whole) // 8, 8, -1, 8).transpose(0, 2, 1, 3)


def islow_coefs(plane, table):
    """libjpeg's of 12 bits: rows, then columns, with one fraction bit between them."""
    rows = descaled((blocks_of(plane) - 2048) @ ISLOW.T, 12)
    values = descaled(ISLOW @ rows, 14)
    divisors = 8 * table.astype(np.int64)
    return np.sign(values) * ((abs(values) + divisors // 2) // divisors)


def islow_samples(coefs, table, height, width):
    columns = descaled(ISLOW.T @ (coefs * table.astype(np.int64)), 12)
    blocks = (descaled(columns @ ISLOW, 17) + 2048).clip(0, 4095)
    rows, across = blocks.shape[:2]
    return blocks.transpose(0, 2, 1, 3).reshape(8 * rows, 8 * across)[:height, :width]


def deep_pixels(width, height, channels, kind):
    """uint16, 0 to 4095, of a kind that is hard for integers, or of none."""
    numbers = np.random.default_rng((width, height, channels))
    shape = (height, width, channels)
    y, x = np.mgrid[:height, :width]
    made = {"noise": lambda: numbers.integers(0, 4096, shape),
            "extremes": lambda: numbers.integers(0, 2, shape) * 4095,
            "halves": lambda: np.repeat((y // 4 % 2 * 4095)[:, :, None], channels, 2),
            "smooth": lambda: (37 * x + 13 * y)[:, :, None] // (1 + np.arange(channels))
                              + numbers.integers(0, 9, shape)}[kind]()
    made = made.clip(0, 4095).astype(np.uint16)
    return made[:, :, 0].copy() if channels == 1 else made


def planes_by_element(data, scale, short, shape):
    """uint16 of `shape`: the first planes of cudaidct8x8's frame of a file of 12 bits."""
    formats = {None: "GRAY16_LE", "444": "Y444_12LE", "420": "I420_12LE"}
    with tempfile.TemporaryDirectory() as folder:
        file, frame = os.path.join(folder, "file.jpg"), os.path.join(folder, "frame")
        with open(file, "wb") as out:
            out.write(data)
        backend = os.environ.get("CUDATRANSFORM_TEST_BACKEND", "cpu")
        subprocess.run(("gst-launch-1.0", "-q", "filesrc", "location=" + file, "!", "jpegcoefdec",
                        "!", "cudaidct8x8", "method=islow", "scale=" + scale, "backend=" + backend,
                        "!", "video/x-raw,format=" + formats[short], "!", "filesink",
                        "location=" + frame), check=True)
        words = np.fromfile(frame, "<u2")
    height, width, count = shape
    stride = width + width % 2  # rows begin at multiples of four bytes
    planes = words[:count * height * stride].reshape(count, height, stride)[:, :, :width]
    return (planes >> 4 if short is None else planes).transpose(1, 2, 0)


KINDS = ("noise", "extremes", "halves", "smooth")


class TwelveBits(unittest.TestCase):
    TABLE = np.arange(300, 364, dtype=np.uint16).reshape(8, 8)

    def coefs(self, count, most=40):
        random = np.random.default_rng(count)
        coefs = random.integers(-most, most + 1, (count, 3, 5, 8, 8), np.int16)
        coefs[:, :, :, 2:, 2:] = 0
        return list(coefs)

    def picture(self, count, most=40):
        return ct.read(pictures.twelve_bits(self.coefs(count, most), 37, 20, self.TABLE))

    def test_coefficients_and_tables(self):
        for count, sampling in ((1, "GRAYSCALE"), (3, "YCbCr-4:4:4")):
            # The largest that there are, which int16 holds.
            coefs = self.coefs(count)
            coefs[0][1, 1, 7, 7], coefs[0][1, 3, 0, 0] = 16383, 16383
            coefs[0][0, 2, 0, 0] = -16384
            picture = ct.read(pictures.twelve_bits(coefs, 37, 20, self.TABLE))
            self.assertEqual((picture.depth, picture.sampling), (12, sampling))
            self.assertEqual(picture.tables.dtype, np.uint16)
            for index in range(count):
                np.testing.assert_array_equal(picture[index], coefs[index])
                np.testing.assert_array_equal(picture.table(index), self.TABLE)
            for kind in ({}, {"optimize": True}, {"restart": 4}):
                data = ct.write(picture, **kind)
                self.assertEqual(pictures.frame_of(data), 0xC1)
                again = ct.read(data)
                self.assertEqual(again.depth, 12)
                self.assertTrue(pictures.equal(again, pictures.with_jfif(picture)))
            self.assertEqual(picture.copy().depth, 12)
            self.assertEqual(pickle.loads(pickle.dumps(picture)).depth, 12)

    def test_samples_and_pixels(self):
        # The inverse by its definition.
        angles = (2 * np.arange(8)[:, None] + 1) * np.arange(8) * np.pi / 16
        basis = np.cos(angles) / 2 * np.where(np.arange(8), 1, np.sqrt(0.5))
        for count in (1, 3):
            picture = self.picture(count, 3)  # samples less than four times as large as 12 bits
            samples = picture.samples()
            for plane, values in zip(samples, picture.dequantize()):
                blocks = basis @ values.astype(np.float64) @ basis.T + 2048
                wanted = blocks.transpose(0, 2, 1, 3).reshape(24, 40)[:20, :37].clip(0, 4095)
                self.assertEqual((plane.dtype, plane.shape), (np.uint16, (20, 37)))
                self.assertLessEqual(abs(plane - wanted).max(), 1.5)
            pixels = picture.pixels()
            self.assertEqual(pixels.dtype, np.uint16)
            if count == 1:
                np.testing.assert_array_equal(pixels, samples[0])
                continue
            luma, cb, cr = (plane.astype(np.float64) for plane in samples)
            wanted = np.dstack([luma + 1.402 * (cr - 2048),
                                luma - .34414 * (cb - 2048) - .71414 * (cr - 2048),
                                luma + 1.772 * (cb - 2048)]).clip(0, 4095)
            self.assertLessEqual(abs(pixels - wanted).max(), 1)

    def test_islow_by_its_definition(self):
        for kind, size, quality in itertools.product(KINDS, ((37, 20), (8, 8), (1, 1)),
                                                     (1, 30, 90, 100)):
            with self.subTest(kind=kind, size=size, quality=quality):
                array = deep_pixels(*size, 1, kind)
                picture = ct.Picture.from_pixels(array, quality)
                self.assertEqual(picture.depth, 12)
                table = picture.table(0)
                np.testing.assert_array_equal(picture[0], islow_coefs(array, table))
                np.testing.assert_array_equal(
                    picture.samples()[0], islow_samples(picture[0], table, *size[::-1]))

    def test_colors_by_their_definition(self):
        """Of pixels in one color planes are exact, and so is a file of quality 100."""
        for subsampling in (*ct.color._SUBSAMPLINGS[:6], "rgb", "cmyk"):
            channels = 4 if subsampling == "cmyk" else 3
            color = np.array([4095, 70, 2100, 9][:channels], np.uint16)
            array = np.tile(color, (19, 34, 1))
            data = ct.encode(array, quality=100, subsampling=subsampling)
            picture = ct.read(data)
            self.assertEqual((picture.depth, ct.info(data).depth), (12, 12))
            pixels = picture.pixels()
            self.assertEqual(pixels.dtype, np.uint16)
            self.assertLessEqual(abs(pixels.astype(int) - color).max(), 2)

    def test_pixels_of_other_values(self):
        with self.assertRaisesRegex(ValueError, "12 bits, 0 to 4095, not 4096"):
            ct.encode(np.full((8, 8), 4096, np.uint16))
        for options in ({"quantizer": "rd"}, {"target_size": 900}, {"qtables": "perceptual"}):
            with self.assertRaisesRegex(ValueError, "12 bits need"):
                ct.encode(np.zeros((8, 8), np.uint16), **options)

    @unittest.skipUnless(imagecodecs, "no imagecodecs")
    def test_beside_libjpeg_turbo_3(self):
        for kind, size, channels, quality in itertools.product(
                KINDS, ((37, 20), (16, 33), (3, 2)), (1, 3), (30, 95)):
            array = deep_pixels(*size, channels, kind)
            for short in ("444", "422", "420") if channels == 3 else (None,):
                with self.subTest(kind=kind, size=size, quality=quality, subsampling=short):
                    colors = {} if short is None else {
                        "subsampling": short, "colorspace": "rgb", "outcolorspace": "ycbcr"}
                    data = imagecodecs.jpeg8_encode(array, level=quality, bitspersample=12,
                                                    optimize=True, **colors)
                    self.assertEqual(ct.encode(array, quality=quality, subsampling=short), data)
                    np.testing.assert_array_equal(imagecodecs.jpeg8_decode(data),
                                                  ct.read(data).pixels())

    @unittest.skipUnless(libjpeg3.LIBRARY and shutil.which("gst-launch-1.0"),
                         "no libjpeg-turbo 3, or no gst-launch-1.0")
    def test_scales_beside_libjpeg_turbo_3(self):
        """Those of cudaidct8x8: gray, luma, and chroma that libjpeg does not enlarge."""
        for kind, size, quality in itertools.product(KINDS, ((37, 20), (16, 33), (3, 2)), (30, 95)):
            for short in (None, "444", "420"):
                array = deep_pixels(*size, 1 if short is None else 3, kind)
                data = ct.encode(array, quality=quality, subsampling=short)
                for scale, name in ((1, "full"), (2, "half"), (4, "quarter"), (8, "eighth")):
                    with self.subTest(kind=kind, size=size, quality=quality, subsampling=short,
                                      scale=scale):
                        wanted = libjpeg3.decoded(data, scale, libjpeg3.YCBCR if short == "444"
                                                  else libjpeg3.GRAYSCALE)
                        np.testing.assert_array_equal(
                            planes_by_element(data, name, short, wanted.shape), wanted)

    @unittest.skipUnless(libjpeg3.LIBRARY, "no libjpeg-turbo 3")
    def test_progressive_beside_libjpeg_turbo_3(self):
        numbers = np.random.default_rng(1)
        cases = list(itertools.product(
            ("GRAYSCALE", "YCbCr-4:2:0", "YCbCr-1x2,1x1,1x2", "RGB", "YCCK-4:2:2", "2CLR-2x1,1x1"),
            ((0.002, 40), (0.3, 3), (0.9, 30), (0.5, 16383)), ((45, 37), (211, 140)), (0, 5)))
        cases.append(("GRAYSCALE", (0, 9), (1650, 1600), 0))  # a run of 32,767 blocks and more
        for sampling, (density, most), size, restart in cases:
            picture = pictures.made_of(sampling, *size, restart)
            picture.depth = 12
            for component in picture.components:
                coefs = component.coefficients
                coefs[...] = np.where(numbers.random(coefs.shape) < density,
                                      numbers.integers(-most, most + 1, coefs.shape), 0)
            with self.subTest(sampling=sampling, density=density, size=size, restart=restart):
                wanted = libjpeg3.progressive(ct.write(picture), restart)
                self.assertEqual(ct.write(picture, progressive=True, restart=restart), wanted)

    def test_many_blocks_in_an_mcu(self):
        """Of progressive files, too, whose DC then has a scan for each component."""
        for sampling in ("YCbCr-4x4,1x1,1x1", "RGB-3x3,1x2,2x1", "2CLR-4x4,1x1"):
            picture = pictures.made_of(sampling, 75, 53, 1)
            picture.depth = 12
            for restart in (0, 4):
                self.assertTrue(pictures.equal(
                    ct.read(ct.write(picture, progressive=True, restart=restart)),
                    ct.read(ct.write(picture))))

    def test_every_sampling(self):
        """At 12 bits pixels are made by numpy; of 8 bits these are the elements'."""
        for sampling, size in itertools.product(ct.color.SAMPLINGS, ((54, 29), (3, 5), (1, 1))):
            array = pictures.pixels(*size, pictures.channels_of(sampling))
            picture = ct.Picture.from_pixels(array, 80, sampling)
            for upsampling in ("fancy", "nearest"):
                with self.subTest(sampling=sampling, size=size, upsampling=upsampling):
                    made = ct.color.to_pixels(picture.samples(), sampling, array.shape[:2],
                                              fancy=upsampling == "fancy")
                    np.testing.assert_array_equal(made, picture.pixels(upsampling))
                    deep = ct.Picture(picture.components, picture.tables, *size, sampling, depth=12)
                    pixels = deep.pixels(upsampling)
                    self.assertEqual((pixels.shape, pixels.dtype), (array.shape, np.uint16))

    def test_limits(self):
        for kind in ({"progressive": True}, {"arithmetic": True}):
            picture = self.picture(1)
            self.assertTrue(pictures.equal(ct.read(ct.write(picture, **kind)),
                                           pictures.with_jfif(picture)))
        picture = self.picture(1)
        picture[0][0, 0, 1, 1] = 16384
        with self.assertRaisesRegex(ct.WriteError, "expected -16383 to 16383"):
            ct.write(picture)
        picture.depth = 10
        with self.assertRaisesRegex(ct.WriteError, "8 or 12 bits, not 10"):
            ct.write(picture)
        # Eight bits hold these coefficients, too.
        picture = self.picture(3)
        picture.depth = 8
        self.assertEqual(ct.read(ct.write(picture)).depth, 8)

    def test_among_others(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = pictures.twelve_bits(self.coefs(3), 37, 20, self.TABLE)
            paths = pictures.write_all(folder, {"a.jpg": pictures.tiny(), "b.jpg": deep,
                                                "c.jpg": pictures.tiny(), "d.jpg": deep})
            depths = [picture.depth for batch in ct.Reader(list(paths.values()))
                      for picture in batch.pictures]
            self.assertEqual(depths, [8, 12, 8, 12])


if __name__ == "__main__":
    unittest.main(verbosity=2)
