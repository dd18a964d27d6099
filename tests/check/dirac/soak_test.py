#!/usr/bin/env python3
"""A long run of cudadiracdec through joined streams, with seeks, restarts and changes of streams:
every frame is right and in its place, and memory stays as it is.

soak_test.py FOLDER    FOLDER has NAME.drc and NAME.framemd5

CUDATRANSFORM_SOAK_FRAMES: how many frames (600). CUDATRANSFORM_TEST_BACKEND: cpu or cuda.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
import os
import random
import resource
import sys
import tempfile

sys.dont_write_bytecode = True
import vectors_test  # noqa: E402
from vectors_test import SKIP, Gst  # noqa: E402

# Predicted and not, arithmetic codes and others, slices of both kinds and in fragments, odd sizes,
# 4:4:4, 10 and 12 bits.
NAMES = ["i04_haar0_d2_420", "i08_dd97_d4_odd_444", "i09_legall_d4_odd_420",
         "i12_lossless_420_10b_vlc", "p01_qpel_biref_8x8full_420", "p03_hpel_noverlap16_420",
         "p07_res_preset1_8x8_4x4", "v02_hq_legall_d3_420", "v03_hq_haar_d2_444_12b",
         "v09_ld_legall_d3", "v10_hqcbr_fragments"]
FILES = 3
STREAMS = 40  # of a file
GROWTH = 8  # MB of memory in use while nothing plays
FRAME = 40 * Gst.MSECOND
LIBC = ctypes.CDLL(None)


def resident():
    """MB. Heaps of threads keep freed memory as chance has it; that is released first."""
    if hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGESIZE") / (1 << 20)


class Film:
    """Concatenated streams in a file, and the digests of their frames."""

    def __init__(self, folder, path, chance):
        self.path, self.digests = path, []
        with open(path, "wb") as joined:
            for _ in range(STREAMS):
                name = os.path.join(folder, chance.choice(NAMES))
                with open(name + ".drc", "rb") as stream:
                    joined.write(stream.read())
                self.digests += vectors_test.expected(name + ".framemd5")
        self.places = {}
        for i, digest in enumerate(self.digests):
            self.places.setdefault(digest, []).append(i)

    def has(self, frames, is_start):
        places = [0] if is_start else self.places.get(frames[0], [])
        return any(self.digests[i:i + len(frames)] == frames for i in places)


class Soak:
    def __init__(self, decoder, films, chance):
        self.films, self.chance, self.film, self.played = films, chance, None, 0
        self.at_rest = []  # frames played, MB
        self.pipeline = Gst.parse_launch(f"filesrc name=source ! {decoder} ! video/x-raw ! "
                                         "appsink name=out sync=false max-buffers=4")
        self.out = self.pipeline.get_by_name("out")

    def begin(self):
        """Another file, from its beginning."""
        self.pipeline.set_state(Gst.State.NULL)  # in READY appsink keeps its frames
        self.at_rest.append((self.played, resident()))
        self.film = self.chance.choice(self.films)
        self.pipeline.get_by_name("source").set_property("location", self.film.path)
        self.pipeline.set_state(Gst.State.PLAYING)

    def play(self, count, is_start):
        frames = []
        while len(frames) < count:
            sample = self.out.emit("try-pull-sample", 60 * Gst.SECOND)
            if sample is None:
                assert self.out.get_property("eos"), f"no frame for a minute after {self.played}"
                break
            frames.append(vectors_test.digest(sample))
            del sample
            self.played += 1
        assert not frames or self.film.has(frames, is_start), \
            f"frames {self.played - len(frames)} to {self.played} are not of {self.film.path}"

    def run(self, total):
        is_start = True
        self.begin()
        while self.played < total:
            self.play(self.chance.randint(1, 60), is_start)
            is_start = self.chance.random() < .15
            if is_start:
                self.begin()
                continue
            time = self.chance.randrange(len(self.film.digests)) * FRAME
            assert self.pipeline.seek_simple(
                Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT, time), time
        self.begin()
        self.pipeline.set_state(Gst.State.NULL)
        # The most in each half, except the first tenth.
        first, second = (
            max((mb for at, mb in self.at_rest if begin < at / total <= end), default=0)
            for begin, end in ((.1, .5), (.5, 2)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{self.played} frames, {len(self.at_rest)} times begun anew; at rest {first:.0f} MB "
              f"and then {second:.0f} MB, never more than {peak:.0f} MB")
        if total >= 20000:
            assert second <= first + GROWTH, "memory grows"


def main():
    Gst.init(None)
    folder, backend = sys.argv[1], os.environ.get("CUDATRANSFORM_TEST_BACKEND", "cpu")
    if not os.path.exists(os.path.join(folder, NAMES[0] + ".drc")):
        print("no streams in", folder)
        return SKIP
    if backend == "cuda" and not vectors_test.has_engine():
        print("no GPU")
        return 1 if os.environ.get("CUDATRANSFORM_REQUIRE_GPU") == "1" else SKIP
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as scratch:
        films = [Film(folder, os.path.join(scratch, f"{i}.drc"), chance) for i in range(FILES)]
        Soak(f"cudadiracdec backend={backend} n-threads=4", films,
             chance).run(int(os.environ.get("CUDATRANSFORM_SOAK_FRAMES", 600)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
