#!/usr/bin/python3
"""numpy coefficients as a JPEG file: the 64 waves of which JPEG puts its pictures together.

usage: numpy_to_jpeg.py FILE.jpg

Block (v, u) of the picture has one coefficient that is not 0: its own number (v, u). Needs
python3-gi, python3-numpy, the typelib of libgstcoef-1.0 and the plugin: `meson devenv -C build` has
them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCoef", "1.0")
from gi.repository import GLib, Gst, GstCoef  # noqa: E402
import numpy  # noqa: E402


def write_jpeg(path, coefs, table):
    """A gray picture. coefs: [row of blocks, block, v, u]; table: the 8 x 8 divisors."""
    rows, columns = coefs.shape[:2]
    _ok, info, _reason = GstCoef.DctInfo.set(
        GstCoef.Format.S16LE, GstCoef.DctLayout.BLOCK, GstCoef.DctOrder.RASTER, True, 8,
        GstCoef.Sampling.GRAYSCALE, 8 * columns, 8 * rows)
    buffer = Gst.Buffer.new_wrapped(coefs.astype("<i2").tobytes())
    GstCoef.buffer_add_dct_meta(buffer, info).set_table(0, table.ravel().tolist())

    pipeline = Gst.parse_launch("appsrc name=source format=time ! jpegcoefenc ! filesink name=file")
    pipeline.get_by_name("file").set_property("location", path)
    source = pipeline.get_by_name("source")
    source.set_property("caps", info.to_caps())
    pipeline.set_state(Gst.State.PLAYING)
    source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        error, debug = message.parse_error()
        raise ValueError(f"{path}: {error.message}: {debug}")


def waves():
    """The coefficients of 8 x 8 blocks, and a table: 110 x 4 is a wave from black to white."""
    coefs = numpy.zeros((8, 8, 8, 8))
    v, u = numpy.mgrid[:8, :8]
    coefs[v, u, v, u] = 110
    return coefs, numpy.full((8, 8), 4)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Gst.init(None)
    try:
        write_jpeg(sys.argv[1], *waves())
    except (ValueError, GLib.Error) as error:
        sys.exit(str(error))
