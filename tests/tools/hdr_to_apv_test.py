#!/usr/bin/env python3
# examples/hdr_to_apv: its file, which has the colors, the light and about the samples that went in,
# and its line of statistics; and bad input.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: hdr_to_apv_test.py PROGRAM
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

WIDTH, HEIGHT, RATE, KBITS = 96, 64, 25, 1500
LINE = re.compile(r"(\d+) frames, (\d+) bytes, (\d+) kbit/s, last QP (\d+), (\d+) oversized\n")


def frame(number):
    """A slope with a little noise: luma, and two planes of chroma."""
    values = random.Random(number)
    samples = [min(400 + 4 * x + values.randrange(8), 1023)
               for width in (WIDTH, WIDTH // 2, WIDTH // 2) for _ in range(HEIGHT)
               for x in range(width)]
    return struct.pack(f"<{len(samples)}H", *samples)


def access_units(data):
    units = []
    while data:
        size = int.from_bytes(data[:4], "big")
        units.append(data[4:4 + size])
        data = data[4 + size:]
    return units


class HdrToApv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "master.apv")

    def run_program(self, data, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments or
                                             (WIDTH, HEIGHT, RATE, KBITS, self.path))],
                              input=data, capture_output=True, timeout=60, check=False)

    def test_file_and_statistics(self):
        frames = [frame(i) for i in range(RATE)]
        said = self.run_program(b"".join(frames))
        self.assertEqual(said.returncode, 0, said.stderr)
        count, size, kbits, _, oversized = map(int, LINE.fullmatch(said.stdout.decode()).groups())
        with open(self.path, "rb") as file:
            data = file.read()
        units = access_units(data)
        self.assertEqual((count, size, oversized), (len(units), len(data), 0))
        self.assertEqual(count, RATE)
        self.assertAlmostEqual(kbits, KBITS, delta=.03 * KBITS)
        for unit in units:
            # "aPv1", pbu_size, the PBU's header, frame_info, a reserved byte, a flag.
            begin = 4 + 4 + 4 + 12 + 1
            fields = int.from_bytes(unit[begin:begin + 4], "big") >> 6
            self.assertEqual((fields >> 25, fields >> 17 & 255, fields >> 9 & 255,
                              fields >> 1 & 255), (1, 9, 16, 9))
            self.assertIn(struct.pack(">BBHH", 6, 4, 1000, 400), unit)
        # gst-launch-1.0 cannot load a sanitized plugin.
        if not os.environ.get("CUDATRANSFORM_SANITIZED"):
            self.check_samples(frames)

    def check_samples(self, frames):
        decoded = subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", "location=" + self.path, "!", "cudaapvdec",
             "backend=cpu", "!", "fdsink"], capture_output=True, timeout=60, check=True).stdout
        self.assertEqual(len(decoded), sum(map(len, frames)))
        pairs = zip(struct.iter_unpack("<H", decoded), struct.iter_unpack("<H", b"".join(frames)))
        self.assertLess(sum(abs(a[0] - b[0]) for a, b in pairs) / (len(decoded) / 2), 8)

    def test_half_a_frame(self):
        said = self.run_program(frame(0) + b"1234")
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"1 frames", said.stdout)
        self.assertIn(b"4 bytes", said.stderr)

    def test_bad_arguments(self):
        for arguments in ((16,), (0, 16, 25, 100, self.path), (17, 16, 25, 100, self.path)):
            said = self.run_program(b"", *arguments)
            self.assertEqual(said.returncode, 2, arguments)
            self.assertIn(b"usage", said.stderr)
        said = self.run_program(30 * frame(0), WIDTH, HEIGHT, RATE, KBITS, self.path + "/no")
        self.assertEqual(said.returncode, 1)
        self.assertTrue(said.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
