"""The main job of tools/papers: measures what this machine can, and writes the papers' tables.

The tables' cells are queries over the results of the benchmark programs; papers.json has them. The
"ours" of a table, and of what its paper's tables have in common, has the queries by the rows' "by",
some for each column. In a query,
[PROGRAM: COUNTER @ NAME] is a counter of the benchmark of that name, or the least of several where
the name has alternatives (a|b), and [KEY] another query of the table. {column}, {row} and any other
member of the row or the table are filled in first. Python's standard library alone, so that it runs
where nothing can be installed.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import datetime
import math
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is the sources'
import papers_tables
from bench_runs import BenchError, Missing, Readings, last_line, run_program, write_json

FOLDER = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(FOLDER, "papers.json")
PAPERS = ("whitepaper", "hong", "gpudct", "dirac")

DESCRIPTION = """\
Measures on this machine what four papers printed, and prints their tables with ours: the
whitepaper of NVIDIA's DCT8x8 sample, Hong et al., GPUDCT, and van der Laan et al. on Dirac. Uses
the CPU engine, and the CUDA engine if there is a GPU. Takes some minutes. A dash replaces a missing
figure, with the reason. Writes papers.md, papers.json (this run) and the whitepaper's figures into
the folder.
"""
SIZES = {"1K": "1024", "2K": "2048", "4K": "4096",
         "1024^2": "1024", "2048^2": "2048", "4096^2": "4096"}
CASES = {"whitepaper": "whitepaper", "hong": "hong", "gpudct": "gpudct|judge"}
# The sequences' sizes; we use pictures of make_dirac instead.
STREAMS = {"bbb": (1920, 1080), "elephants": (1024, 576), "2012": (1920, 800)}
MEGABITS = 8  # of 25 pictures of 1920x1080 a second; of smaller ones less
PICTURES, TURNS = 50, 3
QUICK_PICTURES, QUICK_TURNS, QUICK_SHRINK = 4, 1, 8


class Others:
    """What part of the processors' time others have used since this was made."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), self.busy_seconds(), self.own_seconds()

    @staticmethod
    def busy_seconds():
        """CPU time used on this machine; None where the kernel does not report it."""
        try:
            with open("/proc/stat", encoding="ascii") as file:
                user, nice, system, _idle, _wait, irq, soft, steal = map(
                    int, file.readline().split()[1:9])
        except (OSError, ValueError):
            return None
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK") or None

    @staticmethod
    def own_seconds():
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system

    def share(self):
        busy = self.busy_seconds()
        if self.busy is None or busy is None:
            return None
        capacity = (time.monotonic() - self.start) * os.cpu_count()
        others = (busy - self.busy) - (self.own_seconds() - self.own)
        return round(min(max(others / capacity, 0), 1), 3)


# ---- The programs ----

def measure_planes(wanted, options):
    """The readings of bench_papers and bench_cuda."""
    chosen = [paper for paper in wanted if paper in CASES]
    if not chosen:
        return {}
    arguments = [f"--benchmark_filter=case:({'|'.join(CASES[paper] for paper in chosen)})/"]
    arguments += [f"--picture={options.picture}"] if options.picture else []
    arguments += [f"--jpeg={options.jpeg}"] if options.jpeg else []
    arguments += ["--shrink=16"] if options.quick else []
    arguments += [f"--seconds={0.01 if options.quick else options.seconds:g}",
                  f"--budget={options.budget:g}"]
    return {"papers": run_program(os.path.join(options.programs, "bench_papers"), arguments),
            "cuda": run_program(os.path.join(options.programs, "bench_cuda"),
                                [f"--benchmark_filter=case:({'|'.join(chosen)})/"] +
                                (["--quick"] if options.quick else []))}


def made_streams(folder):
    """The paths of all streams that make_streams has left in a folder. Raises Missing."""
    paths = [os.path.join(folder, name + ".drc") for name in STREAMS]
    for path in paths:
        if not os.path.isfile(path):
            raise Missing(f"{path}: no such file")
    return paths


def make_streams(programs, folder, quick):
    """The paths of all streams. Raises Missing."""
    program = os.path.join(programs, "make_dirac")
    if not os.access(program, os.X_OK):
        raise Missing("make_dirac has not been built")
    running = {}
    for name, (width, height) in STREAMS.items():
        rate = MEGABITS * width * height / (1920 * 1080)
        pictures = PICTURES
        if quick:
            width, height = width // QUICK_SHRINK // 2 * 2, height // QUICK_SHRINK // 2 * 2
            rate, pictures = rate / QUICK_SHRINK ** 2, QUICK_PICTURES
        path = os.path.join(folder, name + ".drc")
        running[path] = subprocess.Popen([program, f"--rate={rate:.4f}", f"--pictures={pictures}",
                                          f"--size={width}x{height}", path], text=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = [process.communicate()[1] for process in running.values()]
    for process, text in zip(running.values(), said):
        if process.returncode != 0:
            raise Missing(last_line(text))
    return list(running)


def measure_dirac(options):
    """The readings of bench_dirac, which finds the plugin that was built next to it."""
    programs, quick = options.programs, options.quick
    known = os.environ.get("GST_PLUGIN_PATH", "")
    environment = {**os.environ, "GST_PLUGIN_PATH": os.path.join(programs, "..", "..", "gst") +
                   (os.pathsep + known if known else "")}
    try:
        with tempfile.TemporaryDirectory(prefix="cudatransform-papers-") as folder:
            paths = (made_streams(options.dirac_streams) if options.dirac_streams else
                     make_streams(programs, folder, quick))
            return {"dirac-" + engine: run_program(
                os.path.join(programs, "bench_dirac"),
                [f"--engine={engine}", "--only=threads:1$",
                 f"--pictures={QUICK_PICTURES if quick else PICTURES}",
                 f"--turns={QUICK_TURNS if quick else TURNS}", *paths], environment)
                for engine in ("cpu", "cuda")}
    except Missing as missing:
        return {"dirac-" + engine: Readings({}, [], str(missing)) for engine in ("cpu", "cuda")}


# ---- The queries ----

def psnr(sse, samples):
    return math.inf if sse == 0 else 10 * math.log10(255 * 255 * samples / sse)


class Run:
    """The programs' readings, and the figures of tables' cells."""

    def __init__(self, readings=None):
        self.readings = readings or {}

    def machine(self):
        context = {}
        for program in ("dirac-cpu", "dirac-cuda", "cuda", "papers"):
            context.update(self.of(program).context)
        keys = ("cpu", "cores", "compiler", "highway_target", "device", "no_cuda", "compiled_for",
                "driver", "sm_count", "sm_clock_mhz", "throttle_reasons")
        return {key: context[key] for key in keys if context.get(key)}

    def of(self, program):
        name = "bench_" + program.partition("-")[0]
        return self.readings.get(program) or Readings({}, [], f"{name} did not run")

    def number(self, program, counter, name, table):
        why = self.of("papers").context.get("no_cuda")
        if why and "engine:cuda" in name and not program.startswith("dirac"):
            raise Missing(f"no CUDA engine: {why}")
        no_case = table.get("no_case") if program == "cuda" else None
        return self.of(program).number(counter, name, no_case, table.get("no_counter"))

    def evaluate(self, query, table, names):
        """Raises Missing."""
        def value_of(match):
            if "@" not in match[1]:
                return f"({table['ours'][match[1]]})"
            program, counter, name = re.fullmatch(r"([\w-]+): (.+) @ (.+)", match[1]).groups()
            return repr(self.number(program, counter, name, table))

        while "{" in query or "[" in query:
            query = re.sub(r"\{(\w+)\}", lambda match: names[match[1]], query)
            if "{" not in query:
                query = re.sub(r"\[([^\]]+)\]", value_of, query)
        # Numbers, operators and psnr() remain.
        return eval(query, {"__builtins__": {}}, {"psnr": psnr})  # pylint: disable=eval-used

    def cell(self, table, row, column):
        """{"value"} with a "remark" that a reader has to know, or {"missing"}."""
        names = {**table, **row, "row": row["id"], "column": SIZES.get(column, column)}
        query = table["ours"][row["by"]]
        if isinstance(query, dict):
            query = query.get(column)
        try:
            if query is None:
                raise Missing(table["no_query"])
            value = self.evaluate(query, table, names)
            measured = {"value": "inf" if math.isinf(value) else value}
            if "share" in table and row["by"].startswith("cpu"):
                share = self.evaluate(table["share"], table, names)
                if share < 1:
                    measured["remark"] = f"{100 * share:.0f} % of the rows were timed"
            return measured
        except Missing as missing:
            return {"missing": str(missing)}


def record(data, wanted, options):
    """One run: every cell of the wanted papers."""
    start, others = time.monotonic(), Others()
    readings = measure_dirac(options) if "dirac" in wanted else {}
    run = Run({**readings, **measure_planes(wanted, options)})
    cells = {"/".join((paper["id"], table["id"], row["id"], column)): run.cell(table, row, column)
             for paper in data["papers"] if paper["id"] in wanted for table in paper["tables"]
             for row in table["rows"] for column in table["columns"]}
    return {"format": papers_tables.FORMAT, "date": datetime.date.today().isoformat(),
            "machine": run.machine(), "others": others.share(), "quick": options.quick,
            "picture": os.path.basename(options.picture_name or ""),
            "jpeg": os.path.basename(options.jpeg or ""), "papers": list(wanted),
            "seconds": round(time.monotonic() - start, 1), "cells": cells}


# ---- The job ----

def parse(arguments):
    parser = argparse.ArgumentParser(prog="papers", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    # argparse checks the default of "*" against choices, too, if they are given.
    parser.add_argument("papers", nargs="*", metavar="|".join(PAPERS), help="default: all")
    parser.add_argument("--barbara", metavar="FILE",
                        help="the whitepaper's picture, from NVIDIA's cuda-samples; default: that "
                        "of the tests' data, else the demo's photograph")
    parser.add_argument("--jpeg", metavar="FILE",
                        help="the file of GPUDCT's coefficients; default: "
                        "006mp-cathedral.jpg of the tests' data, which the paper uses")
    parser.add_argument("--dirac-streams", metavar="FOLDER",
                        help="where make_dirac's streams are already; default: they are made, "
                        "which takes a minute")
    parser.add_argument("--output", default="papers-out", metavar="FOLDER",
                        help="default: papers-out")
    parser.add_argument("--images", metavar="FOLDER",
                        help="where the page's figures go; default: beside the page")
    parser.add_argument("--json", metavar="FILE",
                        help="write the run there, and nothing else; needs Python alone")
    parser.add_argument("--from", dest="runs", nargs="+", metavar="RUN.json",
                        help="measure nothing; show these runs beside each other")
    parser.add_argument("--quick", action="store_true", help="small planes: to try the program")
    parser.add_argument("--seconds", type=float, default=0.5,
                        help="how long each transform is repeated; default: 0.5")
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="how long one transform may take before a part of its rows is timed; "
                        "default: 60")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--programs", metavar="FOLDER",
                        help="where bench_papers and bench_cuda are; default: build/tests/bench")
    options = parser.parse_args(arguments)
    for name in options.papers:
        if name not in PAPERS:
            parser.error(f"no paper {name!r}: there are {', '.join(PAPERS)}")
    options.papers = options.papers or list(PAPERS)
    options.programs = options.programs or os.path.join(FOLDER, "..", "build", "tests", "bench")
    for path in (options.barbara, options.jpeg):
        if path and not os.path.isfile(path):
            parser.error(f"{path}: no such file")
    return options


def test_data(name):
    """A file of the tests' data; "" where it is not."""
    folder = (os.environ.get("CUDATRANSFORM_TEST_DATA") or
              os.path.join(FOLDER, "..", "..", "shared", "data"))
    for path in (os.path.join(folder, "images", name), os.path.join(folder, name)):
        if os.path.isfile(path):
            return path
    return ""


def as_pgm(path, folder):
    """A gray 8-bit PGM of any picture that PIL reads. Raises BenchError."""
    with open(path, "rb") as file:
        if file.read(2) == b"P5":
            return path
    try:
        from PIL import Image
    except ImportError as error:
        raise BenchError(f"{path}: not a PGM, and Python's PIL is missing") from error
    os.makedirs(folder, exist_ok=True)
    written = os.path.join(folder, "picture.pgm")
    try:
        with Image.open(path) as image:
            image.convert("L").save(written)
    except OSError as error:
        raise BenchError(f"{path}: {error}") from error
    return written


def find_files(options):
    """options.picture (a PGM to measure), its name, and options.jpeg; "" where there is none."""
    photograph = os.environ.get("CUDATRANSFORM_PHOTO", "")
    options.picture_name = options.barbara or test_data("barbara.pgm") or photograph
    options.picture = options.picture_name
    if options.picture and not options.runs:
        options.picture = as_pgm(options.picture, options.output)
    options.jpeg = options.jpeg or test_data("006mp-cathedral.jpg")


def write_page(options, data, runs):
    os.makedirs(options.output, exist_ok=True)
    path = os.path.join(options.output, "papers.md")
    images = options.images or options.output
    drawn = []
    whitepaper = data["papers"][0]
    if whitepaper["id"] in options.papers:
        import papers_pictures  # a machine that only measures need not have its modules
        drawn = papers_pictures.draw(images, whitepaper, options.picture)
    links = [os.path.relpath(picture, options.output) for picture in drawn]
    with open(path, "w", encoding="utf-8") as file:
        file.write(papers_tables.markdown(data, options.papers, runs, links))
    return path


def main(arguments):
    options = parse(arguments)
    if options.check:  # the arguments alone
        return 0
    try:
        find_files(options)
        data = papers_tables.load_data(DATA)
        if options.runs:
            runs = [papers_tables.load_run(path) for path in options.runs]
        else:
            print("Measuring; this takes minutes.", file=sys.stderr, flush=True)
            runs = [record(data, options.papers, options)]
        sys.stdout.write(papers_tables.text(data, options.papers, runs))
        if options.json:
            write_json(options.json, runs[0])
            return 0
        path = write_page(options, data, runs)
        if not options.runs:
            write_json(os.path.join(options.output, "papers.json"), runs[0])
        print(f"\nThe same as a page, and its figures: {path}")
    except (BenchError, OSError) as error:
        print(f"papers: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
