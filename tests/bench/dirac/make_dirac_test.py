#!/usr/bin/env python3
"""Streams of make_dirac: their rate, the same bytes with any number of threads, FFmpeg's frames.

make_dirac_test.py MAKE_DIRAC    needs the plugin; FFmpeg's predicted frames are not exact
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../check/dirac"))
import vectors_test  # noqa: E402

PICTURES, SIZE = 28, "320x180"  # two groups
# Kind, source, rate in Mbit/s.
STREAMS = (("inter", "photograph", .6), ("inter", "gradient", .4), ("intra", "photograph", 3),
           ("vlc", "photograph", 4), ("intra", "noise", 12))


def make(program, path, kind, source, rate, threads):
    subprocess.run([program, f"--kind={kind}", f"--source={source}", f"--rate={rate}",
                    f"--pictures={PICTURES}", f"--size={SIZE}", f"--threads={threads}", path],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "rb") as file:
        return file.read()


def ffmpeg_frames(path):
    done = subprocess.run(["ffmpeg", "-v", "error", "-c:v", "dirac", "-i", path, "-vsync",
                           "passthrough", "-f", "framemd5", "-"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return [line.split(",")[-1].strip() for line in done.stdout.splitlines() if line[0] != "#"]


def judge(program, folder, kind, source, rate):
    path = os.path.join(folder, f"{kind}-{source}.drc")
    data = make(program, path, kind, source, rate, 2)
    problems = []
    if make(program, path + ".again", kind, source, rate, 1) != data:
        problems.append("other bytes with one thread")
    found = 8e-6 * len(data) * 25 / PICTURES
    if abs(found / rate - 1) > .1:
        problems.append(f"{found:.2f} Mbit/s instead of {rate}")
    frames, times, ended = vectors_test.decode(path, "cudadiracdec backend=cpu")
    if not ended or len(frames) != PICTURES or len(set(frames)) != PICTURES:
        problems.append(f"{len(frames)} frames, {len(set(frames))} of them different")
    if [time[0] for time in times] != [40000000 * i for i in range(PICTURES)]:
        problems.append("times")
    if kind != "inter" and shutil.which("ffmpeg") and ffmpeg_frames(path) != frames:
        problems.append("FFmpeg has other frames")
    print("FAIL" if problems else "ok  ", kind, source, f"{found:.2f} Mbit/s", *problems,
          flush=True)
    return not problems


def main():
    vectors_test.Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        results = [judge(sys.argv[1], folder, *stream) for stream in STREAMS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
