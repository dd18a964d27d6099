#!/usr/bin/python3
# docs/examples/coefficients_to_numpy.py and numpy_to_jpeg.py against libjpeg-turbo's programs;
# pages show the examples' own lines.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: numpy_examples_test.py FOLDER-OF-THE-EXAMPLES      exits 77 where something is missing
import contextlib
import io
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
    import numpy_to_jpeg as writer
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


def decoded(path, *options):
    """The picture by djpeg."""
    pgm = subprocess.run(["djpeg", "-dct", "int", *options, path], check=True,
                         stdout=subprocess.PIPE).stdout
    magic, width, height, _most = pgm.split(maxsplit=4)[:4]
    assert magic == b"P5"
    size = int(width) * int(height)
    return numpy.frombuffer(pgm[-size:], numpy.uint8).reshape(int(height), int(width))


def parts(path):
    """A gray file's coefficients and table, by the example."""
    caps, buffer = reader.first_picture(path)
    ok, info, _reason = GstCoef.DctInfo.from_caps(caps)
    assert ok and info.n_components == 1
    meta = GstCoef.buffer_get_dct_meta(buffer)
    component = meta.get_component(0)
    return reader.coefficients_of(buffer, component), reader.table_of(meta, component)


def check_read(path):
    compress(picture(), path)
    coefs, table = parts(path)
    assert coefs.shape == (6, 11, 8, 8), coefs.shape
    assert table[0].tolist() == ANNEX_K_FIRST_ROW, table
    image = reader.dc_image(coefs, table)
    rounded = numpy.floor(image + 0.5).clip(0, 255)
    # At 1/8 djpeg shows each block's mean, rounded and clamped.
    assert (rounded == decoded(path, "-scale", "1/8")).all()
    assert image.std() > 20  # there was something to see


def check_printed(path):
    """Of an even gray all coefficients are 0, except DC where it is not 128."""
    compress(numpy.full((HEIGHT, WIDTH), 200, numpy.uint8), path)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        assert reader.main(path) == 0
    text = text.getvalue()
    print(text)
    assert f"{WIDTH} x {HEIGHT}, GRAYSCALE, 1 quantization tables" in text
    assert "DC image, 11 x 6, 200.0 to 200.0" in text
    assert "component 1: 98.44 % of the coefficients are 0" in text  # 63 of 64


def check_reading_refused(path):
    with open(path, "wb") as file:
        file.write(b"This is no JPEG file.")
    with contextlib.redirect_stderr(io.StringIO()):
        assert reader.main(path) == 1
        assert reader.main(path + "-that-does-not-exist") == 1


def run(path):
    return subprocess.run([sys.executable, os.path.join(sys.argv[1], "numpy_to_jpeg.py"), path],
                          capture_output=True, text=True)


def wave(v, u):
    """The samples of a block whose only coefficient is (v, u), by the definition."""
    y, x = numpy.mgrid[:8, :8]
    scale = (1 / numpy.sqrt(2) if v == 0 else 1) * (1 / numpy.sqrt(2) if u == 0 else 1) / 4
    return 128 + 440 * scale * (numpy.cos((2 * y + 1) * v * numpy.pi / 16) *
                                numpy.cos((2 * x + 1) * u * numpy.pi / 16))


def check_written(path):
    done = run(path)
    assert done.returncode == 0, done.stderr
    picture = decoded(path)
    assert picture.shape == (64, 64)
    for v in range(8):
        for u in range(8):
            block = picture[8 * v:8 * v + 8, 8 * u:8 * u + 8]
            assert abs(block - wave(v, u)).max() <= 1, (v, u)


def check_any_coefficients(path):
    """Coefficients and a table of no symmetry, at more columns than rows."""
    numbers = numpy.random.default_rng(5)
    coefs = numbers.integers(-100, 100, (3, 5, 8, 8))
    table = numbers.integers(1, 255, (8, 8))
    writer.write_jpeg(path, coefs, table)
    again = parts(path)
    assert (again[0] == coefs).all() and (again[1] == table).all()


def check_writing_refused(path):
    done = run(os.path.join(path, "in-no-folder.jpg"))
    assert done.returncode == 1 and "in-no-folder.jpg" in done.stderr, done.stderr
    try:
        writer.write_jpeg(path, numpy.full((1, 1, 8, 8), 5000), numpy.ones((8, 8), int))
        raise AssertionError("a coefficient of 5000 was written")
    except ValueError as error:
        assert "coefficient 5000" in str(error), error


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
    if not shutil.which("cjpeg") or not shutil.which("djpeg"):
        print("SKIP: no cjpeg or djpeg (package libjpeg-turbo-progs)")
        return SKIP
    Gst.init(None)
    with tempfile.TemporaryDirectory(prefix="cudatransform-numpy-") as folder:
        path = os.path.join(folder, "picture.jpg")
        for check in (check_read, check_printed, check_reading_refused, check_written,
                      check_any_coefficients, check_writing_refused):
            check(path)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
