"""What this machine makes of each cell of the papers' tables: a figure, or what is missing for one.

Python's standard library alone, so that it runs where nothing can be installed.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import datetime
import math
import os
import time

import papers_dirac
import papers_runs
from papers_runs import Missing

SIZES = {"512": 512, "1K": 1024, "2K": 2048, "4K": 4096,
         "1024^2": 1024, "2048^2": 2048, "4096^2": 4096}
GIB = 2 ** 30
FORMAT = "cudatransform papers 1"
NO_GPUJPEG = "GPUJPEG's kernel is CESNET's and no part of this project"
HONG_TABLES = {"table1": "naive", "table2": "matrix", "table3": "rowcolumn"}


def psnr(sse, samples):
    return math.inf if sse == 0 else 10 * math.log10(255 * 255 * samples / sse)


def busy_seconds():
    """CPU time that anybody has used on this machine; None where the kernel does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _idle, _wait, irq, soft, steal = map(
                int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK") or None


def own_seconds():
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class Others:
    """What part of the processors' time others have used since this was made."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def share(self):
        busy = busy_seconds()
        if self.busy is None or busy is None:
            return None
        capacity = (time.monotonic() - self.start) * os.cpu_count()
        others = (busy - self.busy) - (own_seconds() - self.own)
        return round(min(max(others / capacity, 0), 1), 3)


class Run:
    """The programs' readings, and functions from a table's row and column to a figure."""

    def __init__(self, options):
        self.options = options
        self.papers = papers_runs.Readings({}, [])
        self.cuda = papers_runs.Readings({}, [], "bench_cuda did not run")
        self.dirac = papers_dirac.Dirac()

    def measure(self, wanted):
        options = self.options
        if "dirac" in wanted:
            self.dirac = papers_dirac.Dirac.measure(options.programs, options.quick,
                                                    options.dirac_streams)
        program = os.path.join(options.programs, "bench_papers")
        cases = {"whitepaper": "whitepaper", "hong": "hong", "gpudct": "gpudct|judge"}
        chosen = "|".join(cases[paper] for paper in wanted if paper in cases)
        if not chosen:
            return
        arguments = [f"--benchmark_filter=case:({chosen})/"]
        arguments += [f"--picture={options.picture}"] if options.picture else []
        arguments += [f"--jpeg={options.jpeg}"] if options.jpeg else []
        arguments += ["--shrink=16"] if options.quick else []
        arguments += [f"--seconds={0.01 if options.quick else options.seconds:g}",
                      f"--budget={options.budget:g}"]
        self.papers = papers_runs.run(program, arguments)
        chosen = "|".join(paper for paper in wanted if paper in cases)
        self.cuda = papers_runs.run(
            os.path.join(options.programs, "bench_cuda"),
            [f"--benchmark_filter=case:({chosen})/"] + (["--quick"] if options.quick else []))

    def find(self, engine, **keys):
        """The counters of a case of bench_papers. Raises Missing."""
        if engine == "cuda":
            self.need_card()
        return self.papers.find(engine=engine, **keys)

    def cuda_number(self, counter, **keys):
        """A counter of a case of bench_cuda. Raises Missing."""
        self.need_card()
        return self.cuda.number(counter, engine="cuda", **keys)

    def need_card(self):
        why = self.papers.context.get("no_cuda")
        if why:
            raise Missing(f"no CUDA engine: {why}")

    def machine(self):
        context = {**self.dirac.context(), **self.cuda.context, **self.papers.context}
        keys = ("cpu", "cores", "compiler", "highway_target", "device", "no_cuda", "compiled_for",
                "driver", "sm_count", "sm_clock_mhz", "throttle_reasons")
        return {key: context[key] for key in keys if context.get(key)}

    # The whitepaper.

    def whitepaper_table1(self, row, column):
        engine = "cpu" if row.startswith("gold") else "cuda"
        keys = self.whitepaper_keys(row, column)
        found = self.find(engine, **keys)
        return psnr(found["sse"], found["samples"])

    def whitepaper_table2(self, row, column):
        found = self.find("cuda", **self.whitepaper_keys(row, column))
        return psnr(found["sse gold"], found["samples"])

    @staticmethod
    def whitepaper_keys(row, column):
        kinds = {"1": "matrix", "2": "decomposed", "t": "float"}
        method = "ifast" if row.endswith("ifast") else kinds[row[-1]]
        return {"case": "whitepaper", "size": str(SIZES[column]), "method": method}

    def whitepaper_time(self, direction, row, column):
        if row == "short":
            return self.whitepaper_short(direction, column)
        keys = self.whitepaper_keys(row, column)
        if row.startswith("speed"):
            return self.find("cpu", **keys)[direction] / self.find("cuda", **keys)[direction]
        return self.find("cpu" if row.startswith("gold") else "cuda", **keys)[direction]

    def whitepaper_short(self, direction, column):
        self.need_card()
        known = [dict(keys) for keys in self.cuda.by_keys if ("kernel", "short") in keys]
        if known and all(keys["direction"] != direction for keys in known):
            raise Missing(f"bench_cuda has this kernel {known[0]['direction']} alone")
        if known and all(keys["size"] != column or keys["size"] == "4K" for keys in known):
            raise Missing("bench_cuda times this kernel at 512 x 512 and at video's 3840 x 2176")
        return self.cuda_number("ms avg", case="whitepaper", size=column, kernel="short",
                                direction=direction)

    # Hong et al.

    def hong_seconds(self, algorithm, form, column):
        """Of a form of bench_papers or a variant of bench_cuda."""
        size = str(SIZES[column])
        if form in ("serial", "tbb", "simd", "simd+tbb"):
            keys = {"size": size, "algorithm": algorithm, "form": form}
            return self.find("cpu", case="hong", **keys)["ms"] / 1e3
        return self.cuda_number("ms avg", case="hong", size=size, algorithm=algorithm,
                                variant=form, direction="forward") / 1e3

    def hong_part(self, algorithm, form, column):
        """A sentence where a part of the plane was timed."""
        share = self.find("cpu", case="hong", size=str(SIZES[column]), algorithm=algorithm,
                          form=form)["share"]
        return f"{100 * share:.0f} % of the rows were timed" if share < 1 else ""

    def hong_fastest(self, algorithm, column):
        times, reason = [], ""
        for variant in ("block",) if algorithm == "rowcolumn" else ("block", "global", "shared"):
            try:
                times.append(self.hong_seconds(algorithm, variant, column))
            except Missing as missing:
                reason = str(missing)
        if not times:
            raise Missing(reason)
        return min(times)

    def hong_table(self, algorithm, row, column):
        form, _, speed = row.partition("-")
        form = {"local": "shared", "gpu": "block"}.get(form, form)
        seconds = self.hong_seconds(algorithm, form, column)
        return self.hong_seconds(algorithm, "serial", column) / seconds if speed else seconds

    def hong_all(self, row, column):
        return 1e3 * self.hong_seconds(*row.split("-"), column)

    def hong_statements(self, row, _column):
        size = "4096^2"
        if row == "tbb":
            return self.hong_table("naive", "tbb-speed", size)
        algorithm, what = row.split("-")
        if what == "local":
            return (self.hong_seconds(algorithm, "global", size) /
                    self.hong_seconds(algorithm, "shared", size))
        return self.hong_seconds(algorithm, "serial", size) / self.hong_fastest(algorithm, size)

    # GPUDCT.

    COLUMNS = {"avg GiB/s": "ms avg", "min GiB/s": "ms max", "max GiB/s": "ms min",
               "avg ms": "ms avg"}

    def gpudct_bench(self, engine, row, column):
        """By bench_cuda where the step is a kernel or a teaching method, else by bench_papers."""
        if row == "gpujpeg":
            raise Missing(NO_GPUJPEG)
        if engine == "cuda" and row not in ("float", "islow", "ifast"):
            counter = "ms avg" if column == "avg ms" else "GiB/s " + column.split()[0]
            return self.cuda_number(counter, case="gpudct", size="32K", step=row,
                                    direction="inverse")
        found = self.find(engine, case="gpudct", step=row)
        milliseconds = found[self.COLUMNS[column]]
        if column == "avg ms":
            return milliseconds
        return 2 * found["samples"] / GIB / (milliseconds / 1e3)

    def gpudct_psnr(self, engine, row, column):
        if row == "gpujpeg":
            raise Missing(NO_GPUJPEG)
        component, _, ties = column.partition(", ")
        number = ("Y", "Cb", "Cr").index(component)
        found = self.find(engine, case="judge", step=row)
        if f"samples{number}" not in found:
            raise Missing("the file has no such component")
        return psnr(found[("ties" if ties else "sse") + str(number)], found[f"samples{number}"])

    def value(self, paper, table, row, column):
        """The figure of a cell. Raises Missing."""
        if paper == "dirac":
            return getattr(self.dirac, table)(row, column)
        if paper == "whitepaper":
            if table.startswith("time-"):
                return self.whitepaper_time(table.partition("-")[2], row, column)
            return getattr(self, "whitepaper_" + table)(row, column)
        if paper == "hong":
            algorithm = HONG_TABLES.get(table)
            if algorithm:
                return self.hong_table(algorithm, row, column)
            return getattr(self, "hong_" + table)(row, column)
        engine = "cpu" if table.endswith("-cpu") else "cuda"
        if table.startswith("psnr"):
            return self.gpudct_psnr(engine, row, column)
        return self.gpudct_bench(engine, row, column)

    def remark(self, paper, table, row, column):
        """What a reader has to know of a figure; "" for nothing."""
        algorithm, form = HONG_TABLES.get(table), row.partition("-")[0]
        if paper != "hong" or algorithm is None or form not in ("serial", "tbb"):
            return ""
        return self.hong_part(algorithm, form, column)


def cell(run, *place):
    try:
        value = run.value(*place)
        measured = {"value": "inf" if math.isinf(value) else value}
        remark = run.remark(*place)
        return {**measured, "remark": remark} if remark else measured
    except Missing as missing:
        return {"missing": str(missing)}


def record(data, wanted, options):
    """One run: every cell of the wanted papers."""
    start, others = time.monotonic(), Others()
    run = Run(options)
    run.measure(wanted)
    cells = {}
    for paper in data["papers"]:
        if paper["id"] not in wanted:
            continue
        for table in paper["tables"]:
            for row in table["rows"]:
                for column in table["columns"]:
                    place = (paper["id"], table["id"], row["id"], column)
                    cells["/".join(place)] = cell(run, *place)
    return {"format": FORMAT, "date": datetime.date.today().isoformat(),
            "machine": run.machine(), "others": others.share(), "quick": options.quick,
            "picture": os.path.basename(options.picture_name or ""),
            "jpeg": os.path.basename(options.jpeg or ""), "papers": list(wanted),
            "seconds": round(time.monotonic() - start, 1), "cells": cells}
