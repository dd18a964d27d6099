#!/usr/bin/python3
# cudadwt wavelet=j2k53 against OpenJPEG: the low band of every level equals the lossless file's
# picture at that resolution.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# exits 77 where something is missing
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    import numpy
    from gi.repository import Gst, GstApp  # GstApp: for the methods of appsrc and appsink
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}")
    sys.exit(SKIP)

# Multiples of 2^LEVELS: JPEG 2000 does not pad.
WIDTH, HEIGHT, LEVELS = 336, 208, 4


def picture_of_waves():
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    return (128 + 90 * numpy.sin(x / 5) * numpy.cos(y / 3) + (x * y) % 7).astype(numpy.uint8)


def picture_of_noise():
    return numpy.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), dtype=numpy.uint8)


def through(element, caps, data):
    """The bytes that `element` makes of one buffer."""
    pipeline = Gst.parse_launch(f"appsrc name=in ! {element} ! appsink name=out sync=false")
    source = pipeline.get_by_name("in")
    source.set_caps(Gst.Caps.from_string(caps))
    pipeline.set_state(Gst.State.PLAYING)
    source.push_buffer(Gst.Buffer.new_wrapped(data))
    source.end_of_stream()
    sample = pipeline.get_by_name("out").pull_sample()
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert sample, error.parse_error() if error else "no buffer"
    buffer = sample.get_buffer()
    return buffer.extract_dup(0, buffer.get_size())


def pyramid_of(picture):
    data = through(f"cudadwt wavelet=j2k53 levels={LEVELS}",
                   f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=1/1",
                   picture.tobytes())
    return numpy.frombuffer(data, "<i2").reshape(HEIGHT, WIDTH)


def low_band(pyramid, level):
    """The low band of `level`, as the picture that the coarser levels make."""
    width, height = WIDTH >> level, HEIGHT >> level
    corner = numpy.ascontiguousarray(pyramid[:height, :width])
    if level == LEVELS:
        return numpy.clip(corner.astype(int) + 128, 0, 255)
    data = through("cudaidwt ! video/x-raw,format=GRAY8",
                   "video/x-dwt,format=S16LE,wavelet=j2k53,wavelet-ho=j2k53,"
                   f"levels={LEVELS - level},levels-ho=0,quantized=false,depth=8,"
                   f"sampling=GRAYSCALE,colorspace=GRAY,width={width},height={height},"
                   "framerate=1/1", corner.tobytes())
    stride = (width + 3) // 4 * 4
    return numpy.frombuffer(data, numpy.uint8).reshape(height, stride)[:, :width].astype(int)


def write_pgm(path, picture):
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % picture.shape[::-1])
        file.write(picture.tobytes())


def read_pgm(path, shape):
    with open(path, "rb") as file:
        samples = file.read()[-shape[0] * shape[1]:]
    return numpy.frombuffer(samples, numpy.uint8).reshape(shape).astype(int)


def quietly(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    if not (shutil.which("opj_compress") and shutil.which("opj_decompress")):
        print("SKIP: no opj_compress and opj_decompress (libopenjp2-tools)")
        return SKIP
    Gst.init(None)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source, file, shown = (os.path.join(folder, name)
                               for name in ("in.pgm", "a.jp2", "out.pgm"))
        for name, picture in (("waves", picture_of_waves()), ("noise", picture_of_noise())):
            pyramid = pyramid_of(picture)
            write_pgm(source, picture)
            quietly("opj_compress", "-i", source, "-o", file, "-n", str(LEVELS + 1))
            for level in range(1, LEVELS + 1):
                quietly("opj_decompress", "-i", file, "-o", shown, "-r", str(level))
                ours = low_band(pyramid, level)
                unequal = int((ours != read_pgm(shown, ours.shape)).sum())
                print(f"{name}, level {level}: {unequal} of {ours.size} samples differ")
                wrong += unequal
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
