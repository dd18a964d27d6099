#!/usr/bin/env python3
# Tests of tools/plot-bench: which numbers get into tables and pictures, and what it says of bad files.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: plot_bench_test.py PLOT_BENCH FOLDER PEERS.json
# FOLDER has bench_cuda.json and bench_cpu.json, small runs with round numbers.
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PROGRAM, FOLDER, PEERS = sys.argv[1:4]
CUDA, CPU = (os.path.join(FOLDER, f"bench_{engine}.json") for engine in ("cuda", "cpu"))
HAS_MATPLOTLIB = subprocess.run([sys.executable, "-c", "import matplotlib"], check=False,
                                stderr=subprocess.DEVNULL).returncode == 0
SKIP = 77


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
    def draw(self, *arguments):
        result = plot_bench(*arguments, "--output", self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [os.path.basename(line) for line in result.stdout.splitlines()]

    def read(self, picture):
        with open(self.path(picture), encoding="utf-8") as file:
            text = file.read()
        root = xml.fromstring(text)
        by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
        return text, by_id

    @staticmethod
    def path_points(element):
        path = next(child for child in element.iter() if child.tag.endswith("}path"))
        return [tuple(map(float, point)) for point in
                re.findall(r"[ML] (\S+) (\S+)", path.get("d"))]

    @staticmethod
    def marker(element):
        use = next(child for child in element.iter() if child.tag.endswith("}use"))
        return float(use.get("x")), float(use.get("y"))

    def height(self, by_id, bar):
        heights = [y for _, y in self.path_points(by_id[bar])]
        return max(heights) - min(heights)

    def test_which(self):
        self.assertEqual(self.draw(CUDA), ["bench-roofline.svg", "bench-gpu.svg"])
        self.assertEqual(self.draw(CPU), ["bench-cpu.svg"])
        self.assertEqual(self.draw(CUDA, CPU, "--only", "gpu"), ["bench-gpu.svg"])

    def test_ratios(self):
        self.draw(CUDA, "--peers", PEERS)
        text, by_id = self.read("bench-gpu.svg")
        (_, base), *_ = self.path_points(by_id["bar.float.4K.forward"])
        for direction in ("forward", "inverse"):
            one = base - self.path_points(by_id[f"limit.{direction}"])[0][1]
            for bar, ratio in (("float.4K.forward", 0.9), ("float.1080p.inverse", 0.7),
                               ("islow.4K.inverse", 1.05), ("GPUJPEG-inverse.4K.inverse", 0.55),
                               ("GPUJPEG-forward-quantise.1080p.forward", 0.74)):
                if bar.endswith(direction):
                    self.assertAlmostEqual(self.height(by_id, "bar." + bar) / one, ratio, places=4)
        self.assertNotIn("bar.islow.1080p.forward", by_id)
        for label in ("1 = 3200 GB/s", "1 = 1600 GB/s", "0.90", "1.05", "0.55", "GPUDCT next16"):
            self.assertIn(f"<!-- {label} -->", text)
        self.assertNotIn("<!-- 0.40 -->", text)  # another layout

    def test_roofline(self):
        self.draw(CUDA)
        text, by_id = self.read("bench-roofline.svg")
        # 100 SMs x 1.5 GHz x 128.
        self.assertIn("<!-- issue rate: 19.2 T instructions/s -->", text)
        roofs = [self.path_points(by_id[f"roof.{size}.forward"]) for size in ("1080p", "4K")]
        scale = (roofs[1][0][1] - roofs[0][0][1]) / math.log(3200 / 2000)  # of log y; negative

        def gb_per_second(y):
            return 2000 * math.exp((y - roofs[0][0][1]) / scale)
        # A roof ends where the issue rate's begins: at rate / GB/s instructions a byte. Both scales
        # are logarithmic; these ends give that of x.
        ends = [math.log(19.2e12 / 2000e9), math.log(19.2e12 / 3200e9)]
        x_scale = (roofs[0][1][0] - roofs[1][1][0]) / (ends[0] - ends[1])

        def instructions_per_byte(x):
            return math.exp(ends[0] + (x - roofs[0][1][0]) / x_scale)
        for point, instructions, rate in (
                ("ladder.4K.float.forward", 12, 2880), ("ladder.4K.naive.forward", 600, 32),
                ("limit.1080p.float.forward", 12, 1500), ("limit.4K.islow.forward", 15, 2720)):
            x, y = self.marker(by_id[point])
            self.assertAlmostEqual(gb_per_second(y) / rate, 1, places=3, msg=point)
            self.assertAlmostEqual(instructions_per_byte(x) * 3 / instructions, 1, places=3,
                                   msg=point)
        for x, y in self.path_points(by_id["issue.forward"]):
            self.assertAlmostEqual(gb_per_second(y) * instructions_per_byte(x) / 19200, 1, places=2)
        self.assertNotIn("ladder.4K.matrix.forward", by_id)  # its instructions are not known
        self.assertIn("<!-- naive -->", text)

    def test_wavelets(self):
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
        run = self.changed(change)
        self.assertEqual(self.draw(run, "--only", "dwt"), ["bench-dwt.svg"])
        text, by_id = self.read("bench-dwt.svg")
        one = self.height(by_id, "bar.8K-8-in-flight.haar.forward") / 0.6
        for bar, ratio in (("8K-8-in-flight.dd97.forward", 0.3),
                           ("8K-8-in-flight.haar.inverse", 0.4), ("32K-alone.dd97.inverse", 0.2)):
            self.assertAlmostEqual(self.height(by_id, "bar." + bar) / one, ratio, places=4)
        for label in ("0.50", "0.70", "0.10"):
            self.assertNotIn(f"<!-- {label} -->", text)

    def test_cpu(self):
        self.draw(CPU)
        text, by_id = self.read("bench-cpu.svg")
        one = self.height(by_id, "bar.SIMD-1-thread.float.forward") / 10  # of 1 GB/s
        for bar, rate in (("plain-C-1-thread.float.forward", 1.25),
                          ("SIMD-2-threads.float.inverse", 20), ("SIMD-1-thread.copy.forward", 25),
                          ("SIMD-1-thread.copy.inverse", 22), ("SIMD-2-threads.copy.inverse", 36),
                          ("SIMD-1-thread.AVDCT-own-order.inverse", 5)):
            self.assertAlmostEqual(self.height(by_id, "bar." + bar) / one / rate, 1, places=3,
                                   msg=bar)
        self.assertNotIn("naive", text)

    def test_ranges(self):
        def change(run):
            for benchmark in run["benchmarks"]:
                benchmark["ratio"] = benchmark.get("ratio", 1) / 2
        self.draw(CUDA, self.changed(change))
        _, by_id = self.read("bench-gpu.svg")
        self.draw(CUDA)
        _, without = self.read("bench-gpu.svg")
        self.assertAlmostEqual(self.height(by_id, "bar.float.4K.forward") /
                               self.height(without, "bar.float.4K.forward"), 0.75, places=1)
        lines = [sum("LineCollection" in id_ for id_ in ids) for ids in (by_id, without)]
        self.assertGreater(lines[0], lines[1], "no error bars")

    def test_files_do_not_churn(self):
        pictures = self.draw(CUDA, CPU, "--peers", PEERS)
        before = [self.read(picture)[0] for picture in pictures]
        result = plot_bench(CUDA, CPU, "--peers", PEERS, "--output", self.folder,
                            PYTHONHASHSEED="1", TZ="Asia/Tokyo", LC_ALL="C")
        self.assertEqual(result.returncode, 0, result.stderr)
        for picture, text in zip(pictures, before):
            self.assertEqual(self.read(picture)[0], text)
            self.assertNotIn("dc:date", text)

    def test_stands_alone(self):
        for picture in self.draw(CUDA, CPU, "--peers", PEERS):
            text, by_id = self.read(picture)
            self.assertEqual(re.findall(r'href="(?!#)[^"]*', text), [])
            self.assertNotIn("<image", text)
            self.assertNotIn("<text", text)  # needs no font
            # The background is the first thing drawn, opaque and as large as the picture.
            background = next(element for element in by_id["figure_1"].iter()
                              if element.tag.endswith("}path"))
            self.assertIn("fill: #ffffff", background.get("style"))
            self.assertNotIn("opacity", background.get("style"))
            ids = re.findall(r' id="([^"]*)"', text)
            self.assertEqual(len(ids), len(set(ids)))


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
        self.fails(no_count, saying="bench-roofline.svg: the run's context: sm_count is missing")
        self.assertTrue(os.path.exists(self.path("bench-gpu.svg")))  # the other one can
        words = self.changed(lambda run: run["context"].update(sm_clock_mhz="fast"))
        self.fails(words, saying='sm_clock_mhz is "fast"')

        def no_instructions(run):
            for benchmark in run["benchmarks"]:
                benchmark.pop("instr/sample", None)
        self.fails(self.changed(no_instructions), saying='has "instr/sample"')
        self.fails(CPU, "--only", "gpu", saying="bench-gpu.svg: no run of engine:cuda")
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
