#!/usr/bin/python3
# decode(), encode() and a Reader's pixels, against libjpeg-turbo's programs and Pillow.
# SPDX-License-Identifier: LGPL-2.1-or-later
import functools
import inspect
import io
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

import numpy as np

import cudatransform as ct
from cudatransform import _decoding, _device, _native, color
import pictures

try:
    from PIL import Image
except ImportError:
    Image = None

SAMPLINGS = ("4:2:0", "4:2:2", "4:4:4", "4:4:0", "4:1:1", "4:4:1", "rgb", "gray")
SIZES = ((97, 61), (16, 16), (3, 5), (1, 1), (2, 9), (33, 130))  # width and height


def file_of(sampling, size, quality=80, **options):
    return ct.write(ct.Picture.from_pixels(pictures.pixels(*size), quality, sampling), **options)


def in_color(array):
    return np.repeat(array[:, :, None], 3, axis=2) if array.ndim == 2 else array


class Beside(unittest.TestCase):
    def assert_equal(self, ours, theirs):
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        self.assertTrue(ours.flags["C_CONTIGUOUS"])
        self.assertTrue(np.array_equal(ours, theirs))


@unittest.skipUnless(pictures.have_tools(), "no cjpeg and djpeg")
class BesideLibjpegTurbo(Beside):
    def test_decode(self):
        for sampling, size in itertools.product(SAMPLINGS, SIZES):
            data = file_of(sampling, size, progressive=size[0] % 2 == 0)
            for scale, upsampling in itertools.product((1, 2, 4, 8), ("fancy", "nearest")):
                with self.subTest(sampling=sampling, size=size, scale=scale, upsampling=upsampling):
                    options = ["-scale", f"1/{scale}"] + ["-nosmooth"] * (upsampling == "nearest")
                    self.assert_equal(ct.decode(data, reduce=scale, upsampling=upsampling),
                                      in_color(pictures.djpeg(data, *options)))
                    self.assert_equal(ct.decode(data, "L", reduce=scale),
                                      pictures.djpeg(data, "-grayscale", "-scale", f"1/{scale}"))

    def test_zeros_in_tables(self):
        for options in ({}, {"progressive": True}, {"arithmetic": True}):
            data = bytearray(file_of("4:2:0", (97, 61), **options))
            table = data.index(b"\xff\xdb") + 5
            data[table + 1] = data[table + 40] = 0
            data = bytes(data)
            with self.subTest(options=options):
                for scale in (1, 2, 4, 8):
                    self.assert_equal(ct.decode(data, reduce=scale),
                                      pictures.djpeg(data, "-scale", f"1/{scale}"))
                picture = ct.read(data)
                self.assertEqual(np.count_nonzero(picture.tables == 0), 2)
                self.assertEqual(ct.write(picture, **options), data)
                self.assertTrue(picture[0][:, :, picture.table(0) == 0].any())
                coarser = picture.requantize(30)
                self.assertTrue(coarser.tables.all())
                self.assertFalse(coarser[0][:, :, picture.table(0) == 0].any())
                with self.assertRaisesRegex(ct.ReadError, "zeros"):
                    ct.decode(data[:table] + bytes(64) + data[table + 64:])

    def test_encode(self):
        for sampling, factors in pictures.CJPEG_SAMPLINGS.items():
            for size, quality in zip(SIZES, (1, 25, 75, 90, 95, 100)):
                with self.subTest(sampling=sampling, size=size, quality=quality):
                    array = pictures.pixels(*size)
                    data = pictures.cjpeg(array, "-sample", factors, "-quality", str(quality),
                                          "-baseline")
                    self.assertEqual(ct.encode(array, quality=quality, subsampling=sampling), data)
                    self.assertEqual(ct.write(ct.Picture.from_pixels(array, quality, sampling)),
                                     data)


@unittest.skipIf(Image is None, "no Pillow")
class BesidePillow(Beside):
    def saved(self, array, mode=None, **options):
        file = io.BytesIO()
        Image.fromarray(array, mode).save(file, "JPEG", **options)
        return file.getvalue()

    def test_files_and_pixels(self):
        for size in SIZES:
            for quality, (subsampling, sampling) in itertools.product(
                    (1, 40, 100), enumerate(("4:4:4", "4:2:2", "4:2:0"))):
                array = pictures.pixels(*size)
                for kind in ({}, {"optimize": True}, {"progressive": True}):
                    data = self.saved(array, quality=quality, subsampling=subsampling, **kind)
                    self.assertEqual(ct.encode(array, quality=quality, subsampling=sampling,
                                               **kind), data)
                self.assert_equal(ct.decode(data), np.asarray(Image.open(io.BytesIO(data))))
            gray = pictures.pixels(*size, 1)
            data = self.saved(gray, quality=quality)
            self.assertEqual(ct.encode(gray, quality=quality), data)
            self.assert_equal(ct.decode(data, "L"), np.asarray(Image.open(io.BytesIO(data))))

    def test_quantization(self):
        array = pictures.pixels(33, 20)
        data = self.saved(array, quality=60)
        tables = Image.open(io.BytesIO(data)).quantization
        self.assertEqual(ct.encode(array, qtables=tables), data)
        self.assertEqual(ct.encode(array, qtables=list(tables.values())), data)

    def test_cmyk(self):
        for size in SIZES:
            array = pictures.pixels(*size, 4)
            data = self.saved(array, "CMYK", quality=90)
            self.assertEqual(ct.encode(array, quality=90, subsampling="cmyk"), data)
            self.assertEqual(ct.encode(ct.decode(data, "CMYK"), subsampling="cmyk"), ct.encode(
                Image.open(io.BytesIO(data))))
            for sampling in ("cmyk", "YCCK-4:2:0", "YCCK-4:2:2", "YCCK-4:4:4"):
                data = ct.encode(array, quality=90, subsampling=sampling)
                for reduce, image in pictures.drafts_of(data):
                    self.assert_equal(ct.decode(data, "CMYK", reduce=reduce), np.asarray(image))
                    self.assert_equal(ct.decode(data, reduce=reduce),
                                      np.asarray(image.convert("RGB")))

    def test_all_inks(self):
        ink = np.zeros((256, 256, 4), np.uint8)
        ink[:, :, 1], ink[:, :, 3] = np.arange(256), np.arange(256)[:, None]
        self.assert_equal(color.without_ink(ink),
                          np.asarray(Image.fromarray(ink, "CMYK").convert("RGB")))

    def test_images(self):
        """An image's mode names its colors."""
        for mode, channels in (("L", 1), ("RGB", 3), ("CMYK", 4)):
            array = pictures.pixels(33, 20, channels)
            image, sampling = Image.fromarray(array, mode), "cmyk" if mode == "CMYK" else None
            self.assertEqual(ct.encode(image), ct.encode(array, subsampling=sampling))
            self.assertEqual(ct.write(ct.Picture.from_pixels(image)), ct.encode(image))
        self.assertEqual(ct.read(ct.encode(image, subsampling="YCCK-4:2:0")).sampling, "YCCK-4:2:0")
        with self.assertRaisesRegex(ValueError, "4:2:0 of pixels with 4 channels"):
            ct.encode(image, subsampling="4:2:0")
        for mode in ("1", "P", "RGBA", "RGBX", "RGBa", "LA", "PA", "YCbCr", "LAB", "HSV", "I", "F",
                     "I;16"):
            image = Image.new(mode, (9, 7))
            for encode in (ct.encode, ct.Picture.from_pixels):
                for options in ({}, {"subsampling": "cmyk"}, {"subsampling": "4:4:4"}):
                    with self.assertRaisesRegex(ValueError, rf"not {mode}: image.convert..RGB"):
                        encode(image, **options)
            self.assertEqual(ct.decode(ct.encode(image.convert("RGB"))).shape, (7, 9, 3))


class Arrays(unittest.TestCase):
    def test_any_memory(self):
        """Views of other arrays make the file of their copies."""
        large = pictures.pixels(90, 70)
        for view in (large[3:60, 5:50], large[::2, ::3], large[::-1], large[:, ::-1],
                     large[:, :, ::-1], large[:1, 7:8], large[5:40, :, 1], large[:, 4, :2],
                     np.asfortranarray(large), large.transpose(1, 0, 2), large.tolist()):
            if isinstance(view, list):
                view = np.array(view, np.uint8)
            with self.subTest(shape=view.shape, strides=view.strides):
                self.assertEqual(ct.encode(view), ct.encode(np.array(view, order="C")))
        large.setflags(write=False)
        self.assertEqual(ct.encode(large), ct.encode(large.copy()))

    def test_many_colors(self):
        """numpy's conversion makes the integers of the library's, whatever the colors."""
        array = np.random.default_rng(5).integers(0, 256, (250, 250, 3), np.uint8)
        for subsampling in ("4:4:4", "4:2:0"):
            self.assertEqual(ct.encode(array, quality=95, subsampling=subsampling),
                             ct.write(ct.Picture.from_pixels(array, 95, subsampling)))

    def test_pixels_are_the_callers(self):
        """They stay as they are when others are made, and may be changed."""
        data = [file_of("4:2:0", (64, 48), quality) for quality in (20, 80)]
        for mode in ("RGB", "L"):
            made = [ct.decode(one, mode) for one in data * 3]
            kept = [array.copy() for array in made]
            made[0][:] = 7
            again = [ct.decode(one, mode) for one in data]
            for array, copy in zip(made[1:] + again, kept[1:] + kept[:2]):
                self.assertTrue(np.array_equal(array, copy))

    def test_parts_keep_them(self):
        """Of an array that is gone, while others get its memory."""
        data = file_of("4:2:0", (64, 48))
        whole = ct.decode(data).copy()
        parts = [ct.decode(data)[1:], ct.decode(data)[::-1, 5], memoryview(ct.decode(data)),
                 ct.decode(data).view(np.int8)]
        for _ in range(8):
            ct.decode(data)[:] = 7
        for part, same in zip(parts, (whole[1:], whole[::-1, 5], whole, whole.view(np.int8))):
            self.assertTrue(np.array_equal(part, same))

    def test_sources(self):
        """Of every kind, where decode() goes the short way, the long one, and to a crop."""
        data = file_of("4:2:0", (64, 48))
        whole = ct.decode(io.BytesIO(data))
        self.assertEqual(tuple(inspect.signature(ct.decode).parameters)[:3],
                         ("source", "mode", "reduce"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.jpg")
            with open(path, "wb") as file:
                file.write(data)
            apart = memoryview(np.repeat(np.frombuffer(data, np.uint8), 2))[::2]
            for source in (path, pathlib.Path(path), data, bytearray(data), memoryview(data),
                           np.frombuffer(data, np.uint8), memoryview(data).cast("b"),
                           types.SimpleNamespace(read=lambda: data)):
                with self.subTest(type(source)):
                    for made in (ct.decode(source), ct.decode(source=source),
                                 ct.decode(source, on_error="fail")):
                        self.assertTrue(np.array_equal(made, whole))
                    self.assertTrue(np.array_equal(ct.decode(source, "L", crop=(3, 5, 60, 44)),
                                                   ct.decode(data, "L")[5:44, 3:60]))
                    self.assertTrue(np.array_equal(ct.decode(source), whole))
        released = memoryview(data)
        released.release()
        for source in (apart, b"", bytearray(), memoryview(b""), released, "a\0b",
                       pathlib.Path(path)):
            for options in ({}, {"mode": "L"}, {"crop": (0, 0, 1, 1)}):
                with self.assertRaises((ct.ReadError, BufferError)):
                    ct.decode(source, **options)
        for arguments in ((), (data, "RGB", 1), (7,), (None,)):
            with self.assertRaises(TypeError):
                ct.decode(*arguments)
        with self.assertRaises(TypeError):  # whether there is a GPU or not
            ct.decode(7, device="cuda:99")

    def test_calls_are_used_again(self):
        """Also after sources that decode() gives to the library another way."""
        data, calls = file_of("4:2:0", (64, 48)), _decoding.PLAIN.calls
        ct.decode(data)
        kept = list(calls)
        self.assertTrue(kept)
        for source in (io.BytesIO(data), np.frombuffer(data, np.uint8), memoryview(data), data):
            ct.decode(source)
            self.assertEqual(list(calls), kept)
        with self.assertRaises(TypeError):
            ct.decode(7)
        self.assertEqual(list(calls), kept)

    def test_errors_of_the_call_are_not_the_files(self):
        """A device without the kernels is as unsupported as a file's kind."""
        data, error = file_of("4:2:0", (64, 48)), _native.Error(_native.UNSUPPORTED, b"no kernels")

        def run(place, problem):
            problem._obj.code, problem._obj.text = error.code, error.text
            return error.code
        for code, kind in ((_native.UNSUPPORTED, ct.Unavailable),
                           (_native.OUT_OF_MEMORY, MemoryError)):
            error.code = code
            decoder = _decoding.Singles(_decoding.Wanted("RGB"))
            call = _decoding._Call(_decoding.Wanted("RGB"))
            call.run = run
            decoder.calls.append(call)
            with self.assertRaisesRegex(kind, "^no kernels$"):
                decoder.decode(data)

    def test_single_bytes_of_memory_are_not_the_bases(self):
        """A debugger that shows what is in an array's base reads no address but the array's."""
        array = ct.decode(file_of("4:2:0", (64, 48)))
        for look in (lambda base: base[0], lambda base: base[:2], list, iter,
                     lambda base: 7 in base, lambda base: next(reversed(base)),
                     lambda base: base.__setitem__(0, 7)):
            # Up to Python 3.10 list() asks for memory first.
            with self.assertRaises((TypeError, MemoryError)):
                look(array.base)

    def test_tables_and_methods(self):
        array = pictures.pixels(50, 40)
        for tables in (np.full((8, 8), 9), np.array([np.full((8, 8), n) for n in (5, 7)]),
                       np.array([np.full((8, 8), n) for n in (5, 7, 9)])):
            for sampling in ("4:2:0", "rgb", "gray"):
                for method in ("islow", "float"):
                    options = {"subsampling": sampling, "method": method}
                    self.assertEqual(
                        ct.encode(array, qtables=tables, **options),
                        ct.write(ct.Picture.from_pixels(array, qtables=tables, **options)))
        # The next file has its own tables again.
        self.assertEqual(ct.encode(array), ct.write(ct.Picture.from_pixels(array)))
        self.assertEqual(ct.encode(array[:, :, 0], subsampling="4:4:4"),
                         ct.write(ct.Picture.from_pixels(array[:, :, 0], subsampling="4:4:4")))

    def test_options_and_targets(self):
        array = pictures.pixels(50, 40)
        picture = ct.Picture.from_pixels(array)
        for options in ({"progressive": True}, {"arithmetic": True}, {"optimize": True},
                        {"restart": 3}, {}):
            self.assertEqual(ct.encode(array, **options), ct.write(picture, **options))
        with tempfile.TemporaryDirectory() as folder:
            path, file = os.path.join(folder, "a.jpg"), io.BytesIO()
            data = ct.encode(array, path)
            ct.encode(array, file)
            with open(path, "rb") as stored:
                self.assertEqual((stored.read(), file.getvalue()), (data, data))
            self.assertTrue(np.array_equal(ct.decode(path), ct.decode(io.BytesIO(data))))


class Smaller(unittest.TestCase):
    def test_tables_and_quantizers(self):
        array = pictures.pixels(160, 120)
        sizes = [len(ct.encode(array, quality=70, qtables=tables, quantizer=quantizer))
                 for tables in ("annex-k", "perceptual")
                 for quantizer in ("round", "dead-zone", "rd")]
        for first in (0, 3):
            self.assertGreater(sizes[first], sizes[first + 1])
            self.assertGreater(sizes[first], sizes[first + 2])
        perceptual = ct.read(ct.encode(array, quality=70, qtables="perceptual",
                                       subsampling="4:4:4"))
        self.assertTrue(np.array_equal(perceptual.tables,
                                       ct.quality_tables(70, "perceptual", "4:4:4")))
        # The next file has its own settings again.
        self.assertEqual(ct.encode(array), ct.write(ct.Picture.from_pixels(array)))

    def test_target_size(self):
        array = pictures.pixels(200, 150)
        usual = ct.encode(array)
        for options in ({}, {"optimize": True, "restart": 5},
                        {"quantizer": "rd", "subsampling": "gray"},
                        {"qtables": "perceptual", "quantizer": "dead-zone", "subsampling": "rgb"}):
            least = ct.encode(array, quality=1, **options)
            for target in range(len(least) + 200, len(usual), 1500):
                data = ct.encode(array, target_size=target, **options)
                self.assertLessEqual(len(data), target)
                self.assertGreater(len(data), 0.9 * target)
                ct.encode(array, target_size=max(target // 2, len(least)), **options)
                self.assertEqual(ct.encode(array, target_size=target, **options), data)
            for target in (1, len(least) - 1):
                with self.assertWarns(UserWarning):
                    self.assertEqual(ct.encode(array, target_size=target, **options), least)

    def test_a_target_out_of_reach(self):
        """Warns where the call is, of every way to make it, and makes the file."""
        array, path = pictures.pixels(200, 150), io.BytesIO()
        least = ct.encode(array, quality=1)
        for encode in (ct.encode, functools.partial(ct.encode, target=path)):
            for _ in range(2):
                with self.assertWarnsRegex(UserWarning, f"target_size=500 exceeded: {len(least)} "
                                           "bytes.*fewer pixels.*optimize") as told:
                    self.assertEqual(encode(array, target_size=500), least)
                self.assertEqual(told.filename, __file__)
                with open(__file__, encoding="utf-8") as file:
                    self.assertIn("encode(array, target", file.readlines()[told.lineno - 1])
        self.assertEqual(path.getvalue(), 2 * least)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for target in (len(least), 5000, 1 << 31):
                self.assertLessEqual(len(ct.encode(array, target_size=target)), target)
            with self.assertRaisesRegex(ct.WriteError, "fewer pixels"):
                ct.encode(array, target_size=500, max_size=500)
        # What the warning says helps.
        for change in ({"quantizer": "rd"}, {"optimize": True}):
            self.assertLess(len(ct.encode(array, quality=1, **change)), len(least))
        self.assertLess(len(least), len(ct.encode(array, quality=1, subsampling="4:4:4")))

    def test_max_size(self):
        array = pictures.pixels(200, 150)
        usual = ct.encode(array)
        self.assertEqual(ct.encode(array, max_size=len(usual)), usual)
        self.assertLess(len(ct.encode(array, max_size=len(usual) - 1)), len(usual))
        with self.assertRaisesRegex(ct.WriteError, "max_size=700 exceeded: .* bytes at quality 1"):
            ct.encode(array, max_size=700)
        self.assertEqual(ct.encode(array), usual)


class Several(unittest.TestCase):
    def test_encode(self):
        arrays = [pictures.pixels(40 + size, 30) for size in range(5)]
        arrays += [pictures.pixels(20, 10, 1), Image.new("RGB", (9, 7))] if Image else []
        for options in ({}, {"target_size": 1500}, {"subsampling": "4:4:4", "exif": b"II*\0\0"}):
            files = [ct.encode(array, **options) for array in arrays]
            self.assertEqual(ct.encode(arrays, **options), files)
            self.assertEqual(ct.encode(tuple(arrays[:1]), **options), files[:1])
        stacked = np.stack([pictures.pixels(33, 17, seed=seed) for seed in range(3)])
        self.assertEqual(ct.encode(stacked), [ct.encode(array) for array in stacked])
        four = np.stack([pictures.pixels(33, 17, 4)] * 2)
        self.assertEqual(ct.encode(four, subsampling="cmyk"),
                         2 * [ct.encode(four[0], subsampling="cmyk")])
        self.assertEqual(ct.encode([]), [])

    def test_write(self):
        made = [ct.Picture.from_pixels(pictures.pixels(40 + size, 30)) for size in range(5)]
        self.assertEqual(ct.write(made, optimize=True),
                         [ct.write(picture, optimize=True) for picture in made])
        with self.assertRaisesRegex(TypeError, "takes a Picture, not bytes"):
            ct.write([made[0], b""])

    def test_targets(self):
        arrays, targets = [pictures.pixels(9, 7, seed=seed) for seed in range(3)], []
        for count in (2, 4):
            with self.assertRaisesRegex(ValueError, f"list of 3 paths.*, not of {count}$"):
                ct.encode(arrays, [io.BytesIO() for _ in range(count)])
        with self.assertRaisesRegex(ValueError, "list of 3 paths or binary files, not 'folder'$"):
            ct.encode(arrays, "folder")
        targets = [io.BytesIO() for _ in arrays]
        files = ct.encode(arrays, targets)
        self.assertEqual([target.getvalue() for target in targets], files)
        read = [ct.read(data) for data in files]
        self.assertEqual(ct.write(read, [io.BytesIO() for _ in read]), files)

    def test_what_is_stored_before_an_error(self):
        arrays = [pictures.pixels(9, 7, seed=seed) for seed in range(2)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "1.jpg")
            for other, words in ((os.path.join(folder, ".", "1.jpg"), "different paths, not"),
                                 (7, "not int$"), (io.StringIO(), "binary file")):
                with self.assertRaisesRegex((TypeError, ValueError), words):
                    ct.encode(arrays, [path, other])
                self.assertEqual(os.listdir(folder), [])
            with self.assertRaises(FileNotFoundError):
                ct.encode(arrays, [path, os.path.join(folder, "none", "2.jpg")])
            self.assertEqual(os.listdir(folder), ["1.jpg"])

    def test_an_error_names_the_picture(self):
        arrays, target = [pictures.pixels(9, 7), pictures.pixels(400, 300)], io.BytesIO()
        with self.assertRaisesRegex(ct.WriteError, "^picture 1: max_size=1000 exceeded"):
            ct.encode(arrays, [target, target], max_size=1000)
        self.assertEqual(target.getvalue(), b"")


class Colors(unittest.TestCase):
    def test_four_channels_have_no_default(self):
        array = pictures.pixels(16, 9, 4)
        for encode in (ct.encode, ct.Picture.from_pixels):
            for given in (array, array[::-1, ::2], array[:1, :1]):
                with self.assertRaisesRegex(ValueError, r"subsampling=.cmyk.*RGBA.*\[:, :, :3\]"):
                    encode(given)
            encode(array[:, :, :3])
            for sampling in ("cmyk", "CMYK", "CMYK-4:4:4", "YCCK-4:2:0", "YCCK-4:4:1"):
                encode(array, subsampling=sampling)
            for sampling in ("4:2:0", "rgb", "gray"):
                with self.assertRaisesRegex(ValueError, r"CMYK and YCCK.*\[:, :, :3\]"):
                    encode(array, subsampling=sampling)

    def test_on_a_device(self):
        there = _device.View(0, (9, 16, 4), (64, 4, 1), np.dtype(np.uint8), 0, None)
        with mock.patch.multiple(_device, is_on_device=lambda _: True, view=lambda array: array):
            for options, words in (({}, "subsampling=.cmyk.*RGBA"),
                                   ({"subsampling": ""}, "must be a str"),
                                   ({"subsampling": "cmyk"}, "need an array in system memory")):
                with self.assertRaisesRegex((TypeError, ValueError), words):
                    ct.encode(there, **options)

    def test_a_file_in_memory_is_no_image(self):
        """numpy's memmap has a mode, such as that of open()."""
        with tempfile.NamedTemporaryFile() as file:
            array = np.memmap(file, np.uint8, "w+", shape=(8, 9, 3))
            self.assertEqual(ct.encode(array), ct.encode(np.zeros((8, 9, 3), np.uint8)))

    def test_a_sampling_that_is_false(self):
        for channels in (1, 3, 4):
            array = pictures.pixels(16, 9, channels)
            for sampling in ("", False, b"", 0.0, (), np.zeros(0)):
                for encode in (ct.encode, ct.Picture.from_pixels):
                    with self.subTest(sampling=sampling), self.assertRaisesRegex(
                            TypeError, "subsampling must be a str such as .4:2:0., or 0"):
                        encode(array, subsampling=sampling)
        with self.assertRaises(TypeError):
            ct.quality_tables(80, subsampling="")

    def test_names_of_samplings(self):
        array = pictures.pixels(16, 9)
        for names in ((0, "444", "4:4:4", np.int64(0)), (1, "422"), (2, "420"), ("440", "4:4:0")):
            files = {ct.encode(array, subsampling=name) for name in names}
            files.add(ct.write(ct.Picture.from_pixels(array, subsampling=names[0])))
            self.assertEqual(len(files), 1, names)
            sampling = ct.read(files.pop()).sampling.replace(":", "")
            self.assertEqual(sampling, f"YCbCr-{names[1]}".replace(":", ""))
        for encode in (ct.encode, ct.Picture.from_pixels):
            with self.assertRaisesRegex(ValueError, "^subsampling must be '4:4:4', .*'cmyk', 0, 1 "
                                        "or 2, not 'keep'$"):
                encode(array, subsampling="keep")
        for number in (3, -1):
            with self.assertRaisesRegex(ValueError, f"subsampling must be 0.*not {number}$"):
                ct.encode(array, subsampling=number)
        picture = ct.Picture.from_pixels(array)
        picture.sampling = 2
        with self.assertRaisesRegex(TypeError, "^sampling must be a str such as"):
            ct.write(picture)


class Errors(unittest.TestCase):
    def test_files(self):
        for name, (data, _) in pictures.bad_files().items():
            with self.subTest(file=name), self.assertRaises(ct.ReadError) as read:
                ct.read(data)
            with self.subTest(file=name), self.assertRaises(ct.ReadError) as decoded:
                ct.decode(data)
            self.assertEqual(str(decoded.exception), str(read.exception))
        for path in ("/no/such file", os.path.dirname(__file__)):
            with self.assertRaises(ct.ReadError):
                ct.decode(path)

    def test_kinds_without_such_pixels(self):
        ink = ct.encode(pictures.pixels(24, 17, 4), subsampling="cmyk")
        deep = pictures.twelve_bits([np.zeros((3, 5, 8, 8), np.int16)], 37, 20,
                                    np.ones((8, 8), np.uint16))
        for mode in ("RGB", "CMYK"):
            with self.assertRaisesRegex(ct.ReadError, "24x17 picture needs .* max_memory=2000"):
                ct.decode(ink, mode, max_memory=2000)
        for data, mode, words in ((ink, "L", "CMYK-4:4:4: pass mode='RGB' or 'CMYK'"),
                                  (deep, "RGB", "12 bits"), (deep, "L", "12 bits"),
                                  (deep, "CMYK", "12 bits"),
                                  (file_of("4:2:0", (9, 9)), "CMYK", "it is YCbCr-4:2:0")):
            with self.assertRaisesRegex(ct.ReadError, words):
                ct.decode(data, mode)
            self.assertEqual(ct.decode(file_of("4:2:0", (9, 9))).shape, (9, 9, 3))

    def test_sizes(self):
        """One row of a large array, and pictures that no file can have."""
        few = np.zeros((3, 10, 3), np.uint8)
        far = np.lib.stride_tricks.as_strided(few, (1, 10, 3), (1 << 33, 3, 1))
        self.assertEqual(ct.encode(far), ct.encode(few[:1]))
        for shape in ((1, 65501), (65501, 1, 3)):
            with self.assertRaisesRegex(ct.WriteError, "65500 samples on a side at most, not"):
                ct.encode(np.zeros(shape, np.uint8))
        wide = ct.Picture.from_pixels(np.full((1, 70000, 3), 77, np.uint8), 100)
        self.assertEqual((wide.pixels().shape, wide.pixels().min()), ((1, 70000, 3), 77))
        with self.assertRaisesRegex(ct.WriteError, "not 70000"):
            ct.write(wide)

    def test_no_memory(self):
        """Of a Reader it is a Failure."""
        code = ("import resource, sys, cudatransform as ct\n"
                "ct.decode(sys.argv[1], reduce=8)\n"
                "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
                "resource.setrlimit(resource.RLIMIT_AS, (used + 280 * 2**20,) * 2)\n"
                "try:\n"
                "    ct.decode(sys.argv[1])\n"
                "except ct.ReadError as error:\n"
                "    print(error.reason)\n"
                "for batch in ct.Reader([sys.argv[1]], output='pixels', num_workers=1):\n"
                "    print(batch.failures)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "large.jpg")
            ct.encode(np.zeros((9000, 9000), np.uint8), path)
            ran = subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.PIPE,
                                 text=True, check=True)
            self.assertIn("memory", ran.stdout.splitlines()[0])
            self.assertIn("Failure(path=", ran.stdout)

    def test_arguments(self):
        data, array = file_of("4:2:0", (9, 9)), pictures.pixels(9, 9)
        for options in ({"mode": "BGR"}, {"reduce": 3}, {"upsampling": "cubic"}, {"device": "gpu"}):
            with self.subTest(options=options), self.assertRaises(ValueError):
                ct.decode(data, **options)
            with self.subTest(options=options), self.assertRaises(ValueError):
                ct.Reader(["a.jpg"], output="pixels", **options)
        for wrong in ({"reduce": 1.5}, {"reduce": True}, {"reduce": np.True_}, {"device": 0}):
            with self.assertRaises(TypeError):
                ct.decode(data, **wrong)
        for device in ("", "cpu:", "cuda:", "cuda:-1", "cuda:\u00b2", "cuda:4294967296"):
            with self.assertRaisesRegex(ValueError, "device must be .cpu., .cuda. or"):
                ct.decode(data, device=device)
        for devices in ([], ["cpu"], ["cuda", "cpu"], ("cuda", "gpu")):
            with self.assertRaisesRegex(ValueError, "device must be"):
                ct.Reader(["a.jpg"], device=devices)
        for name in ("batch_size", "num_workers"):
            with self.assertRaisesRegex(TypeError, f"{name} must be a whole number, not True"):
                ct.Reader([], **{name: True})
        with self.assertRaisesRegex(ValueError, "output must be .*'pixels', not 'planes'"):
            ct.Reader(["a.jpg"], output="planes")
        for options in ({"quality": 0}, {"quality": 101}, {"subsampling": "4:2:1"},
                        {"qtables": np.zeros((8, 8))}, {"qtables": "flat"}, {"quantizer": "rdo"},
                        {"target_size": 0}, {"max_size": 1 << 32},
                        {"target_size": 900, "qtables": np.full((2, 8, 8), 9)},
                        {"quantizer": "rd", "qtables": np.full((3, 8, 8), 9)},
                        {"target_size": 900, "progressive": True},
                        {"target_size": 900, "max_size": 899}, {"method": "fast"}, {"restart": -1},
                        {"subsampling": "cmyk"}):
            with self.subTest(options=options), self.assertRaises((ValueError, ct.WriteError)):
                ct.encode(array, **options)
        for wrong in (array.astype(np.int16), array[:0], array[:, :, :2], array[0, 0]):
            with self.assertRaisesRegex(ValueError, "pixels must be uint8"):
                ct.encode(wrong)
        for wrong in (iter([array]), {0: array}, None, "a.jpg", [None]):
            with self.assertRaisesRegex(TypeError, r"^array must be .*several: a list or tuple\), "
                                        "not [a-zA-Z_]+$"):
                ct.encode(wrong)
        for make in (functools.partial(ct.encode, array), ct.Writer):
            with self.assertRaisesRegex(ValueError, "target_size chooses the quality"):
                make(quality=50, target_size=1000)
        for right in ({"quality": 90}, {"quality": 1}, {"target_size": 1000}, {"restart": 1},
                      {"progressive": True}):  # which equal some of the wrong ones
            ct.encode(array, **right)
        for wrong in ({"quality": 90.}, {"quality": "90"}, {"quality": True}, {"quality": [90]},
                      {"target_size": True}, {"target_size": 1000.}, {"restart": True}):
            with self.assertRaisesRegex(TypeError, "must be a whole number"):
                ct.encode(array, **wrong)
        for wrong in ({"progressive": 2}, {"optimize": []}, {"method": []}, {"markers": None},
                      {"markers": ""}, {"exif": 5}):
            with self.assertRaises(TypeError):
                ct.encode(array, **wrong)


class OfMany(unittest.TestCase):
    def test_reader(self):
        samplings = (*SAMPLINGS, "cmyk", "YCCK-4:2:0")
        files = {}
        for index, (sampling, size) in enumerate(itertools.product(samplings, SIZES)):
            array = pictures.pixels(*size, pictures.channels_of(sampling), index)
            files[f"{index:03d}.jpg"] = ct.encode(array, subsampling=sampling)
        files.update({f"bad/{name}": data for name, (data, _) in pictures.bad_files().items()})
        with tempfile.TemporaryDirectory() as folder:
            paths = sorted(pictures.write_all(folder, files).values()) + [folder]
            for options in ({}, {"mode": "L", "reduce": 2}, {"upsampling": "nearest", "reduce": 4},
                            {"mode": "CMYK"}, {"mode": "CMYK", "reduce": 8}):
                batches = list(ct.Reader(paths, batch_size=7, output="pixels", **options))
                items = [item for batch in batches for item in batch]
                self.assertEqual([path for batch in batches for path in batch.paths], paths)
                for path, item in zip(paths, items):
                    try:
                        wanted = ct.decode(path, **options)
                    except ct.ReadError as error:
                        self.assertEqual(item, ct.Failure(path, error.reason))
                    else:
                        self.assertTrue(np.array_equal(item, wanted), path)
                self.assertEqual(sum(len(batch.pictures) + len(batch.failures)
                                     for batch in batches), len(paths))
                self.assertEqual([batch.irregular for batch in batches], [[]] * len(batches))


if __name__ == "__main__":
    unittest.main(verbosity=2)
