#!/usr/bin/python3
# Pictures of 12 bits a sample: coefficients, tables, samples, pixels, and what is written of them.
# SPDX-License-Identifier: LGPL-2.1-or-later
import itertools
import pickle
import tempfile
import unittest

import numpy as np

import cudatransform as ct
import pictures


class TwelveBits(unittest.TestCase):
    TABLE = np.arange(300, 364, dtype=np.uint16).reshape(8, 8)

    def coefs(self, count, most=40):
        random = np.random.default_rng(count)
        coefs = random.integers(-most, most + 1, (count, 3, 5, 8, 8), np.int16)
        coefs[:, :, :, 2:, 2:] = 0
        return list(coefs)

    def picture(self, count):
        return ct.read(pictures.twelve_bits(self.coefs(count), 37, 20, self.TABLE))

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
            picture = self.picture(count)
            samples = picture.samples()
            for plane, values in zip(samples, picture.dequantized()):
                blocks = basis @ values.astype(np.float64) @ basis.T + 2048
                wanted = blocks.transpose(0, 2, 1, 3).reshape(24, 40)[:20, :37].clip(0, 4095)
                self.assertEqual((plane.dtype, plane.shape), (np.uint16, (20, 37)))
                self.assertLessEqual(abs(plane - wanted).max(), 1)
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
            try:  # libjpeg-turbo 3 writes them
                self.assertTrue(pictures.equal(ct.read(ct.write(picture, **kind)),
                                               pictures.with_jfif(picture)))
            except ct.WriteError as error:
                self.assertIn("libjpeg-turbo 3", str(error))
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
