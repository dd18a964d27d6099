#!/usr/bin/python3
# docs/examples/pyramid_to_png.py: its numbers against a Haar transform in numpy, and its picture.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: pyramid_to_png_test.py FOLDER-OF-THE-EXAMPLE       exits 77 where something is missing
import contextlib
import io
import os
import sys
import tempfile

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import numpy
    import pyramid_to_png as example
    from gi.repository import Gst, GstCoef
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

WIDTH, HEIGHT = 85, 43


def write_picture(path):
    """A grey picture in a file, by the example's own writer."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    grey = (128 + 90 * numpy.sin(x / 5) * numpy.cos(y / 3) + (x * y) % 7).astype(numpy.uint8)
    example.write_png(path, grey)
    return grey


def haar(values, levels):
    """Haar without a shift, of padded values: rows, then columns, then the low band again."""
    out = values.copy()
    height, width = values.shape
    for _level in range(levels):
        for axis, half in ((1, width // 2), (0, height // 2)):
            part = numpy.moveaxis(out[:height, :width].copy(), axis, 0)
            high = part[1::2] - part[0::2]
            low = part[0::2] + ((high + 1) >> 1)
            out[:height, :width] = numpy.moveaxis(numpy.concatenate((low, high)), 0, axis)
            assert len(low) == half
        height, width = height // 2, width // 2
    return out


def check_numbers(path, grey):
    info, buffer = example.first_picture(path, "wavelet=haar levels=3 backend=cpu")
    assert info.sampling == GstCoef.Sampling.GRAYSCALE and info.format == GstCoef.Format.S16LE
    pyramid = example.coefficients_of(info, buffer, 0)
    padded = numpy.pad(grey.astype(int) - 128, ((0, 48 - HEIGHT), (0, 88 - WIDTH)), "edge")
    assert numpy.array_equal(pyramid, haar(padded, 3))
    parts = list(example.bands_of(info, pyramid, 0))
    assert len(parts) == 10 and sum(values.size for _band, values in parts) == pyramid.size
    assert parts[0][1].shape == (6, 11)


def caps_of_png(path):
    pipeline = Gst.parse_launch("filesrc name=file ! pngdec ! video/x-raw,format=GRAY8 ! "
                                "appsink name=sink sync=false")
    pipeline.get_by_name("file").set_property("location", path)
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").emit("pull-sample")
    pipeline.set_state(Gst.State.NULL)
    assert sample, "the picture cannot be read"
    return sample.get_caps()


def check_program(path, folder):
    out = os.path.join(folder, "pyramid.png")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert example.main(path, out, "levels=2", "quant-index=24", "backend=cpu") == 0
    lines = said.getvalue().splitlines()
    assert lines[0] == "85 x 43, legall53, 2 levels: 88 x 44 coefficients", lines[0]
    assert len(lines) == 8 and lines[1].startswith("level 0 ll: 22 x 11, quantiser 24"), lines[1]
    assert lines[7].startswith("level 2 hh: 44 x 22"), lines[7]
    expected = Gst.Caps.from_string("video/x-raw,format=GRAY8,width=88,height=44")
    assert caps_of_png(out).is_subset(expected)
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        assert example.main(path, out, "levels=0", "backend=cpu") == 1
        assert example.main(os.path.join(folder, "none.png"), out) == 1
    assert "levels and levels-ho are 0" in errors.getvalue(), errors.getvalue()


def main():
    Gst.init(None)
    if not Gst.ElementFactory.find("pngdec"):
        print("SKIP: no pngdec")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.png")
        grey = write_picture(path)
        check_numbers(path, grey)
        check_program(path, folder)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
