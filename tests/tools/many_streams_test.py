#!/usr/bin/env python3
# examples/many_streams: every stream plays all its frames, on the devices in order.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: many_streams_test.py PROGRAM [FOLDER-OF-A-DRIVER]
# With a driver, one that computes nothing, the program spreads streams over its devices.
import os
import re
import subprocess
import sys
import unittest

RATE = re.compile(r"stream (\d+) on (the CPU|device \d+): ([\d.]+) frames/s")
TOTAL = re.compile(r"total: ([\d.]+) frames/s")
SMALL = ("--frames=20", "--width=67", "--height=45")


def run(*arguments, **environment):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=100,
                          env={**os.environ, **environment}, check=False)


class Streams(unittest.TestCase):
    def check(self, lines, places):
        """A line for each stream and their total, from the front of `lines`."""
        rates = []
        for number, place in enumerate(places):
            line = lines.pop(0)
            found = RATE.fullmatch(line)
            self.assertTrue(found, line)
            self.assertEqual((found[1], found[2]), (str(number), place))
            rates.append(float(found[3]))
        line = lines.pop(0)
        found = TOTAL.fullmatch(line)
        self.assertTrue(found, line)
        # The slowest stream decides when all are done.
        self.assertGreater(min(rates), 0)
        self.assertAlmostEqual(float(found[1]), len(rates) * min(rates),
                               delta=.1 * len(rates) + .01 * float(found[1]))

    def lines_of(self, said):
        self.assertEqual(said.returncode, 0, said.stderr)
        return said.stdout.splitlines()


class Cpu(Streams):
    def test_all_play(self):
        lines = self.lines_of(run("--streams=3", "--backend=cpu", *SMALL))
        self.assertEqual(lines.pop(0), "3 streams of 20 frames of 67 x 45, 0 CUDA devices")
        self.check(lines, ["the CPU"] * 3)
        self.assertEqual(lines, [])

    def test_refused(self):
        for argument in ("--streams=0", "--frames=1", "--devices=0", "--no-such-option", "more"):
            said = run(argument)
            self.assertEqual(said.returncode, 2, argument)
            self.assertNotEqual(said.stderr, "", argument)

    def test_errors_end_it(self):
        said = run("--streams=2", "--backend=cpu", "--frames=5", "--width=0")
        self.assertEqual(said.returncode, 1)
        self.assertNotEqual(said.stderr, "")


class Devices(Streams):
    def run_on(self, devices, *arguments):
        path = DRIVER + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
        return run("--backend=cuda", *SMALL, *arguments, LD_LIBRARY_PATH=path.rstrip(os.pathsep),
                   FAKECUDA_DEVICES=str(devices), GST_DEBUG="cudacontext:4", GST_DEBUG_NO_COLOR="1")

    def test_taking_turns(self):
        for memory in ("system", "cuda"):
            said = self.run_on(2, "--streams=5", "--memory=" + memory)
            lines = self.lines_of(said)
            self.assertEqual(lines.pop(0), "5 streams of 20 frames of 67 x 45, 2 CUDA devices")
            self.check(lines, [f"device {i % 2}" for i in range(5)])
            self.assertEqual(lines, [])
            # One for each device, whatever the number of streams.
            self.assertEqual(said.stderr.count("Created CUDA context"), 2, said.stderr)

    def test_fewer_devices(self):
        lines = self.lines_of(self.run_on(3, "--streams=3", "--devices=1"))
        self.check(lines[1:], ["device 0"] * 3)

    def test_compare(self):
        lines = self.lines_of(self.run_on(3, "--streams=4", "--compare"))
        lines.pop(0)
        self.check(lines, ["device 0"] * 4)
        self.check(lines, ["device 0", "device 1", "device 2", "device 0"])
        self.assertRegex(lines.pop(), r"^3 devices: [\d.]+ times the frames/s of one$")
        self.assertEqual(lines, [])

    def test_no_device(self):
        said = self.run_on(0)
        self.assertEqual(said.returncode, 1)
        self.assertIn("no CUDA device", said.stderr)


if __name__ == "__main__":
    PROGRAM, *DRIVERS = sys.argv[1:]
    DRIVER = DRIVERS[0] if DRIVERS else None
    unittest.main(argv=sys.argv[:1], defaultTest="Devices" if DRIVERS else "Cpu")
