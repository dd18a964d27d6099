"""Turns bench_cpu's JSON into the tables of docs/results/.

cpu_tables.py FILE...    prints Markdown; the lines of several files are put together
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import sys

METHODS = ["islow", "ifast", "float", "reference", "naive", "matrix", "separable", "decomposed",
           "shuffle"]
FAST = METHODS[:3]
DIRECTIONS = ["forward", "inverse"]
SIZES = ["1080p", "4K"]
RESIDENT = "256x256"


def keys_of(name):
    """{"engine": "cpu", "case": "simd", ...} of a benchmark's name."""
    return dict(part.split(":", 1) for part in name.split("/") if ":" in part)


class Lines:
    """What was measured, found by the keys in its name."""

    def __init__(self, paths):
        self.all, self.context = [], {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                run = json.load(file)
            self.context = run["context"]
            self.all += [(keys_of(line["name"]), line) for line in run["benchmarks"]]

    def find(self, **wanted):
        for keys, line in self.all:
            # Of a resident size, the case is L2 and "of" says whose it is.
            case = keys.get("of", keys["case"])
            if all((case if key == "case" else keys.get(key)) == value
                   for key, value in wanted.items()) and "error_message" not in line:
                return line
        return None

    def value(self, counter, **wanted):
        line = self.find(**wanted)
        return line.get(counter) if line else None

    def threads(self):
        return str(max(int(keys["threads"]) for keys, _ in self.all))


def number(value, digits=3):
    """Three significant digits, without an exponent."""
    if value is None:
        return "-"
    decimals = max(0, digits - len(str(int(abs(value))).lstrip("0")) if value >= 1 else digits - 1)
    return f"{value:.{decimals}f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_context(lines):
    context = lines.context
    caches = ", ".join(f"{cache['type']} L{cache['level']} {cache['size'] // 1024} KiB"
                       for cache in context["caches"])
    table(["", ""], [
        ["processor", f"{context['cpu']}, {context['cores']} cores"],
        ["caches of a core (L3: shared)", caches],
        ["compiler", context["compiler"]],
        ["Highway's best instruction set here", context["highway_target"]],
        ["libavcodec", context["libavcodec"]],
        ["date", context["date"]],
    ])


def print_methods(lines, size, methods):
    """Serial, SIMD, SIMD and oneTBB: milliseconds of one frame, and how many times serial."""
    head = ["method"]
    for direction in DIRECTIONS:
        head += [f"{direction}: serial", "SIMD", f"{lines.threads()} threads", "gain"]
    rows = []
    for method in methods:
        row = [f"`{method}`"]
        for direction in DIRECTIONS:
            times = [lines.value("real_time", case=case, size=size, method=method,
                                 direction=direction) for case in ("serial", "simd", "tbb")]
            row += [number(time and time / 1000) for time in times]
            row.append("x" + number(times[0] / times[2]) if times[0] and times[2] else "-")
        rows.append(row)
    table(head, rows)


def print_avdct(lines, case, sizes):
    """Nanoseconds of one block: the copy, AVDCT, the engine; and the ratios of the same run."""
    threads = lines.threads() if case == "tbb" else "1"
    rows = []
    for size in sizes:
        for direction in DIRECTIONS:
            same = {"size": size, "direction": direction, "threads": threads}
            copies = [lines.value("ns/block", case="stream", stores=stores, **same)
                      for stores in ("cached", "streamed")]
            avdct = [lines.value("ns/block", case="avdct", order=order, **same)
                     for order in ("own", "raster")]
            for method in FAST:
                line = lines.find(case=case, method=method, **same)
                if line is None:
                    continue
                rows.append([f"{size} {direction} `{method}`", number(line["ns/block"]),
                             number(avdct[0]), number(avdct[1]), number(line.get("x AVDCT")),
                             number(line.get("x AVDCT raster")), number(copies[0]),
                             number(copies[1]), number(line["ratio"]), number(line["GB/s"])])
    table(["ns a block", "engine", "AVDCT", "AVDCT raster", "x AVDCT", "x AVDCT raster", "copy",
           "streamed copy", "ratio", "GB/s"], rows)


def main(paths):
    if not paths:
        sys.exit(__doc__)
    lines = Lines(paths)
    print_context(lines)
    print("## Every method, one 4K frame (3840x2160), milliseconds\n")
    print_methods(lines, "4K", METHODS)
    print("## One 1080p frame, milliseconds\n")
    print_methods(lines, "1080p", FAST)
    print("## Per core: against AVDCT and the copy\n")
    print_avdct(lines, "simd", SIZES + [RESIDENT])
    print("## All cores\n")
    print_avdct(lines, "tbb", SIZES)


if __name__ == "__main__":
    main(sys.argv[1:])
