#!/usr/bin/env python3
"""Seeks of cudadiracdec in a raw stream, which has bytes and no times.

seek_test.py FOLDER    FOLDER has NAME.drc and NAME.framemd5
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import vectors_test  # noqa: E402
from vectors_test import SKIP, Gst  # noqa: E402

NAME = "p01_qpel_biref_8x8full_420"  # 24 pictures
COPIES = 10
FRAME = 40 * Gst.MSECOND
LENGTH = COPIES * 24 * FRAME


def pull(out, count):
    """Digests, times, and where the segment begins."""
    frames = []
    while len(frames) < count:
        sample = out.emit("try-pull-sample", 10 * Gst.SECOND)
        assert sample, f"{len(frames)} of {count} frames"
        frames.append((vectors_test.digest(sample), sample.get_buffer().pts,
                       sample.get_segment().start))
        del sample  # appsink reuses it for the next frame if it holds the only reference
    return frames


def check(path, wanted, decoder):
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! {decoder} ! "
                                "appsink name=out sync=false max-buffers=2")
    out = pipeline.get_by_name("out")
    pipeline.set_state(Gst.State.PLAYING)
    pull(out, 96)  # whole copies, so that the estimate is good
    _ok, duration = pipeline.query_duration(Gst.Format.TIME)
    assert 0.8 * LENGTH < duration < 1.2 * LENGTH, duration
    for target in (5, 2, 0, 7, 5.5):
        time = int(target * Gst.SECOND)
        assert pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT,
                                    time), target
        found, times, starts = map(list, zip(*pull(out, 5)))
        # From an intra picture on, all frames are as in the stream.
        assert any((2 * wanted)[i:i + 5] == found for i in range(len(wanted))), target
        assert times == [time + i * FRAME for i in range(5)], (target, times)
        assert starts[0] == time, (target, starts)
    exact = Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE
    assert not pipeline.seek_simple(Gst.Format.TIME, exact, Gst.SECOND), "an exact seek"
    pipeline.set_state(Gst.State.NULL)


def check_end(path, left):
    """After the last intra picture there is nothing to be shown: the end, and no error."""
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! cudadiracdec n-threads=1 ! "
                                "appsink name=out sync=false max-buffers=2")
    out = pipeline.get_by_name("out")
    pipeline.set_state(Gst.State.PLAYING)
    pull(out, 96)
    flags = Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT
    assert pipeline.seek_simple(Gst.Format.TIME, flags, LENGTH - left * FRAME)
    assert out.emit("try-pull-sample", 10 * Gst.SECOND) is None and out.get_property("eos"), left
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    assert error is None, (left, error.parse_error())
    assert pipeline.seek_simple(Gst.Format.TIME, flags, 2 * Gst.SECOND)
    pull(out, 5)
    pipeline.set_state(Gst.State.NULL)


def main():
    Gst.init(None)
    source = os.path.join(sys.argv[1], NAME + ".drc")
    if not os.path.exists(source):
        print("no", source)
        return SKIP
    wanted = vectors_test.expected(os.path.join(sys.argv[1], NAME + ".framemd5"))
    with tempfile.NamedTemporaryFile(suffix=".drc") as joined:
        with open(source, "rb") as file:
            joined.write(COPIES * file.read())
        joined.flush()
        for decoder in ("cudadiracdec", "cudadiracdec n-threads=1"):
            check(joined.name, wanted, decoder)
        for left in (9, 2):  # the stream has units left, or none
            check_end(joined.name, left)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
