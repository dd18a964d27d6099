"""Markdown tables of benchmark results, one for each engine and case."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from bench_runs import ROAD, device_line

# The headings of tables. Other cases have their names as headings.
TITLES = {
    "stream": "The limit: a streaming kernel or copy of the same bytes",
    "limit": "Quantized 16-bit coefficients, block layout, raster order, one 8-bit plane",
    "psnr": "Forward with PSNR in the same pass",
    "decided": "Forward, levels by a dead zone or by rate and distortion",
    "planes": "4:2:0, all planes in one launch",
    "chain": "The jobs of the limit, launched with programmatic dependent launch",
    "format": "Pixel formats, all planes in one launch",
    "scaled": "Inverse at 1/2, 1/4 and 1/8 of the size",
    "ladder": "Every method",
    "gpudct": "GPUDCT's ladder: 16-bit levels to 8-bit samples, dequantized inside",
    "hong": "Hong's algorithms, forward, not quantized",
    "whitepaper": "The whitepaper's 16-bit kernel, forward, quantized",
    "serial": "CPU engine, plain C++, one thread",
    "simd": "CPU engine, SIMD, one thread",
    "tbb": "CPU engine, SIMD where there is any, oneTBB",
    "avdct": "FFmpeg's AVDCT as a whole job",
    "decode": "JPEG pictures of 1080p, from memory to frames",
    "encode": "Frames of 1080p to JPEG pictures of quality 90",
    "turn": "JPEG pictures of 1080p turned by 90 degrees, from memory to memory",
    "convert": "Coefficients in other layouts and formats",
    "flip": "Coefficients of turned pictures",
    "quant": "Coefficients with other tables",
    "range": "Limited range to full range",
    "resize": "RGB to 224 x 224",
    "transpose": "RGB, rotated",
    "rgb": "RGB: planes to pixels (inverse) and back (forward)",
    "dwt": "Wavelets: four levels of 8-bit 4:2:0 (32K: one plane), 16-bit coefficients",
    "L2": "One buffer again and again: resident in the cache, not comparable with the limit",
}


def number_text(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.1g}"


# Columns of cases with one size: counter, heading, format.
COLUMNS = (("ns/block", "ns/block", number_text), ("GB/s", "GB/s", number_text),
           ("ratio", "ratio", ratio_text),
           ("of I420", "GB/s of I420's", ratio_text),
           ("instr/sample", "instructions/sample", "{:.1f}".format),
           ("x AVDCT", "times AVDCT's speed", "{:.1f}".format),
           ("ms/frame", "ms per frame", "{:.2f}".format), ("frames/s", "frames/s", "{:.0f}".format),
           ("x jpegdec", "times jpegdec's speed", "{:.2f}".format),
           ("x jpegenc", "times jpegenc's speed", "{:.2f}".format),
           ("x jpegtran", "times jpegtran's speed on all cores", "{:.2f}".format),
           ("x bare", "times the bare loop's speed", "{:.2f}".format))


def ordered(items):
    return list(dict.fromkeys(items))


def rank(line):
    """Methods are in the order of the road, everything else as it was measured."""
    return ROAD.index(line["method"]) if line["method"] in ROAD else len(ROAD)


def cell(line):
    """Ratio, GB/s and, where there are, GB/s relative to I420's and speed relative to AVDCT's."""
    if line is None:
        return ""
    rate, ratio, i420, avdct = map(line.counter, ("GB/s", "ratio", "of I420", "x AVDCT"))
    texts = [] if rate is None else [number_text(rate) + " GB/s"]
    if i420 is not None:
        texts.append(f"{ratio_text(i420)} of I420's")
    if avdct is not None:
        texts.append(f"{avdct:.1f} x AVDCT")
    text = ", ".join(texts)
    return text if ratio is None else f"**{ratio_text(ratio)}**" + (f" ({text})" if text else "")


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def print_table(header, rows):
    print(markdown(header, rows) + "\n", flush=True)


def table(results, engine, case):
    lines = sorted(results.select(engine=engine, case=case), key=rank)
    sizes = results.sizes(engine=engine, case=case)
    names = ordered(key for line in lines for key in line.keys if key not in
                    ("engine", "case", "size"))
    if len(sizes) > 1:
        rows = []
        for values in ordered(tuple(line[name] for name in names) for line in lines):
            wanted = dict(zip(names, values))
            found = [next(iter(results.select(engine=engine, case=case, size=size, **wanted)), None)
                     for size in sizes]
            rows.append([*values, *map(cell, found)])
        return markdown([*names, *sizes], rows)
    return one_size_table(lines, names)


def forms_table(results, size):
    """What SIMD and threads gain: milliseconds of a frame by each method, on the CPU."""
    forms = ("serial", "simd", "tbb")
    here = {"engine": "cpu", "size": size}
    lines = [line for form in forms for line in results.select(case=form, **here)]
    rows = []
    for method, direction in ordered((line["method"], line["direction"])
                                     for line in sorted(lines, key=rank)):
        times = []
        for form in forms:
            line = next(iter(results.select(case=form, method=method, direction=direction,
                                            **here)), None)
            block, blocks = (line.counter(name) if line else None for name in
                             ("ns/block", "blocks"))
            times.append(1e-6 * block * blocks if block and blocks else None)
        if times.count(None) > 1:
            continue  # nothing to compare
        gains = [f"{times[0] / time:.1f}" if times[0] and time else "" for time in times[1:]]
        rows.append([method, direction,
                     *("" if time is None else number_text(time) for time in times), *gains])
    return markdown(["method", "direction", "serial, ms", "SIMD, ms", "SIMD and oneTBB, ms",
                     "SIMD's gain", "both gains"], rows) if rows else ""


def one_size_table(lines, names):
    columns = [c for c in COLUMNS if any(line.counter(c[0]) is not None for line in lines)]
    slowest = {line["direction"]: line.counter("ns/block") for line in lines
               if line["method"] == ROAD[0]}
    header = [*names, *(heading for _, heading, _ in columns)]
    if slowest:
        header.append(f"times {ROAD[0]}'s speed")
    rows = []
    for line in lines:
        row = [line[name] for name in names]
        for counter, _, form in columns:
            value = line.counter(counter)
            row.append("" if value is None else form(value))
        if slowest:
            time, base = line.counter("ns/block"), slowest.get(line["direction"])
            row.append(f"{base / time:.1f}" if base and time else "")
        rows.append(row)
    return markdown(header, rows)


def spread(results, engine):
    """The spread of runs, where there are several."""
    worst, name = 0.0, ""
    for line in results.select(engine=engine):
        least, most = line.ranges.get("ns/block", (0, 0))
        if least and most / least - 1 > worst:
            worst, name = most / least - 1, line.name
    return f"Runs differ by up to {100 * worst:.0f} % ({name})." if name else ""


def document(results, peers=(), peers_source=""):
    """Every table as Markdown."""
    parts = []
    for engine in ordered(line["engine"] for line in results.lines):
        parts.append(device_line(results, engine) + ".")
        date = results.contexts[engine].get("date", "")[:10]
        reasons = results.contexts[engine].get("throttle_reasons")
        parts[-1] += f" Measured {date}." if date else ""
        parts[-1] += f" Clocks held back by: {reasons}." if reasons else ""
        if engine != "jpeg":
            parts[-1] += " Bold: time of the streaming kernel or copy over the time."
        if results.runs[engine] > 1 and (text := spread(results, engine)):
            parts[-1] += " " + text
        for size in results.sizes(engine=engine, case="serial"):
            if engine == "cpu" and (text := forms_table(results, size)):
                parts += [f"### A frame of {size}: plain C++, SIMD, SIMD and threads", text]
        for case in ordered(line["case"] for line in results.select(engine=engine)):
            size = results.sizes(engine=engine, case=case)
            title = TITLES.get(case, case)
            parts.append(f"### {title}" + (f", {size[0]}" if len(size) == 1 else ""))
            parts.append(table(results, engine, case))
    if peers:
        sizes = ordered(size for peer in peers for size in peer["ratios"])
        parts += ["### Peers", peers_source, markdown(
            ["peer", "direction", *sizes],
            [[peer["name"], peer["direction"],
              *(f"{peer['ratios'][s]:.2f}" if s in peer["ratios"] else "" for s in sizes)]
             for peer in peers])]
    return "\n\n".join(parts) + "\n"
