#!/usr/bin/python3
# docs/examples' wavelets on a small picture: pyramid_to_png.py has the numbers of a Haar transform
# in numpy, denoise_wavelets.py removes noise, wavelet_quality.py says what the elements measure.
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
    from gi.repository import Gst, GstCoef
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

WIDTH, HEIGHT = 181, 131


def write_picture(path):
    """Smooth areas and edges."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    gray = 120 + 60 * numpy.sin(x / 30) * numpy.cos(y / 25)
    gray[(x // 40 + y // 35) % 2 == 0] += 40
    pyramid_to_png.write_png(path, gray.astype(numpy.uint8))
    return gray.astype(numpy.uint8)


def said_by(program, *arguments):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert program.main(*arguments) == 0
    return said.getvalue()


def refused(program, *arguments):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        assert program.main(*arguments) == 1
    return errors.getvalue()


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


def check_numbers(path, gray):
    info, buffer = pyramid_to_png.first_picture(path, "wavelet=haar levels=3 backend=cpu")
    assert info.sampling == GstCoef.Sampling.GRAYSCALE and info.format == GstCoef.Format.S16LE
    pyramid = pyramid_to_png.coefficients_of(info, buffer, 0)
    padded = numpy.pad(gray.astype(int) - 128, ((0, -HEIGHT % 8), (0, -WIDTH % 8)), "edge")
    assert numpy.array_equal(pyramid, haar(padded, 3))
    parts = list(pyramid_to_png.bands_of(info, pyramid, 0))
    assert len(parts) == 10 and sum(values.size for _band, values in parts) == pyramid.size
    assert parts[0][1].shape == (17, 23)


def check_pyramid(path, folder):
    out = os.path.join(folder, "pyramid.png")
    lines = said_by(pyramid_to_png, path, out, "levels=2", "quant-index=24",
                    "backend=cpu").splitlines()
    assert lines[0] == "181 x 131, legall53, 2 levels: 184 x 132 coefficients", lines[0]
    assert len(lines) == 8 and lines[1].startswith("level 0 ll: 46 x 33, quantizer 24"), lines[1]
    assert lines[7].startswith("level 2 hh: 92 x 66"), lines[7]
    assert denoise_wavelets.read_gray(out).shape == (132, 184)
    told = refused(pyramid_to_png, path, out, "levels=0", "backend=cpu")
    assert "levels + levels-ho must be at least 1" in told, told


def check_denoising(path, gray, folder):
    assert numpy.array_equal(denoise_wavelets.read_gray(path), gray)
    info, pyramid = denoise_wavelets.pyramid_of(gray)
    assert numpy.array_equal(denoise_wavelets.picture_of(info, pyramid), gray), "a round trip"
    out = os.path.join(folder, "out.png")
    noisy, denoised = (float(value) for value in
                       re.findall(r"([\d.]+) dB", said_by(denoise_wavelets, path, "15", out)))
    assert 23.5 < noisy < 26 and denoised > noisy + 5, (noisy, denoised)
    assert denoise_wavelets.read_gray(out).shape == (HEIGHT, 2 * WIDTH)


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
        gray = write_picture(path)
        check_numbers(path, gray)
        check_pyramid(path, folder)
        check_denoising(path, gray, folder)
        check_quality(path)
        none = os.path.join(folder, "none.png")
        for program, *more in ((denoise_wavelets,), (wavelet_quality,), (pyramid_to_png, none)):
            told = refused(program, none, *more)
            assert "none.png" in told or "not found" in told, told
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
