#!/usr/bin/env python3
# Tests of tools/beside: interleaved runs, and a small run of each comparison.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: beside_test.py TOOLS_FOLDER       skips what this machine lacks
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
import bench_runs
import beside_python

DATA = os.environ.get("CUDATRANSFORM_TEST_DATA", "")
STREAM = os.path.join(DATA, "dirac", "p07_res_preset1_8x8_4x4.drc")
PHOTOGRAPH = os.path.join(DATA, "images", "006mp-cathedral.jpg")


def has(module):
    return subprocess.run([sys.executable, "-c", "import " + module], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


def beside(*arguments):
    return subprocess.run([sys.executable, os.path.join(TOOLS, "beside"), *arguments], text=True,
                          check=False, timeout=240, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def tables(text):
    """[{first cell: the others}] of Markdown."""
    return [{line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
             for line in part.splitlines()[2:]}
            for part in re.findall(r"(?:^\|.*\n)+", text, re.M)]


class Turns(unittest.TestCase):
    def test_order(self):
        said = []
        taken = bench_runs.take_turns({name: lambda x, name=name: said.append(name) or x
                                       for name in "ab"}, [(1,), (2,)])
        self.assertEqual("".join(said), "abab")
        self.assertEqual(taken, {"a": [1, 2], "b": [1, 2]})

    def test_time(self):
        self.assertEqual(list(bench_runs.for_seconds(0, [1, 2])), [1])
        self.assertGreater(len(list(bench_runs.for_seconds(.01, [1]))), 1)


class Program(unittest.TestCase):
    def tables_of(self, *arguments):
        result = beside(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return tables(result.stdout)

    def test_arguments(self):
        self.assertEqual(beside("nobody").returncode, 2)
        result = beside("pywavelets", "--bench-cpu", "/nonexistent")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^beside: .*(not been built|python3-pywt)")

    @unittest.skipUnless(shutil.which("ffprobe") and os.path.exists(STREAM), "no ffmpeg or stream")
    def test_ffmpeg(self):
        (shown,) = self.tables_of("ffmpeg", STREAM, "--pictures=1", "--turns=1", "--threads=1")
        self.assertEqual(list(shown), ["p07"])
        theirs, ours, times = map(float, shown["p07"][:3])
        self.assertAlmostEqual(times, ours / theirs, delta=.1 * times)

    @unittest.skipUnless(has("pywt"), "no PyWavelets")
    def test_pywavelets(self):
        """bench_cpu takes a minute: in its place is a list of results."""
        results = [{"name": f"engine:cpu/case:dwt/of:{form}/size:1080p/wavelet:{wavelet}/index:0/"
                            f"direction:{direction}/threads:1", "real_time": 2000,
                    "time_unit": "us", "x copy": 3}
                   for form in ("simd", "tbb") for wavelet in ("legall53", "dd97", "daub97", "haar")
                   for direction in ("forward", "inverse")]
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bench_cpu")
            with open(program, "w", encoding="utf-8") as file:
                run = json.dumps({"context": {}, "benchmarks": results})
                file.write("#!/bin/sh\nfor last; do case $last in --benchmark_out=*) "
                           f"echo '{run}' >\"${{last#*=}}\";; esac; done\n")
            os.chmod(program, 0o755)
            (shown,) = self.tables_of("pywavelets", "--bench-cpu", program, "--turns=1",
                                      "--seconds=0")
        self.assertEqual(len(shown), 8)
        self.assertEqual(shown["haar forward"][:3], ["2.00", "2.00", "3.0"])
        self.assertEqual(shown["haar forward"][4], "haar")

    @unittest.skipIf(beside_python.LACKING or not has("PIL") or not os.path.exists(PHOTOGRAPH),
                     "no module, Pillow or photograph")
    def test_python(self):
        one, pixels, many = self.tables_of("python", PHOTOGRAPH, "--sizes", "500x375",
                                           "--seconds=0", "--turn=0", "--turns=1", "--workers=2")
        self.assertEqual(one["cudatransform.read"][1], "1.00")
        self.assertEqual(pixels["Pillow open"][1], "1.00")
        self.assertIn("cudatransform.Reader (pixels)", many)

    @unittest.skipIf(beside_python.LACKING or not os.path.exists(PHOTOGRAPH),
                     "no module or photograph")
    def test_tensors(self):
        (shown,) = self.tables_of("tensors", PHOTOGRAPH, "--seconds=0", "--turns=1")
        for name in "Reader, cpu", "Reader, tensors, cpu", "decode(), threads, cpu":
            self.assertTrue(all(float(rate) > 0 for rate in shown[name]), name)

    @unittest.skipIf(beside_python.LACKING or not os.path.exists(PHOTOGRAPH),
                     "no module or photograph")
    def test_corpus(self):
        (shown,) = self.tables_of("corpus", PHOTOGRAPH, "--files=256", "--workers", "1",
                                  "--turns=1")
        self.assertEqual(shown["1"][:1], ["plain"])  # behind "reading alone"
        self.assertGreater(float(shown["1"][1]), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
