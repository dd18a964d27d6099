#!/usr/bin/env python3
# docs/examples/smooth_on_device.py: what it drops on the device is missing in the picture.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: smooth_on_device_test.py FOLDER-OF-THE-EXAMPLES PICTURE.jpg [emulated]
# emulated: on a driver whose device memory is the host's. Otherwise every library of torch and cupy
# that is there; exits 77 where something is missing.
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)]
import device_arrays  # noqa: E402

numpy = device_arrays.require_numpy()
import dct_on_device as on_device  # noqa: E402
import smooth_on_device as example  # noqa: E402


class OnHost:
    """Device memory that is the host's, as numpy takes it."""

    def __init__(self, pyramid):
        self.__array_interface__ = pyramid.__cuda_array_interface__


def libraries():
    if sys.argv[3:] == ["emulated"]:
        yield "emulated", (lambda pyramid: numpy.asarray(OnHost(pyramid)), lambda: None)
        return
    for name, _module in device_arrays.libraries():
        yield name, {"torch": example.with_torch, "cupy": example.with_cupy}[name]()


def read_png(path):
    """The samples of a gray PNG, in a row: GStreamer's rows are a multiple of four bytes long."""
    raw = path + ".raw"
    pipeline = on_device.Pipeline(f"filesrc location=\"{path}\" ! pngdec ! "
                                  f"video/x-raw,format=GRAY8 ! filesink location=\"{raw}\"")
    assert example.play(pipeline), path
    pipeline.close()
    return numpy.fromfile(raw, numpy.uint8).astype(int)


def check(library, folder):
    def smooth(threshold):
        out = os.path.join(folder, f"{threshold}.png")
        dropped = example.smooth(sys.argv[2], out, threshold, library)
        assert len(dropped) == 1, dropped
        return dropped[0], read_png(out)

    # Nothing is below zero, and without quantizer the picture is unchanged.
    none, exact = smooth(0)
    assert none == 0 and exact.std() > 10, (none, exact.std())
    some, softer = smooth(8)
    more, softest = smooth(64)
    assert 0 < some < more < exact.size * 1.1, (some, more)
    errors = [numpy.mean((picture - exact)**2) for picture in (softer, softest)]
    assert 0.1 < errors[0] < errors[1] < 1000, errors
    # The example keeps the small picture, and so the brightness.
    assert abs(softest.mean() - exact.mean()) < 1, (softest.mean(), exact.mean())


def main():
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for name, library in libraries():
            check(library, folder)
            done.append(name)
        if not done:
            device_arrays.skip("neither torch nor cupy with a GPU")
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
