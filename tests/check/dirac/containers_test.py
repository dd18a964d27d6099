#!/usr/bin/env python3
"""cudadiracdec after demuxers: every frame of a stream, at its time.

containers_test.py FOLDER    FOLDER has NAME.drc and NAME.framemd5; needs ffmpeg, which writes files
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import ogg  # noqa: E402
import vectors_test  # noqa: E402
from vectors_test import SKIP, Gst  # noqa: E402

# Pictures whose order of coding differs from the order of showing, core syntax, slices.
NAMES = ("p01_qpel_biref_8x8full_420", "p02_fullpel_backref_12part_420", "i04_haar0_d2_420",
         "v02_hq_legall_d3_420", "v09_ld_legall_d3")
DEMUXERS = {"mkv": "matroskademux", "avi": "avidemux", "ts": "tsdemux", "mov": "qtdemux"}
# FFmpeg writes decoding times into these files, and those that it makes up for raw streams are all
# alike: qtdemux shows nothing after the end that FFmpeg writes.
MOV_TIMES = ["-bsf:v", "setts=ts=N/(25*TB):duration=1/(25*TB)"]


# Raw streams have no times; FFmpeg gives them some.
def write(ffmpeg, source, target, times=None):
    if times is None:
        times = MOV_TIMES if target.endswith(".mov") else []
    subprocess.run([ffmpeg, "-v", "error", "-y", "-fflags", "+genpts", "-i", source, "-c", "copy",
                    *times, target], check=True, timeout=60)


def judge(folder, name, path, demuxer):
    wanted = vectors_test.expected(os.path.join(folder, name + ".framemd5"))
    found, times, ended = vectors_test.decode(path, f"{demuxer} ! cudadiracdec")
    plain = vectors_test.decode(os.path.join(folder, name + ".drc"), "cudadiracdec")[1]
    # Containers round times to milliseconds, and may begin at any. FFmpeg takes some of these
    # streams for twice as fast, and writes that rate into AVI files, which count times by it.
    factor = 2 if demuxer == "avidemux" and times[1][0] - times[0][0] < plain[1][0] else 1
    moved = [abs(factor * (a - times[0][0]) - (b - plain[0][0]))
             for (a, _), (b, _) in zip(times, plain)]
    good = ended and found == wanted and max(moved) <= 2 * Gst.MSECOND
    print("ok  " if good else "FAIL", os.path.basename(path), len(found), "of", len(wanted),
          "" if good else f"ended: {ended}, times: {times[:4]}", flush=True)
    return good


def judge_ogg(folder, name, path):
    """An Ogg file has the times of coding; oggdemux has none for the first picture.

    That one is shown where the segment begins, which may be a frame earlier than need be.
    """
    wanted = vectors_test.expected(os.path.join(folder, name + ".framemd5"))
    found, times, ended = vectors_test.decode(path, "oggdemux ! cudadiracdec")
    steps = {b[0] - a[0] - a[1] for a, b in zip(times[1:], times[2:])}
    good = ended and found == wanted and all(-1 <= step <= 1 for step in steps)
    print("ok  " if good else "FAIL", os.path.basename(path), len(found), "of", len(wanted),
          "" if good else f"ended: {ended}, times: {times[:4]}", flush=True)
    return good


def found_by_itself(folder, name, path):
    """decodebin autoplugs this decoder."""
    wanted = vectors_test.expected(os.path.join(folder, name + ".framemd5"))
    found = vectors_test.decode(path, "decodebin")[0]
    print("ok  " if found == wanted else "FAIL", os.path.basename(path), "by decodebin", len(found),
          flush=True)
    return found == wanted


def after_a_seek(folder, name, path, demuxer):
    """Back to the start, in the middle of the stream: frames come again, from the first one on.

    The demuxer ends with the duration that FFmpeg has written, which is too short.
    """
    wanted = vectors_test.expected(os.path.join(folder, name + ".framemd5"))
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! {demuxer} ! cudadiracdec ! "
                                "appsink name=out sync=false max-buffers=2")
    out, found = pipeline.get_by_name("out"), []
    pipeline.set_state(Gst.State.PLAYING)
    for _ in range(2):
        out.emit("try-pull-sample", 20 * Gst.SECOND)
    moved = pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT, 0)
    while (sample := out.emit("try-pull-sample", 20 * Gst.SECOND)) is not None:
        found.append(vectors_test.digest(sample))
    pipeline.set_state(Gst.State.NULL)
    good = moved and len(found) >= 2 and found == wanted[:len(found)]
    print("ok  " if good else "FAIL", os.path.basename(path), "after a seek", moved, len(found),
          flush=True)
    return good


def behind_the_end(folder, name, path):
    """A MOV file as FFmpeg makes it: what is not shown is counted, and reported once."""
    wanted = vectors_test.expected(os.path.join(folder, name + ".framemd5"))
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! qtdemux ! "
                                "cudadiracdec name=decoder "
                                "! fakesink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    warnings, bus = 0, pipeline.get_bus()
    kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
    while (message := bus.timed_pop_filtered(20 * Gst.SECOND, kinds)) is not None:
        if message.type != Gst.MessageType.WARNING:
            break
        warnings += "outside the segment" in message.parse_warning()[0].message
    ended = message is not None and message.type == Gst.MessageType.EOS
    stats = pipeline.get_by_name("decoder").get_property("stats")
    shown, outside = stats.get_value("frames"), stats.get_value("outside-segment")
    pipeline.set_state(Gst.State.NULL)
    # Three frames are within the duration that FFmpeg writes.
    good = (ended and outside == max(len(wanted) - 3, 0) and shown + outside == len(wanted) and
            warnings == (outside > 0))
    print("ok  " if good else "FAIL", os.path.basename(path), shown, "and", outside, "outside of",
          len(wanted), flush=True)
    return good


def main():
    Gst.init(None)
    folder = sys.argv[1]
    ffmpeg = shutil.which("ffmpeg")
    names = [name for name in NAMES if os.path.exists(os.path.join(folder, name + ".drc"))]
    if ffmpeg is None or not names:
        print("SKIP: no ffmpeg, or no streams")
        return SKIP
    results = []
    with tempfile.TemporaryDirectory() as made:
        for name in names:
            results.append(found_by_itself(folder, name, os.path.join(folder, name + ".drc")))
            path = os.path.join(made, name + ".ogg")
            ogg.write(os.path.join(folder, name + ".drc"), path)
            results.append(judge_ogg(folder, name, path))
            for kind, demuxer in DEMUXERS.items():
                if not Gst.ElementFactory.find(demuxer):
                    print("no", demuxer)
                    continue
                path = os.path.join(made, f"{name}.{kind}")
                write(ffmpeg, os.path.join(folder, name + ".drc"), path)
                results.append(judge(folder, name, path, demuxer))
                results.append(found_by_itself(folder, name, path))
                if kind == "mov":
                    path = os.path.join(made, name + "-alike.mov")
                    write(ffmpeg, os.path.join(folder, name + ".drc"), path, [])
                    results.append(behind_the_end(folder, name, path))
                if kind == "mkv":
                    results.append(after_a_seek(folder, name, path, demuxer))
    print(sum(results), "of", len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
