#!/usr/bin/env python3
# Turns Nsight Compute's profile of bench_cuda into instructions a sample (--instructions=FILE).
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ncu_instructions.py NAMES.csv PROFILE.csv >INSTRUCTIONS.csv

  ncu --csv --print-units base --metrics smsp__inst_executed.sum --log-file PROFILE.csv \\
      bench_cuda --profile=NAMES.csv --benchmark_filter=case:ladder
  ncu_instructions.py NAMES.csv PROFILE.csv >INSTRUCTIONS.csv
  bench_cuda --instructions=INSTRUCTIONS.csv ...

bench_cuda runs the job of line i of NAMES.csv between two launches of the kernel bench_marker, of
(i, 1, 1) and (i, 2, 1) CTAs. What all kernels in between execute is the job's. The metric counts
instructions of warps; a sample's are those of threads, 32 times as many.
"""
import csv
import re
import sys

METRIC = "smsp__inst_executed.sum"
MARKER = "bench_marker"
WARP = 32


class ProfileError(Exception):
    """An error that the caller of the program can put right."""


def read_names(lines):
    """[(name, samples)]"""
    names = []
    for line in lines:
        name, _, samples = line.strip().rpartition(",")
        if not name or not samples.isdigit() or int(samples) == 0:
            raise ProfileError(f"\"{line.strip()}\" is not NAME,SAMPLES")
        names.append((name, int(samples)))
    return names


def read_launches(lines):
    """Yields (kernel, grid, instructions of warps) in the order of launching."""
    # The profiler's messages and the program's output precede the table.
    lines = iter(lines)
    header = next((line for line in lines if line.startswith('"ID"')), None)
    if header is None:
        raise ProfileError("no table in the profile: was ncu called with --csv?")
    columns = next(csv.reader([header]))
    for needed in ("Kernel Name", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"):
        if needed not in columns:
            raise ProfileError(f"the profile has no column \"{needed}\"")
    for row in csv.reader(line for line in lines if line.startswith('"')):
        launch = dict(zip(columns, row))
        if launch["Metric Name"] != METRIC:
            continue
        if launch["Metric Unit"] not in ("inst", ""):
            raise ProfileError(f"counts in \"{launch['Metric Unit']}\": call ncu with "
                               "--print-units base")
        grid = tuple(int(number) for number in re.findall(r"\d+", launch["Grid Size"]))
        yield (launch["Kernel Name"], grid,
               int(launch["Metric Value"].replace(",", "").split(".")[0]))


def count(names, launches):
    """{name: instructions a sample}"""
    totals, current = {}, None
    for kernel, grid, instructions in launches:
        if not kernel.startswith(MARKER):
            if current is not None:
                totals[current] += instructions
            continue
        begins = grid[1] == 1
        if begins == (current is not None) or not 1 <= grid[0] <= len(names) or \
                (not begins and current != grid[0]):
            raise ProfileError(f"the marker {grid} does not fit: was all of the program profiled?")
        current = grid[0] if begins else None
        if begins:
            totals[current] = 0
    missing = [name for i, (name, _) in enumerate(names, 1) if not totals.get(i)]
    if missing or current is not None:
        raise ProfileError("the profile has nothing of " + ", ".join(missing or [names[-1][0]]))
    return {name: WARP * totals[i] / samples for i, (name, samples) in enumerate(names, 1)}


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            names = read_names(file)
        with open(arguments[1], encoding="utf-8", newline="") as file:
            result = count(names, read_launches(file))
    except (OSError, ValueError, ProfileError) as error:
        print(f"ncu_instructions: {error}", file=sys.stderr)
        return 1
    for name, instructions in result.items():
        print(f"{name},{instructions:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
