#!/usr/bin/python3
# process_of(): the process of any file, at a cost that is linear in its bytes.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import random
import tempfile
import time
import unittest

import cudatransform as ct
from cudatransform import _info as process
import pictures

COMMENT = pictures.segment(0xFE, b"")
# What may stand before a frame header, again and again.
STUFFING = {
    "stray": b"\1", "fill": b"\xff", "stuffed": b"\1\xff\0", "restarts": b"\xff\xd0",
    "empty": COMMENT, "tiny": pictures.segment(0xFE, b"x"), "mixed": b"\1\xff\xff" + COMMENT[1:],
    "short": pictures.segment(0xFE, b"\xff\xc0\0\x11" * 8),
    "table": pictures.segment(0xDB, b"\0" + b"\1" * 64),
    "large": pictures.segment(0xE1, b"\xff\xc2\0\x11" * 16000)}


def judged(data):
    """The process of a file by T.81, with libjpeg's way from marker to marker, byte by byte."""
    at = 2
    while True:
        while at < len(data) and data[at] != 0xFF:
            at += 1
        while at < len(data) and data[at] == 0xFF:
            at += 1
        if at + 1 > len(data):
            return "unknown"
        code, at = data[at], at + 1
        if code in (0, 1) or 0xD0 <= code <= 0xD7:
            continue
        size = max(2, int.from_bytes(data[at:at + 2], "big"))
        if code in b"\xd8\xd9\xda" or at + size > len(data):
            return "unknown"
        if code in process._PROCESSES and size > 2:
            return process._PROCESSES[code]
        at += size


class Process(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.path = os.path.join(made.name, "one.jpg")

    def of(self, data):
        with open(self.path, "wb") as file:
            file.write(data)
        return process.process_of(os.fsencode(self.path))

    def test_what_write_makes(self):
        picture = ct.Picture.from_pixels(pictures.pixels(40, 30))
        for options, word in (({}, "baseline"), ({"progressive": True}, "progressive"),
                              ({"arithmetic": True}, "arithmetic"),
                              ({"arithmetic": True, "progressive": True},
                               "arithmetic progressive")):
            self.assertEqual(self.of(ct.write(picture, **options)), word)

    def test_what_stands_before_the_frame_header(self):
        sound = pictures.tiny()
        for name, stuffing in STUFFING.items():
            data = sound[:2] + stuffing * 3 + sound[2:]
            with self.subTest(name):
                self.assertEqual(ct.read(data).width, 8)
                self.assertEqual(self.of(data), "baseline")
        self.assertEqual(self.of(sound[:2] + b"\xff\xfe\0\0" + sound[2:]), "baseline")

    def test_any_bytes(self):
        seen = set()
        for seed in range(1500):
            chance = random.Random(seed)
            data = bytearray(b"\xff\xd8")
            for _ in range(chance.randrange(9)):
                data += chance.choice(list(STUFFING.values())[:-1]) * chance.randrange(30)
                body = chance.randbytes(chance.choice((0, 1, 28, 64, 65, 66, 90)))
                length = chance.choice((len(body) + 2,) * 9 + (0, 1, len(body) + 7))
                data += bytes((255, chance.choice((0xFE, 0xE0, 0xC4, 3))))
                data += length.to_bytes(2, "big") + body
            if chance.random() < .7:
                data += bytes((255, chance.choice(list(process._PROCESSES)))) + b"\0\x0b" + bytes(9)
            data += chance.randbytes(chance.randrange(9))
            word = self.of(data)
            self.assertEqual(word, judged(data), (seed, data.hex()))
            seen.add(word)
        self.assertEqual(seen, {"unknown", *process._PROCESSES.values()})

    def test_time_is_linear(self):
        sound = pictures.tiny()
        for name, stuffing in STUFFING.items():
            count = len(sound) + (1 << 20) // len(stuffing)
            self._written(sound[:2] + stuffing * count + sound[2:])
            begin = time.monotonic()
            with self.subTest(name):
                self.assertEqual(process.process_of(self.path), "baseline")
                self.assertLess(time.monotonic() - begin, 1)

    def _written(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def test_a_huge_file_is_not_read_whole(self):
        def taken():
            with open("/proc/self/io", encoding="ascii") as file:
                return int(file.readline().split()[1])
        sound = pictures.tiny()
        self._written(sound[:2] + STUFFING["large"] * 2 + sound[2:])
        os.truncate(self.path, 1 << 32)
        before = taken()
        self.assertEqual(process.process_of(self.path), "baseline")
        self.assertLess(taken() - before, 1 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
