#!/usr/bin/env python3
"""Compares resampling with the installed Pillow, over random pictures.

pillow_test.py CASES [--cuda] [COUNT [SEED]]    CASES: the program resize_cases

Skips without Pillow. Prints the number of pictures by mode and filter.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import collections
import os
import random
import struct
import subprocess
import sys

try:
    import PIL
    from PIL import Image
except ImportError:
    print("no Pillow")
    sys.exit(77)

CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "RGBX": 4, "CMYK": 4}
FILTERS = ["NEAREST", "BOX", "BILINEAR", "HAMMING", "BICUBIC", "LANCZOS", "MKS2013", "MKS2021"]
FILTERS = [name for name in FILTERS if hasattr(Image.Resampling, name)]
VERSION = tuple(int(part) for part in PIL.__version__.split(".")[:2])
ORDER = 0 if VERSION >= (13, 0) else 1 if VERSION >= (12, 2) else 2


def to_float(value):
    """Rounded as a float of C."""
    return struct.unpack("f", struct.pack("f", value))[0]


def side(chance, largest):
    kind = chance.random()
    return chance.randint(1, 8 if kind < .2 else 80 if kind < .7 else largest)


def interval(chance, length, whole):
    low, high = sorted(chance.uniform(0, length) for _ in range(2))
    if whole:
        low, high = int(low), int(high) + 1
    return (low, high) if to_float(low) < to_float(high) <= length else (0, length)


def pixels(chance, mode, size):
    count = CHANNELS[mode] * size[0] * size[1]
    data = chance.randbytes(count)
    if chance.random() < .4:  # sums that leave 0..255
        data = bytes(255 * (byte & 1) for byte in data)
    return Image.frombytes(mode, size, data)


class Engine:
    """The program that runs jobs."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def run(self, picture, size, name="BOX", gap=0, box=None, reduction=(0,) * 6):
        channels = CHANNELS[picture.mode]
        alpha = int(picture.mode in ("LA", "RGBA"))
        numbers = (channels, alpha, *picture.size, *size, FILTERS.index(name), ORDER, repr(gap),
                   *map(repr, box or (0, 0, *picture.size)), *reduction)
        self.process.stdin.write(" ".join(map(str, numbers)).encode() + b"\n" + picture.tobytes())
        self.process.stdin.flush()
        return self.process.stdout.read(channels * size[0] * size[1])


def resize_case(chance, engine):
    mode = chance.choice(sorted(CHANNELS))
    picture = pixels(chance, mode, (side(chance, 300), side(chance, 300)))
    size = (side(chance, 300), side(chance, 300))
    box = None
    if chance.random() < .5:
        whole = chance.random() < .3
        x, y = (interval(chance, length, whole) for length in picture.size)
        box = (x[0], y[0], x[1], y[1])
        if whole and chance.random() < .5:
            size = (int(x[1] - x[0]), int(y[1] - y[0]))
    gap = chance.uniform(1, 4) if chance.random() < .3 else None
    name = chance.choice(FILTERS)
    wanted = picture.resize(size, getattr(Image.Resampling, name), box=box, reducing_gap=gap)
    got = engine.run(picture, size, name, gap or 0, box)
    return wanted, got, (mode, name), (picture.size, size, box, gap)


def reduce_case(chance, engine):
    mode = chance.choice(sorted(CHANNELS))
    picture = pixels(chance, mode, (side(chance, 300), side(chance, 300)))
    by = (chance.randint(1, 12), chance.randint(2, 12))
    x, y = (interval(chance, length, True) for length in picture.size)
    box = tuple(int(edge) for edge in (x[0], y[0], x[1], y[1]))
    wanted = picture.reduce(by, box=box)
    got = engine.run(picture, wanted.size, reduction=(*by, *box))
    return wanted, got, (mode, "reduce"), (picture.size, by, box)


def main():
    program, *numbers = sys.argv[1:]
    on_cuda = numbers[:1] == ["--cuda"]
    numbers = [int(number) for number in numbers[on_cuda:]]
    quick = os.environ.get("CUDATRANSFORM_TEST_QUICK", "0") not in ("", "0")
    count = numbers[0] if numbers else 150 if quick else 1000
    seed = numbers[1] if len(numbers) > 1 else 1
    options = [["--cuda"]] if on_cuda else [[], ["--portable"]]
    engines = [Engine(program, *option) for option in options]
    counts = collections.Counter()
    for number in range(count):
        chance = random.Random(seed + number)
        case = reduce_case if number % 10 == 0 else resize_case
        wanted, got, kind, what = case(chance, engines[-(number % 5 == 4)])
        if wanted.tobytes() != got:
            different = sum(a != b for a, b in zip(wanted.tobytes(), got))
            print(f"case {seed + number}, {kind}, {what}: {different} of {len(got)} samples differ")
            return 1
        counts[kind] += 1
    print(f"Pillow {PIL.__version__}, order {ORDER}: {count} pictures, 0 samples differ")
    for kind, cases in sorted(counts.items()):
        print(*kind, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
