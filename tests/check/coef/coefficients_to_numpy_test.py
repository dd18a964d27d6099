#!/usr/bin/python3
# docs/examples/coefficients_to_numpy.py against what libjpeg-turbo's programs make and say.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: coefficients_to_numpy_test.py FOLDER-OF-THE-EXAMPLE    exits 77 where something is missing
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import numpy
    import coefficients_to_numpy as example
    from gi.repository import Gst, GstCoef
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

WIDTH, HEIGHT = 85, 43  # partial blocks at both edges
# ITU-T T.81, table K.1, which is what quality 50 means.
ANNEX_K_FIRST_ROW = [16, 11, 10, 16, 24, 40, 51, 61]


def picture():
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    return (128 + 90 * numpy.sin(x / 5) * numpy.cos(y / 3) + (x + y) % 7).astype(numpy.uint8)


def compress(samples, path):
    header = b"P5\n%d %d\n255\n" % (samples.shape[1], samples.shape[0])
    subprocess.run(["cjpeg", "-quality", "50", "-outfile", path],
                   input=header + samples.tobytes(), check=True)


def eighth(path):
    """The picture at 1/8 by djpeg: of each block the mean, rounded and clamped."""
    pgm = subprocess.run(["djpeg", "-dct", "int", "-scale", "1/8", path], check=True,
                         stdout=subprocess.PIPE).stdout
    magic, width, height, _most = pgm.split(maxsplit=4)[:4]
    assert magic == b"P5"
    size = int(width) * int(height)
    return numpy.frombuffer(pgm[-size:], numpy.uint8).reshape(int(height), int(width))


def parts(path):
    caps, buffer = example.first_picture(path)
    ok, info, reason = GstCoef.DctInfo.from_caps(caps)
    assert ok and info.n_components == 1
    meta = GstCoef.buffer_get_dct_meta(buffer)
    component = meta.get_component(0)
    return example.levels_of(buffer, component), example.table_of(meta, component)


def check_waves(path):
    compress(picture(), path)
    levels, table = parts(path)
    assert levels.shape == (6, 11, 8, 8), levels.shape
    assert table[0].tolist() == ANNEX_K_FIRST_ROW, table
    image = example.dc_image(levels, table)
    rounded = numpy.floor(image + 0.5).clip(0, 255)
    assert (rounded == eighth(path)).all()
    assert image.std() > 20  # there was something to see


def check_printed(path):
    """Of an even grey all levels are 0, but for DC where it is not 128."""
    compress(numpy.full((HEIGHT, WIDTH), 200, numpy.uint8), path)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert example.main(path) == 0
    text = text.getvalue()
    print(text)
    assert f"{WIDTH} x {HEIGHT}, GRAYSCALE, 1 quantisation tables" in text
    assert "DC image, 11 x 6, 200.0 to 200.0" in text
    assert "component 1: 98.44 % of the levels are 0" in text  # 63 of 64


def check_refused(path):
    with open(path, "wb") as file:
        file.write(b"This is no JPEG file.")
    with contextlib.redirect_stderr(io.StringIO()):
        assert example.main(path) == 1
        assert example.main(path + "-that-does-not-exist") == 1


def main():
    if not shutil.which("cjpeg") or not shutil.which("djpeg"):
        print("SKIP: no cjpeg or djpeg (package libjpeg-turbo-progs)")
        return SKIP
    Gst.init(None)
    with tempfile.TemporaryDirectory(prefix="cudatransform-numpy-") as folder:
        path = os.path.join(folder, "picture.jpg")
        check_waves(path)
        check_printed(path)
        check_refused(path)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
