#!/usr/bin/python3
# resize() against Pillow, and its floats against the arithmetic of vision libraries.
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import os
import random
import unittest

import numpy as np

import cudatransform as ct
from cudatransform import jpeg
import pictures

try:
    import PIL
    from PIL import Image
    VERSION = tuple(int(part) for part in PIL.__version__.split(".")[:2])
    LIKE = ("pillow-13" if VERSION >= (13, 0) else
             "pillow-12" if VERSION >= (12, 2) else "pillow-11")
except ImportError:
    Image = None

COUNT = 300 if os.environ.get("CUDATRANSFORM_TEST_QUICK") else 3000
MEAN, STD = (.485, .456, .406), (.229, .224, .225)


def bytes_of(shape, seed):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


@unittest.skipIf(Image is None, "no Pillow")
class BesidePillow(unittest.TestCase):
    def test_random(self):
        chance = random.Random(1)
        for number in range(COUNT):
            mode, channels = chance.choice((("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4),
                                            ("CMYK", 4)))
            width, height, *size = (chance.randint(1, 200) for _ in range(4))
            array = bytes_of((height, width) if channels == 1 else (height, width, channels),
                             number)
            name = chance.choice(("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"))
            left, right = sorted(chance.uniform(0, width) for _ in range(2))
            top, bottom = sorted(chance.uniform(0, height) for _ in range(2))
            box = None
            if chance.random() < .5 and min(right - left, bottom - top) > .01:
                box = left, top, right, bottom
            gap = chance.choice((None, 1, 2, 3.5))
            method = getattr(Image.Resampling, name.upper())
            wanted = Image.fromarray(array, mode).resize(size, method, box, gap)
            for resample in (name, method, int(method)):
                got = ct.resize(array, size, resample, box=box, reducing_gap=gap, like=LIKE,
                                alpha=mode != "CMYK")
                self.assertTrue(np.array_equal(got, np.asarray(wanted)),
                                (mode, array.shape, size, resample, box, gap))


    def test_thumbnails(self):
        chance = random.Random(2)
        for number in range(COUNT // 5):
            width, height, *size = (chance.randint(1, 300) for _ in range(4))
            array = pictures.pixels(width, height, chance.choice((1, 3, 4)), number)
            inks = chance.choice(("cmyk", "YCCK-4:2:0")) if array.shape[2:] == (4,) else None
            data = ct.encode(array, quality=80, subsampling=inks)
            gap = chance.choice((None, 1.5, 2., 3.))
            image = Image.open(io.BytesIO(data))
            if VERSION < (10, 4) and gap is not None and (size[0] < width or size[1] < height):
                # It decoded at another scale, by the size that the result has.
                fitted = jpeg._fitted(size, width, height)
                _, box = image.draft(None, tuple(int(side * gap) for side in size))
                if image.size != fitted:
                    image = image.resize(fitted, Image.Resampling.BICUBIC, box, gap)
            else:
                image.thumbnail(size, reducing_gap=gap)
            got = ct.thumbnail(data, size, reducing_gap=gap, mode=image.mode, like=LIKE)
            self.assertTrue(np.array_equal(got, np.asarray(image)), (array.shape, size, gap))
            got = ct.thumbnail(data, size, reducing_gap=gap, like=LIKE)
            self.assertTrue(np.array_equal(got, np.asarray(image.convert("RGB"))), (inks, size))


class Arrays(unittest.TestCase):
    def test_several(self):
        arrays = [bytes_of((100 + index, 90 - index, 3), index) for index in range(7)]
        made = ct.resize(arrays, (32, 24), "lanczos")
        self.assertEqual(made.shape, (7, 24, 32, 3))
        boxes = [(0, 0, 80, 90), (1.5, 2, 9, 8.25)] * 3 + [(0, 0, 1, 1)]
        cut = ct.resize(tuple(arrays), (5, 4), box=boxes)
        for array, one, part, box in zip(arrays, made, cut, boxes):
            self.assertTrue(np.array_equal(one, ct.resize(array, (32, 24), "lanczos")))
            self.assertTrue(np.array_equal(part, ct.resize(array, (5, 4), box=box)))
        files = [ct.encode(array) for array in arrays]
        for batch in ct.Reader(files, output="pixels"):
            self.assertEqual(ct.resize(batch.pictures, (8, 8)).shape, (7, 8, 8, 3))

    def test_decoded(self):
        files = [ct.encode(pictures.pixels(100 + index, 70, 3, index)) for index in range(9)]
        files[4] = b"no picture"
        options = {"size": (24, 16), "resample": "lanczos", "layout": "chw", "dtype": "float32",
                   "mean": MEAN, "std": STD, "reducing_gap": 2}
        wanted = [None if index == 4 else ct.resize(ct.decode(file), **options)
                  for index, file in enumerate(files)]
        self.assertTrue(np.array_equal(ct.decode(files[0], **options), wanted[0]))
        self.assertEqual(ct.decode(files[0], "L", size=20).shape, (20, 28))
        for batch in ct.Reader(files, 4, output="pixels", **options):
            good = [item for item in batch if not isinstance(item, ct.Failure)]
            self.assertEqual(batch.stacked.shape, (len(good), 3, 16, 24))
            for item, part in zip(good, batch.stacked):
                self.assertTrue(np.array_equal(item, part))
        reader = ct.Reader(files, 4, output="pixels", **options)
        items = [item for batch in reader for item in batch]
        for item, one in zip(items, wanted):
            self.assertTrue(isinstance(item, ct.Failure) if one is None else
                            np.array_equal(item, one))
        for batch in ct.Reader(files[4:5], output="pixels", size=8):
            self.assertIsNone(batch.stacked)
        for call in (lambda: ct.decode(files[0], resample="box"),
                     lambda: ct.Reader(files, output="pixels", resample="box"),
                     lambda: ct.Reader(files, size=(8, 8)),
                     lambda: ct.Reader(files, output="pixels", size=(8, 8), resample="cubic"),
                     lambda: ct.Reader(files, output="pixels", size=(0, 8)),
                     lambda: ct.Reader(files, output="pixels", size=8, kind=1)):
            with self.assertRaises((TypeError, ValueError)):
                call()

    def test_shorter_side(self):
        for shape, wanted in (((30, 40, 3), (15, 20, 3)), ((40, 30), (20, 15)),
                              ((9, 31), (15, 51))):
            self.assertEqual(ct.resize(bytes_of(shape, 1), 15).shape, wanted)

    def test_limits_of_thumbnails(self):
        for channels, inks in ((3, None), (4, "cmyk")):
            data = ct.encode(pictures.pixels(90, 70, channels), subsampling=inks)
            for options, kind, words in (({"max_pixels": 6299}, ct.ReadError, "max_pixels=6299"),
                                         ({"max_memory": 9000}, ct.ReadError, "max_memory=9000"),
                                         ({"on_error": "none"}, ValueError, "on_error"),
                                         ({"reducing_gap": "2"}, TypeError, "reducing_gap must"),
                                         ({"reducing_gap": .5}, ValueError, "reducing_gap must")):
                for size in ((30, 30), (900, 900)):
                    with self.assertRaisesRegex(kind, words):
                        ct.thumbnail(data, size, **options)
            with self.assertWarnsRegex(UserWarning, "premature end"):
                made = ct.thumbnail(data[:-90], (30, 30), on_error="conceal")
            self.assertEqual(made.shape, (23, 30, 3))

    def test_any_memory(self):
        array = bytes_of((40, 50, 3), 1)
        for given in (array[::2, ::3], array[::-1], array[:, :, ::-1], array[:, :, 0],
                      np.asfortranarray(array), array[5:20, 7:30], array[:1][::-1]):
            self.assertTrue(np.array_equal(ct.resize(given, (9, 8)),
                                           ct.resize(np.ascontiguousarray(given), (9, 8))))
        self.assertEqual(ct.resize(array[:, :, :1], (9, 8)).shape, (8, 9, 1))
        self.assertTrue(np.array_equal(ct.resize(array, (50, 40), "nearest"), array))

    def test_floats(self):
        array = bytes_of((60, 70, 3), 2)
        pixels = ct.resize(array, (20, 10), "bilinear").astype(np.float32)
        mean, std = np.float32(MEAN), np.float32(STD)
        scaled = pixels / np.float32(255)
        v2 = pixels * np.float32(1 / 255)
        hf = (pixels.astype(np.float64) / 255).astype(np.float32)
        fast = (pixels - mean * np.float32(255)) / (std * np.float32(255))
        for recipe, plain, normalized in (("torchvision", scaled, (scaled - mean) / std),
                                          ("torchvision-v2", v2, (v2 - mean) / std),
                                          ("hf", hf, (hf - mean) / std), ("hf-fast", v2, fast)):
            for layout, order in (("hwc", (0, 1, 2)), ("chw", (2, 0, 1))):
                for dtype in (np.float32, "float16"):
                    options = {"dtype": dtype, "layout": layout, "recipe": recipe}
                    made = ct.resize(array, (20, 10), "bilinear", **options)
                    self.assertTrue(np.array_equal(made, plain.transpose(order).astype(dtype)),
                                    options)
                    made = ct.resize(array, (20, 10), "bilinear", mean=MEAN, std=STD, **options)
                    self.assertTrue(np.array_equal(made, normalized.transpose(order).astype(dtype)),
                                    options)

    def test_errors(self):
        """Also of arguments that equal those of a call before."""
        array = bytes_of((40, 50, 3), 1)
        for size in ((4, 4), 4, (1, 4)):
            ct.resize(array, size)
        for options, kind, words in (
                ({"size": (0, 4)}, ValueError, "width must be 1 to"),
                ({"size": "5"}, TypeError, "size"), ({"size": (4, 1 << 17)}, ValueError, "height"),
                ({"size": (4, 4.5)}, TypeError, "height"), ({"size": (4, 4.)}, TypeError, "height"),
                ({"size": (True, 4)}, TypeError, "width"), ({"size": 4.}, TypeError, "shorter"),
                ({"resample": "cubic"}, ValueError, "resample"),
                ({"resample": 9}, ValueError, "0 to 5"),
                ({"box": (0, 0, 51, 4)}, ValueError, "image 0: box"),
                ({"box": (0, 0, float("nan"), 4)}, ValueError, "box"),
                ({"box": (3, 3, 3, 3)}, ValueError, "box"), ({"box": (3, 3)}, ValueError, "box"),
                ({"box": "abcd"}, TypeError, "box must be .*, not 'abcd'"),
                ({"box": 5}, TypeError, "box must be"),
                ({"reducing_gap": .5}, ValueError, "reducing_gap"),
                ({"reducing_gap": "2"}, TypeError, "reducing_gap must be a number, not '2'"),
                ({"reducing_gap": [2]}, TypeError, "reducing_gap must be a number"),
                ({"box": "0044"}, TypeError, "box must be"),
                ({"alpha": 1}, TypeError, "alpha"), ({"like": "pillow"}, ValueError, "like"),
                ({"dtype": "int16"}, ValueError, "dtype"),
                ({"layout": "cwh"}, ValueError, "layout"),
                ({"recipe": "torch"}, ValueError, "recipe"),
                ({"mean": MEAN, "std": STD}, ValueError, "dtype"),
                ({"mean": MEAN, "dtype": "float32"}, ValueError, "std"),
                ({"mean": [1], "std": [1], "dtype": "float32"}, ValueError, "3 numbers"),
                ({"mean": .5, "std": .5, "dtype": "float32"}, TypeError, "mean must be a number "),
                ({"mean": MEAN, "std": (0, 1, 1), "dtype": "float32"}, ValueError, "than 0")):
            with self.subTest(options=options), self.assertRaisesRegex(kind, words):
                ct.resize(array, **{"size": (4, 4), **options})
        self.assertEqual(ct.resize(array, np.array((4, 5))).shape, (5, 4, 3))
        for wrong in (array.astype(np.int16), array[:0], np.zeros((4, 4, 5), np.uint8), [],
                      [array, array[:, :, 0]], [array, array[:, :, :1]]):
            with self.assertRaises(ValueError):
                ct.resize(wrong, (4, 4))
        with self.assertRaisesRegex(ValueError, "list of 2"):
            ct.resize([array, array], (4, 4), box=[(0, 0, 1, 1)])
        with self.assertRaisesRegex(ValueError, "image 1: box"):
            ct.resize([array, array[:9]], (4, 4), box=[(0, 0, 40, 40)] * 2)


if __name__ == "__main__":
    unittest.main()
