#!/usr/bin/env python3
# Tests of bench_cuda without a GPU: its list, its exit status, and that it rejects kernels that
# write nothing; and of ncu_instructions.py.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: bench_cuda_test.py BENCH_CUDA FAKECUDA_FOLDER NCU_INSTRUCTIONS
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FAKECUDA, NCU = sys.argv[1:4]
CHOSEN = r"case:(limit|psnr)/size:1080p/method:float/direction:forward|/format:NV12/"


def bench(*arguments, driver=FAKECUDA, **environment):
    environment = dict(os.environ, LD_LIBRARY_PATH=driver, **environment)
    environment.pop("CUDATRANSFORM_REQUIRE_GPU", None)
    return subprocess.run([PROGRAM, *arguments], text=True, check=False, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)


class WithoutDevice(unittest.TestCase):
    def test_list(self):
        result = bench("--benchmark_list_tests", FAKECUDA_MODE="no-device")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = result.stdout.split()
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(
                name, r"^engine:cuda/case:[\w-]+/size:(1080p|4K|8K|32K|512|1024|2048|4096)/")
            keys = [part.split(":")[0] for part in name.split("/")]
            self.assertEqual(len(keys), len(set(keys)), name)
        for method in ("float", "islow"):
            for direction in ("forward", "inverse"):
                for size in ("1080p", "4K", "8K", "32K"):
                    wanted = f"case:limit/size:{size}/method:{method}/direction:{direction}"
                    # The table itself, layout=plane, order=zigzag.
                    self.assertEqual(sum(wanted in name for name in names), 3, wanted)
                    variants = [name for name in names if
                                f"case:stream/size:{size}/direction:{direction}/" in name]
                    self.assertGreaterEqual(len(variants), 4)

    def test_list_of_the_sweep(self):
        result = bench("--sweep", "--benchmark_list_tests", FAKECUDA_MODE="no-device")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("kernels:split"), result.stdout.count("kernels:whole"))
        self.assertIn("case:sweep/size:3840x2160/method:islow/direction:inverse", result.stdout)

    def test_skipped(self):
        result = bench(FAKECUDA_MODE="no-device")
        self.assertEqual(result.returncode, 77)
        self.assertRegex(result.stderr, "no CUDA engine: .*CUDA_ERROR_INVALID_DEVICE")

    def test_arguments(self):
        self.assertEqual(bench("--such").returncode, 2)
        self.assertEqual(bench("--instructions=/nonexistent").returncode, 2)


class WithFakeDriver(unittest.TestCase):
    """Kernels do nothing there; all the rest happens."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_writes_nothing(self):
        path = os.path.join(self.folder, "run.json")
        result = bench("--quick", "--benchmark_filter=" + CHOSEN, "--benchmark_out=" + path,
                       "--benchmark_out_format=json")
        self.assertEqual(result.returncode, 1, result.stderr)
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        for benchmark in run["benchmarks"]:
            self.assertTrue(benchmark["error_occurred"], benchmark["name"])
            self.assertIn("wrote nothing", benchmark["error_message"], benchmark["name"])
            self.assertRegex(benchmark["name"], CHOSEN)
        self.assertEqual(len(run["benchmarks"]), 4 + 2 * 2 * 2)
        self.assertEqual(run["context"]["device"], "Fake GPU")
        for number in ("sm_count", "sm_clock_mhz", "memory_clock_mhz"):
            self.assertGreater(float(run["context"][number]), 0)
        # bench_cuda does not measure cases that the filter leaves out.
        measured = re.findall("measuring: (.*), ([0-9]+) cases", result.stderr)
        self.assertIn(("limit 1080p forward", "4"), measured)
        self.assertNotIn("inverse", [group.split()[-1] for group, _ in measured
                                     if group.startswith("limit")])

    def test_graphs_capture_no_waits(self):
        """Resampling sends its weights once; of several pictures it is not captured."""
        result = bench("--quick", "--benchmark_filter="
                       "case:resize/size:1080p/(side:224/filter:bicubic/pictures:1|from:640x480)/")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout.count("wrote nothing"), 2, result.stdout)

    def test_failing_device(self):
        for mode, error in (("alloc-fails", "CUDA_ERROR_OUT_OF_MEMORY"),
                            ("launch-fails", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")):
            result = bench("--quick", "--benchmark_filter=case:L2", FAKECUDA_MODE=mode)
            self.assertEqual(result.returncode, 1, mode)
            self.assertIn(error, result.stdout + result.stderr)

    def test_profile(self):
        path = os.path.join(self.folder, "names.csv")
        result = bench("--profile=" + path, "--benchmark_filter=case:ladder.*direction:inverse")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 9)
        for line in lines:
            self.assertRegex(line, f"^engine:cuda/case:ladder/.*,{3840 * 2176}$")


HEADER = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
          '"Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit",'
          '"Metric Value"')


def launch(kernel, grid, value, unit="inst"):
    return (f'"0","1","bench_cuda","127.0.0.1","{kernel}","1","7","(128, 1, 1)","{grid}","0",'
            f'"9.0","Command line profiler metrics","smsp__inst_executed.sum","{unit}","{value}"')


class Instructions(unittest.TestCase):
    NAMES = "engine:cuda/case:ladder/method:float,64\nengine:cuda/case:ladder/method:naive,128\n"
    LAUNCHES = [launch("prepare", "(9, 1, 1)", "5"),
                launch("bench_marker", "(1, 1, 1)", "1"), launch("fast", "(4, 1, 1)", "1,000"),
                launch("bench_marker", "(1, 2, 1)", "2"), launch("prepare", "(9, 1, 1)", "5"),
                launch("bench_marker", "(2, 1, 1)", "1"), launch("load", "(4, 1, 1)", "2,000"),
                launch("naive", "(4, 1, 1)", "3,000"), launch("bench_marker", "(2, 2, 1)", "2")]

    def convert(self, launches, header=HEADER):
        with tempfile.TemporaryDirectory() as folder:
            names, profile = (os.path.join(folder, name) for name in ("names", "profile"))
            with open(names, "w", encoding="utf-8") as file:
                file.write(self.NAMES)
            with open(profile, "w", encoding="utf-8") as file:
                file.write("\n".join(["==PROF== Connected", header, *launches,
                                      "==PROF== Disconnected"]))
            return subprocess.run([sys.executable, NCU, names, profile], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_counts(self):
        result = self.convert(self.LAUNCHES)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "engine:cuda/case:ladder/method:float,500.000\n"
                         "engine:cuda/case:ladder/method:naive,1250.000\n")

    def test_bad_profiles(self):
        kilo = [line.replace('"inst"', '"Kinst"') for line in self.LAUNCHES]
        for launches, said in ((self.LAUNCHES[:-1], "naive"), (self.LAUNCHES[:5], "naive"),
                               (self.LAUNCHES[4:], "naive|float"), (kilo, "print-units"),
                               (self.LAUNCHES[3:], "marker")):
            result = self.convert(launches)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, said)
        self.assertRegex(self.convert(self.LAUNCHES, "no table").stderr, "--csv")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
