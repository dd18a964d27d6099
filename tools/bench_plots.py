"""Draws benchmark results as SVG: rooflines, ratios to the limit, wavelets, the CPU engine."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import re
import tempfile
import warnings

from bench_runs import DIRECTIONS, BenchError, device_line, issue_rate
from bench_tables import rank, number_text, ratio_text

# matplotlib wants a folder for its cache of fonts; the home directory is not ours to write to.
os.environ.setdefault("MPLCONFIGDIR", os.path.join(tempfile.gettempdir(), "plot-bench-matplotlib"))
try:
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot, ticker
except ImportError as error:
    raise BenchError("pictures need matplotlib; install python3-matplotlib, or ask for --table") \
        from error

# The same numbers give the same file: text as outlines of matplotlib's own font, ids from a fixed
# salt, no date. A background of its own makes the picture readable on dark pages too.
matplotlib.rcParams.update({
    "svg.fonttype": "path", "svg.hashsalt": "cudatransform", "font.family": "DejaVu Sans",
    "font.size": 9, "axes.titlesize": 10, "figure.facecolor": "white", "axes.facecolor": "white",
    "savefig.facecolor": "white", "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 8,
})
# Okabe and Ito's palette, told apart with every kind of colour vision.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
                                         "#D55E00")
SIZE_COLOURS = (SKY, BLUE, GREEN, PURPLE, RED, ORANGE)
GREYS = ("#8c8c8c", "#b8b8b8", "#6b6b6b", "#d4d4d4")
MARKERS = {"float": "o", "islow": "s"}


def save(figure, path, caption):
    figure.text(0.5, 0.005, caption, ha="center", va="bottom", fontsize=7, color="#444444")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what does not fit is a fault of this file
            figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from error
    finally:
        pyplot.close(figure)


def gid(*parts):
    """An id for the SVG, so that tests find what was drawn."""
    return ".".join(re.sub(r"\W+", "-", part) for part in parts)


def panels(width, height, **options):
    figure, axes = pyplot.subplots(1, 2, figsize=(width, height), sharey=True, **options)
    return figure, dict(zip(DIRECTIONS, axes))


# ---- Roofline ----

def instructions_per_byte(results, line):
    """Of the line itself or, in the limit's table, of the same method on the ladder; or None."""
    instructions, bytes_ = line.counter("instr/sample"), line.counter("bytes/sample")
    if instructions is None:
        same = [other for other in results.select(engine="cuda", case="ladder",
                                                  method=line["method"],
                                                  direction=line["direction"])
                if other.counter("instr/sample")]
        instructions = same[0].counter("instr/sample") if same else None
    return instructions / bytes_ if instructions and bytes_ else None


def roofline_points(results, direction):
    """[(line, instructions per byte, GB/s)] of the ladder and the limit's table."""
    points = []
    for case in ("ladder", "limit"):
        for line in results.select(engine="cuda", case=case, direction=direction):
            if not line["method"] or any(line[key] for key in ("format", "layout", "order")):
                continue
            x, y = instructions_per_byte(results, line), line.counter("GB/s")
            if x is None or not y:
                results.notes.append(f"not in the roofline, as its instr/sample, bytes/sample or "
                                     f"GB/s is not known: {line.name}")
            else:
                points.append((line, x, y))
    return points


def label_ladder(axes, points):
    """Writes methods left below their points, where no roof is, and none over another."""
    # In points of 1/72 inch, so after the axes have got their limits.
    to_points = 72 / axes.figure.dpi
    placed = []
    for line, x, y in sorted(points, key=lambda point: (-point[2], point[1])):
        at_x, at_y = to_points * axes.transData.transform((x, y))
        label_y = at_y - 9
        for _, other_x, other_y, _ in sorted(placed, key=lambda place: -place[2]):
            if abs(other_x - at_x) < 70 and abs(other_y - label_y) < 11:
                label_y = other_y - 11
        placed.append(((x, y), at_x, label_y, (line["method"], label_y - at_y)))
    for point, _, _, (method, down) in reversed(placed):  # upper ones cover the lines of lower ones
        axes.annotate(method, point, xytext=(-14, down), textcoords="offset points", ha="right",
                      va="center", fontsize=8,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
                      arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": "#888888",
                                  "shrinkA": 0, "shrinkB": 3})


def draw_roofs(axes, results, direction, colours, rate, span):
    for size, colour in colours.items():
        roof = results.stream("cuda", size, direction)
        if roof is None:
            continue
        y = roof.counter("GB/s")
        axes.plot([span[0], min(span[1], rate / y / 1e9)], [y, y], color=colour, linewidth=1.6,
                  label=f"streaming kernel, {size}: {number_text(y)} GB/s",
                  gid=gid("roof", size, direction))
    axes.plot(span, [rate / x / 1e9 for x in span], color="black", linewidth=1.6,
              label=f"issue rate: {rate / 1e12:.1f} T instructions/s", gid=gid("issue", direction))


def roofline(results, path):
    rate = issue_rate(results.contexts["cuda"])
    points = {direction: roofline_points(results, direction) for direction in DIRECTIONS}
    everything = [point for list_ in points.values() for point in list_]
    if not everything:
        raise BenchError("no roofline: no line of case:ladder or case:limit has \"instr/sample\"")
    colours = dict(zip(results.sizes(engine="cuda", case="stream"), SIZE_COLOURS))
    xs, ys = [x for _, x, _ in everything], [y for _, _, y in everything]
    span = min(xs) / 2, max(xs) * 2
    figure, axes = panels(11, 5.4)
    for direction, panel in axes.items():
        draw_roofs(panel, results, direction, colours, rate, span)
        for line, x, y in points[direction]:
            panel.plot(x, y, MARKERS.get(line["method"], "D"), linestyle="none", markersize=6,
                       color=colours.get(line["size"], "black"), markeredgecolor="black",
                       markeredgewidth=0.5,
                       gid=gid(line["case"], line["size"], line["method"], direction))
        panel.set(title=direction, xscale="log", yscale="log", xlim=span,
                  xlabel="instructions a byte that must move")
        panel.grid(which="both", color="#e6e6e6", linewidth=0.5)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
            axis.set_minor_formatter(ticker.NullFormatter())
        for method, marker in MARKERS.items():
            panel.plot([], [], marker, color="white", markeredgecolor="black", label=method)
        panel.legend(loc="upper right")
    top = max(line.counter("GB/s") for line in results.select(engine="cuda", case="stream")) \
        if colours else max(ys)
    axes["forward"].set(ylabel="GB/s of the bytes that must move",
                        ylim=(min(ys) / 4, max(top, *ys) * 1.5))
    figure.subplots_adjust(left=0.065, right=0.99, top=0.92, bottom=0.14, wspace=0.05)
    for direction, panel in axes.items():
        label_ladder(panel, [(line, x, y) for line, x, y in points[direction]
                             if line["case"] == "ladder" and line["method"] not in MARKERS])
    save(figure, path, device_line(results, "cuda"))


# ---- Bars ----

def draw_bars(axes, groups, series, labels, upright=False):
    """One group of bars for each of `groups`; series: [(name, colour, {group: value}, ranges)]."""
    width = 0.84 / max(1, len(series))
    for i, (name, colour, values, ranges) in enumerate(series):
        for g, group in enumerate(groups):
            if group not in values:
                continue
            x = g - 0.42 + (i + 0.5) * width
            least, most = ranges.get(group, (values[group],) * 2)
            bars = axes.bar(x, values[group], width * 0.94, color=colour,
                            label=None if group != min(values, key=groups.index) else name,
                            yerr=None if least == most else
                            [[values[group] - least], [most - values[group]]],
                            error_kw={"elinewidth": 0.8})
            bars[0].set_gid(gid("bar", name, group, axes.get_title()))
            axes.annotate(labels(values[group]), (x, most), xytext=(0, 2), ha="center",
                          textcoords="offset points", fontsize=6.5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
                          rotation=90 if upright or len(series) > 5 else 0)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.5)
    axes.tick_params(axis="x", length=0)


def limit_lines(results, direction, method):
    return {line["size"]: line for line in
            results.select(engine="cuda", case="limit", direction=direction, method=method)
            if line.counter("ratio") is not None
            and not any(line[key] for key in ("format", "layout", "order"))}


def ratio_bars(results, path, peers=(), peers_source=""):
    sizes = results.sizes(engine="cuda", case="limit")
    figure, axes = panels(11, 4.4)
    drawn = 0
    for direction, panel in axes.items():
        series = []
        for method, colour in (("islow", BLUE), ("float", ORANGE)):
            lines = limit_lines(results, direction, method)
            drawn += len(lines)
            series.append((method, colour,
                           {size: line.counter("ratio") for size, line in lines.items()},
                           {size: line.ranges["ratio"] for size, line in lines.items()}))
        of_direction = [peer for peer in peers if peer["direction"] == direction]
        for i, peer in enumerate(of_direction):
            ratios = {size: ratio for size, ratio in peer["ratios"].items() if size in sizes}
            series.append((peer["name"], GREYS[i % len(GREYS)], ratios, {}))
        panel.set_title(direction)
        draw_bars(panel, sizes, series, ratio_text)
        panel.axhline(1, color="black", linewidth=1.2, gid=gid("limit", direction))
        roofs = [results.stream("cuda", size, direction) for size in sizes]
        panel.set_xticks(range(len(sizes)), [
            size + (f"\n1 = {number_text(roof.counter('GB/s'))} GB/s" if roof else "")
            for size, roof in zip(sizes, roofs)])
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3)
    if not drawn:
        pyplot.close(figure)
        raise BenchError("no bars: no line of case:limit with method float or islow has a "
                         "\"ratio\"")
    top = max([1.0] + [line.ranges["ratio"][1] for direction in DIRECTIONS
                       for method in MARKERS
                       for line in limit_lines(results, direction, method).values()])
    axes["forward"].set(ylabel="ratio to a streaming kernel of the same bytes",
                        ylim=(0, 1.1 * top))
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.27, wspace=0.05)
    caption = device_line(results, "cuda")
    save(figure, path, caption + (f"\nPeers: {peers_source}" if peers else ""))


# In the order of the page, the shortest filter first.
WAVELETS = ("haar", "haar-shift", "j2k53", "legall53", "dd97", "daub97", "dd137", "fidelity")


def wavelet_lines(results):
    """The fused method, quantised, with the most pictures in flight that were measured."""
    lines = [line for line in results.select(engine="cuda", case="dwt", index="8", method="")
             if line.counter("ratio") is not None]
    most = {}
    for line in lines:
        most[line["size"]] = max(most.get(line["size"], 0), int(line["pictures"]))
    return [line for line in lines if int(line["pictures"]) == most[line["size"]]]


def wavelet_bars(results, path):
    lines = wavelet_lines(results)
    if not lines:
        raise BenchError("no bars of wavelets: no line of case:dwt with index 8 has a \"ratio\"")
    samples = {line["size"]: (line.counter("samples") or 0, int(line["pictures"]))
               for line in lines}
    sizes = sorted(samples, key=samples.get)
    wavelets = [name for name in WAVELETS if any(line["wavelet"] == name for line in lines)]
    figure, axes = panels(11, 4.2)
    for direction, panel in axes.items():
        series = []
        for size, colour in zip(sizes, SIZE_COLOURS):
            here = {line["wavelet"]: line for line in lines
                    if line["size"] == size and line["direction"] == direction}
            pictures = samples[size][1]
            name = size + (f", {pictures} in flight" if pictures > 1 else ", alone")
            series.append((name, colour,
                           {name: line.counter("ratio") for name, line in here.items()},
                           {name: line.ranges["ratio"] for name, line in here.items()}))
        panel.set_title(direction)
        draw_bars(panel, wavelets, series, ratio_text, upright=True)
        panel.set_xticks(range(len(wavelets)), wavelets)
        panel.legend(loc="upper right", ncol=2)
    top = max(line.ranges["ratio"][1] for line in lines)
    axes["forward"].set(ylabel="ratio to a streaming kernel of the same bytes",
                        ylim=(0, 1.15 * top))
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.14, wspace=0.05)
    save(figure, path, device_line(results, "cuda"))


def cpu_size(results):
    """The size with most lines of SIMD; of several, the largest."""
    sizes = results.sizes(engine="cpu", case="simd")
    if not sizes:
        raise BenchError("no bars of the CPU: there is no line of case:simd")
    return max(sizes, key=lambda size: (len(results.select(engine="cpu", case="simd", size=size)),
                                        sizes.index(size)))


def cpu_groups(results, size, direction):
    """{group: {(case or "one" or "all"): line}}: methods with SIMD, AVDCT's orders, the copy."""
    here = {"engine": "cpu", "size": size, "direction": direction}
    methods = [line["method"] for line in sorted(results.select(case="simd", **here), key=rank)]
    groups = {method: {} for method in dict.fromkeys(methods)}
    for case in ("serial", "simd", "tbb"):
        for line in results.select(case=case, **here):
            if line["method"] in groups:
                groups[line["method"]][case] = line
    others = [(f"AVDCT,\n{line['order']} order" if line["order"] else "AVDCT", line)
              for line in results.select(case="avdct", **here)]
    copies = {line["threads"]: results.stream("cpu", size, direction, threads=line["threads"])
              for line in results.select(case="stream", **here)}
    others += [("copy", line) for line in copies.values() if line is not None]
    for name, line in others:
        groups.setdefault(name, {})["simd" if line["threads"] in ("", "1") else "tbb"] = line
    return groups


def cpu_bars(results, path):
    size = cpu_size(results)
    figure, axes = panels(11, 4.2)
    threads = {line["threads"] for line in results.select(engine="cpu", case="tbb", size=size)}
    all_threads = f"{'/'.join(sorted(threads))} threads" if threads - {""} else "all threads"
    names = {"serial": ("plain C++, 1 thread", GREYS[1]), "simd": ("SIMD, 1 thread", SKY),
             "tbb": (f"SIMD, {all_threads}", BLUE)}
    for direction, panel in axes.items():
        groups = cpu_groups(results, size, direction)
        series = []
        for case, (name, colour) in names.items():
            lines = {group: of_case[case] for group, of_case in groups.items()
                     if case in of_case and of_case[case].counter("GB/s") is not None}
            series.append((name, colour,
                           {group: line.counter("GB/s") for group, line in lines.items()},
                           {group: line.ranges["GB/s"] for group, line in lines.items()}))
        panel.set_title(direction)
        draw_bars(panel, list(groups), series, number_text)
        panel.set_xticks(range(len(groups)), list(groups))
        panel.legend(loc="upper left")
    axes["forward"].set_ylabel(f"GB/s of the bytes that must move, {size}")
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.17, wspace=0.05)
    save(figure, path, device_line(results, "cpu"))
