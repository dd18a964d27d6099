#!/usr/bin/python3
"""The energy of each of the 64 frequencies of a film, live, as a mosaic of 8 x 8 squares.

usage: live_spectrum.py [SOURCE [SINK]]      as gst-launch-1.0 has them, such as v4l2src

Frequencies grow to the right and downwards; DC is at the top left. Black is an energy of 1 or less,
white one of a million or more. Needs python3-gi, python3-numpy, the typelib of libgstcoef-1.0 and
the plugin: `meson devenv -C build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCoef", "1.0")
from gi.repository import Gst, GstCoef  # noqa: E402
import numpy  # noqa: E402

SQUARE = 32    # samples on a side
WHITE = 60     # dB
SIDE = 8 * SQUARE
# A plane for each frequency, in system memory; and frames of mosaics. Two pipelines, because the
# second has no frame before the first runs.
BANDS = ("{} ! videoconvert ! cudadct8x8 ! video/x-dct,quantized=false ! cudadctconvert ! "
         "video/x-dct,layout=band,format=F32LE ! appsink name=bands emit-signals=true")
MOSAICS = ("appsrc name=mosaics format=time is-live=true do-timestamp=true "
           f"caps=video/x-raw,format=GRAY8,width={SIDE},height={SIDE},framerate=0/1 ! "
           "videoconvert ! {}")


def natural_of_zigzag():
    """The index 8 v + u of each frequency in the order of a JPEG file."""
    def key(place):
        v, u = divmod(place, 8)
        return v + u, v if (v + u) % 2 else u
    return sorted(range(64), key=key)


def energies_of(sample):
    """The mean square of each frequency of the first component: (8, 8), v before u."""
    ok, info, reason = GstCoef.DctInfo.from_caps(sample.get_caps())
    if not ok:
        raise ValueError(reason)
    buffer = sample.get_buffer()
    meta = GstCoef.buffer_get_dct_meta(buffer)
    ok, reason = meta.validate(info, buffer.get_size())
    if not ok:
        raise ValueError(reason)
    part = meta.get_component(0)
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise ValueError("the buffer cannot be mapped")
    bands = numpy.ndarray((64, part.blocks_h, part.blocks_w), "<f4", mapped.data, part.offset,
                          (part.blocks_h * part.stride, part.stride, 4))
    energies = numpy.empty(64)
    energies[natural_of_zigzag()] = (bands.astype(float) ** 2).mean(axis=(1, 2))
    buffer.unmap(mapped)
    return energies.reshape(8, 8)


def mosaic_of(energies):
    """uint8 (SIDE, SIDE): a square for each energy, by its decibels."""
    decibels = 10 * numpy.log10(numpy.maximum(energies, 1))
    shades = numpy.minimum(255 * decibels / WHITE, 255).astype(numpy.uint8)
    return shades.repeat(SQUARE, axis=0).repeat(SQUARE, axis=1)


def show(sink, source):
    """Turns a sample of bands into a frame."""
    frame = mosaic_of(energies_of(sink.emit("pull-sample")))
    return source.emit("push-buffer", Gst.Buffer.new_wrapped(frame.tobytes()))


def end_of(pipeline):
    """Waits for the end of the stream. Ends the program for an error."""
    message = None
    while not message:  # a wait without an end would not hear Ctrl-C
        message = pipeline.get_bus().timed_pop_filtered(
            Gst.SECOND // 4, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    if message.type == Gst.MessageType.ERROR:
        error, debug = message.parse_error()
        sys.exit(f"{error.message}: {debug}")


def main(source="videotestsrc is-live=true pattern=ball", sink="autovideosink"):
    Gst.init(None)
    film, shown = (Gst.parse_launch(line) for line in (BANDS.format(source), MOSAICS.format(sink)))
    mosaics = shown.get_by_name("mosaics")
    film.get_by_name("bands").connect("new-sample", show, mosaics)
    try:
        shown.set_state(Gst.State.PLAYING)
        film.set_state(Gst.State.PLAYING)
        end_of(film)
        mosaics.emit("end-of-stream")
        end_of(shown)
    finally:
        film.set_state(Gst.State.NULL)
        shown.set_state(Gst.State.NULL)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
