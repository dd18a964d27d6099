"""Runs benchmarks, interleaved, and reads what they write: names into keys, runs into one."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import itertools
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

# The parts of a name that Google Benchmark adds.
LIBRARY_KEYS = {"iterations", "min_time", "min_warmup_time", "repeats"}
DIRECTIONS = ("forward", "inverse")
# The methods in the order of docs/kernels.md.
ROAD = ("naive", "matrix", "separable", "decomposed", "shuffle", "reference", "ifast", "islow",
        "float")
# Two runs are of the same thing if these are equal.
IDENTITY = {"cuda": ("device", "compiled_for"),
            "cpu": ("cpu", "cores", "compiler", "highway_target"),
            "jpeg": ("cpu", "cores", "gstreamer", "bytes_per_file")}


class BenchError(Exception):
    """An error that the caller of the program can put right."""


class Missing(Exception):
    """There is no figure; the text says what is missing."""


@dataclass
class Line:
    """One benchmark: its name's keys, and the counters' medians over the runs."""
    keys: dict
    counters: dict
    ranges: dict  # counter -> (least, most) over the runs

    def __getitem__(self, key):
        return self.keys.get(key, "")

    def counter(self, name):
        return self.counters.get(name)

    @property
    def name(self):
        return "/".join(f"{key}:{value}" for key, value in self.keys.items())


@dataclass
class Results:
    lines: list
    contexts: dict              # engine -> context of its first run
    runs: dict                  # engine -> how many runs
    notes: list = field(default_factory=list)  # the omitted runs, and the reasons

    def select(self, **wanted):
        """Lines whose keys have these values; "" is a key that the line has not."""
        return [line for line in self.lines
                if all(line[key] == value for key, value in wanted.items())]

    def sizes(self, **wanted):
        """Names of the sizes of these lines, small to large."""
        blocks = {}
        for line in self.select(**wanted):
            if line["size"]:
                blocks[line["size"]] = max(blocks.get(line["size"], 0),
                                           line.counter("blocks") or 0)
        return sorted(blocks, key=lambda size: (blocks[size], size))

    def stream(self, engine, size, direction, **wanted):
        """The fastest streaming kernel or copy, or None: a roof is the most that was reached."""
        lines = [line for line in
                 self.select(engine=engine, case="stream", size=size, direction=direction, **wanted)
                 if line.counter("GB/s")]
        return max(lines, key=lambda line: line.counter("GB/s"), default=None)


def keys_of(name):
    """The key:value pairs of a benchmark's name, without what the library adds."""
    pairs = (part.split(":", 1) for part in name.split("/") if ":" in part)
    return {key: value for key, value in pairs if key not in LIBRARY_KEYS}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def load_json(path, hint=""):
    """What is in a file. Raises BenchError."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BenchError(f"{path}: not JSON ({error}){hint}") from error


def load_run(path):
    """The context of one file, and its benchmarks as (keys, counters)."""
    run = load_json(path, ". A benchmark that is interrupted writes an incomplete file; run it "
                    f"again with --benchmark_out_format=json --benchmark_out={path}")
    if not isinstance(run, dict) or not isinstance(run.get("benchmarks"), list):
        raise BenchError(f"{path}: not a run of Google Benchmark: it has no list \"benchmarks\"")
    return run.get("context", {}), run["benchmarks"]


def readings(path, benchmarks, notes):
    """Yields (keys, counters) of the lines that count."""
    # With repetitions the library adds medians; we use those then.
    has_median = {b.get("run_name") for b in benchmarks if b.get("aggregate_name") == "median"}
    for benchmark in benchmarks:
        name = benchmark.get("name", "")
        if benchmark.get("error_occurred") or benchmark.get("skipped"):
            reason = benchmark.get("error_message") or benchmark.get("skip_message", "skipped")
            notes.append(f"{path}: {name}: {reason}")
            continue
        run_name = benchmark.get("run_name", name)
        if benchmark.get("run_type") == "aggregate":
            if benchmark.get("aggregate_name") != "median":
                continue
        elif run_name in has_median:
            continue
        keys = keys_of(run_name)
        if keys.get("engine") not in IDENTITY or "case" not in keys:
            raise BenchError(f"{path}: \"{name}\" does not begin with engine:cuda/case:... or "
                             "engine:cpu/case:...; only bench_cuda, bench_cpu and bench_jpeg are "
                             "understood")
        counters = {key: float(value) for key, value in benchmark.items()
                    if is_number(value) and math.isfinite(value) and value >= 0}
        yield keys, counters


def load(paths):
    """All runs in one: medians over the runs of the same device. Raises BenchError."""
    collected, contexts, runs, notes = {}, {}, {}, []
    for path in paths:
        context, benchmarks = load_run(path)
        engines = set()
        for keys, counters in readings(path, benchmarks, notes):
            engines.add(keys["engine"])
            collected.setdefault(tuple(keys.items()), []).append(counters)
        if not engines:
            raise BenchError(f"{path}: no benchmark in it has a result" +
                             "".join("\n  " + note for note in notes))
        for engine in engines:
            runs[engine] = runs.get(engine, 0) + 1
            first = contexts.setdefault(engine, context)
            for key in IDENTITY[engine]:
                if first.get(key) != context.get(key):
                    raise BenchError(
                        f"{path}: {key} is \"{context.get(key)}\" and not \"{first.get(key)}\" as "
                        "in the files before it: such runs do not go into one picture")
    return Results([merged(keys, list_) for keys, list_ in collected.items()], contexts, runs,
                   notes)


def merged(keys, readings_):
    counters, ranges = {}, {}
    for name in {name: None for reading in readings_ for name in reading}:
        values = [reading[name] for reading in readings_ if name in reading]
        counters[name] = statistics.median(values)
        ranges[name] = min(values), max(values)
    return Line(dict(keys), counters, ranges)


# ---- Single figures ----

class Readings:
    """Benchmarks of one program: counters by their names' keys, or why there are none."""

    def __init__(self, context, benchmarks, reason=""):
        self.context, self.reason = context, reason
        self.by_keys = {}
        for benchmark in benchmarks:
            keys = keys_of(benchmark.get("run_name", benchmark.get("name", "")))
            self.by_keys[frozenset(keys.items())] = benchmark

    def number(self, counter, name, no_case=None, no_counter=None):
        """The counter of a case; of (a|b) in its name the least of all that there are. Raises
        Missing, with the given texts where there is no such case, or no counter in it."""
        if choices := re.search(r"\((.+\|.+)\)", name):
            found, why = [], None
            for choice in choices[1].split("|"):
                try:
                    found.append(self.number(counter, name.replace(choices[0], choice)))
                except Missing as missing:
                    why = missing
            if not found:
                raise why
            return min(found)
        found = self.by_keys.get(frozenset(keys_of(name).items()))
        if found is None:
            raise Missing(self.reason or no_case or
                          f"the benchmark program has no case {name}")
        if found.get("error_occurred"):
            raise Missing(found.get("error_message", "it failed and does not say why"))
        value = found.get(counter)
        if not is_number(value) or not math.isfinite(value):
            raise Missing(no_counter or f"the benchmark program gives no {counter}")
        return value


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it says nothing"


def run_program(program, arguments, environment=None, patience=540):
    """The readings of one run of a program; of a failed one, or one that takes more than so many
    seconds, readings with a reason."""
    name = os.path.basename(program)
    if not os.access(program, os.X_OK):
        return Readings({}, [], f"{name} has not been built")
    with tempfile.TemporaryDirectory(prefix="cudatransform-bench-") as folder:
        path = os.path.join(folder, "run.json")
        command = [program, *arguments, "--benchmark_out=" + path, "--benchmark_out_format=json"]
        try:
            done = subprocess.run(command, text=True, check=False, timeout=patience,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  env=environment)
        except subprocess.TimeoutExpired:
            return Readings({}, [], f"{name} was stopped after {patience} s")
        try:
            context, benchmarks = load_run(path)
        except BenchError:  # no file, or none that is whole
            return Readings({}, [], last_line(done.stderr))
    return Readings(context, benchmarks, "" if benchmarks else last_line(done.stderr))


def write_json(path, value):
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1, allow_nan=False)
            file.write("\n")
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from error


# ---- Interleaved runs ----

def timed(work):
    """A function that does some work and returns seconds."""
    def run(*arguments):
        begin = time.perf_counter()
        work(*arguments)
        return time.perf_counter() - begin
    return run


def for_seconds(seconds, rounds):
    """The rounds again and again until the time is up; one at least."""
    end = time.monotonic() + seconds
    for arguments in itertools.cycle(rounds):
        yield arguments
        if time.monotonic() > end:
            return


def take_turns(contestants, rounds):
    """{name: what each turn has returned}: contestants one after the other in each round, so that
    whatever slows the machine slows all of them; rounds: the arguments of each."""
    taken = {name: [] for name in contestants}
    for arguments in rounds:
        for name, run in contestants.items():
            taken[name].append(run(*arguments))
    return taken


# ---- Runs of a device ----

def context_number(context, key):
    """A number of the context, which holds strings. Raises BenchError."""
    value = context.get(key)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not number > 0 or math.isinf(number):
        said = "is missing" if value is None else f"is \"{value}\""
        raise BenchError(f"the run's context: {key} {said}, where the issue rate needs a number")
    return number


def issue_rate(context):
    """Instructions of single threads that the GPU can issue in a second."""
    # Every SM since Volta has four schedulers, each of which issues one instruction of a warp of 32
    # threads in a clock cycle.
    return (context_number(context, "sm_count") *
            context_number(context, "sm_clock_mhz") * 1e6 * 4 * 32)


def load_peers(path):
    """[{"name", "direction", "ratios": {size: ratio}}] and their source. Raises BenchError."""
    text = load_json(path)
    try:
        peers = [{"name": str(peer["name"]), "direction": peer["direction"],
                  "ratios": {str(size): float(ratio) for size, ratio in peer["ratios"].items()}}
                 for peer in text["peers"]]
        source = str(text["source"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(
            f"{path}: {type(error).__name__} {error}; wanted: {{\"source\": TEXT, \"peers\": "
            "[{\"name\": TEXT, \"direction\": \"forward\" or \"inverse\", "
            "\"ratios\": {SIZE: RATIO}}]}") from error
    for peer in peers:
        if peer["direction"] not in DIRECTIONS:
            raise BenchError(f"{path}: {peer['name']}: no direction is called "
                             f"\"{peer['direction']}\"")
    return peers, source


def device_line(results, engine):
    """One line for captions: what was measured on what."""
    context = results.contexts[engine]
    if engine == "cuda":
        parts = [context.get("device"), with_word("driver", context.get("driver")),
                 with_word("CUDA", context.get("cuda")),
                 context.get("sm_clock_mhz") and f"{context['sm_clock_mhz']} MHz",
                 with_word("compiled for", context.get("compiled_for"))]
    elif engine == "jpeg":
        parts = [context.get("cpu"), context.get("cores") and f"{context['cores']} cores",
                 context.get("gstreamer"),
                 with_word("bytes a file:", context.get("bytes_per_file"))]
    else:
        parts = [context.get("cpu"), context.get("cores") and f"{context['cores']} cores",
                 context.get("compiler"), with_word("Highway", context.get("highway_target")),
                 with_word("libavcodec", context.get("libavcodec"))]
    if results.runs[engine] > 1:
        parts.append(f"median of {results.runs[engine]} runs")
    return ", ".join(part for part in parts if part)


def with_word(word, value):
    return f"{word} {value}" if value else ""
