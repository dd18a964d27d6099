#!/usr/bin/env python3
# Tests of tools/demo_jpeg.py: what it says of files that cjpeg has made, and of broken ones.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: demo_jpeg_test.py TOOLS_FOLDER       exits 77 where something is missing
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import demo_jpeg
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

SOURCE = b"P6\n40 24\n255\n" + bytes(i * i % 251 for i in range(40 * 24 * 3))
GREY = b"P5\n40 24\n255\n" + bytes(i * i % 251 for i in range(40 * 24))


class Read(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-demo-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "picture.jpg")

    def make(self, *switches, source=SOURCE):
        subprocess.run(["cjpeg", "-outfile", self.path, *switches], input=source, check=True,
                       stderr=subprocess.DEVNULL)
        return demo_jpeg.read(self.path)

    def write(self, data):
        with open(self.path, "wb") as file:
            file.write(data)
        return demo_jpeg.read(self.path)

    def data(self):
        with open(self.path, "rb") as file:
            return file.read()

    def qualities(self, jpeg):
        return [demo_jpeg.quality_text(jpeg.tables[slot], base)
                for _name, slot, base in demo_jpeg.table_roles(jpeg)]

    def test_geometry_and_process(self):
        jpeg = self.make("-sample", "2x1", "-progressive", "-restart", "3B")
        self.assertEqual((jpeg.width, jpeg.height), (40, 24))
        self.assertEqual(jpeg.factors, [(2, 1), (1, 1), (1, 1)])
        self.assertEqual(jpeg.process, "progressive")
        self.assertEqual(jpeg.restart_interval, 3)
        self.assertEqual(jpeg.size, os.path.getsize(self.path))
        self.assertEqual(self.make("-arithmetic").process, "extended, arithmetic")
        self.assertEqual(self.make(source=GREY).factors, [(1, 1)])

    def test_every_quality(self):
        for quality in range(1, 101):
            jpeg = self.make("-quality", str(quality), "-baseline")
            self.assertEqual(jpeg.tables, {0: demo_jpeg.scaled(demo_jpeg.LUMA, quality, 255),
                                           1: demo_jpeg.scaled(demo_jpeg.CHROMA, quality, 255)})
            # The lowest qualities have tables in common.
            if quality > 10:
                self.assertEqual(self.qualities(jpeg), 2 * [f"libjpeg's quality {quality}"])

    def test_16_bit_tables(self):
        jpeg = self.make("-quality", "2")
        self.assertGreater(max(jpeg.tables[0]), 255)
        self.assertEqual(self.qualities(jpeg), 2 * ["libjpeg's quality 2"])

    def test_tables_of_others(self):
        jpeg = self.make("-quality", "60", source=GREY)
        jpeg.tables[0][5] += 1
        self.assertEqual(self.qualities(jpeg),
                         ["not one of libjpeg's, nearest to its quality 60"])

    def test_metadata(self):
        plain = self.make()
        data = self.data()
        comment = b"\xff\xfe\x00\x07hello"
        told = self.write(data[:2] + b"\xff\xff" + comment + data[2:])  # with fill bytes
        self.assertEqual(told.metadata, plain.metadata + len(comment))

    def test_high_psnr_is_explained(self):
        self.assertEqual(demo_jpeg.why_so_high([(10, 28.1), (95, 45.9)], True), "")
        sentence = demo_jpeg.why_so_high([(80, 44.0), (90, 66.4), (95, 49.0)], True)
        self.assertIn("66 dB at quality 90", sentence)
        self.assertIn("compressed already", sentence)
        sentence = demo_jpeg.why_so_high([(90, float("inf"))], False)
        self.assertIn("inf dB", sentence)
        self.assertNotIn("already", sentence)

    def test_no_jpeg(self):
        self.assertIsNone(self.write(SOURCE))
        self.assertIsNone(self.write(b""))
        self.make()
        data = self.data()
        first_scan = data.index(b"\xff\xda")
        for size in range(first_scan):
            self.assertIsNone(self.write(data[:size]), size)


if __name__ == "__main__":
    if not shutil.which("cjpeg"):
        print("SKIP: no cjpeg (package libjpeg-turbo-progs)")
        sys.exit(SKIP)
    unittest.main(argv=sys.argv[:1])
