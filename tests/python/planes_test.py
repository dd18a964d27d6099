#!/usr/bin/python3
# Planes of frequencies: Picture.planes(), and a Reader's, in system memory; or in CUDA memory, on
# the emulator or with torch or cupy on a GPU.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: planes_test.py [cuda|emulated]
import ctypes
import os
import pickle
import sys
import tempfile
import unittest

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import cudatransform as ct  # noqa: E402
import device_arrays  # noqa: E402
import pictures  # noqa: E402

PLACE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
DEVICE = "cpu" if PLACE == "cpu" else "cuda"
TYPES = ("int16", "int32", "float32", "float16")


def as_numpy(array):
    if PLACE == "cpu":
        return array
    if PLACE == "cuda":
        name, module = next(iter(device_arrays.libraries()))
        tensor = module.from_dlpack(array)
        assert tensor.shape == array.shape
        return tensor.cpu().numpy() if name == "torch" else module.asnumpy(tensor)
    said = array.__cuda_array_interface__  # the emulator's memory is the host's
    size = said["strides"][0] * said["shape"][0]
    memory = (ctypes.c_uint8 * size).from_address(said["data"][0])
    return np.ndarray(said["shape"], said["typestr"], memory, 0, said["strides"])


def planes_of(picture, dtype):
    """The definition."""
    blocks = list(picture) if dtype == "int16" else picture.dequantize()
    return [one.reshape(*one.shape[:2], 64).transpose(2, 0, 1)[ct.ZIGZAG].astype(dtype)
            for one in blocks]


class Planes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        files = {}
        for index, sampling in enumerate(("4:2:0", "gray", "4:2:2", "4:4:4", "YCCK-4:2:0", "rgb")):
            array = pictures.pixels(41 + 57 * index, 90 - 11 * index,
                                    pictures.channels_of(sampling), index)
            files[f"{index}.jpg"] = ct.write(ct.Picture.from_pixels(array, 70, sampling))
        files["odd.jpg"] = files["0.jpg"][:-2]
        files["text.jpg"] = b"no picture"
        cls.paths = sorted(pictures.write_all(cls.folder.name, files).values())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, planes, picture, dtype):
        self.assertIsInstance(planes, ct.Planes)
        self.assertEqual(len(planes), len(picture))
        for got, wanted in zip(planes, planes_of(picture, dtype)):
            self.assertEqual((got.shape, str(got.dtype)), (wanted.shape, dtype))
            self.assertTrue(np.array_equal(as_numpy(got), wanted))
        self.assertEqual((planes.width, planes.height, planes.sampling, planes.depth, planes.path,
                          planes.irregular),
                         (picture.width, picture.height, picture.sampling, picture.depth,
                          picture.path, picture.irregular))
        if dtype == "int16":
            self.assertTrue(np.array_equal(planes.tables, picture.tables))
            self.assertEqual(planes.which, tuple(c.table for c in picture.components))
        else:
            self.assertEqual(planes.tables.shape, (0, 8, 8))

    def test_of_pictures(self):
        for path in self.paths[:6]:
            picture = ct.read(path)
            on_device = None if PLACE == "cpu" else ct.read(path, device="cuda")
            for dtype in TYPES:
                self.check((on_device or picture).planes(dtype), picture, dtype)
            self.assertEqual(str(picture.planes()[0].dtype), "int16")

    def test_readers(self):
        for dtype in TYPES:
            items, irregular = [], 0
            for batch in ct.Reader(self.paths * 2, 5, DEVICE, layout="band", dtype=dtype):
                items += batch
                irregular += len(batch.irregular)
            self.assertEqual((len(items), irregular), (16, 2))
            for path, item in zip(self.paths * 2, items):
                if path.endswith("text.jpg"):
                    self.assertIsInstance(item, ct.Failure)
                else:
                    self.check(item, ct.read(path), dtype)

    @unittest.skipUnless(PLACE == "cpu", "is of system memory")
    def test_changed_coefficients(self):
        picture = ct.read(self.paths[0]).copy()
        picture[1][:] = np.arange(64).reshape(8, 8)
        self.check(picture.planes("float32"), picture, "float32")

    @unittest.skipUnless(PLACE == "cpu", "is of system memory")
    def test_twelve_bits(self):
        picture = ct.read(self.paths[3])
        deep = ct.Picture(picture.components, picture.tables, picture.width, picture.height,
                          picture.sampling, depth=12)
        deep[0][:] = 2047
        self.check(deep.planes("int32"), deep, "int32")

    @unittest.skipUnless(PLACE == "cpu", "is of system memory")
    def test_pickles(self):
        picture = ct.read(self.paths[0])
        self.check(pickle.loads(pickle.dumps(picture.planes())), picture, "int16")

    def test_refusals(self):
        picture = ct.read(self.paths[0])
        for dtype in ("float64", "uint8", ">f2", "foo", None):
            with self.assertRaisesRegex(ValueError, f"dtype must be int16, .*, not {dtype!r}"):
                picture.planes(dtype)
        for options, words in (({"layout": "zigzag"}, "'block' or 'band', not 'zigzag'"),
                               ({"dtype": "float16"}, "needs size, or layout=.band. of output="),
                               ({"dtype": "float32", "output": "pixels"}, "needs size, or layout="),
                               ({"layout": "band", "output": "pixels"}, "needs output="),
                               ({"layout": "band", "dtype": "float64"}, "not 'float64'")):
            with self.assertRaisesRegex(ValueError, words):
                ct.Reader(self.paths, **options)


if __name__ == "__main__":
    if PLACE == "cuda" and not list(device_arrays.libraries()):
        device_arrays.skip("no GPU, or neither torch nor cupy")
    unittest.main(argv=sys.argv[:1], verbosity=2)
