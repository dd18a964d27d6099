#!/usr/bin/python3
# docs/examples/live_spectrum.py: mosaics of films whose frequencies are known.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: spectrum_test.py FOLDER-OF-THE-EXAMPLES      exits 77 where something is missing
import os
import sys
import tempfile

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
try:
    import numpy
    import live_spectrum
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)


def basis(n):
    """Rows are the orthonormal cosines."""
    scale = numpy.full(8, .5)
    scale[0] = numpy.sqrt(1 / 8)
    return scale[:, None] * numpy.cos(numpy.pi * numpy.outer(n, 2 * n + 1) / 16)


C = basis(numpy.arange(8))


def energies_of(picture):
    """The definition."""
    height, width = picture.shape
    blocks = picture.reshape(height // 8, 8, width // 8, 8).transpose(0, 2, 1, 3) - 128.
    return ((C @ blocks @ C.T) ** 2).mean(axis=(0, 1))


def picture(seed):
    random = numpy.random.default_rng(seed)
    coefs = numpy.zeros((8, 8))
    coefs[0, 0], coefs[seed % 8, 3 + seed] = 120, 300 + 60 * seed
    block = C.T @ coefs @ C
    noise = random.normal(0, 3, (72, 104))
    return numpy.clip(128 + numpy.tile(block, (9, 13)) + noise, 0, 255).astype(numpy.uint8)


def main():
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "mosaics")
        frames = [picture(seed) for seed in range(4)]
        for number, frame in enumerate(frames):
            with open(os.path.join(folder, f"{number}.pgm"), "wb") as file:
                file.write(b"P5 %d %d 255\n" % frame.shape[::-1] + frame.tobytes())
        live_spectrum.main(f"multifilesrc location={folder}/%d.pgm "
                           "caps=image/x-portable-graymap,framerate=25/1 ! pnmdec",
                           f"video/x-raw,format=GRAY8 ! filesink location={made}")
        side = live_spectrum.SIDE
        mosaics = numpy.fromfile(made, numpy.uint8).reshape(-1, side, side)
    assert len(mosaics) == len(frames), len(mosaics)
    for frame, mosaic in zip(frames, mosaics):
        wanted = live_spectrum.mosaic_of(energies_of(frame)).astype(int)
        # Coefficients of quality 100 are rounded, which shows in the least energies.
        difference = abs(wanted - mosaic)
        assert difference.max() <= 8, difference.max()
        assert difference[wanted > 100].max() <= 1, difference[wanted > 100].max()
        squares = mosaic.reshape(8, live_spectrum.SQUARE, 8, live_spectrum.SQUARE)
        assert (squares == squares[:, :1, :, :1]).all()


main()
