"""van der Laan's tables: streams that stand for the paper's sequences, and cudadiracdec on them.

Python's standard library alone, as papers_measure.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess
import tempfile

import papers_runs
from papers_runs import Missing

# The sequences' sizes; we use pictures of make_dirac instead.
STREAMS = {"bbb": (1920, 1080), "elephants": (1024, 576), "2012": (1920, 800)}
MEGABITS = 8  # of 25 pictures of 1920x1080 a second; of smaller ones less
PICTURES, TURNS = 50, 3
QUICK_PICTURES, QUICK_TURNS, QUICK_SHRINK = 4, 1, 8
PAPER_PICTURES = 813  # of Table 2
# Indexed by rows of Table 2; the element has no COMBINE of its own.
STAGES = {"1": "motion-decode", "2": "motion-render", "3": "residual-decode", "4": "wavelet",
          "6": "upsample"}
PICTURE_STAGES = ("2", "4", "6")
# The paper's conditions: one thread of the CPU, pictures that stay on the card.
ENGINES = {"CPU": {"engine": "cpu", "threads": "1"},
           "CUDA": {"engine": "cuda", "memory": "cuda", "threads": "1"}}
NO_COMBINE = "there is no such stage: MOTION_RENDER adds the residual where it predicts"


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
            raise Missing(papers_runs.last_line(text))
    return list(running)


def with_plugin(programs):
    """The environment with the plugin that was built beside the programs, where there is one."""
    built = os.path.join(programs, "..", "..", "gst")
    known = os.environ.get("GST_PLUGIN_PATH", "")
    return {**os.environ, "GST_PLUGIN_PATH": built + (os.pathsep + known if known else "")}


def run_bench(programs, engine, paths, quick):
    arguments = [f"--engine={engine}", "--only=threads:1$",
                 f"--pictures={QUICK_PICTURES if quick else PICTURES}",
                 f"--turns={QUICK_TURNS if quick else TURNS}", *paths]
    return papers_runs.run(os.path.join(programs, "bench_dirac"), arguments,
                           with_plugin(programs))


class Dirac:
    """What bench_dirac has said, by engines."""

    def __init__(self, readings=None, reason="bench_dirac did not run"):
        self.readings, self.reason = readings or {}, reason

    @staticmethod
    def measure(programs, quick, streams=None):
        try:
            with tempfile.TemporaryDirectory(prefix="cudatransform-papers-") as folder:
                paths = made_streams(streams) if streams else make_streams(programs, folder, quick)
                return Dirac({column: run_bench(programs, keys["engine"], paths, quick)
                              for column, keys in ENGINES.items()})
        except Missing as missing:
            return Dirac(reason=str(missing))

    def context(self):
        return {key: value for readings in self.readings.values()
                for key, value in readings.context.items()}

    def number(self, counter, column, stream="bbb"):
        if column not in self.readings:
            raise Missing(self.reason)
        return self.readings[column].number(counter, stream=stream, **ENGINES[column])

    def seconds(self, row, column):
        """Of a stage, or of all, for as many pictures as the paper has."""
        if row == "5":
            raise Missing(NO_COMBINE)
        rows = STAGES if row == "total" else [row]
        return sum(self.number(STAGES[one], column) for one in rows) * PAPER_PICTURES / 1e6

    def table1(self, row, column):
        return self.number("frames/s", column, row)

    def table2(self, row, column):
        return self.seconds(row, column)

    def statements(self, row, _column):
        if row == "whole":
            return self.number("frames/s", "CUDA") / self.number("frames/s", "CPU")
        if row == "combine":
            raise Missing(NO_COMBINE)
        rows = {"pictures": PICTURE_STAGES, "render": "2", "wavelet": "4", "upsample": "6"}[row]
        return (sum(self.seconds(one, "CPU") for one in rows) /
                sum(self.seconds(one, "CUDA") for one in rows))
