#!/usr/bin/env python3
"""Decodes every stream of the test data with cudadiracdec and compares each frame's MD5.

vectors_test.py [--cuda] FOLDER [NAME...]    FOLDER has NAME.drc and NAME.framemd5

--cuda: on a GPU, into system memory and, where CUDA memory holds the format, into that.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import hashlib
import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

SKIP = 77


def expected(path):
    with open(path, encoding="ascii") as lines:
        return [line.split(",")[-1].strip() for line in lines if line[0] != "#"]


def digest(sample):
    """Of all rows without their padding, as the list has them."""
    buffer, info = sample.get_buffer(), GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    meta = GstVideo.buffer_get_video_meta(buffer)
    offsets, strides = (meta.offset, meta.stride) if meta else (info.offset, info.stride)
    data = buffer.extract_dup(0, buffer.get_size())
    md5 = hashlib.md5()
    for plane in range(info.finfo.n_planes):
        width = (info.width + (1 << info.finfo.w_sub[plane]) - 1) >> info.finfo.w_sub[plane]
        height = (info.height + (1 << info.finfo.h_sub[plane]) - 1) >> info.finfo.h_sub[plane]
        for row in range(height):
            at = offsets[plane] + row * strides[plane]
            md5.update(data[at:at + width * info.finfo.pixel_stride[plane]])
    return md5.hexdigest()


def decode(path, decoder):
    """The digests and the times of all frames; `decoder` may have a demuxer before it."""
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! {decoder} ! "
                                "appsink name=out sync=false max-buffers=8")
    out, found, times = pipeline.get_by_name("out"), [], []
    pipeline.set_state(Gst.State.PLAYING)
    while (sample := out.emit("try-pull-sample", 20 * Gst.SECOND)) is not None:
        found.append(digest(sample))
        times.append((sample.get_buffer().pts, sample.get_buffer().duration))
    ended = out.get_property("eos")
    pipeline.set_state(Gst.State.NULL)
    return found, times, ended


def has_engine():
    element = Gst.ElementFactory.make("cudadiracdec")
    element.set_property("backend", "cuda")
    works = element.set_state(Gst.State.READY) == Gst.StateChangeReturn.SUCCESS
    element.set_state(Gst.State.NULL)
    return works


def judge(folder, name, decoder):
    wanted = expected(os.path.join(folder, name + ".framemd5"))
    found, times, ended = decode(os.path.join(folder, name + ".drc"), decoder)
    wrong = [i for i, (a, b) in enumerate(zip(wanted, found)) if a != b]
    steps = {b[0] - a[0] - a[1] for a, b in zip(times, times[1:])}
    good = ended and not wrong and len(found) == len(wanted) and times[0][0] == 0
    # Rounding to nanoseconds.
    good = good and all(-1 <= step <= 1 for step in steps)
    print("ok  " if good else "FAIL", name, decoder, len(found), "of", len(wanted), "wrong:", wrong,
          "" if good else f"ended: {ended}, times: {times[:4]}", flush=True)
    return good


def main():
    Gst.init(None)
    arguments = [argument for argument in sys.argv[1:] if argument != "--cuda"]
    # All threads of this machine, and one.
    decoders = ("cudadiracdec backend=cpu", "cudadiracdec backend=cpu n-threads=1")
    if "--cuda" in sys.argv:
        decoders = ("cudadiracdec backend=cuda ! video/x-raw",
                    "cudadiracdec backend=cuda n-threads=1 ! "
                    "capsfilter caps=video/x-raw(memory:CUDAMemory);video/x-raw")
        if not has_engine():
            required = os.environ.get("CUDATRANSFORM_REQUIRE_GPU") == "1"
            print("FAIL: no GPU" if required else "SKIP: no GPU")
            return 1 if required else SKIP
    folder = arguments[0]
    names = arguments[1:] or sorted(os.path.splitext(os.path.basename(path))[0]
                                   for path in glob.glob(os.path.join(folder, "*.drc")))
    if not names:
        print("no streams in", folder)
        return SKIP
    results = [judge(folder, name, decoder) for name in names for decoder in decoders]
    print(sum(results), "of", len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
