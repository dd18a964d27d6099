#!/usr/bin/python3
"""A JPEG file's quantization tables, DC image and share of zeros, as numpy arrays.

usage: coefficients_to_numpy.py FILE.jpg

Needs python3-gi, python3-numpy, the typelib of libgstcoef-1.0 and the plugin: `meson devenv -C
build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCoef", "1.0")
from gi.repository import GLib, Gst, GstCoef  # noqa: E402
import numpy  # noqa: E402

# Without a feature in parentheses, video/x-dct is in system memory.
PIPELINE = "filesrc name=file ! jpegcoefdec ! video/x-dct ! appsink name=sink sync=false"


def first_picture(path):
    """The caps and the buffer of the first picture in a file."""
    pipeline = Gst.parse_launch(PIPELINE)
    pipeline.get_by_name("file").set_property("location", path)
    sample = None
    if pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE:
        # None at the end of the stream, which an error of the decoder's causes, too.
        sample = pipeline.get_by_name("sink").emit("pull-sample")
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.WARNING)
    pipeline.set_state(Gst.State.NULL)
    if sample:
        return sample.get_caps(), sample.get_buffer()
    if not message:
        raise ValueError(f"{path}: no picture")
    failed = message.type == Gst.MessageType.ERROR
    error, debug = message.parse_error() if failed else message.parse_warning()
    raise ValueError(f"{path}: {error.message}: {debug}")


def coefficients_of(buffer, component):
    """Quantized coefficients of a component: rows, columns of blocks, then v and u in a block."""
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise ValueError("the buffer cannot be mapped")
    shape = component.blocks_h, component.blocks_w, 8, 8
    strides = component.stride, 8 * 8 * 2, 8 * 2, 2
    coefs = numpy.ndarray(shape, "<i2", mapped.data, component.offset, strides).copy()
    buffer.unmap(mapped)
    return coefs


def table_of(meta, component):
    """The 8 x 8 quantization table of a component."""
    return numpy.array(meta.get_table(component.table, GstCoef.DctOrder.RASTER)).reshape(8, 8)


def dc_image(coefs, table):
    """One sample per block, its mean: the picture at an eighth of its width and height."""
    # DC is eight times the mean of what is left of the samples after 128 has been subtracted.
    return 128 + coefs[:, :, 0, 0] * table[0, 0] / 8


def main(path):
    Gst.init(None)
    try:
        caps, buffer = first_picture(path)
    except (ValueError, GLib.Error) as error:
        print(error, file=sys.stderr)
        return 1
    _ok, info, _reason = GstCoef.DctInfo.from_caps(caps)
    meta = GstCoef.buffer_get_dct_meta(buffer)
    components = [meta.get_component(index) for index in range(info.n_components)]
    print(f"{info.width} x {info.height}, {GstCoef.Sampling.to_string(info.sampling)}, "
          f"{meta.n_tables} quantization tables")

    coefs = coefficients_of(buffer, components[0])
    table = table_of(meta, components[0])
    print(f"\nquantization table of the first component:\n{table}")

    image = dc_image(coefs, table)
    print(f"\nDC image, {image.shape[1]} x {image.shape[0]}, "
          f"{image.min():.1f} to {image.max():.1f}:\n{image.round(1)}\n")
    for index, component in enumerate(components):
        zeros = numpy.mean(coefficients_of(buffer, component) == 0)
        print(f"component {index + 1}: {100 * zeros:.2f} % of the coefficients are 0")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
