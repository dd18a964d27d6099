#!/usr/bin/python3
# Tests of tools/judge-sizes: BD-rates of curves whose result is known, its files, and a small run.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: judge_sizes_test.py TOOLS_FOLDER       exits 77 where something is missing
import math
import os
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
TOOLS = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
try:
    import bench_runs
    import judge_peers
    import judge_rates
    import numpy
    from PIL import Image
    import bench_plots  # raises BenchError without matplotlib
except (ImportError, bench_runs.BenchError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

BASE = judge_peers.BASE


def point(picture="a", encoder=BASE, quality=50, size=1000, pixels=3072, **metrics):
    return {"picture": picture, "sampling": "4:2:0", "pixels": pixels, "encoder": encoder,
            "quality": quality, "bytes": size, **dict.fromkeys(judge_rates.METRICS), **metrics}


def arrays(*pairs):
    return tuple(numpy.array(column, float) for column in zip(*pairs))


class Arithmetic(unittest.TestCase):
    def test_means(self):
        line = arrays((0, 0), (10, 10))
        for other, low, high, mean in (
                (arrays((0, 1), (5, 5), (10, 11)), 0, 10, 0.5),  # 1, 0 and 1 more, straight between
                (arrays((0, 1), (5, 5), (10, 11)), 5, 10, 0.5),
                (arrays((0, 1), (5, 5), (10, 11)), 0, 2.5, 0.75),
                (arrays((0, 2), (4, 0), (10, 10)), 0, 10, -1.6),  # 2, -4, 0: areas of -4 and -12
                (arrays((5, 6), (20, 21)), 0, 10, 1),  # over 5 to 10, what both have
                (arrays((10, 0), (20, 1)), 0, 10, None),
                (arrays((11, 0), (20, 1)), -math.inf, math.inf, None),
                (((), ()), 0, 10, None)):
            with self.subTest(other=other, low=low, high=high):
                found = judge_rates.mean_difference(line, other, low, high)
                if mean is None:
                    self.assertIsNone(found)
                else:
                    self.assertAlmostEqual(found, mean, 12)

    def test_curves(self):
        points = [point(size=300, psnr=30), point(size=200, psnr=20), point(size=250, psnr=20),
                  point(size=999, psnr=math.inf), point(size=999)]
        xs, ys = judge_rates.curve(points, "psnr")
        self.assertEqual(list(xs), [20, 30])
        self.assertEqual(list(ys), [math.log(200), math.log(300)])
        points = [point(size=300, butteraugli=1), point(size=200, butteraugli=2)]
        self.assertEqual(list(judge_rates.curve(points, "butteraugli")[0]), [-2, -1])

    def test_savings(self):
        """A fifth less at equal metric, whichever quality that has; and twice as much of b."""
        points = [point(picture, encoder, quality, size * factor, butteraugli=ba, psnr=psnr)
                  for picture, factors in (("a", (1, 0.8)), ("b", (1, 2)))
                  for encoder, factor in zip((BASE, "other"), factors)
                  for quality, size, ba, psnr in ((40, 500, 4, 20), (50, 1000, 3, 30),
                                                  (93, 4000, 1, 50), (95, 9000, 0.5, 55))]
        for metric in ("butteraugli", "psnr"):
            found = judge_rates.savings(points, BASE, metric, judge_rates.Span(50, 93))
            self.assertAlmostEqual(found["other"]["a"], math.log(0.8), 12)
            self.assertAlmostEqual(found["other"]["b"], math.log(2), 12)
            self.assertAlmostEqual(found[BASE]["a"], 0, 12)
        row, = judge_rates.rate_rows(points, BASE, [judge_rates.Span(50, 93)])
        both = 100 * (math.sqrt(0.8 * 2) - 1)
        self.assertEqual(row, ["other", "**-**", *[f"**{both:+.1f}**"] * 2, "**-**"])
        row, = judge_rates.worst_rows(points, BASE, judge_rates.Span(50, 93))
        self.assertEqual(row, ["other", "-", *["+100.0 b"] * 2, "-"])
        self.assertEqual([(quality, round(value, 6)) for quality, value in
                          zip(*judge_rates.saving_curve(points[:8], BASE, "other", "psnr"))],
                         [(quality, -20) for quality in (40, 50, 93, 95)])

    def test_span(self):
        """What is outside the base's qualities does not count."""
        points = [point(quality=quality, size=1000, psnr=psnr) for quality, psnr in
                  ((40, 0), (50, 10), (93, 20), (95, 30))]
        points += [point(encoder="other", size=size, psnr=psnr) for size, psnr in
                   ((1, 0), (500, 10), (500, 20), (1, 30))]
        found = judge_rates.savings(points, BASE, "psnr", judge_rates.Span(50, 93))
        self.assertAlmostEqual(found["other"]["a"], math.log(0.5), 12)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_csv(self):
        points = [point("a, b", psnr=30.25), point(encoder="x", quality=7, size=5, butteraugli=1.5)]
        for one in points:
            judge_rates.append_csv(self.path("points.csv"), one)
        self.assertEqual(judge_rates.read_csv(self.path("points.csv")), points)
        self.assertEqual(judge_rates.read_csv(self.path("none.csv")), [])
        with open(self.path("other.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n")
        with self.assertRaisesRegex(ValueError, "the columns are not picture, "):
            judge_rates.read_csv(self.path("other.csv"))

    def test_missing(self):
        def lacking():
            raise judge_peers.Missing("a thing")
        functions, versions, missing = judge_peers.found(
            {"one": lambda: ("v 1", len), "two": lacking, "three": lambda: ("v 3", math.sqrt)},
            lambda function: function("text"))
        self.assertEqual((functions, versions), ({"one": len}, ["v 1"]))
        self.assertEqual(missing[0], "two is left out. It needs a thing")
        self.assertRegex(missing[1], "three is left out. It fails: TypeError")

    def judge(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, os.path.join(TOOLS, "judge-sizes"), *arguments], text=True,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, **environment))

    def test_run(self):
        os.mkdir(self.path("pictures"))
        noise = numpy.random.default_rng(1).normal(0, 12, (64, 70, 3))
        waves = numpy.add.outer(numpy.sin(numpy.arange(64) / 5), numpy.cos(numpy.arange(70) / 7))
        pixels = numpy.clip(128 + 50 * waves[:, :, None] + noise, 0, 255).astype(numpy.uint8)
        Image.fromarray(pixels).save(self.path("pictures/waves.png"))
        with open(self.path("pictures/notes.txt"), "w", encoding="utf-8") as file:
            file.write("no picture")
        line = [self.path("pictures"), "--csv", self.path("points.csv"), "--plot",
                self.path("curves.png"), "--qualities", "50", "80", "93"]
        # Without programs of PATH.
        ran = self.judge(*line, PATH=self.path("nowhere"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("butteraugli is left out. It needs butteraugli_main on PATH", ran.stderr)
        self.assertRegex(ran.stderr, "left out: .*notes.txt")
        row = next(line for line in ran.stdout.splitlines() if line.startswith("| annex-k, round"))
        same = "**+0.0**; +0.0; +0.0"
        self.assertEqual([cell.strip() for cell in row.split("|")[3:-1]],
                         ["**-**; -; -", same, same])
        with Image.open(self.path("curves.png")) as drawn:
            self.assertEqual(drawn.format, "PNG")
        points = {(one["encoder"], one["quality"]): one
                  for one in judge_rates.read_csv(self.path("points.csv"))}
        for quality in (50, 80, 93):
            base, own, few, least = (points[encoder, quality] for encoder in (
                BASE, "annex-k, round", "perceptual, round", "perceptual, rd"))
            self.assertEqual(own["bytes"], base["bytes"], "not libjpeg-turbo's file")
            self.assertLess(least["bytes"], few["bytes"])
        # A second run measures nothing.
        again = self.judge(*line, PATH=self.path("nowhere"))
        self.assertEqual(again.stdout, ran.stdout)
        self.assertEqual(len(judge_rates.read_csv(self.path("points.csv"))), len(points))

    def test_sheet(self):
        pixels = numpy.random.default_rng(2).integers(0, 256, (120, 170, 3), numpy.uint8)
        Image.fromarray(pixels).save(self.path("noise.png"))
        line = [self.folder, "--sheet", self.path("sheet.jpg"), "--sheet-quality", "30", "--crop"]
        ran = self.judge(*line, "noise:5,6")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with Image.open(self.path("sheet.jpg")) as sheet:
            shown = numpy.asarray(sheet).astype(int)
        crop = pixels[6:118, 5:165].repeat(2, axis=0).repeat(2, axis=1)
        self.assertLess(abs(shown[20:244, :320] - crop).mean(), 20, "the original stands first")
        self.assertIn("no picture is called 'nothing'", self.judge(*line, "nothing:0,0").stderr)

    def test_equal_bytes(self):
        sizes = {quality: bytes(10 * quality) for quality in range(1, 101)}
        for size, quality in ((10, 1), (555, 55), (560, 56), (5000, 100)):
            self.assertEqual(judge_peers.largest_within(lambda _, q: sizes[q], None, size),
                             (sizes[quality], quality))
        with self.assertRaisesRegex(bench_runs.BenchError, "no quality makes a file of 9 bytes"):
            judge_peers.largest_within(lambda _, q: sizes[q], None, 9)

    def test_errors(self):
        for arguments, said in ((["/nowhere"], "no such folder"),
                                ([self.folder, "--span", "50", "94"], "one of --qualities"),
                                ([self.folder], "no pictures")):
            ran = self.judge(*arguments)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    encoders, _, lacking = judge_peers.found_encoders("4:2:0")
    if BASE not in encoders or "annex-k, round" not in encoders:
        print("SKIP:", *lacking)
        sys.exit(SKIP)
    unittest.main(argv=sys.argv[:1])
