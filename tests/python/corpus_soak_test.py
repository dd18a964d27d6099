#!/usr/bin/python3
# A corpus of files of every kind through `repack`: every file that libjpeg can read keeps its
# picture, its segments and trailing bytes; every other file is refused.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# CUDATRANSFORM_TEST_PICTURES: how many files; 10,000 take minutes.
import collections
import os
import random
import sys
import tempfile
import unittest

import cudatransform as ct
from cudatransform.corpus import actions, folder
import pictures

COUNT = int(os.environ.get("CUDATRANSFORM_TEST_PICTURES", "200"))
PROCESSES = {"baseline": (), "optimized": ("-optimize",), "restart": ("-restart", "2B"),
             "progressive": ("-progressive",), "arithmetic": ("-arithmetic",),
             "arithmetic-progressive": ("-arithmetic", "-progressive")}
# Of small files few become smaller: the others are copied.
SIZES = ((1, 1), (131, 90), (240, 180), (320, 201))


def pools():
    """Sound files, without trailing data, by their kind."""
    made = {}
    for size in SIZES:
        colors, gray = pictures.pixels(*size), pictures.pixels(*size, channels=1)
        for name, options in PROCESSES.items():
            made["gray", name, size] = pictures.cjpeg(gray, *options)
            made["RGB", name, size] = pictures.cjpeg(colors, "-rgb", *options)
            for sampling, factors in pictures.CJPEG_SAMPLINGS.items():
                made[sampling, name, size] = pictures.cjpeg(colors, "-sample", factors, *options)
        four = pictures.pixels(*size, channels=4)
        for sampling in ("cmyk", "YCCK-4:2:0", "YCCK-4:2:2", "YCCK-4:4:4", "YCCK-4:4:0",
                         "YCCK-4:1:1"):
            picture = ct.Picture.from_pixels(four, 80, sampling)
            for name, options in (("baseline", {}), ("progressive", {"progressive": True}),
                                  ("arithmetic", {"arithmetic": True}),
                                  ("restart", {"restart": 3})):
                made[sampling, name, size] = ct.write(picture, **options)
    return made


# What becomes of a sound file: a name, a function of it and of a source of chance.

def _plain(data, chance):
    return data


def _metadata(data, chance):
    extra = pictures.segment(0xE1, b"Exif\0\0" + chance.randbytes(chance.randrange(200)))
    extra += pictures.segment(0xFE, chance.randbytes(chance.randrange(60)))
    place = 4 + int.from_bytes(data[4:6], "big")  # behind the first segment
    return data[:place] + extra + data[place:]


def _trailer(data, chance):
    return data + b"MotionPhoto" + chance.randbytes(chance.randrange(500))


def _gain_map(data, chance, trailer=b""):
    gap = bytes(chance.choice((0, 0, 7)))
    return pictures.with_others(data, [GAIN_MAP] * chance.choice((1, 1, 2, 3)),
                                chance.choice("<>"), gap, trailer)


def _motion(data, chance):
    return _gain_map(_metadata(data, chance), chance, chance.randbytes(300))


def _left_over(data, chance):
    return data[:-2] + b"\x5a\xa5\x00\x11" + data[-2:]


def _without_end(data, chance):
    return data[:-2]


def _stray_bytes(data, chance):
    at = pictures.segments_of(data)[1]
    return data[:at] + b"stray" + data[at:]


def _cut(data, chance):
    at = pictures.segments_of(data)[1]
    return data[:chance.randrange(3, at + max(1, (len(data) - at) // 3))]


def _wrong_bits(data, chance):
    wrong = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        wrong[chance.randrange(2, len(wrong))] ^= 1 << chance.randrange(8)
    return bytes(wrong)


def _lossless(data, chance):
    return pictures.file_with_frame(pictures.segment(0xC3, b"\x08\0\x08\0\x08\1\1\x11\0"))


def _two_components(data, chance):
    parts = bytes((1, 0x11, 0, 2, 0x11, 0))
    return pictures.file_with_frame(pictures.segment(0xC0, b"\x08\0\x08\0\x08\2" + parts))


SOUND = (_plain, _metadata, _trailer, _gain_map, _motion)
ODD = (_left_over, _without_end, _stray_bytes)
DAMAGED = (_cut, _wrong_bits)
REFUSED = (_lossless, _two_components)
GAIN_MAP = b""


def kept(data):
    """The bodies of the segments that a repacked file keeps."""
    return [(code, body) for code, body in pictures.segments_of(data)[0]
            if (0xE0 <= code <= 0xEF or code == 0xFE) and body[:4] != b"MPF\0"
            and not (code == 0xEE and body[:5] == b"Adobe")]


@unittest.skipUnless(pictures.have_tools(), "no cjpeg, jpegtran (libjpeg-turbo-progs)")
class Soak(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.input, self.target = (os.path.join(made.name, name) for name in ("in", "out"))
        self.made = self.corpus()

    def corpus(self):
        """Writes the files; their kinds by their names, in the order of names."""
        global GAIN_MAP
        GAIN_MAP = pictures.cjpeg(pictures.pixels(40, 30, channels=1))
        pool, kinds = sorted(pools().items(), key=str), {}
        for index in range(COUNT):
            chance = random.Random(index)
            kind, data = chance.choice(pool)
            share = chance.random()
            step = chance.choice(SOUND if share < .7 else ODD if share < .8 else
                                 DAMAGED if share < .95 else REFUSED)
            name = f"{index // 1000:02d}/{index:06d}.jpg"
            kinds[name] = kind, step
            pictures.write_all(self.input, {name: step(data, chance)})
        return kinds

    def rows(self):
        output = folder.Output(self.target)
        self.addCleanup(output.release)
        names = folder.list_files(self.input)
        output.claim({"action": "repack", "options": {}, "input": self.input}, names)
        root = os.fsencode(self.input)
        for number, at in enumerate(range(0, len(names), folder.CHUNK)):
            part = names[at:at + folder.CHUNK]
            actions.do_chunk("repack", {}, root, number, part, output,
                             actions.read_files(root, part))
            yield from output.rows_of(number, part)

    def read(self, root, name):
        with open(os.path.join(root, name), "rb") as file:
            return file.read()

    def test_repack_is_lossless(self):
        counts, tally = collections.Counter(), collections.Counter()
        for row in self.rows():
            kind, step = self.made[row["path"]]
            word = step.__name__[1:]
            before = self.read(self.input, row["path"])
            with self.subTest(kind=kind, step=word, path=row["path"]):
                if "reason" in row:
                    counts[word, "refused"] += 1
                    tally["refused"] += 1
                    self.assertNotIn(step, SOUND, row["reason"])
                    self.assertFalse(os.path.exists(os.path.join(self.target, row["path"])))
                    if step in ODD:  # where libjpeg cannot tell it from damage, either
                        self.assertNotIn(kind[1], ("baseline", "optimized", "restart"),
                                         row["reason"])
                    continue
                self.assertNotIn(step, REFUSED)
                counts[word, "repacked"] += 1
                tally["repacked"] += 1
                tally["smaller"] += row["bytes_after"] < row["bytes"]
                after = self.read(self.target, row["path"])
                self.judge(before, after, step, tally)
        for (word, outcome), count in sorted(counts.items()):
            print(f"{word:14} {outcome:10} {count:6}")
        print(", ".join(f"{count} {word}" for word, count in sorted(tally.items())))
        sys.stdout.flush()
        self.assertEqual(sum(counts.values()), COUNT)
        self.assertGreater(tally["repacked"], COUNT * 2 // 3)
        self.assertGreater(tally["judged by libjpeg"], COUNT // 4)
        self.assertGreater(tally["with other pictures"], COUNT // 20)
        self.assertGreater(tally["refused"], COUNT // 20)

    def judge(self, before, after, step, tally):
        """A repacked file against the one that it is made of. What wrong bits have made of segments
        and ends has no judge but libjpeg."""
        if before == after:
            tally["copied"] += 1
            return
        picture = pictures.jpegtran(before)
        if picture is not None:
            self.assertEqual(pictures.jpegtran(after), picture)
            tally["judged by libjpeg"] += 1
        if step in DAMAGED:
            return
        self.assertEqual(kept(after), kept(before))
        end = pictures.end_of(before)
        self.assertEqual(after[pictures.end_of(after):], before[end:])
        if b"MPF\0" in after[:end]:
            self.assertEqual(pictures.others_of(after), pictures.others_of(before))
            tally["with other pictures"] += 1


if __name__ == "__main__":
    unittest.main(verbosity=2)
