#!/usr/bin/python3
# info() against read(), and decode(exif=True) against Pillow and the library's own rotations.
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import io
import itertools
import os
import pickle
import random
import tempfile
import unittest

import numpy as np

import cudatransform as ct
import pictures

try:
    from PIL import Image, ImageOps
except ImportError:
    Image = None


def exif(orientation, order="big", kind=3):
    def number(value, size):
        return value.to_bytes(size, order)
    tiff = b"MM\0*" if order == "big" else b"II*\0"
    tiff += number(8, 4) + number(2, 2)
    tiff += number(0x10F, 2) + number(2, 2) + number(4, 4) + b"abc\0"
    tiff += number(0x112, 2) + number(kind, 2) + number(1, 4)
    return tiff + (number(orientation, 2) + b"\0\0" if kind == 3 else number(orientation, 4)) + (
        number(0, 4))


class ShortReads(io.BytesIO):
    """A file that returns less than it has, as raw and remote ones do."""
    def read(self, size=-1):
        return super().read(min(size, 50) if size > 0 else size)


class Info(unittest.TestCase):
    def same(self, info, picture, what=None):
        """What both say of a file."""
        names = "width", "height", "depth", "sampling"
        self.assertEqual([getattr(info, name) for name in names],
                         [getattr(picture, name) for name in names], what)
        self.assertTrue(np.array_equal(info.tables, picture.tables), what)
        self.assertEqual(info.tables.dtype, np.uint16)

    def test_kinds(self):
        for sampling, kind in itertools.product(ct.color.SAMPLINGS, (
                {}, {"progressive": True}, {"arithmetic": True, "progressive": True},
                {"optimize": True}, {"arithmetic": True})):
            array = pictures.pixels(45, 31, pictures.channels_of(sampling))
            data = ct.write(ct.Picture.from_pixels(array, 37, sampling), **kind)
            info = ct.info(data)
            self.same(info, ct.read(data), (sampling, kind))
            self.assertEqual((info.quality, info.orientation, info.pictures), (37, None, 1))
            self.assertEqual(info.progressive, "progressive" in kind)

    def test_equal(self):
        data = [ct.encode(pictures.pixels(24, 17), quality=80, qtables=tables)
                for tables in ("annex-k", "annex-k", np.full((8, 8), 9), np.full((8, 8), 8))]
        one, same, *others = map(ct.info, data)
        for equal in (same, pickle.loads(pickle.dumps(one))):
            self.assertEqual((equal, hash(equal)), (one, hash(one)))
        for other in (*others, ct.info(ct.encode(pictures.pixels(24, 18), quality=80)), None):
            self.assertNotEqual(one, other)

    def test_depth_and_wide_tables(self):
        deep = pictures.twelve_bits([np.zeros((3, 5, 8, 8), np.int16)], 37, 20,
                                    np.arange(1, 65, dtype=np.uint16).reshape(8, 8))
        wide = ct.encode(pictures.pixels(24, 17), qtables=np.arange(600, 664).reshape(8, 8))
        for data, quality in ((deep, None), (wide, 1)):
            info = ct.info(data)
            self.same(info, ct.read(data))
            self.assertIn(info.quality, range(1, 101) if quality is None else (quality,))

    def test_quality(self):
        for quality in (1, 30, 75, 100):
            self.assertEqual(ct.info(ct.encode(pictures.pixels(8, 8), quality=quality)).quality,
                             quality)

    def test_files_of_opencv_doc(self):
        paths = sorted(glob.glob("/usr/share/doc/opencv-doc/**/*.jp*g", recursive=True))[:30]
        if not paths:
            self.skipTest("no files")
        for path in paths:
            self.same(ct.info(path), ct.read(path), path)

    def test_sources(self):
        data = ct.encode(pictures.pixels(24, 17), exif=exif(8))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "one.jpg")
            with open(path, "wb") as file:
                file.write(b"before" + data)
            with open(path, "rb") as file:
                file.seek(6)
                self.assertEqual(ct.info(file).orientation, 8)
                self.assertEqual((file.tell(), ct.read(file).width), (6, 24))
            with open(path, "wb") as file:
                file.write(data)
            reading, writing = os.pipe()
            with open(reading, "rb") as pipe:
                with open(writing, "wb") as end:
                    end.write(data)
                self.assertEqual(ct.info(pipe).width, 24)
            for source in (path, os.fsencode(path).decode(), data, bytearray(data),
                           memoryview(data), io.BytesIO(data), ShortReads(data)):
                self.assertEqual(ct.info(source).orientation, 8)
        for source, words in ((5, "source must be a path"), (None, "not NoneType"),
                              (io.StringIO(), "open it with 'rb'")):
            with self.assertRaisesRegex(TypeError, words):
                ct.info(source)

    def test_orientations(self):
        array = pictures.pixels(24, 17)
        for orientation, order, kind in itertools.product(range(10), ("big", "little"), (3, 4)):
            info = ct.info(ct.encode(array, exif=exif(orientation, order, kind)))
            self.assertEqual(info.orientation, orientation if 1 <= orientation <= 8 else None)
        for wrong in (exif(6, kind=2), exif(6)[:20], exif(6)[:4] + b"\xff" * 4, b"MM\0*"):
            self.assertIsNone(ct.info(ct.encode(array, exif=wrong)).orientation)
        # The first one counts.
        two = b"".join(pictures.segment(0xE1, b"Exif\0\0" + exif(n)) for n in (3, 6))
        self.assertEqual(ct.info(ct.encode(array, markers=two)).orientation, 3)

    def test_several_pictures(self):
        one, other = (ct.encode(pictures.pixels(24, 17, seed=seed)) for seed in (1, 2))
        for others, order in itertools.product(((other,), (other, one)), "<>"):
            data = pictures.with_others(one, others, order)
            self.assertEqual(len(ct.read(data).attachments), len(others))
            self.assertEqual(ct.info(data).pictures, 1 + len(others))

    def test_the_head_is_enough(self):
        data = ct.encode(pictures.pixels(200, 150), icc=bytes(200_000), exif=exif(6))
        scan = data.index(b"\xff\xda")
        whole, head = ct.info(data), ct.info(data[:scan])
        for name in ("width", "sampling", "quality", "orientation"):
            self.assertEqual(getattr(head, name), getattr(whole, name))
        with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
            file.write(data)
            file.truncate(1 << 33)
            self.assertEqual(ct.info(file.name).width, 200)

    def test_errors(self):
        for data, words in ((b"", "has 0 bytes"), (b"text", "starts with 0x74 0x65"),
                            (b"\xff\xd8\xff\xd9", "no image"), (b"\xff\xd8", "no image")):
            with self.assertRaisesRegex(ct.ReadError, words) as raised:
                ct.info(data)
            self.assertEqual(raised.exception.path, "<bytes>")
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            for path, words in ((folder, "directory"), (pipe, "not a file"), ("a\0b", "null"),
                                (os.path.join(folder, "none"), "No such file")):
                with self.assertRaisesRegex(ct.ReadError, words) as raised:
                    ct.info(path)
                self.assertEqual(raised.exception.path, path)
                self.assertEqual(isinstance(raised.exception, FileNotFoundError), "No" in words)

    def test_any_bytes(self):
        """ReadError or what read() says, whatever the header's bytes are."""
        sound = [ct.encode(pictures.pixels(24, 17, pictures.channels_of(sampling)),
                           subsampling=sampling, exif=exif(6))
                 for sampling in ("4:2:0", "gray", "rgb", "cmyk", "YCCK-4:2:0")]
        sound.append(pictures.with_others(sound[0], sound[1:2]))
        agreed = refused = 0
        for seed in range(4000):
            chance = random.Random(seed)
            data = bytearray(chance.choice(sound))
            end = data.index(b"\xff\xda")
            for _ in range(chance.randint(1, 3)):
                data[chance.randrange(2, end)] = chance.choice(
                    (chance.randrange(256), 0, 0x11, 255))
            if chance.random() < .2:
                del data[chance.randrange(end):]
            try:
                info = ct.info(bytes(data))
            except ct.ReadError:
                refused += 1
                info = None
            try:
                picture = ct.read(bytes(data))
            except ct.ReadError:
                continue
            self.assertIsNotNone(info, seed)
            self.same(info, picture, seed)
            agreed += 1
        self.assertGreater(agreed, 500)
        self.assertGreater(refused, 50)

    def test_a_head_of_many_segments(self):
        data = ct.encode(pictures.pixels(8, 8))
        many = data[:2] + pictures.segment(0xE1, b"") * 3_000_000 + data[2:]
        with self.assertRaises(ct.ReadError):
            ct.info(many)


class Upright(unittest.TestCase):
    def test_beside_the_library(self):
        """The pixels of coefficients that are transposed are those, where MCUs are whole."""
        for channels, mode in ((1, "L"), (3, "RGB"), (4, "CMYK")):
            sampling = {1: "gray", 3: "4:4:4", 4: "cmyk"}[channels]
            array = pictures.pixels(48, 32, channels)
            plain = ct.decode(ct.encode(array, subsampling=sampling), mode)
            for orientation in range(1, 9):
                data = ct.encode(array, subsampling=sampling, exif=exif(orientation))
                for source in (data, io.BytesIO(data)):
                    got = ct.decode(source, mode, exif=True)
                    expected = ct.read(data).transpose("auto").pixels()
                    self.assertEqual(got.shape, expected.shape)
                    self.assertTrue(got.flags.c_contiguous)
                    # A transform of moved samples rounds otherwise.
                    self.assertLess(np.abs(got.astype(int) - expected).max(), 4)
                self.assertTrue(np.array_equal(ct.decode(data, mode), plain))

    @unittest.skipIf(Image is None, "no Pillow")
    def test_beside_pillow(self):
        array = pictures.pixels(50, 35)
        for orientation in range(10):
            data = ct.encode(array, exif=exif(orientation))
            image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
            self.assertTrue(np.array_equal(ct.decode(data, exif=True), np.asarray(image)))

    def test_options(self):
        data = ct.encode(pictures.pixels(50, 35), exif=exif(6), subsampling="rgb")
        # The library makes no luma of RGB, nor of a file whose luma is smaller than the picture.
        smaller = ct.write(pictures.made_of("YCbCr-1x1,2x2,2x2", 43, 29, 3))
        smaller = smaller[:2] + pictures.segment(0xE1, b"Exif\0\0" + exif(6)) + smaller[2:]
        for source, options in ((data, {"mode": "L"}), (data, {"reduce": 4}),
                                (data, {"upsampling": "nearest"}), (smaller, {"mode": "L"}),
                                (smaller, {})):
            turned = ct.decode(source, exif=True, **options)
            self.assertTrue(np.array_equal(turned, np.rot90(ct.decode(source, **options), 3)))
            self.assertTrue(np.array_equal(ct.decode(source, exif=True, crop=(3, 2, 7, 8),
                                                     **options), turned[2:8, 3:7]))
        self.assertTrue(np.array_equal(ct.decode(data[:900], exif=True, on_error="conceal"),
                                       np.rot90(ct.decode(data[:900], on_error="conceal"), 3)))
        plain = ct.encode(pictures.pixels(50, 35))
        self.assertEqual(ct.decode(plain, exif=True).shape, (35, 50, 3))
        for call in (lambda: ct.decode(data, exif=1),
                     lambda: ct.Reader([data], output="pixels", exif=1)):
            with self.assertRaisesRegex(TypeError, "exif must be True or False"):
                call()
        with self.assertRaisesRegex(ValueError, "need output='pixels'"):
            ct.Reader([data], exif=True)

    def test_reader(self):
        data = [ct.encode(pictures.pixels(24 + index, 17, seed=index), exif=exif(index))
                for index in range(1, 9)] + [ct.encode(pictures.pixels(9, 8)), b"no picture"]
        with tempfile.TemporaryDirectory() as folder:
            names = {f"{index}.jpg": file for index, file in enumerate(data)}
            paths = list(pictures.write_all(folder, names).values())
            for sources in (data, paths):
                for options in ({}, {"mode": "L", "reduce": 2}):
                    reader = ct.Reader(sources, 4, output="pixels", exif=True, **options)
                    items = [item for batch in reader for item in batch]
                    self.assertIsInstance(items.pop(), ct.Failure)
                    for source, item in zip(sources, items):
                        self.assertTrue(np.array_equal(item, ct.decode(source, exif=True,
                                                                       **options)))
            ink = ct.encode(pictures.pixels(24, 17, 4), subsampling="cmyk", exif=exif(6))
            paths = list(pictures.write_all(folder, {"1.jpg": ink, "2.jpg": ink}).values())
            # The pixels are made here, and the header is read again for them.
            walk = iter(ct.Reader(paths, 1, output="pixels", mode="CMYK", exif=True))
            item, = next(walk)
            self.assertTrue(np.array_equal(item, np.rot90(ct.decode(ink, "CMYK"), 3)))
            os.remove(paths[1])
            item, = next(walk)
            self.assertEqual(item, ct.Failure(paths[1], "No such file or directory"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
