"""Rate against quality: curves of encoders, what they save at equal quality, tables, pictures."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import csv
import math
import os
from typing import NamedTuple

import bench_tables
import numpy

# Key: name, and 1 where more is better, -1 where less is.
METRICS = {"ssimulacra2": ("SSIMULACRA2", 1), "butteraugli": ("Butteraugli, 3-norm", -1),
           "psnr": ("PSNR of RGB", 1), "psnr_y": ("PSNR of Y", 1)}
FIELDS = ("picture", "sampling", "pixels", "encoder", "quality", "bytes", *METRICS)


class Span(NamedTuple):
    """The base's qualities between which encoders are compared."""

    low: int
    high: int


def curve(points, metric):
    """Two arrays of a picture's points: goodness, which increases, and the logarithm of bytes."""
    sign = METRICS[metric][1]
    pairs = sorted((sign * point[metric], math.log(point["bytes"])) for point in points
                   if point.get(metric) is not None and math.isfinite(point[metric]))
    # Of points of equal goodness the smallest counts, as the first one in order.
    kept = [pair for index, pair in enumerate(pairs) if not index or pair[0] > pairs[index - 1][0]]
    return tuple(numpy.array(column) for column in zip(*kept)) if kept else ((), ())


def mean_difference(base, other, low=-math.inf, high=math.inf):
    """The mean of other minus base where both are, between low and high; None: nowhere.

    Both are curves, linear from point to point. So is the difference between any two neighbors of
    all points together, and the sum of trapezia is exact.
    """
    if not len(base[0]) or not len(other[0]):
        return None
    low, high = max(low, base[0][0], other[0][0]), min(high, base[0][-1], other[0][-1])
    if low >= high:
        return None
    inside = [x for x in (*base[0], *other[0]) if low < x < high]
    xs = numpy.array(sorted({low, high, *inside}))
    ys = numpy.interp(xs, *other) - numpy.interp(xs, *base)
    return float(((ys[1:] + ys[:-1]) / 2 * numpy.diff(xs)).sum() / (high - low))


def group(points):
    """{(picture, encoder): points}"""
    groups = {}
    for point in points:
        groups.setdefault((point["picture"], point["encoder"]), []).append(point)
    return groups


def percent(difference):
    """A difference of logarithms as % of bytes."""
    return 100 * (math.exp(difference) - 1)


def savings(points, base, metric, span):
    """{encoder: {picture: logarithm of its bytes over the base's at equal quality}}"""
    groups, sign, found = group(points), METRICS[metric][1], {}
    for (picture, encoder), own in groups.items():
        of_base = groups.get((picture, base), [])
        ends = [sign * point[metric] for point in of_base
                if point["quality"] in span and point.get(metric) is not None]
        if len(ends) == 2:
            mean = mean_difference(curve(of_base, metric), curve(own, metric), min(ends), max(ends))
            if mean is not None:
                found.setdefault(encoder, {})[picture] = mean
    return found


def ordered(points, key):
    return list(dict.fromkeys(point[key] for point in points))


def rate_rows(points, base, spans):
    """Rows of the table of BD-rates: encoder, and of each metric one text of all spans."""
    rows = []
    for encoder in ordered(points, "encoder"):
        if encoder == base:
            continue
        row = [encoder]
        for metric in METRICS:
            texts = []
            for span in spans:
                of_pictures = savings(points, base, metric, span).get(encoder, {})
                texts.append(f"{percent(numpy.mean(list(of_pictures.values()))):+.1f}"
                             if of_pictures else "-")
            row.append("; ".join([f"**{texts[0]}**", *texts[1:]]))
        rows.append(row)
    return rows


def worst_rows(points, base, span):
    """Rows of encoder, and of each metric the picture that it saves least in, with its %."""
    rows = {encoder: [encoder] for encoder in ordered(points, "encoder") if encoder != base}
    for metric in METRICS:
        found = savings(points, base, metric, span)
        for encoder, row in rows.items():
            saved, picture = max(((value, name) for name, value in found.get(encoder, {}).items()),
                                 default=(None, ""))
            row.append("-" if saved is None else f"{percent(saved):+.1f} {picture}")
    return list(rows.values())


def document(points, base, spans):
    """The tables of BD-rates as Markdown: of all pictures, the worst of them, and each one."""
    head = ", then ".join(f"{span.low} to {span.high}" for span in spans)
    names = [name for name, _ in METRICS.values()]
    count = len(ordered(points, "picture"))
    parts = [f"% of bytes against {base} at equal quality, mean of {count} pictures; over what "
             f"{base} covers from quality {head}:",
             bench_tables.markdown(["encoder", *names], rate_rows(points, base, spans)),
             f"The picture of which each saves least, quality {spans[0].low} to {spans[0].high}:",
             bench_tables.markdown(["encoder", *names], worst_rows(points, base, spans[0]))]
    encoders = [encoder for encoder in ordered(points, "encoder") if encoder != base]
    for metric in ("ssimulacra2", "butteraugli"):
        found = savings(points, base, metric, spans[0])
        if any(found.get(encoder) for encoder in encoders):
            rows = [[picture, *(f"{percent(found[encoder][picture]):+.1f}"
                                if picture in found.get(encoder, {}) else "-"
                                for encoder in encoders)]
                    for picture in ordered(points, "picture")]
            parts += [f"Each picture, {METRICS[metric][0]}, quality {spans[0].low} to "
                      f"{spans[0].high}:", bench_tables.markdown(["picture", *encoders], rows)]
    return "\n\n".join(parts) + "\n"


# ---- Files of points ----

def read_csv(path):
    """Points of a file, [] where there is none. Raises ValueError."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != FIELDS:
            raise ValueError(f"{path}: the columns are not {', '.join(FIELDS)}")
        return [{**row, **{key: int(row[key]) for key in ("pixels", "quality", "bytes")},
                 **{key: float(row[key]) if row[key] else None for key in METRICS}}
                for row in reader]


def append_csv(path, point):
    is_new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(point)


# ---- Pictures ----

def mean_curve(points, encoder, metric):
    """Bits a pixel and the metric at each quality: means of all pictures, of rates' logarithms."""
    own = [point for point in points if point["encoder"] == encoder and point[metric] is not None]
    found = []
    for quality in sorted({point["quality"] for point in own}):
        at = [point for point in own if point["quality"] == quality]
        rate = numpy.mean([math.log(8 * point["bytes"] / point["pixels"]) for point in at])
        found.append((math.exp(rate), numpy.mean([point[metric] for point in at])))
    return tuple(zip(*found))


def saving_curve(points, base, encoder, metric):
    """The base's qualities, and % of its bytes that the encoder takes for as much of the metric."""
    groups, sign, found = group(points), METRICS[metric][1], {}
    for picture in ordered(points, "picture"):
        own = curve(groups.get((picture, encoder), []), metric)
        for point in groups.get((picture, base), []):
            x = None if point[metric] is None else sign * point[metric]
            if x is not None and len(own[0]) and own[0][0] <= x <= own[0][-1]:
                found.setdefault(point["quality"], []).append(
                    float(numpy.interp(x, *own)) - math.log(point["bytes"]))
    # A quality that only some pictures have would bend the mean.
    most = max(map(len, found.values()), default=0)
    return tuple(zip(*((quality, percent(numpy.mean(values)))
                       for quality, values in sorted(found.items()) if len(values) == most)))


def plot(points, base, path, caption):
    """Draws rate against quality, and below what each encoder saves, a column for each metric."""
    import bench_plots
    encoders = [base, *(name for name in ordered(points, "encoder") if name != base)]
    # Dashes, as the line below may be the same.
    styles = {encoder: {"color": color, "linestyle": "-" if index else "--", "label": encoder,
                        "linewidth": 1.2, "zorder": 2 if index else 3}
              for index, (encoder, color) in enumerate(
                  zip(encoders, ("black", *bench_plots.SIZE_COLORS, *bench_plots.GRAYS)))}
    metrics = [metric for metric in METRICS if any(point[metric] is not None for point in points)]
    figure, axes = bench_plots.pyplot.subplots(2, len(metrics), figsize=(3.6 * len(metrics), 7),
                                               squeeze=False)
    for column, metric in enumerate(metrics):
        name, sign = METRICS[metric]
        upper, lower = axes[0][column], axes[1][column]
        for encoder, style in styles.items():
            if drawn := mean_curve(points, encoder, metric):
                upper.plot(*drawn, **style)
            if drawn := saving_curve(points, base, encoder, metric):
                lower.plot(*drawn, **style)
        upper.set(title=name, xlabel="bits a pixel", xscale="log")
        upper.xaxis.set_major_formatter(bench_plots.ticker.FormatStrFormatter("%g"))
        upper.xaxis.set_minor_formatter(bench_plots.ticker.NullFormatter())
        upper.set_xticks([0.5, 1, 2, 4])
        if sign < 0:
            upper.invert_yaxis()  # better is up, as with the others
        lower.set(xlabel=f"{base}'s quality")
    axes[1][0].set_ylabel(f"bytes against {base}, %")
    axes[0][0].legend(loc="lower right")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    bench_plots.save(figure, path, caption)
