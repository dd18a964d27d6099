#!/usr/bin/python3
# decode() and a Reader that resample: crops, boxes, drafts and types, against Pillow and resize().
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
import io
import itertools
import os
import pickle
import random
import unittest

import numpy as np

import cudatransform as ct
import pictures

try:
    import PIL
    from PIL import Image, ImageOps
    VERSION = tuple(int(part) for part in PIL.__version__.split(".")[:2])
    LIKE = ("pillow-13" if VERSION >= (13, 0) else
            "pillow-12" if VERSION >= (12, 2) else "pillow-11")
except ImportError:
    Image = None

MEAN, STD = (.485, .456, .406), (.229, .224, .225)
QUICK = "CUDATRANSFORM_TEST_QUICK" in os.environ


def file_of(width, height, seed, **options):
    return ct.encode(pictures.pixels(width, height, 3, seed), quality=85, **options)


def oriented(data, orientation):
    """A file with Exif data that say how it is to be turned."""
    tiff = (b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + bytes((orientation, 0, 0, 0)) +
            bytes(4))
    body = b"Exif\0\0" + tiff
    return data[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + data[2:]


def boxes_in(chance, width, height):
    """A crop of whole pixels, and a box with fractions within it."""
    left, top = chance.randrange(width), chance.randrange(height)
    right, bottom = chance.randint(left + 1, width), chance.randint(top + 1, height)
    inner = chance.uniform(0, .4) * (right - left), chance.uniform(0, .4) * (bottom - top)
    return ((left, top, right, bottom),
            (*inner, (right - left) - inner[0] / 2, (bottom - top) - inner[1] / 2))


@unittest.skipIf(Image is None, "no Pillow")
class BesidePillow(unittest.TestCase):
    def test_drafts_of_inks(self):
        chance = random.Random(6)
        for number, sampling in enumerate(("cmyk", "YCCK-4:2:0", "YCCK-4:2:2") * 10):
            width, height = chance.randint(16, 300), chance.randint(16, 300)
            data = oriented(ct.encode(pictures.pixels(width, height, 4, number),
                                      subsampling=sampling), chance.randint(1, 8))
            image, size = Image.open(io.BytesIO(data)), (chance.randint(1, 60), 20)
            image.draft(None, size)
            image = ImageOps.exif_transpose(image).convert("RGB")
            wanted = np.asarray(image.resize(size, Image.Resampling.BICUBIC))
            self.assertTrue(np.array_equal(ct.decode(data, size=size, draft=True, exif=True,
                                                     like=LIKE), wanted), (sampling, size))

    def test_crop_box_and_draft(self):
        chance = random.Random(3)
        for number in range(150):
            width, height = chance.randint(16, 300), chance.randint(16, 300)
            data = file_of(width, height, number,
                           subsampling=chance.choice(("4:2:0", "4:2:2", "4:4:4", "4:4:0")),
                           progressive=chance.random() < .2,
                           restart=chance.choice((0, 0, 1, 5, 40)))
            orientation = chance.randint(1, 8) if chance.random() < .5 else 1
            data = oriented(data, orientation)
            size = chance.randint(1, 120), chance.randint(1, 120)
            mode, draft = chance.choice(("RGB", "L")), chance.random() < .4
            # Its luma as the file has it, as our mode L: that of a draft.
            image = Image.open(io.BytesIO(data))
            image.draft(mode, size if draft else image.size)
            image = ImageOps.exif_transpose(image.convert(mode))
            crop, box = boxes_in(chance, *image.size)
            crop = crop if chance.random() < .7 else None
            if crop is not None:
                image = image.crop(crop)
            box = box if crop is not None and chance.random() < .5 else None
            gap = chance.choice((None, None, 1.5, 3))
            options = {"exif": True, "crop": crop, "draft": draft}
            with self.subTest(size=size, mode=mode, orientation=orientation, box=box, **options):
                wanted = np.asarray(image.resize(size, Image.Resampling.BICUBIC, box, gap))
                self.assertTrue(np.array_equal(
                    ct.decode(data, mode, size=size, box=box, reducing_gap=gap, like=LIKE,
                              **options), wanted))
                if not draft:
                    made = ct.decode(data, mode, exif=True, crop=crop)
                    self.assertTrue(np.array_equal(made, np.asarray(image)))
                    self.assertTrue(made.flags.c_contiguous)


class Parts(unittest.TestCase):
    # Of every kind of upsampling, at the edges of MCUs and of the picture.
    def test_crops_are_slices(self):
        chance = random.Random(4)
        kinds = ("4:2:0", "4:2:2", "4:4:4", "4:4:0", "4:1:1", "4:4:1", "rgb", "gray")
        for number, kind in enumerate(kinds * (3 if QUICK else 30)):
            width, height = chance.randint(1, 400), chance.randint(1, 300)
            array = pictures.pixels(width, height, 1 if kind == "gray" else 3, number)
            options = {} if kind == "gray" else {"subsampling": kind}
            data = ct.encode(array, restart=chance.choice((0, 1, 3, 16, 100)),
                             progressive=chance.random() < .1, **options)
            for _ in range(8):
                options = {"reduce": chance.choice((1, 1, 1, 2, 4, 8)),
                           "upsampling": chance.choice(("fancy", "fancy", "nearest")),
                           "mode": "RGB" if kind == "rgb" else chance.choice(("RGB", "L"))}
                whole = ct.decode(data, **options)
                crop, _ = boxes_in(chance, *whole.shape[1::-1])
                left, top, right, bottom = crop
                with self.subTest(kind=kind, size=(width, height), crop=crop, **options):
                    self.assertTrue(np.array_equal(ct.decode(data, crop=crop, **options),
                                                   whole[top:bottom, left:right]))

    # What follows a crop is not decoded, nor what comes before the restart marker in front of it.
    def test_damage_elsewhere(self):
        top, bottom = (10, 10, 50, 50), (100, 200, 200, 240)
        for restart, place, crop, matters in ((0, .9, top, False), (4, .9, top, False),
                                              (0, .1, bottom, True), (4, .1, bottom, False)):
            data = file_of(256, 256, 7, restart=restart, subsampling="4:2:0")
            begin = data.index(b"\xff\xda") + 14
            at = begin + int(place * (len(data) - begin))
            # Without a marker.
            at = next(at for at in itertools.count(at) if 0xff not in data[at - 1:at + 9])
            broken = data[:at] + data[at + 5:]
            wanted = ct.decode(data)[crop[1]:crop[3], crop[0]:crop[2]]
            with self.subTest(restart=restart, crop=crop):
                try:
                    self.assertEqual(np.array_equal(ct.decode(broken, crop=crop), wanted),
                                     not matters)
                except ct.ReadError:
                    self.assertTrue(matters)


class Reading(unittest.TestCase):
    def setUp(self):
        chance = random.Random(5)
        self.files = [file_of(chance.randint(20, 200), chance.randint(20, 200), seed)
                      for seed in range(11)]
        self.sizes = [(info.width, info.height) for info in map(ct.info, self.files)]
        self.files[4] = b"no picture"
        self.crops = [boxes_in(chance, *size)[0] for size in self.sizes]

    def same(self, reader, wanted):
        """wanted: a file's pixels by its number, None: a Failure"""
        items = [item for batch in reader for item in batch]
        self.assertEqual(len(items), len(self.files))
        for index, (item, one) in enumerate(zip(items, wanted)):
            self.assertTrue(isinstance(item, ct.Failure) if one is None else
                            np.array_equal(item, one), (index, item))
        return items

    def test_crops(self):
        options = {"size": (24, 16), "dtype": "float32", "layout": "chw", "mean": MEAN, "std": STD,
                   "resample": "bilinear"}
        wanted = [None if index == 4 else ct.decode(file, crop=crop, **options)
                  for index, (file, crop) in enumerate(zip(self.files, self.crops))]
        seen = []

        def function(width, height):
            seen.append((width, height))
            return self.crops[[i for i in range(len(self.files)) if i != 4][len(seen) - 1]]
        for crops in (self.crops, np.array(self.crops), np.array(self.crops, np.uint8), function):
            for paths in (self.files, iter(self.files)):
                seen.clear()
                reader = ct.Reader(paths, 4, output="pixels", crops=crops, **options)
                self.same(reader, wanted)
                if crops is function:
                    self.assertEqual(seen, [size for index, size in enumerate(self.sizes)
                                            if index != 4])
        batch = next(iter(ct.Reader(self.files, output="pixels", crops=self.crops, **options)))
        self.assertEqual(batch.stacked.shape, (10, 3, 16, 24))
        self.same(pickle.loads(pickle.dumps(reader.__class__(
            self.files, output="pixels", crops=self.crops, **options))), wanted)

    def test_upright(self):
        """Of all orientations in a batch; decode() is compared with Pillow."""
        self.files = [file if index == 4 else oriented(file, index % 8 + 1)
                      for index, file in enumerate(self.files)]
        self.sizes = [size[::-1] if index % 8 > 3 else size
                      for index, size in enumerate(self.sizes)]
        self.crops = [boxes_in(random.Random(index), *size)[0]
                      for index, size in enumerate(self.sizes)]
        sound = [index for index in range(len(self.files)) if index != 4]
        for options in ({"size": (24, 16)}, {"size": 20}, {"size": (24, 16), "draft": True},
                        {"size": (20, 30), "dtype": "float32", "layout": "chw", "mode": "L"}):
            for crops in (None, self.crops, "function"):
                if options.get("draft") and crops is not None:
                    continue  # the picture is smaller
                wanted = [None if index == 4 else ct.decode(
                    file, exif=True, crop=None if crops is None else self.crops[index], **options)
                    for index, file in enumerate(self.files)]
                rows = iter(sound)

                def function(width, height, rows=rows):
                    index = next(rows)
                    self.assertEqual((width, height), self.sizes[index])
                    return self.crops[index]
                with self.subTest(crops=crops, **options):
                    self.same(ct.Reader(self.files, 4, output="pixels", exif=True,
                                        crops=function if crops == "function" else crops,
                                        **options), wanted)

    def test_inks(self):
        ink = oriented(ct.encode(pictures.pixels(40, 30, 4), subsampling="YCCK-4:2:0"), 6)
        whole = ct.decode(ink, exif=True)
        self.assertEqual(whole.shape, (40, 30, 3))
        sources, crop = [ink, file_of(30, 40, 1), ink], (3, 5, 29, 20)
        for crops in np.array([crop] * 3), lambda width, height: crop:
            batch, = ct.Reader(sources, output="pixels", size=(8, 9), crops=crops, exif=True)
            for made, pixels in zip(batch, (whole, ct.decode(sources[1]), whole)):
                self.assertTrue(np.array_equal(made, ct.resize(pixels[5:20, 3:29], (8, 9))))
        sources = [ink, oriented(file_of(40, 30, 1), 6), ink]
        for options in ({}, {"reduce": 2}, {"size": 8, "draft": True}, {"mode": "CMYK"},
                        {"size": (8, 9), "dtype": "float32", "layout": "chw", "recipe": "hf"}):
            stack = options.get("size") != 8
            batch, = ct.Reader(sources, output="pixels", exif=True, stack=stack, **options)
            good = [item for item in batch if not isinstance(item, ct.Failure)]
            self.assertEqual(len(good), 2 if "mode" in options else 3)
            for item, source in zip(batch, sources):
                if not isinstance(item, ct.Failure):
                    self.assertTrue(np.array_equal(item, ct.decode(source, exif=True, **options)))
            self.assertEqual(batch.stacked is None, not stack or "mode" in options)
            if batch.stacked is not None:
                self.assertTrue(np.array_equal(batch.stacked, good))
                self.assertTrue(all(np.may_share_memory(item, batch.stacked) for item in good))

    def test_wrong_crops(self):
        wide = max(width for width, _ in self.sizes)
        crops = [(0, 0, 10, 10)] * len(self.files)
        crops[1], crops[2], crops[3] = (0, 0, wide + 1, 5), (5, 5, 5, 9), (-1, 0, 4, 4)
        crops[5], crops[6] = (5, 9, 10, 9), (0, -1, 4, 4)
        failed = {1: "reaches beyond", 2: "empty", 3: "reaches beyond", 4: "Not a JPEG",
                  5: "empty", 6: "reaches beyond"}
        rows = itertools.chain(crops[:4], crops[5:])
        for given in (crops, np.array(crops, np.int16), lambda *_: next(rows)):
            reader = ct.Reader(self.files, 3, output="pixels", size=(8, 8), crops=given)
            items = [item for batch in reader for item in batch]
            self.assertEqual({index for index, item in enumerate(items)
                              if isinstance(item, ct.Failure)}, set(failed))
            for index, words in failed.items():
                self.assertIn(words, items[index].reason)
        reader = ct.Reader(iter(self.files), 3, output="pixels", size=(8, 8), crops=crops[:8])
        items = [item for batch in reader for item in batch]
        self.assertIn("crops has 8 rows", items[8].reason)
        self.assertFalse(isinstance(items[7], ct.Failure))

        def broken(width, height):
            raise KeyError(width)
        with self.assertRaises(KeyError):
            list(ct.Reader(self.files, output="pixels", size=8, crops=broken))
        for crop in ((0, 0, 1.5, 2), (False, 0, 1, 2)):
            with self.assertRaisesRegex(TypeError, "whole number"):
                list(ct.Reader(self.files, output="pixels", size=(8, 8), crops=lambda *_: crop))

    def test_shorter_side_and_stack(self):
        wanted = [None if index == 4 else ct.decode(file, size=30)
                  for index, file in enumerate(self.files)]
        self.assertGreater(len({one.shape for one in wanted if one is not None}), 3)
        for batch in ct.Reader(self.files, output="pixels", size=30):
            self.assertIsNone(batch.stacked)
        self.same(ct.Reader(self.files, 4, output="pixels", size=30), wanted)
        wanted = [None if index == 4 else ct.decode(file, size=(9, 8))
                  for index, file in enumerate(self.files)]
        for batch in ct.Reader(self.files, output="pixels", size=(9, 8), stack=False):
            self.assertIsNone(batch.stacked)
        self.same(ct.Reader(self.files, 3, output="pixels", size=(9, 8), stack=False), wanted)

    def test_stacks_without_size(self):
        """Where all pictures were read and have one size."""
        files = [file_of(33, 20, seed, progressive=seed == 2) for seed in range(7)]
        files += [files[0], file_of(20, 33, 7), files[1], b"none"]
        for options in ({}, {"mode": "L"}, {"reduce": 2}):
            wanted = [ct.decode(file, **options) for file in files[:8]]
            batches = list(ct.Reader(files, 4, output="pixels", stack=True, **options))
            for first, batch in zip((0, 4), batches):
                self.assertTrue(np.array_equal(batch.stacked, wanted[first:first + 4]))
                self.assertTrue(batch.stacked.flags.c_contiguous)
                for item, part in zip(batch, batch.stacked):
                    self.assertTrue(np.may_share_memory(item, part))
            self.assertIsNone(batches[2].stacked)
        stacked = batches[0].stacked
        del batches, batch, item, part
        list(ct.Reader(files, 4, output="pixels", stack=True))  # would reuse the memory
        self.assertTrue(np.array_equal(stacked, wanted[:4]))
        turned = [oriented(file, 6) for file in files[:4]]
        batch, = ct.Reader(turned, output="pixels", stack=True, exif=True)
        self.assertEqual(batch.stacked.shape, (4, 33, 20, 3))
        for made in ct.Reader(files, 4, output="pixels"):
            self.assertIsNone(made.stacked)

    def test_draft(self):
        options = {"size": (20, 10), "draft": True}
        wanted = [None if index == 4 else ct.decode(file, **options)
                  for index, file in enumerate(self.files)]
        reduced = [ct.decode(file, size=(20, 10)) for file in self.files[:4]]
        self.assertFalse(all(map(np.array_equal, wanted, reduced)))
        self.same(ct.Reader(self.files, 4, output="pixels", **options), wanted)
        seen, sizes = [], self.sizes[:4] + self.sizes[5:]
        list(ct.Reader(self.files, 4, output="pixels", crops=lambda *size: seen.append(size),
                       **options))
        self.assertEqual([(-(-width // scale), -(-height // scale)) for (width, height), scale in
                          zip(sizes, (max(s for s in (1, 2, 4, 8) if s <= max(1, min(
                              width // 20, height // 10))) for width, height in sizes))], seen)

    def test_one_that_cannot_be_resampled(self):
        self.files[2] = file_of(1, 4000, 1)
        reader = ct.Reader(self.files, output="pixels", size=100)
        items = [item for batch in reader for item in batch]
        self.assertIn("height must be 1 to", items[2].reason)
        self.assertEqual(min(items[0].shape[:2]), 100)
        reader = ct.Reader(self.files, output="pixels", size=10, max_memory=10_000_000)
        items = [item for batch in reader for item in batch]
        self.assertFalse(isinstance(items[2], ct.Failure))
        reader = ct.Reader(self.files, output="pixels", size=2000, max_memory=20_000_000)
        items = [item for batch in reader for item in batch]
        self.assertTrue(all("exceeds max_memory" in item.reason or "Not a" in item.reason
                            or "must be" in item.reason for item in items
                            if isinstance(item, ct.Failure)))
        self.assertIsInstance(items[2], ct.Failure)

    def test_arguments(self):
        with self.assertRaisesRegex(ValueError, "stack=True needs output='pixels'"):
            ct.Reader(self.files, stack=True)
        for options in ({"crops": self.crops}, {"stack": 1}, {"draft": True}, {"mean": MEAN},
                        {"size": 8, "stack": True}, {"size": (8, 8), "stack": 1},
                        {"size": (8, 8), "crops": self.crops[1:]},
                        {"size": (8, 8), "crops": [(0, 0, 1.5, 2)] * 11},
                        {"size": (8, 8), "crops": 5}, {"size": (8, 8), "draft": 1},
                        {"size": (8, 8), "reduce": 2, "draft": True},
                        {"size": (8, 8), "mean": MEAN, "std": STD},
                        {"size": (8, 8), "dtype": "float32", "mean": MEAN[:1], "std": STD[:1]},
                        {"size": (8, 8), "layout": "band"}, {"size": (1 << 16, 1 << 16),
                                                             "max_memory": 1 << 30}):
            with self.subTest(options=options), self.assertRaises((ValueError, TypeError)):
                ct.Reader(self.files, output="pixels", **options)


class Types(unittest.TestCase):
    def setUp(self):
        self.file = file_of(60, 50, 1)

    def test_without_size(self):
        pixels = ct.decode(self.file)
        made = ct.decode(self.file, dtype="float32", layout="chw", mean=MEAN, std=STD)
        scaled = pixels.astype(np.float32) / np.float32(255)
        self.assertTrue(np.array_equal(
            made, ((scaled - np.float32(MEAN)) / np.float32(STD)).transpose(2, 0, 1)))
        self.assertTrue(np.array_equal(ct.decode(self.file, layout="chw", crop=(3, 2, 9, 20)),
                                       pixels[2:20, 3:9].transpose(2, 0, 1)))

    def test_bfloat16(self):
        options = {"size": (20, 10), "mean": MEAN, "std": STD}
        exact = ct.decode(self.file, dtype="float32", **options)
        made = ct.decode(self.file, dtype="bfloat16", **options)
        bits = exact.view(np.uint32).astype(np.uint64)
        wanted = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        self.assertTrue(np.array_equal(made.bits, wanted))
        self.assertEqual((made.shape, made.dtype, len(made)), ((10, 20, 3), "bfloat16", 10))
        self.assertTrue(np.array_equal(np.asarray(made),
                                       (wanted.astype(np.uint32) << 16).view(np.float32)))
        self.assertEqual(made.__dlpack_device__(), (1, 0))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        capsule = made.__dlpack__()
        # Of DLTensor: 3 dimensions, the code of bfloat16, 16 bits, one lane.
        said = ctypes.string_at(pointer(capsule, b"dltensor") + 16, 8)
        self.assertEqual(said, b"\x03\0\0\0\x04\x10\x01\0")
        with self.assertRaises(BufferError):
            made.__dlpack__(copy=True)

        class Torch:  # whose types are no strings
            def __str__(self):
                return "torch.bfloat16"
        self.assertEqual(ct.decode(self.file, dtype=Torch(), **options).dtype, "bfloat16")
        batch, = ct.Reader([self.file] * 2, output="pixels", dtype="bfloat16", **options)
        self.assertEqual(batch.stacked.shape, (2, 10, 20, 3))
        for item in batch:
            self.assertTrue(np.array_equal(item.bits, wanted))

    def test_arguments(self):
        for options in ({"crop": (0, 0, 61, 5)}, {"crop": (0, 0, 0, 5)}, {"crop": (0, 0, 5)},
                        {"crop": (0, 0, 5.5, 5)}, {"crop": (0, 0, 1 << 70, 5)},
                        {"crop": (-1, 0, 5, 5)}, {"crop": (0, 0, 1 << 63, 1 << 31)},
                        {"crop": "abcd"}, {"crop": 5}, {"box": (0, 0, 4, 4)}, {"draft": True},
                        {"size": 8, "draft": "yes"}, {"size": 8, "box": (0, 0, float("nan"), 4)},
                        {"size": 8, "crop": (0, 0, 8, 8), "box": (0, 0, 9, 8)},
                        {"size": 0}, {"reducing_gap": 2}, {"resample": "box"},
                        {"dtype": "float64"}, {"mean": MEAN, "std": STD}, {"recipe": "torch"},
                        {"size": (8, 8), "dtype": "float32", "mean": MEAN, "std": (0, 1, 1)},
                        {"size": (8, 8), "dtype": "float32", "mean": [1e39] * 3, "std": STD},
                        {"size": (8, 8), "draft": True, "reduce": 2},
                        {"size": (60000, 60000), "max_memory": 10**9},
                        {"size": 9000, "max_memory": 10**8}):
            with self.subTest(options=options), self.assertRaises((ValueError, TypeError)):
                ct.decode(self.file, **options)


if __name__ == "__main__":
    unittest.main()
