"""Runs the programs behind tools/papers, and finds single figures in what they write."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import math
import os
import subprocess
import tempfile

import bench_runs
from bench_runs import BenchError

PATIENCE = 540  # seconds that one program may take


class Missing(Exception):
    """There is no figure; the text says what is missing."""


class Readings:
    """Benchmarks of one program: counters by their names' keys, or why there are none."""

    def __init__(self, context, benchmarks, reason=""):
        self.context, self.reason = context, reason
        self.by_keys = {}
        for benchmark in benchmarks:
            keys = bench_runs.keys_of(benchmark.get("run_name", benchmark.get("name", "")))
            self.by_keys[frozenset(keys.items())] = benchmark

    def find(self, **keys):
        """The counters of a case. Raises Missing."""
        found = self.by_keys.get(frozenset(keys.items()))
        if found is None:
            name = "/".join(f"{key}:{value}" for key, value in keys.items())
            raise Missing(self.reason or f"the benchmark program has no case {name}")
        if found.get("error_occurred"):
            raise Missing(found.get("error_message", "it failed and does not say why"))
        return found

    def number(self, counter, **keys):
        value = self.find(**keys).get(counter)
        if not bench_runs.is_number(value) or not math.isfinite(value):
            raise Missing(f"the benchmark program gives no {counter}")
        return value


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it says nothing"


def run(program, arguments, environment=None):
    """The readings of one run of a program; of a failed one, readings with a reason."""
    name = os.path.basename(program)
    if not os.access(program, os.X_OK):
        return Readings({}, [], f"{name} has not been built")
    with tempfile.TemporaryDirectory(prefix="cudatransform-papers-") as folder:
        path = os.path.join(folder, "run.json")
        command = [program, *arguments, "--benchmark_out=" + path, "--benchmark_out_format=json"]
        try:
            done = subprocess.run(command, text=True, check=False, timeout=PATIENCE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  env=environment)
        except subprocess.TimeoutExpired:
            return Readings({}, [], f"{name} was stopped after {PATIENCE} s")
        try:
            context, benchmarks = bench_runs.load_run(path)
        except BenchError:  # no file, or none that is whole
            return Readings({}, [], last_line(done.stderr))
    reason = "" if benchmarks else last_line(done.stderr)
    return Readings(context, benchmarks, reason)


def write_json(path, value):
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1, allow_nan=False)
            file.write("\n")
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from error
