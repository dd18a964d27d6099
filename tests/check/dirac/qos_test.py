#!/usr/bin/env python3
"""cudadiracdec and a sink that is late: pictures that no other refers to are left out, in time.

qos_test.py FOLDER    FOLDER has NAME.drc and NAME.framemd5
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import vectors_test  # noqa: E402
from vectors_test import SKIP, Gst  # noqa: E402

NAMES = ("p01_qpel_biref_8x8full_420", "p11_field_sch")
COPIES = 10


def decode(path, decoder, late):
    """Digests and times of all frames; `late`: lateness that the sink reports of the first."""
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! {decoder} name=decoder ! "
                                "appsink name=out sync=false max-buffers=1")
    out, decoder, frames = pipeline.get_by_name("out"), pipeline.get_by_name("decoder"), []
    pipeline.set_state(Gst.State.PLAYING)
    while (sample := out.emit("try-pull-sample", 20 * Gst.SECOND)) is not None:
        frames.append((vectors_test.digest(sample), sample.get_buffer().pts))
        if late and len(frames) == 1:
            out.get_static_pad("sink").push_event(
                Gst.Event.new_qos(Gst.QOSType.UNDERFLOW, 2, late, frames[0][1]))
    stats = decoder.get_property("stats")
    left_out = stats.get_value("late")
    pipeline.set_state(Gst.State.NULL)
    return frames, left_out


def check(path, decoder):
    everything, left_out = decode(path, decoder, 0)
    assert left_out == 0, left_out
    some, left_out = decode(path, decoder, Gst.SECOND)
    # The sink is twice as far ahead as it said: until then the element skips pictures.
    end = everything[0][1] + 2 * Gst.SECOND
    assert left_out > 0 and len(some) < len(everything), (left_out, len(some), len(everything))
    assert set(some) <= set(everything), "a frame changed, or its time"
    behind = [frame for frame in everything if frame[1] > end + 200 * Gst.MSECOND]
    assert behind and some[-len(behind):] == behind, "frames in time were left out"
    print("ok", os.path.basename(path), decoder, len(some), "of", len(everything))


def main():
    Gst.init(None)
    paths = [os.path.join(sys.argv[1], name + ".drc") for name in NAMES]
    if not all(os.path.exists(path) for path in paths):
        print("no streams in", sys.argv[1])
        return SKIP
    for path in paths:
        with tempfile.NamedTemporaryFile(suffix=".drc") as joined, open(path, "rb") as file:
            joined.write(COPIES * file.read())
            joined.flush()
            check(joined.name, "cudadiracdec n-threads=1")
            check(joined.name, "cudadiracdec")
    return 0


if __name__ == "__main__":
    sys.exit(main())
