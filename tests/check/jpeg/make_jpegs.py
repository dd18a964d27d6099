#!/usr/bin/env python3
# Makes JPEG files of every sampling, process and size for the tests, with libjpeg-turbo's cjpeg.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: make_jpegs.py FOLDER [WIDTHxHEIGHT...]        exits 77 where there is no cjpeg
import math
import os
import random
import shutil
import subprocess
import sys

SKIP = 77

# name: cjpeg's sampling factors and other switches that make the kind of file.
KINDS = {
    "gray": ["-grayscale"],
    "gray-2x2": ["-grayscale", "-sample", "2x2"],
    "444": ["-sample", "1x1"],
    "444-2x1": ["-sample", "2x1,2x1,2x1"],
    "444-1x2": ["-sample", "1x2,1x2,1x2"],
    "422-2x2": ["-sample", "2x2,1x2,1x2"],
    "440-2x2": ["-sample", "2x2,2x1,2x1"],
    "422": ["-sample", "2x1"],
    "420": ["-sample", "2x2"],
    "440": ["-sample", "1x2"],
    "411": ["-sample", "4x1"],
    "rgb": ["-rgb"],
}
PROCESSES = {
    "baseline": [],
    "optimized": ["-optimize"],
    "progressive": ["-progressive"],
    "restart": ["-restart", "2B"],
    "restart-rows": ["-restart", "1"],
    "progressive-restart": ["-progressive", "-restart", "3B"],
    "arithmetic": ["-arithmetic"],
    "arithmetic-progressive": ["-arithmetic", "-progressive"],
    "separate-scans": ["-scans", "SCANS"],
    "coarse-16-bit-tables": ["-quality", "1"],
    "fine": ["-quality", "100"],
}
SIZES = [(1, 1), (7, 9), (8, 8), (16, 16), (17, 33), (33, 17), (64, 48), (65, 130), (200, 3),
         (3, 200)]


def picture(width, height):
    """A PPM with waves, edges and noise, the same for the same size."""
    noise = random.Random(width * 1000 + height)
    rows = bytearray()
    for y in range(height):
        for x in range(width):
            edge = 60 if (x // 5 + y // 7) % 2 else 0
            for c in range(3):
                wave = 100 + 60 * math.sin(x / (3 + c) + y / (5 - c))
                rows.append(max(0, min(255, int(wave + edge + noise.uniform(-20, 20)))))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(rows)


def scan_script(kind, path):
    """One scan for each component."""
    with open(path, "w", encoding="ascii") as script:
        script.write("0;\n" if kind.startswith("gray") else "0;\n1;\n2;\n")


def main():
    folder = sys.argv[1]
    sizes = [tuple(map(int, size.split("x"))) for size in sys.argv[2:]] or SIZES
    cjpeg = shutil.which("cjpeg")
    if not cjpeg:
        print("no cjpeg (package libjpeg-turbo-progs)")
        return SKIP
    os.makedirs(folder, exist_ok=True)
    scans = os.path.join(folder, "scans.txt")
    made = 0
    for width, height in sizes:
        source = picture(width, height)
        for kind, kind_args in KINDS.items():
            scan_script(kind, scans)
            for process, process_args in PROCESSES.items():
                name = f"{kind}-{process}-{width}x{height}.jpg"
                args = [scans if arg == "SCANS" else arg for arg in process_args]
                subprocess.run([cjpeg, "-dct", "int", *kind_args, *args, "-outfile",
                                os.path.join(folder, name)], input=source, check=True)
                made += 1
    os.remove(scans)
    print(f"{made} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
