"""Draws the CUDA engine's benchmark results as PNG: the roofline, ratios to the limit, wavelets."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import os
import tempfile
import warnings

from bench_runs import DIRECTIONS, BenchError, device_line, issue_rate
from bench_tables import number_text, ratio_text

# matplotlib needs a folder for its font cache, and we must not write to the home directory.
os.environ.setdefault("MPLCONFIGDIR", os.path.join(tempfile.gettempdir(), "plot-bench-matplotlib"))
try:
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot, ticker
    from PIL import Image
except ImportError as error:
    raise BenchError("pictures need matplotlib; install python3-matplotlib, or ask for --table") \
        from error

# The font is matplotlib's own, so that the same numbers give the same file. The picture has its own
# background, to be readable on dark pages, too.
matplotlib.rcParams.update({
    "font.family": "DejaVu Sans",
    "font.size": 9, "axes.titlesize": 10, "figure.facecolor": "white", "axes.facecolor": "white",
    "savefig.facecolor": "white", "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 8,
})
# Okabe and Ito's palette, distinguished with every kind of color vision.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
                                         "#D55E00")
SIZE_COLORS = (SKY, BLUE, GREEN, PURPLE, RED, ORANGE)
GRAYS = ("#8c8c8c", "#b8b8b8", "#6b6b6b", "#d4d4d4")
MARKERS = {"float": "o", "islow": "s"}
DPI = 100  # keeps each picture below 60 KB


def save(figure, path, caption):
    figure.text(0.5, 0.005, caption, ha="center", va="bottom", fontsize=7, color="#444444")
    drawn = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # data that does not fit is a fault of this file
            figure.savefig(drawn, format="png", dpi=DPI)
        # A palette halves the file.
        Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from error
    finally:
        pyplot.close(figure)


def panels(height, directions=DIRECTIONS):
    figure, axes = pyplot.subplots(1, len(directions), figsize=(5.5 * len(directions), height),
                                   sharey=True, squeeze=False)
    return figure, dict(zip(directions, axes[0]))


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
    # Points of 1/72 inch depend on the axes' limits, so this comes after those are set.
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


def draw_roofs(axes, results, direction, colors, rate, span):
    for size, color in colors.items():
        roof = results.stream("cuda", size, direction)
        if roof is None:
            continue
        y = roof.counter("GB/s")
        axes.plot([span[0], min(span[1], rate / y / 1e9)], [y, y], color=color, linewidth=1.6,
                  label=f"streaming kernel, {size}: {number_text(y)} GB/s")
    axes.plot(span, [rate / x / 1e9 for x in span], color="black", linewidth=1.6,
              label=f"issue rate: {rate / 1e12:.1f} T instructions/s")


def roofline(results, path):
    rate = issue_rate(results.contexts["cuda"])
    points = {direction: found for direction in DIRECTIONS
              if (found := roofline_points(results, direction))}
    everything = [point for list_ in points.values() for point in list_]
    if not everything:
        raise BenchError("no roofline: no line of case:ladder or case:limit has \"instr/sample\"")
    colors = dict(zip(results.sizes(engine="cuda", case="stream"), SIZE_COLORS))
    xs, ys = [x for _, x, _ in everything], [y for _, _, y in everything]
    span = min(xs) / 2, max(xs) * 2
    figure, axes = panels(5.4, list(points))
    for direction, panel in axes.items():
        draw_roofs(panel, results, direction, colors, rate, span)
        for line, x, y in points[direction]:
            panel.plot(x, y, MARKERS.get(line["method"], "D"), linestyle="none", markersize=6,
                       color=colors.get(line["size"], "black"), markeredgecolor="black",
                       markeredgewidth=0.5)
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
        if colors else max(ys)
    next(iter(axes.values())).set(ylabel="GB/s of the bytes that must move",
                                  ylim=(min(ys) / 4, max(top, *ys) * 1.5))
    figure.subplots_adjust(left=0.13 / len(axes), right=0.99, top=0.92, bottom=0.14, wspace=0.05)
    for direction, panel in axes.items():
        label_ladder(panel, [(line, x, y) for line, x, y in points[direction]
                             if line["case"] == "ladder" and line["method"] not in MARKERS])
    save(figure, path, device_line(results, "cuda"))


# ---- Bars ----

def draw_bars(axes, groups, series, labels, upright=False):
    """One group of bars for each of `groups`; series: [(name, color, {group: value}, ranges)]."""
    width = 0.84 / max(1, len(series))
    for i, (name, color, values, ranges) in enumerate(series):
        for g, group in enumerate(groups):
            if group not in values:
                continue
            x = g - 0.42 + (i + 0.5) * width
            least, most = ranges.get(group, (values[group],) * 2)
            axes.bar(x, values[group], width * 0.94, color=color,
                     label=None if group != min(values, key=groups.index) else name,
                     yerr=None if least == most else
                     [[values[group] - least], [most - values[group]]],
                     error_kw={"elinewidth": 0.8})
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


def series_of(name, color, lines):
    """A series for draw_bars() of {group: line}."""
    return (name, color, {group: line.counter("ratio") for group, line in lines.items()},
            {group: line.ranges["ratio"] for group, line in lines.items()})


def ratio_series(results, direction, peers, sizes):
    """islow and float, then the peers that have this direction."""
    series = [series_of(method, color, limit_lines(results, direction, method))
              for method, color in (("islow", BLUE), ("float", ORANGE))]
    of_direction = [peer for peer in peers if peer["direction"] == direction]
    for i, peer in enumerate(of_direction):
        ratios = {size: ratio for size, ratio in peer["ratios"].items() if size in sizes}
        series.append((peer["name"], GRAYS[i % len(GRAYS)], ratios, {}))
    return series


def most_of(series):
    return max((most for *_, ranges in series for _, most in ranges.values()), default=0)


def ratio_bars(results, path, peers=(), peers_source=""):
    sizes = results.sizes(engine="cuda", case="limit")
    series = {direction: ratio_series(results, direction, peers, sizes) for direction in DIRECTIONS}
    top = max(map(most_of, series.values()))
    if not top:
        raise BenchError("no bars: no line of case:limit with method float or islow has a "
                         "\"ratio\"")
    figure, axes = panels(4.4)
    for direction, panel in axes.items():
        panel.set_title(direction)
        draw_bars(panel, sizes, series[direction], ratio_text)
        panel.axhline(1, color="black", linewidth=1.2)
        roofs = [results.stream("cuda", size, direction) for size in sizes]
        panel.set_xticks(range(len(sizes)), [
            size + (f"\n1 = {number_text(roof.counter('GB/s'))} GB/s" if roof else "")
            for size, roof in zip(sizes, roofs)])
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3)
    axes["forward"].set(ylabel="ratio to a streaming kernel of the same bytes",
                        ylim=(0, 1.1 * max(1, top)))
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.27, wspace=0.05)
    save(figure, path, device_line(results, "cuda") +
         (f"\nPeers: {peers_source}" if peers else ""))


# The order on the page: the shortest filter first.
WAVELETS = ("haar", "haar-shift", "j2k53", "legall53", "dd97", "daub97", "dd137", "fidelity")


def wavelet_lines(results):
    """The fused method, quantized, with the most pictures in flight that were measured."""
    lines = [line for line in results.select(engine="cuda", case="dwt", index="8", method="")
             if line.counter("ratio") is not None]
    most = {}
    for line in lines:
        most[line["size"]] = max(most.get(line["size"], 0), int(line["pictures"]))
    return [line for line in lines if int(line["pictures"]) == most[line["size"]]]


def wavelet_series(lines, direction):
    """A series for each size, small to large."""
    samples = {line["size"]: (line.counter("samples") or 0, int(line["pictures"]))
               for line in lines}
    series = []
    for size, color in zip(sorted(samples, key=samples.get), SIZE_COLORS):
        pictures = samples[size][1]
        series.append(series_of(
            size + (f", {pictures} in flight" if pictures > 1 else ", alone"), color,
            {line["wavelet"]: line for line in lines
             if line["size"] == size and line["direction"] == direction}))
    return series


def wavelet_bars(results, path):
    lines = wavelet_lines(results)
    if not lines:
        raise BenchError("no bars of wavelets: no line of case:dwt with index 8 has a \"ratio\"")
    wavelets = [name for name in WAVELETS if any(line["wavelet"] == name for line in lines)]
    series = {direction: wavelet_series(lines, direction) for direction in DIRECTIONS}
    figure, axes = panels(4.2)
    for direction, panel in axes.items():
        panel.set_title(direction)
        draw_bars(panel, wavelets, series[direction], ratio_text, upright=True)
        panel.set_xticks(range(len(wavelets)), wavelets)
        panel.legend(loc="upper right", ncol=2)
    axes["forward"].set(ylabel="ratio to a streaming kernel of the same bytes",
                        ylim=(0, 1.15 * max(map(most_of, series.values()))))
    figure.subplots_adjust(left=0.06, right=0.99, top=0.93, bottom=0.14, wspace=0.05)
    save(figure, path, device_line(results, "cuda"))
