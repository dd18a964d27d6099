#!/usr/bin/python3
# cudatransform.read and write: every kind of file there and back, against libjpeg-turbo, bad input.
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import errno
import gc
import glob
import io
import os
import pathlib
import pickle
import resource
import tempfile
import unittest

import numpy as np

import cudatransform as ct
import pictures

KINDS = ({}, {"progressive": True}, {"arithmetic": True}, {"optimize": True}, {"restart": 3},
         {"progressive": True, "arithmetic": True})


class Lossless(unittest.TestCase):
    def test_there_and_back(self):
        for sampling in ct.color.SAMPLINGS:
            for size in ((1, 1), (8, 8), (97, 61), (160, 120)):
                array = pictures.pixels(*size, pictures.channels_of(sampling))
                picture = ct.Picture.from_pixels(array, 80, sampling)
                self.assertEqual(picture.sampling, sampling)
                self.assertEqual(picture.pixels().shape, array.shape)
                for kind in KINDS:
                    with self.subTest(sampling=sampling, size=size, **kind):
                        self.assertTrue(pictures.equal(
                            ct.read(ct.write(picture, **kind)), pictures.with_jfif(picture)))

    def test_kinds_are_what_they_say(self):
        picture = ct.Picture.from_pixels(pictures.pixels(160, 120), 80)
        frames = [pictures.frame_of(ct.write(picture, **kind)) for kind in KINDS]
        self.assertEqual(frames, [0xC0, 0xC2, 0xC9, 0xC0, 0xC0, 0xCA])
        self.assertIn(b"\xff\xdd\0\4\0\3", ct.write(picture, restart=3))
        self.assertLess(len(ct.write(picture, optimize=True)), len(ct.write(picture)))

    def test_markers_are_kept(self):
        data = ct.write(ct.Picture.from_pixels(pictures.pixels(40, 30)))
        exif = pictures.segment(0xE1, b"Exif\0\0some data")
        comment = pictures.segment(0xFE, b"a comment")
        picture = ct.read(data[:20] + exif + comment + data[20:])
        self.assertTrue(picture.markers.endswith(exif + comment))
        self.assertEqual(ct.read(ct.write(picture, progressive=True)).markers, picture.markers)
        picture.markers = b""
        self.assertNotIn(b"a comment", ct.write(picture))

    def test_what_is_changed_is_written(self):
        picture = ct.read(ct.write(ct.Picture.from_pixels(pictures.pixels(64, 48))))
        picture[0][2, 3, 1, 0] = 77
        picture.components[1].coefficients = np.zeros_like(picture[1])
        picture.tables[0][:] = 9
        again = ct.read(ct.write(picture))
        self.assertTrue(pictures.equal(again, picture))
        self.assertEqual(again[0][2, 3, 1, 0], 77)
        self.assertFalse(again[1].any())

    def test_sources_and_targets(self):
        data = ct.write(ct.Picture.from_pixels(pictures.pixels(40, 30)))
        wanted = ct.read(data)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "odd \udcff name\n.jpg")
            self.assertEqual(ct.write(wanted, path), data)
            with open(path, "rb") as file:
                self.assertTrue(pictures.equal(ct.read(file), wanted))
            for source in (path, pathlib.Path(path), bytearray(data), memoryview(data),
                           io.BytesIO(data)):
                self.assertTrue(pictures.equal(ct.read(source), wanted))
            self.assertEqual(ct.read(path).path, path)
            with self.assertRaises(OSError):
                ct.write(wanted, os.path.join(folder, "none", "picture.jpg"))
        target = io.BytesIO()
        ct.write(wanted, target)
        self.assertEqual(target.getvalue(), data)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.picture = ct.read(ct.write(ct.Picture.from_pixels(pictures.pixels(97, 61), 70)))

    def test_shapes_and_types(self):
        picture = self.picture
        self.assertEqual((picture.width, picture.height, len(picture)), (97, 61, 3))
        self.assertEqual([coefs.shape for coefs in (picture[0], picture[1], picture[2])],
                         [(8, 13, 8, 8), (4, 7, 8, 8), (4, 7, 8, 8)])
        self.assertEqual((picture[0].dtype, picture.tables.dtype), (np.int16, np.uint16))
        self.assertEqual([c.table for c in picture.components], [0, 1, 1])
        self.assertEqual([(c.width, c.height, c.h_samp, c.v_samp, c.id)
                          for c in picture.components],
                         [(97, 61, 2, 2, 1), (49, 31, 1, 1, 2), (49, 31, 1, 1, 3)])
        self.assertTrue(np.array_equal(picture.tables, ct.quality_tables(70)))

    def test_planes_are_in_the_order_of_files(self):
        planes = self.picture.planes()
        self.assertEqual(planes[0].shape, (64, 8, 13))
        first = ((0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2))
        for index, (v, u) in enumerate(first):
            self.assertTrue(np.array_equal(planes[0][index], self.picture[0][:, :, v, u]))
        self.assertTrue(np.array_equal(planes[0][63], self.picture[0][:, :, 7, 7]))
        self.assertEqual(sorted(ct.ZIGZAG), list(range(64)))

    def test_strip(self):
        exif = pictures.segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0" + bytes(6))
        for sampling in ("4:2:0", "cmyk"):
            picture = ct.Picture.from_pixels(
                pictures.pixels(40, 30, pictures.channels_of(sampling)), subsampling=sampling)
            own = picture.markers
            picture.markers, picture.trailer = exif + own, b"film"
            stripped = ct.read(ct.write(picture, strip=1))
            self.assertEqual(picture.markers, exif + own)
            self.assertNotIn(b"Exif", stripped.markers)
            self.assertEqual((b"Adobe" in stripped.markers, stripped.trailer),
                             (sampling == "cmyk", b""))
            self.assertTrue(np.array_equal(stripped.pixels(), picture.pixels()))
        with self.assertRaisesRegex(TypeError, "strip must be True or False, not 'all'"):
            ct.write(picture, strip="all")

    def test_quantization(self):
        self.assertEqual(self.picture.quantization,
                         dict(enumerate(self.picture.tables.reshape(-1, 64).tolist())))
        again = ct.Picture.from_pixels(self.picture.pixels(), qtables=self.picture.quantization)
        self.assertTrue(np.array_equal(again.table(1), self.picture.table(1)))

    def test_dequantize(self):
        values = self.picture.dequantize()[1]
        self.assertEqual(values.dtype, np.int32)
        self.assertEqual(values[1, 2, 3, 4],
                         int(self.picture[1][1, 2, 3, 4]) * int(self.picture.table(1)[3, 4]))

    def test_coefficients_are_views_that_keep_their_buffer(self):
        coefs = self.picture[0]
        self.assertIsNotNone(coefs.base)
        self.assertTrue(coefs.flags.writeable)
        wanted = coefs.copy()
        del self.picture
        gc.collect()
        for seed in range(20):  # which would be decoded into the same memory
            ct.read(ct.write(ct.Picture.from_pixels(pictures.pixels(97, 61, seed=seed), 70)))
        self.assertTrue(np.array_equal(coefs, wanted))

    def test_no_array(self):
        for call in (np.asarray, np.array, ct.encode):
            with self.assertRaisesRegex(TypeError, r"use picture.pixels\(\), or picture\[i\]"):
                call(self.picture)

    def test_an_index_is_an_int(self):
        self.assertIs(self.picture[np.int64(-1)], self.picture[2])
        for index, words in ((slice(2), "slice"), ("Y", "str"), ((slice(None), 0), "tuple")):
            with self.assertRaisesRegex(TypeError, f"^picture.i. needs an int, not {words}$"):
                self.picture[index]  # pylint: disable=pointless-statement

    def test_equal(self):
        self.assertEqual(self.picture, self.picture.copy())
        self.assertEqual(self.picture, ct.read(ct.write(self.picture, progressive=True)))
        self.assertNotEqual(self.picture, 5)
        for change in (lambda p: p[2].__setitem__((0, 0, 7, 7), 1), lambda p: p.tables.fill(9),
                       lambda p: setattr(p, "markers", b""), lambda p: setattr(p, "width", 96),
                       lambda p: setattr(p, "attachments", (b"",)),
                       lambda p: setattr(p, "sampling", "RGB"),
                       lambda p: setattr(p.components[1], "table", 0)):
            other = self.picture.copy()
            change(other)
            self.assertNotEqual(self.picture, other)
        with self.assertRaises(TypeError):
            hash(self.picture)

    def test_pickle_copies(self):
        again = pickle.loads(pickle.dumps(self.picture))
        self.assertTrue(pictures.equal(again, self.picture))
        self.assertEqual(repr(again), "<Picture 97x61 YCbCr-4:2:0>")


@unittest.skipUnless(pictures.have_tools(), "no cjpeg and djpeg")
class BesideLibjpegTurbo(unittest.TestCase):
    def test_pixels_are_djpegs(self):
        for sampling, factors in pictures.CJPEG_SAMPLINGS.items():
            for size in ((97, 61), (16, 16), (3, 5)):
                with self.subTest(sampling=sampling, size=size):
                    data = pictures.cjpeg(pictures.pixels(*size), "-sample", factors)
                    picture = ct.read(data)
                    self.assertEqual(picture.sampling, sampling)
                    self.assertTrue(np.array_equal(picture.pixels(), pictures.djpeg(data)))
                    self.assertTrue(np.array_equal(picture.pixels("nearest"),
                                                   pictures.djpeg(data, "-nosmooth")))
        with self.assertRaisesRegex(ValueError, "'fancy' or 'nearest', not 'cubic'"):
            picture.pixels("cubic")

    def test_coefficients_of_pixels_are_cjpegs(self):
        for sampling, factors in pictures.CJPEG_SAMPLINGS.items():
            for size in ((97, 61), (16, 16), (3, 5)):
                for quality in (25, 75, 95):
                    with self.subTest(sampling=sampling, size=size, quality=quality):
                        array = pictures.pixels(*size)
                        data = pictures.cjpeg(array, "-sample", factors, "-quality", str(quality))
                        made = ct.Picture.from_pixels(array, quality, sampling[-5:])
                        self.assertTrue(pictures.equal(pictures.with_jfif(made), ct.read(data)))

    def test_gray_and_rgb(self):
        gray = pictures.pixels(97, 61, 1)
        data = pictures.cjpeg(gray, "-grayscale")
        self.assertTrue(pictures.equal(pictures.with_jfif(ct.Picture.from_pixels(gray, 75)),
                                       ct.read(data)))
        self.assertTrue(np.array_equal(ct.read(data).pixels(), pictures.djpeg(data)))
        color = pictures.pixels(97, 61)
        data = pictures.cjpeg(color, "-rgb", "-quality", "90")
        self.assertTrue(np.array_equal(ct.read(data).pixels(), pictures.djpeg(data)))

    @unittest.skipUnless(os.path.isdir(pictures.OPENCV), "no opencv-doc")
    def test_some_files_of_opencv_doc(self):
        paths = sorted(glob.glob(pictures.OPENCV + "/**/*.jpg", recursive=True))[::40]
        self.assertGreater(len(paths), 10)
        for path in paths:
            with self.subTest(path=path):
                picture = ct.read(path)
                self.assertTrue(pictures.equal(ct.read(ct.write(picture, progressive=True)),
                                               picture))
                with open(path, "rb") as file:
                    data = file.read()
                self.assertTrue(np.array_equal(picture.pixels(), pictures.djpeg(data)))


class Cmyk(unittest.TestCase):
    SIZES = ((97, 61), (16, 16), (3, 5))

    def test_pixels_are_those_of_rgb_and_black(self):
        for sampling in ("4:2:0", "4:2:2", "4:4:4", "4:4:0", "4:1:1"):
            for size in self.SIZES:
                with self.subTest(sampling=sampling, size=size):
                    array = pictures.pixels(*size, 4)
                    color = ct.Picture.from_pixels(array[:, :, :3], 80, sampling)
                    ink = ct.Picture.from_pixels(array, 80, "YCCK-" + sampling)
                    black = ct.Picture.from_pixels(255 - array[:, :, 3], 80)
                    for index in range(3):
                        self.assertTrue(np.array_equal(ink[index], color[index]))
                    self.assertTrue(np.array_equal(ink[3], black[0]))
                    again = ct.read(ct.write(ink)).pixels()
                    self.assertTrue(np.array_equal(again[:, :, :3], color.pixels()))
                    self.assertTrue(np.array_equal(again[:, :, 3], 255 - black.pixels()))

    def test_pixels_are_pillows(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("no Pillow")
        for size in self.SIZES:
            array = pictures.pixels(*size, 4)
            file = io.BytesIO()
            Image.fromarray(array, "CMYK").save(file, "JPEG", quality=90)
            picture = ct.read(file.getvalue())
            self.assertEqual(picture.sampling, "CMYK-4:4:4")
            judge = np.asarray(Image.open(file))
            self.assertTrue(np.array_equal(picture.pixels(), judge))
            self.assertTrue(pictures.equal(ct.Picture.from_pixels(array, 90, "cmyk"), picture))
            self.assertEqual(ct.write(picture), file.getvalue())
            for sampling in ("CMYK-4:4:4", "YCCK-4:4:4"):
                made = ct.Picture.from_pixels(array, 90, sampling)
                judge = np.asarray(Image.open(io.BytesIO(ct.write(made))))
                self.assertTrue(np.array_equal(made.pixels(), judge), sampling)

    def test_adobes_marker_stays_and_stays_away(self):
        picture = ct.Picture.from_pixels(pictures.pixels(40, 30, 4), subsampling="cmyk")
        data = ct.write(picture)
        self.assertIn(b"Adobe", ct.read(data).markers)
        picture.markers = b""
        data = ct.write(picture)
        self.assertNotIn(b"Adobe", data)
        again = ct.read(data)
        self.assertEqual((again.sampling, again.markers), ("CMYK-4:4:4", b""))
        self.assertEqual(ct.write(again), data)

    def test_wrong_channels(self):
        array = pictures.pixels(16, 16, 4)
        for channels, sampling in ((4, "4:2:0"), (4, "gray"), (4, "rgb"), (3, "cmyk"),
                                   (3, "YCCK-4:2:0"), (1, "cmyk")):
            given = array[:, :, 0] if channels == 1 else array[:, :, :channels]
            with self.assertRaisesRegex(ValueError, "CMYK and YCCK"):
                ct.Picture.from_pixels(given, subsampling=sampling)


class BadInput(unittest.TestCase):
    def test_bytes_and_files(self):
        sound = ct.write(ct.Picture.from_pixels(pictures.pixels(40, 30)))
        with tempfile.TemporaryDirectory() as folder:
            bad = pictures.bad_files()
            paths = pictures.write_all(folder, {name: data for name, (data, _) in bad.items()})
            for name, (data, word) in bad.items():
                for source, path in ((data, "<bytes>"), (paths[name], paths[name])):
                    with self.subTest(name=name, path=path):
                        with self.assertRaises(ct.ReadError) as raised:
                            ct.read(source)
                        error = raised.exception
                        self.assertEqual(error.path, path)
                        self.assertEqual(str(error), f"{path}: {error.reason}")
                        self.assertIn(word, error.reason)
                ct.read(sound)  # the next one still works

    def test_what_is_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            for path, word in ((folder, "directory"), (pipe, "not a file"), ("/dev/null", "not a"),
                               (os.path.join(folder, "none"), "No such file"),
                               ("a\0b.jpg", "null")):
                with self.subTest(path=path), self.assertRaises(ct.ReadError) as raised:
                    ct.read(path)
                self.assertIn(word, raised.exception.reason)
                self.assertEqual(isinstance(raised.exception, FileNotFoundError),
                                 word == "No such file")
        with self.assertRaises(FileNotFoundError) as raised:
            ct.decode("none.jpg")
        error = raised.exception
        self.assertEqual((error.errno, error.filename), (errno.ENOENT, "none.jpg"))

    def test_no_descriptors(self):
        """It is no fault of the file, so a Reader ends, too."""
        data = ct.write(ct.Picture.from_pixels(pictures.pixels(24, 17)))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with tempfile.NamedTemporaryFile() as file, contextlib.ExitStack() as opened:
            file.write(data)
            file.flush()
            ct.read(file.name)
            opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
            with contextlib.suppress(OSError):
                while True:
                    opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            for read in (ct.read, ct.decode, lambda path: list(ct.Reader([data, path]))):
                with self.assertRaises(OSError) as raised:
                    read(file.name)
                error = raised.exception
                self.assertEqual((error.errno, error.filename), (errno.EMFILE, file.name))
                self.assertNotIsInstance(error, ct.ReadError)
        self.assertEqual(ct.read(data).width, 24)

    def test_text_mode(self):
        for file in (io.StringIO("text"), tempfile.NamedTemporaryFile("w+"), open(__file__)):
            with file:
                with self.assertRaisesRegex(TypeError, "^source must be.* open it with 'rb'$"):
                    ct.read(file)
                with self.assertRaisesRegex(TypeError, "^target must be.* open it with 'wb'$"):
                    ct.encode(pictures.pixels(24, 17), file)

    def test_unreadable(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "secret.jpg")
            ct.write(ct.Picture.from_pixels(pictures.pixels(24, 17)), path)
            os.chmod(path, 0)
            with pictures.as_nobody(folder):
                with self.assertRaisesRegex(ct.ReadError, "Permission denied") as raised:
                    ct.read(path)
            self.assertEqual(raised.exception.path, path)

    def test_errors_survive_processes(self):
        """By pickle, and made of their message alone, as torch's DataLoader does it."""
        for error in (ct.ReadError("a.jpg", "Not a JPEG file: starts with 0x54 0x68"),
                      ct.errors.MissingFileError("a.jpg", "No such file or directory"),
                      ct.WriteError("a coefficient"),
                      ct.Unavailable("no GPU")):
            for again in (pickle.loads(pickle.dumps(error)), type(error)(str(error))):
                self.assertEqual((type(again), str(again)), (type(error), str(error)))
                if isinstance(error, ct.ReadError):
                    self.assertEqual((again.path, again.reason), (error.path, error.reason))
        self.assertEqual(str(ct.ReadError("one sentence")), "one sentence")

    def test_components_in_turn(self):
        picture = ct.Picture.from_pixels(pictures.pixels(40, 30))
        self.assertEqual(list(map(id, picture)), [id(c.coefficients) for c in picture.components])

    def test_every_cut(self):
        data = ct.write(ct.Picture.from_pixels(pictures.pixels(24, 17)), progressive=True)
        for size in range(len(data) - 2):
            with self.assertRaises(ct.ReadError):
                ct.read(data[:size])
        whole = ct.read(data)
        self.assertEqual(whole.irregular, ())
        for size in (len(data) - 2, len(data) - 1):  # only the end is missing
            picture = ct.read(data[:size])
            self.assertTrue(pictures.equal(picture, whole))
            self.assertEqual(picture.irregular, ("missing-eoi",))

    def test_irregular_files(self):
        data = ct.write(ct.Picture.from_pixels(pictures.pixels(24, 17)))
        whole, at = ct.read(data), data.index(b"\xff\xda") + 5 + 2 * 3
        odd = {("trailing-bytes",): data[:-2] + b"\x12\x34\xff\xd9",
               ("scan-parameters",): data[:at] + b"\1" + data[at + 1:],
               ("trailing-bytes", "missing-eoi"): data[:-2] + b"\x12\x34"}
        for names, changed in odd.items():
            picture = ct.read(changed)
            self.assertEqual(picture.irregular, names)
            self.assertTrue(pictures.equal(picture, whole))
            for again in (picture.copy(), pickle.loads(pickle.dumps(picture))):
                self.assertEqual(again.irregular, names)
            # It is written as a regular file.
            self.assertEqual(ct.write(picture), data)

    def test_what_jpeg_cannot_hold(self):
        def picture():
            return ct.Picture.from_pixels(pictures.pixels(24, 17))
        def coefs(made): made[0][0, 0, 1, 1] = 5000
        def table(made): made.tables[0] = 0
        def shape(made): made.components[0].coefficients = made[0][:1]
        def kind(made): made.components[0].coefficients = made[0].astype(np.int32)
        def size(made): made.width = 0
        def large(made): made.width = made.height = 2**31 - 1
        def sampling(made): made.sampling = "YCbCr-4:4:4"
        def index(made): made.components[0].table = 3
        def tables(made): made.tables = made.tables.astype(float)
        for harm in (coefs, table, shape, kind, size, large, sampling, index, tables):
            with self.subTest(harm.__name__):
                made = picture()
                harm(made)
                with self.assertRaises(ct.WriteError):
                    ct.write(made)
        for restart in (-1, 65536):
            with self.assertRaisesRegex(ct.WriteError, "0 to 65535"):
                ct.write(picture(), restart=restart)
        ct.write(picture())

    def test_markers_that_are_none(self):
        made = ct.Picture.from_pixels(pictures.pixels(24, 17))
        sound = pictures.segment(0xE1, b"Exif\0\0data") + pictures.segment(0xFE, b"")
        for markers, words in ((b"E", "byte 0.*not 45"), (b"Exif", "byte 0"),
                               (sound + b"\xff", f"byte {len(sound)}.*expected, not FF$"),
                               (sound + b"\xff\xdb\0\2", "not FF DB 00 02"),
                               (b"\xff\xe1\0\1", "at least 2"),
                               (b"\xff\xe1\0\5ab", "at most 4"), (b"\0" + sound, "byte 0")):
            with self.subTest(markers):
                made.markers = markers
                with self.assertRaisesRegex(ct.WriteError, words):
                    ct.write(made)
        for markers in ("a str", None, 5, [sound]):
            made.markers = markers
            with self.assertRaisesRegex(TypeError, "markers must be bytes, not"):
                ct.write(made)
        made.markers = bytearray(sound)
        self.assertTrue(ct.read(ct.write(made)).markers.endswith(sound))

    def test_types_of_arguments(self):
        def picture():
            return ct.Picture.from_pixels(pictures.pixels(24, 17))
        def coefs(made): made.components[0].coefficients = made[0].tolist()
        def tables(made): made.tables = made.tables.tolist()
        def index(made): made.components[0].table = 0.
        def width(made): made.width = 24.
        for harm in (coefs, tables, index, width):
            made = picture()
            harm(made)
            with self.subTest(harm.__name__), self.assertRaises(TypeError):
                ct.write(made)
        for options in ({"restart": 1.5}, {"restart": "3"}, {"restart": None},
                        {"progressive": "false"}, {"optimize": 1.0}, {"arithmetic": None}):
            with self.subTest(options), self.assertRaises(TypeError):
                ct.write(picture(), **options)
        ct.write(picture(), restart=np.int64(3), optimize=np.bool_(True), progressive=1)
        for call in (lambda: ct.write(picture()[0]), lambda: ct.write(None), lambda: ct.read(5),
                     lambda: ct.read(None), lambda: ct.read(io.StringIO("text")),
                     lambda: ct.Picture.from_pixels(pictures.pixels(24, 17), 85.5),
                     lambda: ct.Picture.from_pixels(pictures.pixels(24, 17), "85"),
                     lambda: ct.Picture.from_pixels(pictures.pixels(24, 17), subsampling=4.2)):
            with self.assertRaises(TypeError):
                call()

    def test_pixels_and_tables(self):
        array = pictures.pixels(24, 17)
        for arguments in ((array.astype(float),), (array[:, :, :2],), (array[:0],), (array, 0),
                          (array, 101), (array, 50, "4:2:1"),
                          (array, 50, None, np.zeros((8, 8), int)),
                          (array, 50, None, np.ones((5, 8, 8), int)),
                          (array, 50, None, np.full((8, 8), 65536))):
            with self.subTest(arguments[1:]), self.assertRaises(ValueError):
                ct.Picture.from_pixels(*arguments)

    def test_tables_of_ones_own(self):
        tables = np.arange(1, 129).reshape(2, 8, 8)
        made = ct.Picture.from_pixels(pictures.pixels(24, 17), qtables=tables)
        self.assertTrue(np.array_equal(ct.read(ct.write(made)).tables, tables))
        made = ct.Picture.from_pixels(pictures.pixels(24, 17), qtables=np.full((8, 8), 65535))
        self.assertTrue(pictures.equal(ct.read(ct.write(made)), pictures.with_jfif(made)))
        flat = tables.reshape(2, 64)
        for given, count in ((flat, 2), (flat.tolist(), 2), ({2: flat[1], 0: list(flat[0])}, 2),
                             (flat[0], 1), (flat[:1].tolist(), 1)):
            for make in (lambda array, qtables: ct.read(ct.encode(array, qtables=qtables)),
                         lambda array, qtables: ct.Picture.from_pixels(array, qtables=qtables)):
                made = make(pictures.pixels(24, 17), given)
                self.assertTrue(np.array_equal(made.tables, tables[:count]))
        with self.assertRaisesRegex(TypeError, "must be arrays, not 'perceptual': quality_tables"):
            ct.Picture.from_pixels(pictures.pixels(24, 17), qtables="perceptual")


if __name__ == "__main__":
    unittest.main(verbosity=2)
