#!/usr/bin/python3
# docs/examples/numpy_to_jpeg.py: libjpeg-turbo's djpeg shows the waves, and the levels come back;
# what pages show of the examples stands in them.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: numpy_to_jpeg_test.py FOLDER-OF-THE-EXAMPLES       exits 77 where something is missing
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import numpy
    import coefficients_to_numpy as reader
    import numpy_to_jpeg as example
    from gi.repository import GLib, Gst, GstCoef
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)


def run(path):
    return subprocess.run([sys.executable, os.path.join(sys.argv[1], "numpy_to_jpeg.py"), path],
                          capture_output=True, text=True)


def decoded(path):
    """The picture by djpeg."""
    pgm = subprocess.run(["djpeg", "-dct", "int", path], check=True, stdout=subprocess.PIPE).stdout
    magic, width, height, _most = pgm.split(maxsplit=4)[:4]
    assert magic == b"P5"
    size = int(width) * int(height)
    return numpy.frombuffer(pgm[-size:], numpy.uint8).reshape(int(height), int(width))


def wave(v, u):
    """The samples of a block whose only coefficient is (v, u), by the definition."""
    y, x = numpy.mgrid[:8, :8]
    scale = (1 / numpy.sqrt(2) if v == 0 else 1) * (1 / numpy.sqrt(2) if u == 0 else 1) / 4
    return 128 + 440 * scale * (numpy.cos((2 * y + 1) * v * numpy.pi / 16) *
                                numpy.cos((2 * x + 1) * u * numpy.pi / 16))


def check_waves(path):
    done = run(path)
    assert done.returncode == 0, done.stderr
    picture = decoded(path)
    assert picture.shape == (64, 64)
    for v in range(8):
        for u in range(8):
            block = picture[8 * v:8 * v + 8, 8 * u:8 * u + 8]
            assert abs(block - wave(v, u)).max() <= 1, (v, u)


def check_any_levels(path):
    """Levels and a table of no symmetry, at more columns than rows."""
    numbers = numpy.random.default_rng(5)
    levels = numbers.integers(-100, 100, (3, 5, 8, 8))
    table = numbers.integers(1, 255, (8, 8))
    example.write_jpeg(path, levels, table)
    _caps, buffer = reader.first_picture(path)
    meta = GstCoef.buffer_get_dct_meta(buffer)
    component = meta.get_component(0)
    assert (reader.levels_of(buffer, component) == levels).all()
    assert (reader.table_of(meta, component) == table).all()


def check_refused(path):
    done = run(os.path.join(path, "in-no-folder.jpg"))
    assert done.returncode == 1 and "in-no-folder.jpg" in done.stderr, done.stderr
    try:
        example.write_jpeg(path, numpy.full((1, 1, 8, 8), 5000), numpy.ones((8, 8), int))
        raise AssertionError("a level of 5000 was written")
    except GLib.Error as error:
        assert "level 5000" in error.message, error.message


def check_pages():
    """Python in a page is a piece of an example, word for word."""
    for page, script in (("libgstcoef.md", "numpy_to_jpeg.py"),
                         ("tutorial-mjpeg.md", "coefficients_to_numpy.py")):
        with open(os.path.join(sys.argv[1], "..", page), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
        with open(os.path.join(sys.argv[1], script), encoding="utf-8") as file:
            text = file.read()
        assert blocks, page
        for block in blocks:
            assert block in text, f"{page} shows what is not in {script}:\n{block}"


def main():
    check_pages()
    if not shutil.which("djpeg"):
        print("SKIP: no djpeg (package libjpeg-turbo-progs)")
        return SKIP
    Gst.init(None)
    with tempfile.TemporaryDirectory(prefix="cudatransform-numpy-") as folder:
        path = os.path.join(folder, "waves.jpg")
        check_waves(path)
        check_any_levels(path)
        check_refused(path)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
