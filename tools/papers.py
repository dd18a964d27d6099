"""The main job of tools/papers: measures what this machine can, and writes the papers' tables."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import os
import sys

sys.dont_write_bytecode = True  # the folder is the sources'
import papers_measure
import papers_tables
from bench_runs import BenchError, write_json

FOLDER = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(FOLDER, "papers.json")
PAPERS = ("whitepaper", "hong", "gpudct", "dirac")

DESCRIPTION = """\
Measures on this machine what four papers printed, and shows their tables with ours beside them:
the whitepaper of NVIDIA's DCT8x8 sample, Hong et al., GPUDCT, and van der Laan et al. on Dirac. The
CPU engine always, the CUDA engine where there is a card. Takes some minutes. Where there is no
figure of ours stands a dash, with the reason. Into the folder go papers.md, papers.json (this run)
and the figures that the whitepaper draws.
"""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="papers", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    # argparse checks the default of "*" against choices, too, if they are given.
    parser.add_argument("papers", nargs="*", metavar="|".join(PAPERS), help="default: all")
    parser.add_argument("--barbara", metavar="FILE",
                        help="the whitepaper's picture, from NVIDIA's cuda-samples; default: that "
                        "of the tests' data, else the demo's photograph")
    parser.add_argument("--jpeg", metavar="FILE",
                        help="levels for GPUDCT's tables; default: 006mp-cathedral.jpg of the "
                        "tests' data, which the paper uses")
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
    """A grey 8-bit PGM of any picture that PIL reads. Raises BenchError."""
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
            runs = [papers_measure.record(data, options.papers, options)]
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
