#!/usr/bin/env python3
# Tests of tools/plot-bench: the numbers in tables and pictures, and its errors on bad files.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: plot_bench_test.py PLOT_BENCH FOLDER PEERS.json
# FOLDER has bench_cuda.json and bench_cpu.json, small runs with round numbers.
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FOLDER, PEERS = sys.argv[1:4]
CUDA, CPU = (os.path.join(FOLDER, f"bench_{engine}.json") for engine in ("cuda", "cpu"))
HAS_MATPLOTLIB = subprocess.run([sys.executable, "-c", "import matplotlib"], check=False,
                                stderr=subprocess.DEVNULL).returncode == 0
SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(PROGRAM))
import bench_runs
if HAS_MATPLOTLIB:
    import bench_plots


def plot_bench(*arguments, **environment):
    return subprocess.run([sys.executable, PROGRAM, *arguments], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **environment))


def rows(markdown):
    """Cells of all rows of all tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in markdown.splitlines() if line.startswith("| ")]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def changed(self, change, source=CUDA, name="changed.json"):
        """A copy of a run after change(run)."""
        with open(source, encoding="utf-8") as file:
            run = json.load(file)
        change(run)
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(run, file)
        return self.path(name)


class Tables(Folder):
    def table(self, *arguments):
        result = plot_bench("--table", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_numbers(self):
        found = rows(self.table(CUDA, CPU))
        for row in (
                ["direction", "1080p", "4K"],  # small to large, other than in the file
                ["inverse", "1600 GB/s", "3000 GB/s"],
                ["float", "forward", "", "**0.75** (1500 GB/s)", "**0.90** (2880 GB/s)"],
                ["islow", "inverse", "", "", "**1.05** (3150 GB/s)"],
                ["float", "forward", "plane", "", "**0.40** (1280 GB/s)"],
                ["naive", "forward", "6", "32", "0.01", "600.0", "1.0"],
                ["matrix", "forward", "0.6", "320", "0.10", "", "10.0"],
                ["float", "inverse", "0.08", "2400", "0.80", "9.0", "80.0"],
                ["streamed", "forward", "2", "4.8", "40"],
                ["naive", "inverse", "1", "3840", "0.05", "0.002", "1.0"],
                ["float", "inverse", "2", "9.6", "20", "0.50", "2.1"],
                ["float", "forward", "4.98", "0.622", "0.311", "8.0", "16.0"]):
            self.assertIn(row, found)
        self.assertFalse([row for row in found if "shuffle" in row], "this line failed")

    def test_formats(self):
        def change(run, size=None):
            for benchmark in run["benchmarks"]:
                if "layout:plane" in benchmark["name"]:
                    for key in ("name", "run_name"):
                        benchmark[key] = benchmark[key].replace("case:limit", "case:format") \
                            .replace("layout:plane", "format:NV12")
                        if size:
                            benchmark[key] = benchmark[key].replace("size:4K", "size:" + size)
                    benchmark["of I420"] = 0.875
        text = self.table(self.changed(change))
        self.assertIn("### Pixel formats, all planes in one launch, 4K", text)
        self.assertIn(["float", "forward", "NV12", "0.15", "1280", "0.40", "0.88"], rows(text))
        both = self.table(self.changed(change),
                          self.changed(lambda run: change(run, "1080p"), name="other.json"))
        self.assertIn(["float", "forward", "NV12"] + ["**0.40** (1280 GB/s, 0.88 of I420's)"] * 2,
                      rows(both))

    def test_context(self):
        text = self.table(CUDA)
        self.assertIn("Test GPU, driver 580.1, CUDA 13.0, 1500 MHz, compiled for sm_90.", text)
        self.assertIn("Measured 2026-11-21.", text)
        self.assertIn("Clocks held back by: power.", text)

    def test_what_failed_is_named(self):
        result = plot_bench("--table", CUDA)
        self.assertRegex(result.stderr, "left out: .*method:shuffle.*CUDA_ERROR_LAUNCH_FAILED")

    def scaled(self, factor, name):
        def change(run):
            for benchmark in run["benchmarks"]:
                if "ratio" in benchmark:
                    benchmark["ratio"] *= factor
                    benchmark["ns/block"] /= factor
        return self.changed(change, name=name)

    def test_median_of_runs(self):
        text = self.table(CUDA, self.scaled(0.5, "a.json"), self.scaled(0.9, "b.json"))
        self.assertIn("median of 3 runs", text)
        self.assertIn("Runs differ by up to 100 %", text)
        row = next(row for row in rows(text) if row[:3] == ["float", "forward", "plane"])
        self.assertEqual(row[-1], "**0.36** (1280 GB/s)")  # 0.4 x the middle one of 1, .5 and .9

    def test_repetitions(self):
        def change(run):
            one = next(b for b in run["benchmarks"] if "layout:plane" in b["name"])
            run["benchmarks"] += [
                dict(one, run_type="aggregate", aggregate_name=name, ratio=ratio,
                     name=f"{one['run_name']}_{name}")
                for name, ratio in (("mean", 0.1), ("median", 0.3), ("stddev", 0.01))]
        row = next(row for row in rows(self.table(self.changed(change)))
                   if row[:3] == ["float", "forward", "plane"])
        self.assertEqual(row[-1], "**0.30** (1280 GB/s)")

    def test_peers(self):
        found = rows(self.table(CUDA, "--peers", PEERS))
        self.assertIn(["GPUDCT next16", "inverse", "0.65", "0.58", "0.58", "0.57"], found)


@unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
class Pictures(Folder):
    def draw(self, *arguments, **environment):
        """{name: bytes} of what was written."""
        result = plot_bench(*arguments, "--output", self.folder, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        pictures = {}
        for path in result.stdout.splitlines():
            with open(path, "rb") as file:
                pictures[os.path.basename(path)] = file.read()
            self.assertEqual(pictures[os.path.basename(path)][:8], b"\x89PNG\r\n\x1a\n")
        return pictures

    def wavelets(self):
        """A run of wavelets alone."""
        def change(run):
            like = next(b for b in run["benchmarks"] if "ratio" in b)
            run["benchmarks"] = [
                dict(like, ratio=ratio, samples=samples, **dict.fromkeys(
                    ("name", "run_name"), f"engine:cuda/case:dwt/size:{size}/wavelet:{wavelet}"
                    f"/index:{index}/direction:{direction}/pictures:{pictures}{method}"))
                for size, samples, wavelet, index, direction, pictures, method, ratio in (
                    ("8K", 5e7, "haar", 8, "forward", 8, "", 0.6),
                    ("8K", 5e7, "haar", 8, "forward", 1, "", 0.5),
                    ("8K", 5e7, "haar", 0, "forward", 8, "", 0.7),
                    ("8K", 5e7, "haar", 8, "forward", 8, "/method:separable-slab", 0.1),
                    ("8K", 5e7, "dd97", 8, "forward", 8, "", 0.3),
                    ("8K", 5e7, "haar", 8, "inverse", 8, "", 0.4),
                    ("32K", 1e9, "dd97", 8, "inverse", 1, "", 0.2))]
        return self.changed(change)

    def test_which(self):
        self.assertEqual(list(self.draw(CUDA)), ["bench-roofline.png", "bench-gpu.png"])
        self.assertEqual(list(self.draw(CUDA, CPU, "--only", "gpu")), ["bench-gpu.png"])
        self.assertEqual(list(self.draw(self.wavelets())), ["bench-dwt.png"])

    def test_files_do_not_churn(self):
        before = self.draw(CUDA, "--peers", PEERS)
        self.assertEqual(self.draw(CUDA, "--peers", PEERS, PYTHONHASHSEED="1", TZ="Asia/Tokyo",
                                   LC_ALL="C"), before)
        for name, picture in self.draw(CUDA).items():
            self.assertEqual(picture == before[name], name == "bench-roofline.png")

    def test_ratios(self):
        results = bench_runs.load([CUDA])
        peers, _ = bench_runs.load_peers(PEERS)
        series = {name: values for name, _, values, _ in
                  bench_plots.ratio_series(results, "inverse", peers, ["1080p", "4K"])}
        self.assertEqual(series["float"], {"1080p": 0.7, "4K": 0.8})
        self.assertEqual(series["islow"], {"4K": 1.05})
        self.assertEqual(series["GPUJPEG inverse"], {"1080p": 0.62, "4K": 0.55})
        self.assertEqual(len(series), 5)

    def test_ranges(self):
        def change(run):
            for benchmark in run["benchmarks"]:
                benchmark["ratio"] = benchmark.get("ratio", 1) / 2
        results = bench_runs.load([CUDA, self.changed(change)])
        _, _, values, ranges = bench_plots.ratio_series(results, "forward", (), ["4K"])[1]
        self.assertAlmostEqual(values["4K"], 0.675)
        self.assertEqual(ranges["4K"], (0.45, 0.9))

    def test_roofline(self):
        results = bench_runs.load([CUDA])
        points = {(line["case"], line["size"], line["method"]): (3 * x, y)
                  for line, x, y in bench_plots.roofline_points(results, "forward")}
        for place, point in ((("ladder", "4K", "float"), (12, 2880)),
                             (("ladder", "4K", "naive"), (600, 32)),
                             (("limit", "1080p", "float"), (12, 1500)),  # the ladder's instructions
                             (("limit", "4K", "islow"), (15, 2720))):
            self.assertEqual(points[place], point)
        self.assertNotIn(("ladder", "4K", "matrix"), points)  # its instructions are not known
        self.assertAlmostEqual(bench_runs.issue_rate(results.contexts["cuda"]), 19.2e12)

    def test_wavelets(self):
        lines = bench_plots.wavelet_lines(bench_runs.load([self.wavelets()]))
        found = {direction: {name: values for name, _, values, _ in
                             bench_plots.wavelet_series(lines, direction)}
                 for direction in ("forward", "inverse")}
        self.assertEqual(found["forward"], {"8K, 8 in flight": {"haar": 0.6, "dd97": 0.3},
                                            "32K, alone": {}})
        self.assertEqual(found["inverse"], {"8K, 8 in flight": {"haar": 0.4},
                                            "32K, alone": {"dd97": 0.2}})


class Errors(Folder):
    def fails(self, *arguments, saying):
        result = plot_bench(*arguments, "--output", self.folder)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertNotIn("Traceback", result.stderr)
        self.assertRegex(result.stderr, saying)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_files(self):
        self.fails(self.path("none.json"), saying="none.json: No such file")
        self.fails(self.folder, saying="Is a directory")
        with open(CUDA, encoding="utf-8") as file:
            text = file.read()
        self.fails(self.write("half.json", text[:2000]), saying="half.json: not JSON.*interrupted")
        self.fails(self.write("other.json", "[1, 2]"), saying="not a run of Google Benchmark")
        self.fails(self.write("empty.json", '{"benchmarks": []}'), saying="no benchmark in it")
        self.fails(self.write("names.json", '{"benchmarks": [{"name": "BM_copy/8"}]}'),
                   saying='"BM_copy/8" does not begin with engine:')
        self.fails(CUDA, CPU, "--output", self.path("nowhere"), "--table", "--peers", PEERS + "x",
                   saying="peers.jsonx: No such file")

    def test_all_failed(self):
        def change(run):
            run["benchmarks"] = [b for b in run["benchmarks"] if b.get("error_occurred")]
        self.fails(self.changed(change), saying="no benchmark in it has.*\n.*LAUNCH_FAILED")

    def test_two_devices(self):
        other = self.changed(lambda run: run["context"].update(device="Other GPU"))
        self.fails(CUDA, other, saying='device is "Other GPU" and not "Test GPU"')

    def test_peers(self):
        bad = self.write("peers.json", '{"source": "", "peers": [{"name": "a"}]}')
        self.fails(CUDA, "--peers", bad, saying="peers.json: KeyError 'direction'; wanted:")

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
    def test_pictures_that_cannot_be(self):
        no_count = self.changed(lambda run: run["context"].pop("sm_count"))
        self.fails(no_count, saying="bench-roofline.png: the run's context: sm_count is missing")
        self.assertTrue(os.path.exists(self.path("bench-gpu.png")))  # the other one can
        words = self.changed(lambda run: run["context"].update(sm_clock_mhz="fast"))
        self.fails(words, saying='sm_clock_mhz is "fast"')

        def no_instructions(run):
            for benchmark in run["benchmarks"]:
                benchmark.pop("instr/sample", None)
        self.fails(self.changed(no_instructions), saying='has "instr/sample"')
        self.fails(CPU, saying="nothing to draw: no run of engine:cuda")
        result = plot_bench(CUDA, "--output", self.path("nowhere"))
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("nowhere: no such folder", result.stderr)

    def test_no_matplotlib(self):
        self.write("matplotlib.py", "raise ImportError('planted')")
        result = plot_bench(CUDA, "--output", self.folder, PYTHONPATH=self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("install python3-matplotlib, or ask for --table", result.stderr)
        self.assertEqual(plot_bench("--table", CUDA, PYTHONPATH=self.folder).returncode, 0)


if __name__ == "__main__":
    passed = unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()
    if passed and not HAS_MATPLOTLIB:
        print("SKIP: no matplotlib; the tables are right")
        sys.exit(SKIP)
    sys.exit(0 if passed else 1)
