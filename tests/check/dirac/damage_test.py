#!/usr/bin/env python3
"""cudadiracdec and streams that are damaged: they end, in frames or in an error with a reason.

damage_test.py FOLDER [STREAMS [RANDOM_DIRAC]]    makes this many damaged streams of its .drc files
                                                  (default: 60), half of them from streams that the
                                                  program RANDOM_DIRAC writes
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

SKIP = 77
LARGEST = 1 << 17  # bytes of a file that is damaged
TIMEOUT = 10 * Gst.SECOND
RANDOM_STREAMS = 300
MOST_MEGABYTES = 1500  # of the resident set, at its largest


def damaged(data, dice):
    """Some bytes changed, cut out, doubled, or put in."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        at, kind = dice.randrange(len(data)), dice.randrange(8)
        length = dice.choice((1, 13, 200, len(data) // 3))
        if kind == 0:
            del data[at:at + length]
        elif kind == 1:
            data[at:at] = data[at:at + length]
        elif kind == 2:
            data[at:at] = dice.randbytes(length)
        elif kind == 3 and at > 200:
            del data[at:]
        elif kind == 4:
            # Damage to headers has the largest effects.
            data[dice.randrange(min(80, len(data)))] = dice.randrange(256)
        else:
            data[at] ^= 1 << dice.randrange(8)
        if not data:
            data = bytearray(b"B")
    return bytes(data)


def play(data, dice):
    """Feeds a stream in pieces of any size. Frames, the error, whether it ends, with nothing behind
    an error."""
    settings = dice.choice(("", " on-error=drop", " n-threads=1", " n-threads=3",
                            " max-samples=1000000", " on-error=fail n-threads=4"))
    pipeline = Gst.parse_launch("appsrc name=in caps=video/x-dirac format=bytes ! "
                                f"cudadiracdec name=decoder{settings} ! "
                                "fakesink name=out sync=false")
    source, frames, failed, behind = pipeline.get_by_name("in"), 0, False, 0

    def count(_pad, _info):
        nonlocal frames, behind
        frames += 1
        behind += failed
        return Gst.PadProbeReturn.OK

    # In the thread that posts the message.
    def note(_bus, message):
        nonlocal failed
        failed = failed or message.type == Gst.MessageType.ERROR
        return Gst.BusSyncReply.PASS

    pipeline.get_by_name("out").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, count)
    pipeline.get_bus().set_sync_handler(note)
    pipeline.set_state(Gst.State.PLAYING)
    at = 0
    while at < len(data):
        size = dice.choice((1, 14, 1000, 50000))
        source.emit("push-buffer", Gst.Buffer.new_wrapped(data[at:at + size]))
        at += size
    source.emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(TIMEOUT,
                                                    Gst.MessageType.EOS | Gst.MessageType.ERROR)
    error = None
    if message is None:
        error = "nothing for ten seconds"
    elif message.type == Gst.MessageType.ERROR:
        error = ": ".join(map(str, message.parse_error()))
    pipeline.set_state(Gst.State.NULL)
    pipeline.get_bus().set_sync_handler(None)
    return frames, error, message is not None and behind == 0


def read_streams(folder):
    """Those that are small enough."""
    streams = []
    for path in sorted(glob.glob(os.path.join(folder, "*.drc"))):
        if os.path.getsize(path) <= LARGEST:
            with open(path, "rb") as file:
                streams.append(file.read())
    return streams


def random_streams(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "1", str(RANDOM_STREAMS), "6", folder], check=True, timeout=60)
        return read_streams(folder)


def main():
    Gst.init(None)
    streams = read_streams(sys.argv[1])
    if not streams:
        print("no streams in", sys.argv[1])
        return SKIP
    kinds = [streams]
    if len(sys.argv) > 3:
        kinds.append(random_streams(sys.argv[3]))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    shown = stopped = 0
    slowest = 0
    for number in range(count):
        dice = random.Random(number)
        data = damaged(dice.choice(kinds[number % len(kinds)]), dice)
        begin = time.monotonic()
        frames, error, ended = play(data, dice)
        slowest = max(slowest, time.monotonic() - begin)
        shown += frames
        stopped += error is not None
        if not ended or error == "":
            print("FAIL", number, error)
            return 1
    # Pictures with some damage are still shown.
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{count} damaged streams: {shown} frames, {stopped} errors, at most {megabytes} MB and "
          f"{slowest:.1f} s")
    return 0 if shown > count and stopped < count / 2 and megabytes < MOST_MEGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
