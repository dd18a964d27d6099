#!/usr/bin/python3
# docs/examples/denoise_wavelets.py and wavelet_quality.py on a small picture: noise gets less, and
# what is lost is what the elements measure.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: wavelet_examples_test.py FOLDER-OF-THE-EXAMPLES       exits 77 where something is missing
import contextlib
import io
import os
import re
import sys
import tempfile

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import numpy
    import denoise_wavelets
    import pyramid_to_png
    import wavelet_quality
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

WIDTH, HEIGHT = 181, 131


def write_picture(path):
    """Smooth areas and edges."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    grey = 120 + 60 * numpy.sin(x / 30) * numpy.cos(y / 25)
    grey[(x // 40 + y // 35) % 2 == 0] += 40
    pyramid_to_png.write_png(path, grey.astype(numpy.uint8))
    return grey.astype(numpy.uint8)


def said_by(program, *arguments):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert program.main(*arguments) == 0
    return said.getvalue()


def check_denoising(path, grey, folder):
    assert numpy.array_equal(denoise_wavelets.read_grey(path), grey)
    info, pyramid = denoise_wavelets.pyramid_of(grey)
    assert numpy.array_equal(denoise_wavelets.picture_of(info, pyramid), grey), "a round trip"
    out = os.path.join(folder, "out.png")
    noisy, denoised = (float(value) for value in
                       re.findall(r"([\d.]+) dB", said_by(denoise_wavelets, path, "15", out)))
    assert 23.5 < noisy < 26 and denoised > noisy + 5, (noisy, denoised)
    assert denoise_wavelets.read_grey(out).shape == (HEIGHT, 2 * WIDTH)


def check_quality(path):
    zeros, psnr = wavelet_quality.measured(path, "cudadwt quant-index=0", "cudaidwt")
    assert psnr == float("inf") and 0 <= zeros < 100, (zeros, psnr)
    lines = said_by(wavelet_quality, path, "85", "95").splitlines()
    assert lines[0] == "| | 85 % zeros | 95 % zeros |" and len(lines) == 12, lines
    cells = {line.split(" | ")[0].split(",")[0][2:]: re.findall(r"([\d.]+) dB", line)
             for line in lines[2:]}
    for name in ("legall53", "dd97", "daub97"):
        at_85, at_95 = (float(value) for value in cells[name])
        assert 20 < at_95 < at_85, (name, at_85, at_95)
    assert wavelet_quality.at_share([(10, 50), (20, 40)], 15) == 45
    assert wavelet_quality.at_share([(10, 50), (20, 40)], 25) is None


def main():
    Gst.init(None)
    if not Gst.ElementFactory.find("pngdec"):
        print("SKIP: no pngdec")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.png")
        grey = write_picture(path)
        check_denoising(path, grey, folder)
        check_quality(path)
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            assert denoise_wavelets.main(os.path.join(folder, "none.png")) == 1
            assert wavelet_quality.main(os.path.join(folder, "none.png")) == 1
        told = errors.getvalue()
        assert "none.png" in told or "not found" in told, told
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
