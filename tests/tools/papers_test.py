#!/usr/bin/env python3
# Tests of tools/papers: what readings become, how runs are shown, and a quick run of the real
# programs.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: papers_test.py TOOLS_FOLDER PROGRAMS_FOLDER [FAKECUDA_FOLDER]
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TOOLS, PROGRAMS = sys.argv[1:3]
FAKECUDA = sys.argv[3] if len(sys.argv) > 3 else ""
sys.dont_write_bytecode = True
sys.path.insert(0, TOOLS)
import papers_tables
from bench_runs import BenchError, Readings, run_program, write_json
from papers import Run

DATA = papers_tables.load_data(os.path.join(TOOLS, "papers.json"))
HAS_MATPLOTLIB = subprocess.run([sys.executable, "-c", "import matplotlib, PIL"], check=False,
                                stderr=subprocess.DEVNULL).returncode == 0
ALL = [paper["id"] for paper in DATA["papers"]]
DASH = papers_tables.DASH


def keys():
    return ["/".join((paper["id"], table["id"], row["id"], column)) for paper in DATA["papers"]
            for table in paper["tables"] for row in table["rows"] for column in table["columns"]]


class Data(unittest.TestCase):
    """What the tables need of papers.json."""

    def test_shape(self):
        self.assertEqual(ALL, ["whitepaper", "hong", "gpudct", "dirac"])
        self.assertEqual(len(keys()), len(set(keys())))
        for paper in DATA["papers"]:
            self.assertTrue(paper["citation"] and paper["machine"])
            for table in paper["tables"]:
                for row in table["rows"]:
                    where = f"{paper['id']} {table['id']} {row['id']}"
                    self.assertEqual(len(row["paper"]), len(table["columns"]), where)
                    self.assertIn(row.get("format", table["format"]), papers_tables.FORMATS, where)
                    for text in row["paper"]:
                        if text is None:
                            self.assertTrue(table["paper_missing"], where)
                        else:
                            self.assertRegex(text, r"^[0-9]", where)


def benchmark(name, **counters):
    return {"name": name + "/iterations:1/manual_time",
            "run_name": name + "/iterations:1/manual_time",
            "run_type": "iteration", **counters}


def find(list_, name):
    return next(member for member in list_ if member["id"] == name)


class Cells(unittest.TestCase):
    def setUp(self):
        self.run = Run()
        self.give([], no_cuda="no driver here")

    def give(self, papers, cuda=(), **context):
        self.run.readings.update({"papers": Readings(context, papers),
                                  "cuda": Readings({}, cuda)})

    def cell(self, paper, table, row, column):
        table = find(find(DATA["papers"], paper)["tables"], table)
        return self.run.cell(table, find(table["rows"], row), column)

    def test_missing(self):
        self.assertIn("no case engine:cpu/case:hong",
                      self.cell("hong", "table1", "serial", "1024^2")["missing"])
        for place in (("whitepaper", "table2", "impl1", "512"),
                      ("hong", "table2", "global", "2048^2"),
                      ("gpudct", "bench", "lut", "avg ms"),
                      ("hong", "statements", "matrix-local", "factor")):
            self.assertIn("no driver here", self.cell(*place)["missing"], place)
        self.assertIn("CESNET", self.cell("gpudct", "bench", "gpujpeg", "avg ms")["missing"])
        self.assertIn("did not run", self.cell("dirac", "table2", "total", "CUDA")["missing"])
        self.give([{**benchmark("engine:cpu/case:hong/size:1024/algorithm:matrix/form:tbb"),
                    "error_occurred": True, "error_message": "out of memory"}])
        self.assertEqual(self.cell("hong", "table2", "tbb", "1024^2"), {"missing": "out of memory"})

    def test_dirac(self):
        """Microseconds of a picture to seconds of 813, frames a second, and factors."""
        stages = {"motion-decode": 100, "motion-render": 4000, "residual-decode": 200,
                  "wavelet": 2000, "upsample": 1000}
        cpu = benchmark("stream:bbb/engine:cpu/threads:1", **stages, **{"frames/s": 10})
        cuda = benchmark("stream:bbb/engine:cuda/memory:cuda/threads:1", **{"frames/s": 70},
                         **{stage: time / 10 for stage, time in stages.items()})
        self.run.readings.update({"dirac-cpu": Readings({}, [cpu]),
                                  "dirac-cuda": Readings({}, [cuda])})
        for place, value in ((("table1", "bbb", "CUDA"), 70), (("table2", "2", "CPU"), 3.252),
                             (("table2", "total", "CUDA"), .59349),
                             (("statements", "whole", ""), 7),
                             (("statements", "pictures", ""), 10)):
            self.assertAlmostEqual(self.cell("dirac", *place)["value"], value, msg=place)
        self.assertIn("no case", self.cell("dirac", "table1", "2012", "CPU")["missing"])
        self.assertIn("no such stage", self.cell("dirac", "table2", "5", "CPU")["missing"])

    def test_whitepaper(self):
        name = "/case:whitepaper/size:1024/method:decomposed"
        self.give([benchmark("engine:cpu" + name, sse=65025, samples=10, forward=6, inverse=9),
                   benchmark("engine:cuda" + name, samples=1000, forward=2, inverse=4,
                             **{"sse": 65025, "sse gold": 0})])
        self.assertAlmostEqual(self.cell("whitepaper", "table1", "gold2", "1K")["value"], 10)
        self.assertAlmostEqual(self.cell("whitepaper", "table1", "cuda2", "1K")["value"], 30)
        self.assertEqual(self.cell("whitepaper", "table2", "impl2", "1K"), {"value": "inf"})
        self.assertEqual(self.cell("whitepaper", "time-forward", "speed2", "1K"), {"value": 3})
        self.assertEqual(self.cell("whitepaper", "time-inverse", "cuda2", "1K"), {"value": 4})

    def test_hong(self):
        cpu = "engine:cpu/case:hong/size:4096/algorithm:matrix/form:"
        gpu = "engine:cuda/case:hong/size:4096/algorithm:matrix/variant:{}/direction:forward"
        self.give([benchmark(cpu + "serial", ms=800, share=0.25),
                   benchmark(cpu + "tbb", ms=200, share=1)],
                  [benchmark(gpu.format(name), **{"ms avg": time})
                   for name, time in (("block", 9), ("global", 8), ("shared", 2))], device="a card")
        self.assertEqual(self.cell("hong", "table2", "serial", "4096^2"),
                         {"value": 0.8, "remark": "25 % of the rows were timed"})
        self.assertEqual(self.cell("hong", "table2", "tbb-speed", "4096^2"), {"value": 4})
        self.assertEqual(self.cell("hong", "table2", "local", "4096^2"), {"value": 0.002})
        self.assertEqual(self.cell("hong", "table2", "global-speed", "4096^2"), {"value": 100})
        self.assertEqual(self.cell("hong", "statements", "matrix-local", "factor"), {"value": 4})
        self.assertEqual(self.cell("hong", "statements", "matrix-gpu", "factor"), {"value": 400})

    def test_gpudct(self):
        self.give([benchmark("engine:cpu/case:gpudct/step:float", samples=2 ** 30,
                             **{"ms avg": 500, "ms min": 400, "ms max": 1000}),
                   benchmark("engine:cpu/case:judge/step:islow", samples1=1000, sse1=65025,
                             ties1=0)],
                  [benchmark("engine:cuda/case:gpudct/size:32K/step:next/direction:inverse",
                             **{"ms avg": 0.5, "GiB/s min": 3800})], device="a card")
        for column, value in (("avg GiB/s", 4), ("min GiB/s", 2), ("max GiB/s", 5),
                              ("avg ms", 500)):
            self.assertEqual(self.cell("gpudct", "bench-cpu", "float", column), {"value": value})
        self.assertEqual(self.cell("gpudct", "bench", "next", "min GiB/s"), {"value": 3800})
        self.assertAlmostEqual(self.cell("gpudct", "psnr-cpu", "islow", "Cb")["value"], 30)
        self.assertEqual(self.cell("gpudct", "psnr-cpu", "islow", "Cb, ties right"),
                         {"value": "inf"})
        self.assertIn("component", self.cell("gpudct", "psnr-cpu", "islow", "Cr")["missing"])

    def test_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bench_papers")
            self.assertIn("not been built", run_program(program, []).reason)
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho no such thing >&2\nexit 77\n")
            os.chmod(program, 0o755)
            self.assertEqual(run_program(program, []).reason, "no such thing")


def run_of(cell, **changes):
    return {"format": papers_tables.FORMAT, "date": "2026-01-02", "quick": False,
            "machine": {"cpu": "CPU", "cores": "2"}, "others": None, "picture": "", "jpeg": "",
            "seconds": 1, "papers": ALL, "cells": {key: dict(cell) for key in keys()}, **changes}


def tables(markdown):
    """[(rows, everything up to the next table)]: header and rule are left out."""
    found = []
    for part in markdown.split("\n### ")[1:]:
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in part.splitlines() if line.startswith("|")]
        found.append((rows[2:], part))
    return found


class Shown(unittest.TestCase):
    def test_every_dash_has_a_reason(self):
        for runs in ([run_of({"missing": "no such machine"})],
                     [run_of({"value": 1.5}), run_of({"missing": "no such machine"})],
                     [{**run_of({}), "cells": {}}]):
            shown = tables(papers_tables.markdown(DATA, ALL, runs))
            self.assertEqual(len(shown), sum(len(paper["tables"]) for paper in DATA["papers"]))
            dashes = 0
            for rows, part in shown:
                reasons = dict(re.findall(r"^\[([0-9]+)\] (.+?)\s*$", part, re.M))
                for cell in (cell for row in rows for cell in row if DASH in cell):
                    dashes += 1
                    self.assertTrue(reasons.get(re.fullmatch(DASH + r" \[([0-9]+)\]", cell)[1]),
                                    cell)
                for cell in (cell for row in rows for cell in row):
                    self.assertTrue(cell)
            self.assertGreater(dashes, 300)

    def test_cells(self):
        run = run_of({"value": 2})
        run["cells"]["whitepaper/table1/cuda1/1K"] = {"value": 34.5}
        run["cells"]["whitepaper/table2/impl1/512"] = {"value": "inf"}
        run["cells"]["hong/table1/serial/4096^2"] = {"value": 31.234, "remark": "a part"}
        page = papers_tables.markdown(DATA, ALL, [run])
        self.assertIn("| CUDA 1 | 32.777027 | 2.000000 | 34.612907 | 34.500000 |", page)
        self.assertIn("| Implementation 1 | 58.613663 | infinite |", page)
        self.assertIn("| 92.650 | 31.2 [1] |", page)
        text = papers_tables.text(DATA, ["hong"], [run])
        self.assertIn("[1] a part", text)
        self.assertNotIn("GPUDCT", text)

    def test_two_runs(self):
        page = papers_tables.markdown(DATA, ["dirac"], [run_of({"value": 2}), run_of({"value": 3})])
        self.assertIn("| CPU: paper | CPU: ours A | CPU: ours B |", page)
        self.assertIn("| 10.5 | 2.000 | 3.000 |", page)

    def test_bad_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            for content, said in (("{", "not JSON"), ("[]", "not a run"),
                                  ('{"format": "x"}', "not a run")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
                with self.assertRaisesRegex(BenchError, said):
                    papers_tables.load_run(path)
            with self.assertRaisesRegex(BenchError, "No such file"):
                papers_tables.load_run(os.path.join(folder, "none"))


def papers(*arguments, **environment):
    return subprocess.run([sys.executable, os.path.join(TOOLS, "papers.py"), *arguments], text=True,
                          check=False, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **environment))


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-papers-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.picture = os.path.join(folder.name, "picture.pgm")
        with open(self.picture, "wb") as file:
            file.write(b"P5\n# small\n40 32\n255\n" + bytes(i * i % 251 for i in range(40 * 32)))

    def measure(self, *arguments, **environment):
        path = os.path.join(self.folder, "run.json")
        result = papers("--quick", "--programs", PROGRAMS, "--barbara", self.picture,
                        "--json", path,
                        *arguments, CUDATRANSFORM_TEST_DATA="/nonexistent", **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return papers_tables.load_run(path), result.stdout

    def test_quick_run(self):
        run, text = self.measure(LD_LIBRARY_PATH="/nonexistent")
        self.assertEqual(list(run["cells"]), keys())
        for key, cell in run["cells"].items():
            self.assertEqual(("value" in cell) + bool(cell.get("missing")), 1, key)
            if "value" in cell and cell["value"] != "inf":
                self.assertGreater(cell["value"], 0, key)
        self.assertGreater(run["cells"]["whitepaper/table1/gold1/2K"]["value"], 15)
        for paper, table, row, column in (key.split("/", 3) for key, cell in run["cells"].items()
                                          if "value" not in cell):
            self.assertFalse(paper == "hong" and row in ("serial", "tbb"), (table, row, column))
        self.assertIn("no file", run["cells"]["gpudct/psnr-cpu/naive/Cb"]["missing"])
        self.assertIn("a quick run", text)

    def test_card(self):
        """On the fake driver, whose kernels write bytes of their own."""
        if not FAKECUDA:
            self.skipTest("built without the CUDA engine")
        run, _ = self.measure("whitepaper", LD_LIBRARY_PATH=FAKECUDA, FAKECUDA_DEFERRED="0")
        self.assertEqual(run["machine"]["device"], "Fake GPU")
        self.assertEqual(run["papers"], ["whitepaper"])
        self.assertIn("value", run["cells"]["whitepaper/table1/cuda1/512"])
        self.assertIn("value", run["cells"]["whitepaper/time-forward/speed2/4K"])
        # bench_cuda believes no kernel that does not transform.
        self.assertIn("missing", run["cells"]["whitepaper/time-forward/short/512"])

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib or no PIL")
    def test_page(self):
        paths = [os.path.join(self.folder, name) for name in ("a.json", "b.json")]
        for path, value in zip(paths, (1.5, 2.5)):
            write_json(path, run_of({"value": value}))
        result = papers("whitepaper", "dirac", "--from", *paths, "--barbara", self.picture,
                        "--output", os.path.join(self.folder, "page"),
                        "--images", os.path.join(self.folder, "images"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(os.path.join(self.folder, "page", "papers.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("| 10.5 | 1.500 | 2.500 |", page)
        self.assertNotIn("Hong", page)
        links = re.findall(r"!\[.*\]\((.*)\)", page)
        self.assertEqual(len(links), 4)
        for link in links:
            with open(os.path.join(self.folder, "page", link), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n", link)

    def test_arguments(self):
        for arguments, said in ((["wavelets"], "no paper 'wavelets'"),
                                (["--barbara", "/nonexistent"], "no such file"),
                                (["--jpeg", "/nonexistent"], "no such file")):
            result = papers(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(said, result.stderr)
        result = papers("--from", self.picture, "--output", self.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not JSON", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
