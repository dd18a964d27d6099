#!/usr/bin/env python3
# cudatransform.Reader onto a GPU: on a fake driver, or with torch and cupy on a real one.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: cuda_test.py [fake]
import ctypes
import gc
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
import cudatransform as ct  # noqa: E402
from cudatransform import _cuda_memory, _device, _dlpack, cuda  # noqa: E402
import device_arrays  # noqa: E402
import pictures  # noqa: E402

FAKE = sys.argv[1:2] == ["fake"]
SIZES = ((97, 61), (160, 120), (8, 8))


def fake_counts():
    """FakecudaCounts: 6 are allocations, 12 sleeps."""
    counts = (ctypes.c_int * 13)()
    ctypes.CDLL("libcuda.so.1").fakecuda_get_counts(counts)
    return counts


class OnDevice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        files = {}
        for index in range(12):
            made = ct.Picture.from_pixels(
                pictures.pixels(*SIZES[index % 3], seed=index), 70, ("4:2:0", "gray")[index % 2])
            files[f"{index:02d}.jpg"] = ct.write(made)
        files["05b.jpg"] = b"no picture"
        self.paths = sorted(pictures.write_all(folder.name, files).values())

    def read(self, **options):
        return [item for batch in ct.Reader(self.paths, batch_size=4, device="cuda", **options)
                for item in batch]

    def check(self, as_numpy):
        """as_numpy: makes a numpy array of a CudaArray."""
        for workers in (1, 3):
            items = self.read(num_workers=workers)
            gc.collect()
            self.assertEqual(len(items), len(self.paths))
            for path, item in zip(self.paths, items):
                if path.endswith("05b.jpg"):
                    self.assertIn("JPEG", item.reason)
                    continue
                wanted = ct.read(path)
                self.assertIsInstance(item, cuda.CudaPicture)
                self.assertTrue(np.array_equal(item.tables, wanted.tables))
                self.assertEqual((item.markers, item.sampling), (wanted.markers, wanted.sampling))
                for found, expected in zip(item, wanted):
                    self.assertEqual(found.shape, expected.shape)
                    self.assertTrue(np.array_equal(as_numpy(found), expected))

    def test_downloads(self):
        for path, item in zip(self.paths, self.read()):
            if isinstance(item, ct.Picture):
                self.assertTrue(pictures.equal(item.cpu(), ct.read(path)))
                self.assertTrue(np.array_equal(item.cpu().planes()[0],
                                               ct.read(path).planes()[0]))
                self.assertTrue(np.array_equal(item.pixels(), ct.read(path).pixels()))

    def test_a_corpus_job_reads_the_same(self):
        from cudatransform.corpus import actions
        root = os.path.dirname(self.paths[0])
        names = [os.fsencode(os.path.basename(path)) for path in self.paths]
        items = [item for part in (names[:2], names[2:])
                 for item in actions.read_files(os.fsencode(root), part, "cuda")]
        self.assertEqual([item.path for item in items], self.paths)
        for item in items:
            self.assertNotIsInstance(item, cuda.CudaPicture)
            if isinstance(item, ct.Picture):
                self.assertTrue(pictures.equal(item, ct.read(item.path)))
        self.assertEqual(sum(isinstance(item, ct.Failure) for item in items), 1)

    def test_read_alone_and_written(self):
        alone = ct.read(self.paths[0], device="cuda")
        self.assertTrue(pictures.equal(alone.cpu(), ct.read(self.paths[0])))
        self.assertEqual(ct.write(alone), ct.write(ct.read(self.paths[0])))
        with self.assertRaises(BufferError):
            alone[0].__dlpack__(copy=True)

    def test_the_array_interface(self):
        coefs = self.read()[0][0]
        said = coefs.__cuda_array_interface__
        self.assertEqual((said["shape"], said["typestr"]), (coefs.shape, "<i2"))
        self.assertEqual(said["strides"][1:], (128, 16, 2))
        self.assertEqual(coefs.__dlpack_device__(), (2, 0))

    def test_buffers_live_as_long_as_tensors(self):
        coefs = self.read()[0][0]
        before = sys.getrefcount(coefs)
        capsule = coefs.__dlpack__()
        self.assertEqual(sys.getrefcount(coefs), before + 1)
        del capsule  # not consumed
        self.assertEqual(sys.getrefcount(coefs), before)
        self.assertEqual(_dlpack.handed_out, {})
        capsule = coefs.__dlpack__()
        address = next(iter(_dlpack.handed_out))
        set_name = ctypes.pythonapi.PyCapsule_SetName
        set_name.argtypes = ctypes.py_object, ctypes.c_char_p
        used = b"used_dltensor"
        set_name(capsule, used)  # consumed
        del capsule
        self.assertEqual(sys.getrefcount(coefs), before + 1)
        _dlpack.DLManagedTensor.from_address(address).deleter(address)
        self.assertEqual(sys.getrefcount(coefs), before)
        self.assertEqual(_dlpack.handed_out, {})

    # More kinds than are kept; of no rows, too.
    def test_tensors_keep_their_shapes(self):
        held = types.SimpleNamespace(address=4096)  # nobody reads there
        kinds = [((rows, 3), (6 * rows, -2)) for rows in range(4 * _dlpack._MAX_KINDS)]
        capsules = [_cuda_memory.CudaArray(held, 0, *kind, 0).__dlpack__() for kind in kinds]
        self.assertLessEqual(len(_dlpack._of_kind), _dlpack._MAX_KINDS)
        views = list(map(_device._by_dlpack, capsules))
        self.assertEqual([(view.shape, view.strides) for view in views], kinds)
        del capsules, views
        self.assertEqual(_dlpack.handed_out, {})

    def test_no_such_device(self):
        with self.assertRaises(ct.Unavailable):
            next(iter(ct.Reader(self.paths, device="cuda:99")))

    @unittest.skipUnless(FAKE, "only the fake driver counts them")
    def test_one_picture_is_waited_for_without_sleep(self):
        ct.decode(self.paths[0], device="cuda")
        before = fake_counts()[12]
        with mock.patch.dict(os.environ, FAKECUDA_LAG="1000000000", FAKECUDA_WAIT="500"):  # us
            for _ in range(20):
                ct.decode(self.paths[0], device="cuda")
        # One a picture, for what the CPU decodes again, as the fake GPU does nothing: it is
        # uploaded from pageable memory.
        self.assertLess(fake_counts()[12] - before, 2 * 20)

    @unittest.skipUnless(FAKE, "only the fake driver counts them")
    def test_memory_of_other_sizes_is_given_up(self):
        large, small = (ct.encode(np.zeros((side, side, 3), np.uint8)) for side in (640, 600))
        ct.decode(large, device="cuda")
        ct.decode(small, device="cuda")
        before = fake_counts()[6]
        for _ in range(10):
            ct.decode(small, device="cuda")
        self.assertEqual(fake_counts()[6], before)

    @unittest.skipUnless(FAKE, "memory of a real device is not the host's")
    def test_coefficients_by_address(self):
        def as_numpy(coefs):
            said = coefs.__cuda_array_interface__
            size = said["strides"][0] * said["shape"][0]
            memory = (ctypes.c_uint8 * size).from_address(said["data"][0])
            return np.ndarray(said["shape"], np.int16, memory, 0, said["strides"])
        self.check(as_numpy)

    @unittest.skipIf(FAKE, "needs a GPU")
    def test_coefficients_by_torch_and_cupy(self):
        tested = 0
        for name, module in device_arrays.libraries():
            tested += 1
            print(name)
            if name == "torch":
                self.check(lambda coefs: module.from_dlpack(coefs).cpu().numpy())
                self.check(lambda coefs: module.as_tensor(coefs, device="cuda:0").cpu().numpy())
                self.same_address(module.from_dlpack)
            else:
                self.check(lambda coefs: module.asnumpy(module.from_dlpack(coefs)))
                self.check(lambda coefs: module.asnumpy(module.asarray(coefs)))
        self.assertGreater(tested, 0)
        self.assertEqual(_dlpack.handed_out, {})

    def same_address(self, from_dlpack):
        coefs = self.read()[0][0]
        self.assertEqual(from_dlpack(coefs).data_ptr(), coefs.__cuda_array_interface__["data"][0])
        tensor = from_dlpack(coefs)
        wanted = tensor.clone()
        del coefs
        self.read()
        self.read()
        self.assertTrue(bool((tensor == wanted).all()))


if __name__ == "__main__":
    if not FAKE:
        device_arrays.require_numpy()
        if not list(device_arrays.libraries()):
            device_arrays.skip("no GPU, or neither torch nor cupy")
    unittest.main(argv=sys.argv[:1], verbosity=2)
