#!/usr/bin/env python3
# cudatransform.dct, idct and psnr of arrays in CUDA memory: on the emulator, or with torch and cupy
# on a GPU.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: device_transform_test.py [emulated]
import ctypes
import gc
import os
import sys
import unittest

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import cudatransform as ct  # noqa: E402
from cudatransform import _cuda_memory, _device, _dlpack  # noqa: E402
import device_arrays  # noqa: E402
import pictures  # noqa: E402

EMULATED = sys.argv[1:2] == ["emulated"]
SIZES = ((1, 1), (8, 8), (9, 17), (61, 97), (120, 160), (47, 64))


class Emulated:
    """The emulator's device memory, which is the host's: arrays by __cuda_array_interface__."""

    class Array:
        def __init__(self, values, gap, offset):
            driver, self.free = _device.driver(), None
            library = ctypes.CDLL("libcuda.so.1")
            values = np.ascontiguousarray(values)
            rows, row = values.shape[0], values.nbytes // max(1, values.shape[0])
            address = ctypes.c_uint64()
            with driver.on(0):
                size = ctypes.c_size_t(offset + max(1, rows * (row + gap)))
                _device.check(library.cuMemAlloc_v2(ctypes.byref(address), size), "no memory")
            self.free = lambda: library.cuMemFree_v2(address)
            self.strides = (row + gap, *values.strides[1:])
            self.data = address.value + offset
            self.shape, self.dtype = values.shape, values.dtype
            memory = (ctypes.c_uint8 * (size.value - offset)).from_address(self.data)
            np.ndarray(values.shape, values.dtype, memory, 0, self.strides)[:] = values

        def __del__(self):
            if self.free:
                with _device.driver().on(0):
                    self.free()

        @property
        def __cuda_array_interface__(self):
            return {"shape": self.shape, "typestr": np.dtype(self.dtype).str, "version": 3,
                    "strides": self.strides, "data": (self.data, False), "stream": 1}

    def put(self, values, gap=0, offset=0):
        return self.Array(values, gap, offset)

    def get(self, array):
        said = array.__cuda_array_interface__
        size = max(1, sum((extent - 1) * stride
                          for extent, stride in zip(said["shape"], said["strides"]))
                   + np.dtype(said["typestr"]).itemsize)
        memory = (ctypes.c_uint8 * size).from_address(said["data"][0])
        return np.ndarray(said["shape"], said["typestr"], memory, 0, said["strides"]).copy()


class Torch:
    def __init__(self, module):
        self.module = module

    def put(self, values, gap=0, offset=0):
        del offset
        whole = self.module.from_numpy(np.ascontiguousarray(values)).cuda()
        if not gap:
            return whole
        wide = self.module.zeros((len(values), values[0].size + gap), dtype=whole.dtype,
                                 device="cuda")
        wide[:, :values[0].size] = whole.reshape(len(values), -1)
        return wide[:, :values[0].size] if values.ndim == 2 else wide[:, :values[0].size].unflatten(
            1, values.shape[1:])

    def get(self, array):
        made = self.module.from_dlpack(array)
        assert made.data_ptr() == array.__cuda_array_interface__["data"][0]
        return made.cpu().numpy()


class Cupy(Torch):
    def put(self, values, gap=0, offset=0):
        del gap, offset
        return self.module.asarray(values)

    def get(self, array):
        made = self.module.asarray(array)
        assert made.data.ptr == array.__cuda_array_interface__["data"][0]
        return self.module.asnumpy(made)


def kinds():
    if EMULATED:
        return [Emulated()]
    return [{"torch": Torch, "cupy": Cupy}[name](module)
            for name, module in device_arrays.libraries()]


class OnDevice(unittest.TestCase):
    def same(self, given, there, here, most=0):
        self.assertIsInstance(there, _cuda_memory.CudaArray)
        made = given.get(there)
        self.assertEqual((there.shape, there.dtype), (here.shape, here.dtype))
        self.assertEqual((made.shape, made.dtype), (here.shape, here.dtype))
        self.assertLessEqual(abs(made.astype(float) - here).max(), most)

    def test_coefficients_and_back(self):
        table = ct.quality_tables(60)[0]
        for given in kinds():
            for height, width in SIZES:
                with self.subTest(type(given), size=(height, width)):
                    plane = pictures.pixels(width, height, 1)
                    coefs = ct.dct(plane, table=table)
                    there = ct.dct(given.put(plane), table=table)
                    self.same(given, there, coefs)
                    back = ct.idct(coefs, size=plane.shape, table=table)
                    # From dct()'s own result, and from another library's array.
                    self.same(given, ct.idct(there, size=plane.shape, table=table), back)
                    self.same(given, ct.idct(given.put(coefs), size=plane.shape, table=table),
                              back)

    def test_without_tables(self):
        plane = pictures.pixels(97, 61, 1)
        for given in kinds():
            for method, most in (("islow", 0), ("float", .01), ("reference", .001)):
                with self.subTest(type(given), method=method):
                    made = ct.dct(given.put(plane), method=method)
                    self.same(given, made, ct.dct(plane, method=method), most)
                    self.same(given, ct.idct(made, size=plane.shape, method=method),
                              ct.idct(ct.dct(plane, method=method), size=plane.shape,
                                      method=method))

    def test_rows_with_gaps(self):
        plane = pictures.pixels(97, 61, 1)
        coefs = ct.dct(plane, table=np.full((8, 8), 5))
        for given in kinds():
            self.same(given, ct.dct(given.put(plane, 31, 3)), ct.dct(plane))
            self.same(given, ct.idct(given.put(coefs, 64, 256), table=np.full((8, 8), 5)),
                      ct.idct(coefs, table=np.full((8, 8), 5)))

    def test_results_live_as_long_as_they_are_held(self):
        table = np.full((8, 8), 3)
        planes = [pictures.pixels(40, 30, 1, seed) for seed in range(12)]
        for given in kinds():
            kept = [ct.dct(given.put(plane), table=table) for plane in planes]
            back = [ct.idct(coefs, table=table, size=(30, 40)) for coefs in kept]
            gc.collect()
            for plane, coefs, samples in zip(planes, kept, back):
                self.same(given, coefs, ct.dct(plane, table=table))
                self.same(given, samples, ct.idct(ct.dct(plane, table=table), table=table,
                                                  size=(30, 40)))
        self.assertEqual(_dlpack.handed_out, {})

    def test_many_sizes(self):
        for given in kinds():
            for width in range(1, 80, 7):
                plane = pictures.pixels(width, 20, 1)
                self.same(given, ct.dct(given.put(plane)), ct.dct(plane))

    def test_refusals(self):
        for given in kinds():
            plane, coefs = np.zeros((8, 8), np.uint8), np.zeros((1, 1, 8, 8), np.int16)
            ones, deep = np.ones((8, 8), int), np.zeros((8, 8), np.int16)
            for words, call in (
                    ("uint8", lambda: ct.dct(given.put(deep))),
                    ("uint8", lambda: ct.dct(given.put(plane[None]))),
                    ("method", lambda: ct.dct(given.put(plane), method="best")),
                    ("entries", lambda: ct.dct(given.put(plane), table=0 * ones)),
                    ("float32.*int16.*coefficients need table=", lambda: ct.idct(given.put(coefs))),
                    ("int16", lambda: ct.idct(given.put(coefs.astype(np.float32)), table=ones)),
                    ("int16", lambda: ct.idct(given.put(coefs[0]), table=ones)),
                    ("1 x 1 blocks", lambda: ct.idct(given.put(coefs), table=ones, size=(9, 8))),
                    ("system memory", lambda: ct.idct(given.put(coefs), table=ones, depth=16)),
                    ("other in system", lambda: ct.psnr(given.put(plane), plane))):
                with self.assertRaisesRegex(ValueError, words):
                    call()

    def test_columns_with_gaps_are_refused(self):
        class Wrong:
            def __init__(self, of):
                self.of = of

            @property
            def __cuda_array_interface__(self):
                return dict(self.of.__cuda_array_interface__, shape=(8, 4), strides=(8, 2),
                            stream=None)
        for given in kinds():
            with self.assertRaisesRegex(ValueError, "contiguous"):
                ct.dct(Wrong(given.put(np.zeros((8, 8), np.uint8))))

    def test_an_address_of_nobodys(self):
        class Wrong:
            __cuda_array_interface__ = {"shape": (8, 8), "typestr": "|u1", "version": 3,
                                        "data": (4096, False)}
        with self.assertRaisesRegex(ValueError, "no CUDA device"):
            ct.dct(Wrong())

    @unittest.skipIf(EMULATED, "needs a library that computes on a GPU")
    def test_psnr(self):
        plane = pictures.pixels(97, 61, 1)
        table = ct.quality_tables(50)[0]
        back = ct.idct(ct.dct(plane, table=table), table=table, size=plane.shape)
        for given in kinds():
            there = given.put(plane)
            made = ct.idct(ct.dct(there, table=table), table=table, size=plane.shape)
            self.assertAlmostEqual(ct.psnr(made, there), ct.psnr(back, plane))
            self.assertAlmostEqual(ct.psnr(there, made), ct.psnr(back, plane))
            self.assertEqual(ct.psnr(made, made), float("inf"))

    @unittest.skipIf(EMULATED, "needs a library that computes on a GPU")
    def test_coefficients_of_a_reader(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{index}.jpg") for index in range(6)]
            for index, path in enumerate(paths):
                made = ct.Picture.from_pixels(pictures.pixels(80, 60, 1, index), 70, "gray")
                ct.write(made, path)
            for batch in ct.Reader(paths, device="cuda"):
                for picture in batch.pictures:
                    made = ct.idct(picture[0], table=picture.table(0), size=(60, 80))
                    self.same(kinds()[0], made, ct.read(picture.path).pixels())

    @unittest.skipIf(EMULATED, "needs streams of a GPU")
    def test_other_streams(self):
        plane = pictures.pixels(1920, 1080, 1)
        wanted = ct.dct(plane)
        for given in kinds():
            if type(given) is not Torch:
                continue
            torch = given.module
            stream = torch.cuda.Stream()
            source = given.put(plane)
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                # Work that takes a while before the plane is there.
                slow = torch.randn(4000, 4000, device="cuda")
                for _ in range(20):
                    slow = slow @ slow * 1e-3
                late = source + (slow.sum() * 0).nan_to_num().to(torch.uint8)
                made = ct.dct(late)
            self.same(given, made, wanted)


if __name__ == "__main__":
    if not EMULATED:
        device_arrays.require_numpy()
        if not kinds():
            device_arrays.skip("no GPU, or neither torch nor cupy")
    unittest.main(argv=sys.argv[:1], verbosity=2)
