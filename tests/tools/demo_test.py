#!/usr/bin/python3
# A test of tools/demo.py: a small picture of RGB goes through both transforms, into all pictures.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: demo_test.py TOOLS_FOLDER       exits 77 where something is missing
import contextlib
import io
import os
import sys
import tempfile
import unittest

SKIP = 77
sys.path.insert(0, sys.argv[1])
try:
    import demo
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)


class Demo(unittest.TestCase):
    def test_pictures(self):
        with tempfile.TemporaryDirectory(prefix="cudatransform-demo-") as folder:
            path = os.path.join(folder, "picture.ppm")
            with open(path, "wb") as file:
                file.write(b"P6\n40 24\n255\n" + bytes(i * i % 251 for i in range(40 * 24 * 3)))
            with contextlib.redirect_stdout(io.StringIO()) as told:
                status = demo.main(path, folder)
            if status == demo.MISSING_DECODER:
                self.skipTest("no decoder of PPM files")
            self.assertEqual(status, 0)
            for name in ("triptych", "coefficients", "pyramid", "quality", "chroma"):
                self.assertIn(f"{name}.png", told.getvalue())
                self.assertGreater(os.path.getsize(os.path.join(folder, f"{name}.png")), 1000)


unittest.main(argv=sys.argv[:1])
