#!/usr/bin/env python3
# docs/examples/smooth_on_device.py: what it drops in device memory is missing in the picture.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: smooth_on_device_test.py FOLDER-OF-THE-EXAMPLES PICTURE.jpg [emulated]
# emulated: on a driver whose device memory is the host's. Otherwise every library of torch and cupy
# that is there; exits 77 where something is missing.
import os
import struct
import sys
import tempfile
import zlib

SKIP = 77
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])


def skip(why):
    required = os.environ.get("CUDATRANSFORM_REQUIRE_GPU") == "1"
    print(f"{'FAIL' if required else 'SKIP'}: {why}")
    sys.exit(1 if required else SKIP)


if "CUDATRANSFORM_SANITIZED" in os.environ:
    print("SKIP: Python with a sanitised library")
    sys.exit(SKIP)
try:
    import numpy
except ImportError as error:
    skip(error)
import smooth_on_device as example  # noqa: E402


class OnHost:
    """Device memory that is the host's, as numpy takes it."""

    def __init__(self, pyramid):
        self.__array_interface__ = pyramid.__cuda_array_interface__


def libraries():
    if sys.argv[3:] == ["emulated"]:
        yield "emulated", (lambda pyramid: numpy.asarray(OnHost(pyramid)), lambda: None)
        return
    try:
        import torch
        if torch.cuda.is_available():
            yield "torch", example.with_torch()
    except ImportError:
        pass
    try:
        import cupy
        if cupy.cuda.runtime.getDeviceCount() > 0:
            yield "cupy", example.with_cupy()
    except Exception as error:  # cupy has its own for a missing driver
        print(f"no cupy: {error}")


def read_png(path):
    """A grey PNG of 8 bits, whose rows may have any filter."""
    with open(path, "rb") as file:
        data = file.read()
    at, compressed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        at += length + 12
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">2I2B", body[:10])
            assert (depth, colour) == (8, 0), body
        compressed += body if kind == b"IDAT" else b""
    rows = numpy.frombuffer(zlib.decompress(compressed), numpy.uint8).reshape(height, width + 1)
    out = numpy.zeros((height + 1, width + 1), int)
    for y in range(height):
        how, row = rows[y, 0], rows[y, 1:].astype(int)
        above, before = out[y], out[y + 1]
        for x in range(width):
            left, up, corner = before[x], above[x + 1], above[x]
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            before[x + 1] = (row[x] + (0, left, up, (left + up) // 2, paeth)[how]) % 256
    return out[1:, 1:]


def check(library, folder):
    def smooth(threshold):
        out = os.path.join(folder, f"{threshold}.png")
        dropped = example.smooth(sys.argv[2], out, threshold, library)
        assert len(dropped) == 1, dropped
        return dropped[0], read_png(out)

    # Nothing is below zero, and without quantiser the picture is what it was.
    none, exact = smooth(0)
    assert none == 0 and exact.std() > 10, (none, exact.std())
    some, softer = smooth(8)
    more, softest = smooth(64)
    assert 0 < some < more < exact.size * 1.1, (some, more)
    errors = [numpy.mean((picture - exact)**2) for picture in (softer, softest)]
    assert 0.1 < errors[0] < errors[1] < 1000, errors
    # The picture made small is kept: so is how bright it is.
    assert abs(softest.mean() - exact.mean()) < 1, (softest.mean(), exact.mean())


def main():
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for name, library in libraries():
            check(library, folder)
            done.append(name)
        if not done:
            skip("neither torch nor cupy with a GPU")
        try:
            example.smooth(os.path.join(folder, "none.jpg"), os.path.join(folder, "none.png"), 1,
                           (None, None))
            raise AssertionError("a file that is not there was played")
        except RuntimeError as error:
            assert "none.jpg" in str(error), error
    print("ok:", ", ".join(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
