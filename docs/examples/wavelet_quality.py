#!/usr/bin/python3
"""Each wavelet filter's loss in a picture, beside the DCT's with as many coefficients left.

usage: wavelet_quality.py FILE [SHARE...]

Transforms the brightness of the first picture in FILE there and back with each filter and
quantizer, and prints the PSNR, interpolated, at which so many percent of the coefficients are zero
(default: 80 90 95), as a table in Markdown. Needs python3-gi and the plugin: `meson devenv -C
build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PIPELINE = ("filesrc location=\"{}\" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! "
            "{} keep-reference=true ! {} name=inverse measure=psnr+zeros ! fakesink")
FILTERS = ("haar", "haar-shift", "legall53", "dd97", "dd137", "daub97", "fidelity", "j2k53")


def measured(path, forward, inverse):
    """Percent of zeros and PSNR of the first picture."""
    pipeline = Gst.parse_launch(PIPELINE.format(path, forward, inverse))
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    if message.type == Gst.MessageType.ERROR:
        pipeline.set_state(Gst.State.NULL)
        error, debug = message.parse_error()
        raise ValueError(f"{path}: {error.message}: {debug}")
    stats = pipeline.get_by_name("inverse").get_property("stats")
    values = 100 * stats.get_value("zeros"), stats.get_value("psnr")
    pipeline.set_state(Gst.State.NULL)
    return values


def at_share(points, share):
    """The PSNR where `share` percent are zero, between the two measurements around it."""
    points = sorted(points)
    for (low, below), (high, above) in zip(points, points[1:]):
        if low <= share <= high:
            return below + (above - below) * (share - low) / max(high - low, 1e-9)
    return None


def rows(path):
    for wavelet in FILTERS:
        levels = 3 if wavelet == "fidelity" else 4
        # Bands differ in how much a coefficient's step shows; VC-2 knows that for its filters.
        matrix = "flat" if wavelet == "j2k53" else "vc2"
        yield f"{wavelet}, {levels} levels, quant-matrix={matrix}", [
            measured(path, f"cudadwt wavelet={wavelet} levels={levels} quant-matrix={matrix} "
                     f"quant-index={index}", "cudaidwt") for index in range(4, 53, 3)]
    yield "DCT, JPEG's table", [
        measured(path, f"cudadct8x8 method=float quality={quality}", "cudaidct8x8 method=float")
        for quality in (3, 5, 8, 12, 20, 30, 40, 50, 60, 70, 80, 90, 95)]
    yield "DCT, one divisor", [
        measured(path, f"cudadct8x8 method=float luma-qtable=\"<{','.join(64 * [str(divisor)])}>\"",
                 "cudaidct8x8 method=float")
        for divisor in (2, 3, 5, 8, 12, 18, 25, 35, 50, 70, 100, 140)]


def main(path, *shares):
    Gst.init(None)
    shares = [float(share) for share in shares] or [80, 90, 95]
    print("| | " + " | ".join(f"{share:g} % zeros" for share in shares) + " |")
    print("|---|" + "---|" * len(shares))
    try:
        for name, points in rows(path):
            cells = [at_share(points, share) for share in shares]
            print(f"| {name} | " +
                  " | ".join("-" if cell is None else f"{cell:.2f} dB" for cell in cells) + " |")
    except (ValueError, GLib.Error) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
