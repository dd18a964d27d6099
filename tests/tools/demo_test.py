#!/usr/bin/python3
# Tests of tools/demo: a picture through both transforms, into all pictures; its report on cjpeg's
# files, and the files that it writes.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: demo_test.py TOOLS_FOLDER       exits 77 where something is missing
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
sys.path.insert(0, sys.argv[1])
try:
    import demo
    import demo_jpeg
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

SOURCE = b"P6\n40 24\n255\n" + bytes(i * i % 251 for i in range(40 * 24 * 3))


def said(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as told:
        function(*arguments)
    return told.getvalue()


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-demo-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write_source(self):
        path = os.path.join(self.folder, "picture.ppm")
        with open(path, "wb") as file:
            file.write(SOURCE)
        return path


class Demo(InFolder):
    def test_pictures(self):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            status = demo.main(self.write_source(), self.folder)
        if status == demo.MISSING_DECODER:
            self.skipTest("no decoder of PPM files")
        self.assertEqual(status, 0)
        for name in ("triptych.png", "coefficients.png", "pyramid.png", "quality.png",
                     "chroma.png"):
            self.assertIn(name, told.getvalue())
            self.assertGreater(os.path.getsize(os.path.join(self.folder, name)), 1000)


@unittest.skipUnless(shutil.which("cjpeg"), "no cjpeg (package libjpeg-turbo-progs)")
class OfFiles(InFolder):
    def make(self, *switches):
        path = os.path.join(self.folder, "picture.jpg")
        subprocess.run(["cjpeg", "-outfile", path, *switches], input=SOURCE, check=True,
                       stderr=subprocess.DEVNULL)
        return demo_jpeg.read(path)

    def test_description(self):
        told = said(demo_jpeg.describe, self.make("-sample", "2x1", "-progressive"))
        self.assertIn("JPEG, progressive; YCbCr-4:2:2\n", told)
        self.assertIn("18 bytes of it are metadata", told)
        self.assertIn("only table", said(demo_jpeg.describe, self.make("-grayscale")))

    def test_qualities(self):
        for quality in (11, 50, 93):  # the lowest ones have tables in common
            told = said(demo_jpeg.describe, self.make("-quality", str(quality), "-baseline"))
            self.assertEqual(told.count(f"; libjpeg's quality {quality}\n"), 2)
        picture = self.make("-quality", "60")
        picture.tables[:, 0, 5] += 1
        self.assertEqual(said(demo_jpeg.describe, picture).count(
            "; not one of libjpeg's, nearest to its quality 60\n"), 2)

    def test_files_are_written_again(self):
        picture = self.make("-quality", "80")
        self.assertEqual(said(demo_jpeg.write_again, picture, self.folder).count(" bytes"), 5)
        again = demo_jpeg.read(os.path.join(self.folder, "again-arithmetic.jpg"))
        self.assertTrue((again[0] == picture[0]).all())

    def test_no_jpeg(self):
        self.assertIsNone(demo_jpeg.read(self.write_source()))

    def test_high_psnr_is_explained(self):
        self.assertEqual(demo_jpeg.why_so_high([(10, 28.1), (95, 45.9)], True), "")
        sentence = demo_jpeg.why_so_high([(80, 44.0), (90, 66.4), (95, 49.0)], True)
        self.assertIn("66 dB at quality 90", sentence)
        self.assertNotEqual(demo_jpeg.why_so_high([(90, 66.4)], False), sentence)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
