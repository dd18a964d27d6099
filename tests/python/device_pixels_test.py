#!/usr/bin/env python3
# decode(), encode() and a Reader's pixels on a GPU, or on the emulator, against those of the CPU.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: device_pixels_test.py [emulated]
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "check"))
import cudatransform as ct  # noqa: E402
from cudatransform import _cuda_memory, _device, cuda, picture  # noqa: E402
import device_arrays  # noqa: E402
import pictures  # noqa: E402

EMULATED = sys.argv[1:2] == ["emulated"]
SIZES = ((97, 61), (16, 16), (3, 5), (1, 1)) + (() if EMULATED else ((640, 480), (1921, 1079)))
SAMPLINGS = ("4:2:0", "4:2:2", "4:4:4", "4:4:0", "4:1:1", "4:4:1", "rgb", "gray")
INKS = ("cmyk", "YCCK-4:2:0")


def downloaded(array):
    """A CudaArray of bytes as a numpy array."""
    rows, row = array.shape[0], array.shape[1] * array.strides[1]
    memory, driver = np.empty((rows, row), np.uint8), _device.driver()
    address = array.__cuda_array_interface__["data"][0]
    copy = _device._Copy(src_type=2, src=address, src_pitch=max(array.strides[0], row), dst_type=1,
                         dst_host=memory.ctypes.data, dst_pitch=row, width=row, height=rows)
    with driver.on(array.device):
        _device.check(driver.cuMemcpy2DAsync_v2(ctypes.byref(copy), None), "the GPU does not copy")
        _device.check(driver.cuStreamSynchronize(None), "the GPU failed")
    return np.ndarray(array.shape, np.uint8, memory, 0, (row, *array.strides[1:]))


class OnDevice(unittest.TestCase):
    def assert_equal(self, on_device, wanted, *where):
        self.assertEqual((on_device.shape, on_device.dtype), (wanted.shape, wanted.dtype), where)
        self.assertTrue(np.array_equal(downloaded(on_device), wanted), where)

    def test_decode(self):
        for size in SIZES:
            for sampling in SAMPLINGS + INKS:
                array = pictures.pixels(*size, 4 if sampling in INKS else 3)
                data = ct.encode(array, subsampling=sampling)
                for options in ({}, {"reduce": 2}, {"reduce": 8, "upsampling": "nearest"}):
                    for mode in ("RGB", "CMYK" if sampling in INKS else "L"):
                        self.assert_equal(ct.decode(data, mode, device="cuda", **options),
                                          ct.decode(data, mode, **options), size, sampling, options)

    def test_encode(self):
        tables = np.array([np.full((8, 8), 3), np.full((8, 8), 5)])
        for size in SIZES:
            data = ct.encode(pictures.pixels(*size))
            # Rows with gaps between them.
            there, here = ct.decode(data, device="cuda"), ct.decode(data)
            for options in ({}, {"subsampling": "4:4:4"}, {"subsampling": "rgb", "quality": 100},
                            {"subsampling": "gray", "optimize": True}, {"qtables": tables},
                            {"progressive": True, "subsampling": "4:2:2"},
                            {"restart": 2, "comment": "word", "icc": b"profile"}):
                self.assertEqual(ct.encode(there, **options), ct.encode(here, **options), options)
                self.assertEqual(ct.encode([there, here, there], **options),
                                 3 * [ct.encode(here, **options)], options)
            with self.assertWarnsRegex(UserWarning, "target_size=1 exceeded"):
                self.assertEqual(ct.encode(there, target_size=1), ct.encode(here, quality=1))
            there, here = ct.decode(data, "L", device="cuda"), ct.decode(data, "L")
            gray = ct.decode(ct.encode(here), "L", device="cuda")  # the first of three equal planes
            self.assertEqual(ct.encode(gray), ct.encode(ct.decode(ct.encode(here), "L")))
            for options in ({}, {"subsampling": "4:2:0", "quality": 30}):
                self.assertEqual(ct.encode(there, **options), ct.encode(here, **options), options)

    def test_resize(self):
        chance = np.random.default_rng(1)
        here = [pictures.pixels(40 + 3 * index, 30, seed=index) for index in range(6)]
        there = [ct.decode(ct.encode(array), device="cuda") for array in here]
        here = [downloaded(array) for array in there]
        for resample in ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"):
            size = tuple(int(side) for side in chance.integers(1, 60, 2))
            for options in ({}, {"box": (1.5, 2.25, 30, 29)}, {"reducing_gap": 2},
                            {"like": "pillow-11"}):
                self.assert_equal(ct.resize(there[0], size, resample, **options),
                                  ct.resize(here[0], size, resample, **options), resample, options)
        made = ct.resize(there, (24, 16), dtype="float32", layout="chw")
        wanted = ct.resize(here, (24, 16), dtype="float32", layout="chw")
        self.assertEqual((made.shape, made.dtype), (wanted.shape, wanted.dtype))
        self.assertTrue(np.array_equal(_cuda_memory.downloaded(made), wanted))
        files = [ct.encode(array) for array in here] + [b"no picture"]
        batch, = ct.Reader(files, device="cuda", output="pixels", size=(24, 16), layout="chw")
        for item, file in zip(batch, files[:-1]):
            self.assertTrue(np.array_equal(_cuda_memory.downloaded(item), ct.decode(
                file, size=(24, 16), layout="chw")))
        self.assertEqual(batch.stacked.shape, (6, 3, 16, 24))
        files = [ct.encode(pictures.pixels(33, 20, seed=seed)) for seed in range(4)]
        ink = ct.encode(pictures.pixels(33, 20, 4), subsampling="YCCK-4:2:0")
        for given in (files, [ink, *files]):
            batch, = ct.Reader(given, device="cuda", output="pixels", stack=True)
            made = _cuda_memory.downloaded(batch.stacked)
            self.assertTrue(np.array_equal(made, [ct.decode(file) for file in given]))
            self.assertTrue(np.array_equal(made[0], downloaded(batch[0])))
        self.assert_equal(ct.thumbnail(ink, (9, 9), device="cuda"), ct.thumbnail(ink, (9, 9)))
        with self.assertRaisesRegex(ValueError, "on one device"):
            ct.resize([there[0], here[0]], (4, 4))

    def test_resized_parts(self):
        chance = np.random.default_rng(2)
        files, crops, sizes = [], [], []
        for index in range(10):
            width, height = (int(side) for side in chance.integers(20, 200, 2))
            sizes.append((width, height))
            files.append(ct.encode(pictures.pixels(width, height, seed=index),
                                   subsampling=SAMPLINGS[index % len(SAMPLINGS)]))
            left, top = int(chance.integers(width - 1)), int(chance.integers(height - 1))
            crops.append((left, top, int(chance.integers(left + 1, width + 1)),
                          int(chance.integers(top + 1, height + 1))))
        files[3] = b"no picture"
        files[6] = ct.encode(pictures.pixels(*sizes[6], 4), subsampling="cmyk")
        floats = {"layout": "chw", "dtype": "float32", "mean": (.5, .4, .3), "std": (.1, .2, .3)}
        for options in ({"size": (24, 16)}, {"size": 20}, {"size": (24, 16), "draft": True},
                        {"size": (24, 16), **floats}, {"size": (9, 30), "reducing_gap": 2}):
            for given in (None, crops, lambda *_, left=iter(crops[:3] + crops[4:]): next(left)):
                if options.get("draft") and given is not None:
                    continue  # the picture is smaller
                wanted = [None if index == 3 else ct.decode(
                    file, crop=None if given is None else crops[index], **options)
                    for index, file in enumerate(files)]
                items = [item for batch in ct.Reader(files, 4, "cuda", output="pixels",
                                                     crops=given, **options) for item in batch]
                for index, (item, one) in enumerate(zip(items, wanted)):
                    self.assertTrue(isinstance(item, ct.Failure) if one is None else
                                    np.array_equal(_cuda_memory.downloaded(item), one),
                                    (index, options))
        data, crop = files[0], crops[0]
        self.assert_equal(ct.decode(data, crop=crop, device="cuda"), ct.decode(data, crop=crop))
        made = ct.decode(data, size=(24, 16), dtype="bfloat16", device="cuda")
        self.assertEqual((made.shape, made.dtype), ((16, 24, 3), "bfloat16"))
        self.assertFalse(hasattr(made, "__cuda_array_interface__"))
        same = _cuda_memory.CudaArray(made._held, 0, made.shape, made.strides, made.device,
                                      np.uint16)
        self.assertTrue(np.array_equal(_cuda_memory.downloaded(same), ct.decode(
            data, size=(24, 16), dtype="bfloat16").bits))

    def test_upright(self):
        """All orientations, whole and in parts, resampled and in batches."""
        def lying(array, orientation, **options):
            tiff = (b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" +
                    bytes([0, orientation]) + bytes(6))
            return ct.encode(array, exif=tiff, **options)

        files = []
        for orientation in range(1, 9):
            for number, size in enumerate(SIZES):
                sampling = (SAMPLINGS + INKS)[(orientation + number) % 10]
                array = pictures.pixels(*size, 4 if sampling in INKS else 3)
                files.append(lying(array, orientation, subsampling=sampling))
                self.check_upright(files[-1], ("RGB", "CMYK" if sampling in INKS else "L"))
        files.insert(3, b"no picture")
        shapes = [index != 3 and ct.decode(file, exif=True).shape[1::-1]
                  for index, file in enumerate(files)]
        crops = [(0, 0, 1, 1) if index == 3 else (size[0] // 3, size[1] // 4, *size)
                 for index, size in enumerate(shapes)]
        for options in ({}, {"reduce": 2}, {"size": (24, 16)}, {"size": 20},
                        {"size": (24, 16), "draft": True}, {"size": (24, 16), "crops": crops}):
            how = {name: value for name, value in options.items() if name != "crops"}
            batches = ct.Reader(files, 20, "cuda", output="pixels", exif=True, **options)
            items = [item for batch in batches for item in batch]
            for index, (item, file) in enumerate(zip(items, files)):
                crop = crops[index] if "crops" in options else None
                self.assertTrue(isinstance(item, ct.Failure) if index == 3 else np.array_equal(
                    _cuda_memory.downloaded(item), ct.decode(file, exif=True, crop=crop, **how)),
                    (index, options))

    def check_upright(self, data, modes):
        here = ct.decode(data, exif=True)
        crop = here.shape[1] // 3, here.shape[0] // 4, here.shape[1], here.shape[0]
        for mode in modes:
            for options in ({}, {"reduce": 2}, {"crop": crop}, {"size": (24, 16), "crop": crop},
                            {"size": (9, 5), "draft": True}):
                made = ct.decode(data, mode, exif=True, device="cuda", **options)
                self.assert_equal(made, ct.decode(data, mode, exif=True, **options), options)

    def test_any_sampling_factors(self):
        """Those that libjpeg upsamples; the others are errors, as on the CPU."""
        names = ("YCbCr-1x1,2x1,1x1", "YCbCr-1x1,2x2,2x2", "RGB-2x2,2x2,1x1", "YCbCr-1x3,1x1,1x1",
                 "YCbCr-4x2,1x1,1x1", "YCbCr-2x1,1x2,1x1", "RGB-4x4,1x1,1x1", "YCbCr-3x1,2x1,1x1")
        for number, name in enumerate(names):
            made = picture.empty(50 + number, 41, name, ct.quality_tables(60), [0, 1, 1])
            numbers = np.random.default_rng(number)
            for component in made.components:
                coefs = component.coefficients
                coefs[..., :2, :2] = numbers.integers(-9, 9, (*coefs.shape[:2], 2, 2))
            data = ct.write(made)
            self.assertEqual(ct.write(ct.read(data, device="cuda")), data)
            if number == len(names) - 1:
                with self.assertRaisesRegex(ct.ReadError, "fractions"):
                    ct.decode(data, device="cuda")
                continue
            for options in ({}, {"reduce": 2}, {"reduce": 8}, {"upsampling": "nearest"},
                            {"mode": "L"}, {"mode": "L", "reduce": 4}):
                self.assert_equal(ct.decode(data, device="cuda", **options),
                                  ct.decode(data, **options), name, options)

    def test_reader(self):
        with tempfile.TemporaryDirectory() as folder:
            gray = pictures.write_all(folder, {
                f"gray/{index}.jpg": ct.encode(pictures.pixels(30 + index, 20, index % 2 * 2 + 1))
                for index in range(20)})
            for batch in ct.Reader(sorted(gray.values()), device="cuda", output="pixels", mode="L"):
                for path, item in zip(batch.paths, batch):
                    self.assert_equal(item, ct.decode(path, "L"), path)
            files = {f"{index:02d}.jpg": ct.encode(pictures.pixels(60 + index, 50, seed=index),
                                                   subsampling=SAMPLINGS[index % len(SAMPLINGS)])
                     for index in range(24)}
            files["05b.jpg"] = b"no picture"
            paths = sorted(pictures.write_all(folder, files).values())
            for options in ({}, {"reduce": 4}, {"mode": "L"}):
                batches = list(ct.Reader(paths, batch_size=7, device="cuda", output="pixels",
                                         **options))
                for batch in batches:
                    for path, item in zip(batch.paths, batch):
                        if not isinstance(item, ct.Failure):
                            self.assert_equal(item, ct.decode(path, **options), path, options)
                            continue
                        self.assertRegex(item.reason, "JPEG")
                failures = [failure for batch in batches for failure in batch.failures]
                self.assertEqual(len(failures), 1)
                self.assertEqual([path for batch in batches for path in batch.paths], paths)

    def test_reader_of_several_devices(self):
        """Batches go to all, and come in order. Here each device is the first one."""
        data = [ct.encode(pictures.pixels(40 + index, 30, seed=index)) for index in range(23)]
        for output in ("pixels", "coefficients"):
            reader = ct.Reader(data, 4, ["cuda", "cuda:0"], num_workers=2, output=output)
            items = [item for batch in reader for item in batch]
            self.assertEqual(len(items), len(data))
            for file, item in zip(data, items):
                if output == "pixels":
                    self.assert_equal(item, ct.decode(file))
                else:
                    self.assertEqual(ct.write(item), file)

    def test_writer(self):
        arrays = [pictures.pixels(40 + index, 30, seed=index) for index in range(23)]
        there = [ct.decode(ct.encode(array), device="cuda") for array in arrays]
        with ct.Writer(5, quality=70) as writer:
            files = [writer.add(array) for array in there]
        for array, file in zip(arrays, files):
            self.assertEqual(file.result(0), ct.encode(ct.decode(ct.encode(array)), quality=70))

    def test_mutated_files(self):
        """Both engines find the same of what is not sound: pictures, or words."""
        numbers = np.random.default_rng(11)
        sound = [ct.write(pictures.made_of(sampling, 43, 29, 3), restart=restart)
                 for sampling in ("YCbCr-4:2:0", "YCbCr-1x1,2x2,2x2", "RGB-2x2,2x2,1x1",
                                  "YCbCr-4x4,1x1,1x1", "CMYK-2x2,1x1,1x1,2x2", "2CLR-2x1,1x1")
                 for restart in (0, 2)]
        sound.append(ct.encode(pictures.pixels(43, 29).astype(np.uint16) << 4))

        def found(data, device):
            try:
                return ct.read(data, device=device, max_pixels=1 << 20).cpu()
            except ct.ReadError as error:
                return error.reason

        for number in range(300):
            data = pictures.mutated(sound[number % len(sound)], numbers)
            self.assertEqual(found(data, "cpu"), found(data, "cuda"), number)

    def test_a_limit_of_memory(self):
        large, small = (ct.encode(pictures.pixels(*size)) for size in ((97, 61), (16, 16)))
        wanted = ct.decode(small)
        self.assert_equal(ct.decode(small, device="cuda"), wanted)
        cuda.set_memory_limit(10000)  # of an engine that is there
        self.addCleanup(cuda.set_memory_limit, 0)
        words = r"a picture needs \d+ bytes of memory, and \d+ of max_device_memory=10000 are"
        with self.assertRaisesRegex(ct.ReadError, "^<bytes>: " + words):
            ct.decode(large, device="cuda")
        with self.assertRaisesRegex(MemoryError, words):
            ct.resize(ct.decode(small, device="cuda"), (97, 61))
        batch, = ct.Reader([large, small], device="cuda", output="pixels")
        self.assertRegex(batch[0].reason, words)
        self.assert_equal(batch[1], wanted)
        with self.assertRaisesRegex(ct.ReadError, "^<bytes>: " + words):
            ct.decode(ct.encode(pictures.pixels(97, 61, 4), subsampling="cmyk"), device="cuda")
        del batch
        cuda.set_memory_limit(0)
        self.assert_equal(ct.decode(large, device="cuda"), ct.decode(large))
        for wrong, kind in ((1.5, TypeError), (True, TypeError), (-1, ValueError),
                            (1 << 64, ValueError)):
            with self.assertRaisesRegex(kind, "max_device_memory must be"):
                cuda.set_memory_limit(wrong)
        with self.assertRaisesRegex(ValueError, "'cuda' or 'cuda:NUMBER', not 'cpu'"):
            cuda.set_memory_limit(10000, "cpu")
        # Before the first use of the GPU.
        program = ("import cudatransform as ct, sys; from cudatransform import cuda\n"
                   "cuda.set_memory_limit(10000, device='cuda:0')\n"
                   "ct.decode(sys.stdin.buffer.read(), device='cuda')")
        ended = subprocess.run([sys.executable, "-c", program], input=large, stderr=subprocess.PIPE,
                               check=False)
        self.assertRegex(ended.stderr.decode(), "ReadError: <bytes>: " + words)

    def test_a_fork_has_the_cpu(self):
        """CUDA does not survive a fork."""
        data = ct.encode(pictures.pixels(40, 30))
        wanted, walk = ct.decode(data), iter(ct.Reader([data] * 9, batch_size=2, device="cuda"))
        kept = [ct.decode(data, device="cuda"), next(walk)]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                refused = 0
                for call in (lambda: next(walk), lambda: ct.decode(data, device="cuda"),
                             lambda: kept[1][0].cpu(), lambda: ct.encode(kept[0])):
                    try:
                        call()
                    except ct.Unavailable as error:
                        refused += "fork" in str(error)
                code = 0 if refused == 4 and np.array_equal(ct.decode(data), wanted) else 1
                kept.clear()
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(sum(map(len, walk)), 7)


if __name__ == "__main__":
    try:
        ct.decode(ct.encode(pictures.pixels(8, 8)), device="cuda")
    except ct.Unavailable as error:
        device_arrays.skip(error)
    unittest.main(verbosity=2, argv=sys.argv[:1])
