#!/usr/bin/env python3
# The Python module against jpeglib and torchjpeg on Debian's opencv-doc, and in torch's DataLoader.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: peers_test.py            tools/python-peers makes the environment that it needs
import glob
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import jpeglib
import numpy as np
import torch
import torchjpeg.codec
from torch.utils.data import DataLoader, Dataset, IterableDataset

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cudatransform as ct  # noqa: E402
import pictures  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
NO_JPEG = 3  # of opencv-doc's files with such names: PNG, in truth


def paths_of_opencv():
    return sorted(path for path in glob.glob(pictures.OPENCV + "/**/*", recursive=True)
                  if path.lower().endswith((".jpg", ".jpeg")))


class Pictures(Dataset):
    """Reads in the process that is asked for an item."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.from_numpy(ct.read(self.paths[index]).planes()[0].sum(axis=(1, 2)))


class Batches(IterableDataset):
    """A Reader, which goes to the process by pickle."""

    def __init__(self, reader):
        self.reader = reader

    def __iter__(self):
        for batch in self.reader:
            for picture in batch.pictures:
                yield torch.from_numpy(picture.planes()[0].sum(axis=(1, 2)))


class BesideOthers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paths = paths_of_opencv()
        cls.read = [item for batch in ct.Reader(cls.paths) for item in batch]

    def test_all_are_read(self):
        self.assertGreater(len(self.paths), 600)
        failures = [item for item in self.read if isinstance(item, ct.Failure)]
        self.assertEqual(len(failures), NO_JPEG, failures)

    def test_jpeglib(self):
        compared = 0
        for picture in self.read:
            if not picture:
                continue
            theirs = jpeglib.read_dct(picture.path)
            planes = [theirs.Y] + ([theirs.Cb, theirs.Cr] if theirs.has_chrominance else [])
            self.assertEqual(len(planes), len(picture))
            for index, plane in enumerate(planes):
                with self.subTest(path=picture.path, component=index):
                    self.assertTrue(np.array_equal(picture[index], plane))
                    self.assertTrue(np.array_equal(picture.table(index),
                                                   theirs.qt[theirs.quant_tbl_no[index]]))
            self.assertEqual((picture.width, picture.height), (theirs.width, theirs.height))
            compared += 1
        self.assertEqual(compared, len(self.paths) - NO_JPEG)

    def test_torchjpeg(self):
        compared = 0
        for picture in self.read:
            if not picture:
                continue
            sizes, tables, luma, chroma = torchjpeg.codec.read_coefficients(picture.path)
            planes = [luma[0]] + ([] if chroma is None else list(chroma))
            for index, plane in enumerate(planes[:len(picture)]):
                with self.subTest(path=picture.path, component=index):
                    self.assertTrue(np.array_equal(picture[index], plane.numpy()))
                    self.assertTrue(np.array_equal(picture.table(index), tables[index].numpy()))
                    self.assertEqual(sizes[index].tolist(), [picture.components[index].height,
                                                            picture.components[index].width])
            compared += 1
        self.assertEqual(compared, len(self.paths) - NO_JPEG)

    def test_libjpeg_turbo_and_back(self):
        for picture in self.read:
            if picture:
                with self.subTest(path=picture.path):
                    again = ct.read(ct.write(picture, optimize=True))
                    if not picture.markers:
                        again.markers = b""  # a JFIF header, which every file is to have
                    self.assertTrue(pictures.equal(again, picture))
                    with open(picture.path, "rb") as file:
                        pixels = pictures.djpeg(file.read())
                    self.assertTrue(np.array_equal(picture.pixels(), pixels))

    def test_what_jpeglib_reads_of_ours(self):
        for picture in [item for item in self.read if item][::20]:
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"peers-{os.getpid()}.jpg")
            try:
                ct.write(picture, path, progressive=True)
                theirs = jpeglib.read_dct(path)
                self.assertTrue(np.array_equal(picture[0], theirs.Y))
            finally:
                os.unlink(path)


class InDataLoader(unittest.TestCase):
    def setUp(self):
        self.paths = [path for path in paths_of_opencv()
                      if path.endswith(".jpg") and "samples" in path or "data" in path][:24]
        self.paths = [item.path for batch in ct.Reader(self.paths or paths_of_opencv()[:30])
                      for item in batch.pictures]
        self.wanted = torch.stack([Pictures(self.paths)[index] for index in range(len(self.paths))])

    def test_spawn(self):
        reader = ct.Reader(self.paths, batch_size=4, num_workers=1)
        for data in (Pictures(self.paths), Batches(reader)):
            loader = DataLoader(data, batch_size=4, num_workers=1, multiprocessing_context="spawn")
            self.assertTrue(torch.equal(torch.cat(list(loader)), self.wanted))

    def test_fork_is_refused(self):
        loader = DataLoader(Pictures(self.paths), num_workers=1, multiprocessing_context="fork")
        with self.assertRaisesRegex(RuntimeError, "spawn"):
            list(loader)

    def test_pickle(self):
        picture = ct.read(self.paths[0])
        self.assertTrue(pictures.equal(pickle.loads(pickle.dumps(picture)), picture))

    def test_psnr_of_tensors(self):
        a = torch.from_numpy(pictures.pixels(40, 30))
        b = a.clone()
        b[0, 0, 0] ^= 1
        self.assertAlmostEqual(ct.psnr(a, b), ct.psnr(a.numpy(), b.numpy()))


class Example(unittest.TestCase):
    def test_training(self):
        said = subprocess.run(
            [sys.executable, os.path.join(ROOT, "docs", "examples", "train_on_coefficients.py"),
             "6"], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
        print(said, end="")
        self.assertGreater(float(said.split(": ")[1].split()[0]), 90)

    def test_pixels(self):
        """The dataset's pictures are Pillow's, and damaged files are named."""
        with tempfile.TemporaryDirectory() as folder:
            for index in range(40):
                ct.encode(pictures.pixels(60 + 7 * index, 90, seed=index),
                          os.path.join(folder, f"{index:02d}.jpg"))
            bad = os.path.join(folder, "none.jpg")
            with open(bad, "w", encoding="ascii") as file:
                file.write("no picture")
            said = subprocess.run(
                [sys.executable, os.path.join(ROOT, "docs", "examples", "pixels_for_torch.py"),
                 folder], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
            self.assertRegex(said, r"^40 pictures, mean color 0\.\d+ 0\.\d+ 0\.\d+\n")
            self.assertIn(f"{bad}: ", said)
            self.assertRegex(said, r"\n0 of \d{5,} samples differ from Pillow's\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
