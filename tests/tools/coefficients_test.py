#!/usr/bin/env python3
# examples/coefficients: its lines for frames with known coefficients, and for bad input.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: coefficients_test.py PROGRAM [FOLDER-OF-A-DRIVER]
# With a driver, one that computes nothing, it tests only the path of coefficients in CUDA memory.
import os
import random
import re
import subprocess
import sys
import unittest

QUALITY = "50"  # ITU-T T.81, tables K.1 and K.2, as they are
DC_STEPS = (16, 17, 17)
LINE = re.compile(r"  component (\d), (\d+) x (\d+) blocks: ([\d.]+) % of the coefficients are 0, "
                  r"mean DC (-?[\d.]+) \(mean sample (-?[\d.]+)\)")


def halved_up(size):
    return (size + 1) // 2


class Plane:
    """A plane of flat blocks, of which DC alone is not 0."""

    def __init__(self, width, height, step, random_values):
        self.blocks_w, self.blocks_h = (width + 7) // 8, (height + 7) // 8
        values = [[random_values.choice((0, 77, 127, 128, 129, 200, 255))
                   for _ in range(self.blocks_w)] for _ in range(self.blocks_h)]
        self.data = bytes(values[y // 8][x // 8] for y in range(height) for x in range(width))
        levels = [self.level(value, step) for row in values for value in row]
        blocks = len(levels)
        self.zeros = 100 * (63 * blocks + levels.count(0)) / (64 * blocks)
        self.mean_dc = sum(levels) * step / blocks

    @staticmethod
    def level(value, step):
        """The quantized DC: rounded to the nearest, ties away from zero."""
        dc = 8 * (value - 128)
        size = (2 * abs(dc) + step) // (2 * step)
        return size if dc > 0 else -size


def frame(width, height, random_values):
    sizes = ((width, height), *2 * ((halved_up(width), halved_up(height)),))
    return [Plane(*size, step, random_values) for size, step in zip(sizes, DC_STEPS)]


def run(data, *arguments, **environment):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=data, capture_output=True,
                          timeout=60, env={**os.environ, **environment})


class SystemMemory(unittest.TestCase):
    def check(self, width, height, frames):
        data = b"".join(plane.data for planes in frames for plane in planes)
        said = run(data, width, height, QUALITY, "cpu")
        self.assertEqual(said.returncode, 0, said.stderr)
        lines = said.stdout.decode().splitlines()
        self.assertEqual(len(lines), 4 * len(frames))
        for number, planes in enumerate(frames):
            self.assertEqual(lines[4 * number], f"frame {number}: {width} x {height}, "
                                                "YCbCr-4:2:0, in system memory")
            for index, plane in enumerate(planes):
                line = lines[4 * number + 1 + index]
                found = LINE.fullmatch(line)
                self.assertTrue(found, line)
                numbers = [float(text) for text in found.groups()]
                self.assertEqual(numbers[:3], [index + 1, plane.blocks_w, plane.blocks_h])
                self.assertAlmostEqual(numbers[3], plane.zeros, delta=.0051, msg=line)
                self.assertAlmostEqual(numbers[4], plane.mean_dc, delta=.0051, msg=line)
                self.assertAlmostEqual(numbers[5], 128 + plane.mean_dc / 8, delta=.0051, msg=line)

    def test_flat_blocks(self):
        random_values = random.Random(1)
        # Chroma 20 x 12, 9 x 5 and 3 x 1: partial blocks, and rows that GStreamer pads.
        for width, height in ((40, 24), (17, 9), (5, 1)):
            with self.subTest(width=width, height=height):
                self.check(width, height,
                           [frame(width, height, random_values) for _ in range(3)])

    def test_no_frames(self):
        said = run(b"", 16, 16, QUALITY, "cpu")
        self.assertEqual((said.returncode, said.stdout), (0, b""))

    def test_half_a_frame(self):
        said = run(bytes(384 + 100), 16, 16, QUALITY, "cpu")
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"frame 0: ", said.stdout)
        self.assertNotIn(b"frame 1: ", said.stdout)
        self.assertIn(b"100 bytes; 384 were expected", said.stderr)

    def test_bad_arguments(self):
        for arguments in ((), (16,), (0, 16), (16, "x"), (16, 16, 50, "cpu", "more")):
            said = run(b"", *arguments)
            self.assertEqual(said.returncode, 2, arguments)
            self.assertIn(b"usage", said.stderr)
        said = run(bytes(384), 16, 16, "none", "cpu")
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"quality", said.stderr)


class DeviceMemory(unittest.TestCase):
    def test_copied_from_the_device(self):
        path = DRIVER + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
        said = run(bytes(2 * 384), 16, 16, QUALITY, "cuda", LD_LIBRARY_PATH=path.rstrip(os.pathsep))
        self.assertEqual(said.returncode, 0, said.stderr)
        lines = said.stdout.decode().splitlines()
        self.assertEqual(lines[::4], [f"frame {number}: 16 x 16, YCbCr-4:2:0, in CUDA memory"
                                      for number in range(2)])
        for line in lines[1:4] + lines[5:]:
            # The driver's fresh memory is never 0; that of a copy that did not happen is.
            self.assertEqual(LINE.fullmatch(line)[4], "0.00", line)


if __name__ == "__main__":
    PROGRAM, *DRIVERS = sys.argv[1:]
    DRIVER = DRIVERS[0] if DRIVERS else None
    unittest.main(argv=sys.argv[:1], defaultTest="DeviceMemory" if DRIVERS else "SystemMemory")
