#!/usr/bin/python3
"""The wavelet pyramid of the first picture in a file, as a PNG, and a line about each band.

usage: pyramid_to_png.py FILE OUT.png [PROPERTIES of cudadwt, such as wavelet=dd97 levels=3]

Needs python3-gi, python3-numpy, the typelib of libgstcoef-1.0 and the plugin: `meson devenv -C
build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct
import sys
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCoef", "1.0")
from gi.repository import GLib, Gst, GstCoef  # noqa: E402
import numpy  # noqa: E402

# Without a feature in parentheses, video/x-dwt is in system memory.
PIPELINE = ("filesrc name=file ! decodebin ! videoconvert ! cudadwt {} ! video/x-dwt ! "
            "appsink name=sink sync=false")


def pull(pipeline):
    """The first sample of a pipeline that ends in an appsink."""
    sample = None
    if pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE:
        sample = pipeline.get_by_name("sink").emit("pull-sample")
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if not sample:
        raise ValueError(message.parse_error()[1] if message else "no picture")
    return sample


def first_picture(path, properties):
    """The DwtInfo of the first picture in a file, and its buffer of coefficients."""
    pipeline = Gst.parse_launch(PIPELINE.format(properties))
    pipeline.get_by_name("file").set_property("location", path)
    sample = pull(pipeline)
    ok, info, reason = GstCoef.DwtInfo.from_caps(sample.get_caps())
    if not ok:
        raise ValueError(reason)
    return info, sample.get_buffer()


def coefficients_of(info, buffer, index):
    """All coefficients of a component, as its pyramid: a copy."""
    meta = GstCoef.buffer_get_dwt_meta(buffer)
    ok, reason = meta.validate(info, buffer.get_size())
    if not ok:
        raise ValueError(reason)
    component = meta.get_component(index)
    kind = "<i2" if info.format == GstCoef.Format.S16LE else "<i4"
    size = GstCoef.Format.size(info.format)
    ok, mapped = buffer.map(Gst.MapFlags.READ)
    if not ok:
        raise ValueError("the buffer cannot be mapped")
    pyramid = numpy.ndarray((component.padded_height, component.padded_width), kind, mapped.data,
                            component.offset, (component.stride, size)).copy()
    buffer.unmap(mapped)
    return pyramid


def bands_of(info, pyramid, index):
    """Each band of a component: where it is, and its part of the pyramid, which is no copy."""
    for number in range(info.get_n_bands()):
        _ok, band = info.get_band(index, number)
        yield band, pyramid[band.y:band.y + band.height, band.x:band.x + band.width]


def picture_of(info, pyramid):
    """The pyramid to look at: the coarsest band from black to white, the others around gray."""
    picture = numpy.zeros(pyramid.shape, numpy.uint8)
    for band, values in bands_of(info, pyramid, 0):
        values = values.astype(float)
        if band.level == 0:
            values = 255 * (values - values.min()) / max(numpy.ptp(values), 1)
        else:
            # One in a hundred may be out of scale.
            values = 128 + 127 * values / max(numpy.percentile(abs(values), 99), 16)
        picture[band.y:band.y + band.height, band.x:band.x + band.width] = values.clip(0, 255)
    return picture


def write_png(path, gray):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width = gray.shape
    rows = numpy.insert(gray, 0, 0, axis=1).tobytes()  # each begins with its filter: none
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" +
                   chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main(path, out, *properties):
    Gst.init(None)
    try:
        info, buffer = first_picture(path, " ".join(properties))
        pyramid = coefficients_of(info, buffer, 0)
    except (ValueError, GLib.Error) as error:
        print(error, file=sys.stderr)
        return 1
    meta = GstCoef.buffer_get_dwt_meta(buffer)
    print(f"{info.width} x {info.height}, {GstCoef.DwtWavelet.to_string(info.wavelet)}, "
          f"{info.levels} levels: {pyramid.shape[1]} x {pyramid.shape[0]} coefficients")
    for number, (band, values) in enumerate(bands_of(info, pyramid, 0)):
        print(f"level {band.level} {band.orientation.value_nick:>2}: {band.width} x {band.height}, "
              f"quantizer {meta.get_quant_index(0, number)}, "
              f"{100 * numpy.mean(values == 0):.2f} % zeros")
    write_png(out, picture_of(info, pyramid))
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
