#!/usr/bin/env python3
# Makes the seeds of a fuzz target: sound JPEG files, and deliberately wrong ones.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: make_seeds.py MAKE_JPEGS TARGET FOLDER      exits 77 where there is no cjpeg
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

import apv_seeds
import coef_seeds
import dirac_seeds
import jpeg_seeds
from jpeg_seeds import EOI, SOI

SKIP = 77

SOF0, SOF1, SOF2, SOF9, DHT, SOS, DQT, DNL, DRI, COM = (
    0xC0, 0xC1, 0xC2, 0xC9, 0xC4, 0xDA, 0xDB, 0xDC, 0xDD, 0xFE)
APP0, APP1, APP14 = 0xE0, 0xE1, 0xEE


def segment(marker, body, length=None):
    """A marker segment; `length` is what it says where that is not the truth."""
    said = len(body) + 2 if length is None else length
    return bytes([0xFF, marker]) + said.to_bytes(2, "big") + body


def frame(marker, width, height, components, precision=8):
    """SOF; `components`: (id, sampling factors as a byte, table)."""
    body = bytes([precision]) + height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return segment(marker, body + bytes([len(components)]) + b"".join(map(bytes, components)))


def scan(components, first=0, last=63, approximation=0):
    """SOS; `components`: (id, tables as a byte)."""
    body = bytes([len(components)]) + b"".join(map(bytes, components))
    return segment(SOS, body + bytes([first, last, approximation]))


def table8(index=0, value=16):
    return segment(DQT, bytes([index]) + bytes([value]) * 64)


def table16(index=0, values=(300, 0, 65535, 256)):
    body = b"".join(values[i % len(values)].to_bytes(2, "big") for i in range(64))
    return segment(DQT, bytes([0x10 | index]) + body)


def huffman(table, counts, symbols):
    return segment(DHT, bytes([table]) + bytes(counts) + bytes(symbols))


# One code of a bit: "no difference" and "end of block".
ZERO_CODES = huffman(0x00, [1] + [0] * 15, [0]) + huffman(0x10, [1] + [0] * 15, [0])
# Sixteen codes of five bits, for the largest levels that can be written.
LARGE_CODES = (huffman(0x00, [0, 0, 0, 0, 16] + [0] * 11, range(16)) +
               huffman(0x10, [0, 0, 0, 0, 16] + [0] * 11, [0, *range(0x01, 0x10)]))
FIFTEEN_CODES = b"".join(huffman(table, [0, 1, 4, 2] + [0] * 12, symbols) for table, symbols in (
    (0x00, [0, 1, 12, 13, 14, 15, 8]), (0x10, [0, 0x0E, 0x1E, 0x0D, 0xFE, 0x0F, 1])))
GRAY = [(1, 0x11, 0)]
YCBCR = [(1, 0x22, 0), (2, 0x11, 0), (3, 0x11, 0)]


def gray(width, height, data, tables=table8(), codes=ZERO_CODES, marker=SOF0, end=EOI):
    return (SOI + tables + codes + frame(marker, width, height, GRAY) + scan([(1, 0)]) + data +
            end)


def many_scans(count):
    """A progressive file with `count` scans, all but the first of which refine nothing."""
    body = SOI + table8() + ZERO_CODES + frame(SOF2, 64, 64, GRAY) + scan([(1, 0)], 0, 0) + bytes(8)
    return body + (scan([(1, 0)], 1, 63) + bytes(8)) * count + EOI


def hand_made():
    """Files made by hand: name, bytes."""
    blank = bytes(4)
    yield "gray", gray(16, 16, blank)
    yield "gray-one-sample", gray(1, 1, blank)
    yield "huge-without-data", gray(65500, 65500, b"")
    yield "huge-without-end", gray(65500, 65500, b"", end=b"")
    yield "larger-than-limits", gray(65535, 65535, blank)
    yield "wide", gray(65500, 1, bytes(2048))
    yield "high", gray(1, 65500, bytes(2048))
    yield "no-width", gray(0, 16, blank)
    yield "no-height-but-dnl", gray(16, 0, blank + segment(DNL, b"\0\x10"))
    yield "dnl-that-differs", gray(16, 16, blank + segment(DNL, b"\0\x08"))
    yield "no-tables", gray(16, 16, blank, tables=b"")
    yield "no-codes", gray(16, 16, blank, codes=b"")
    yield "table-with-zeros", gray(16, 16, blank, tables=table8(0, 0))
    yield "16-bit-table-with-zeros", gray(16, 16, blank, tables=table16(), marker=SOF1)
    yield "table-cut-off", gray(16, 16, blank, tables=segment(DQT, bytes(40)))
    yield "table-of-wrong-index", gray(16, 16, blank, tables=table8(7))
    yield "tables-again", gray(16, 16, blank, tables=table8(0, 3) + table8(0, 5))
    yield "largest-levels", gray(64, 64, bytes(range(255)) * 8, codes=LARGE_CODES)
    yield "largest-levels-progressive", gray(64, 64, bytes(range(255)) * 8, codes=LARGE_CODES,
                                             marker=SOF2)
    yield "codes-that-overflow", gray(16, 16, blank, codes=huffman(0, [3] + [0] * 15, [0, 1, 2]))
    yield "codes-without-symbols", gray(16, 16, blank,
                                        codes=segment(DHT, bytes([0] + [1] * 16)))
    yield "arithmetic", gray(16, 16, bytes(range(64)), codes=b"", marker=SOF9)
    yield "lossless", gray(16, 16, blank, marker=0xC3)
    yield "no-frame", SOI + table8() + ZERO_CODES + scan([(1, 0)]) + blank + EOI
    yield "two-frames", SOI + frame(SOF0, 8, 8, GRAY) + gray(16, 16, blank)[2:]
    # libjpeg takes the count of components from the second header before it refuses it.
    yield "frame-behind-the-scan", gray(
        16, 16, blank, end=frame(SOF0, 8, 8, [(i, 0x11, 0) for i in range(200)]) + EOI)
    for marker in (SOF0, SOF1, SOF2, SOF9, 0xC3):
        for codes in (ZERO_CODES, LARGE_CODES, FIFTEEN_CODES):
            for precision in (7, 12, 16):
                head = table16(0, (1, 65535)) + codes + frame(marker, 40, 24, YCBCR, precision)
                yield f"precision-{precision}-{marker:02x}-{len(codes)}", SOI + head + \
                    scan([(1, 0), (2, 0), (3, 0)]) + bytes(range(255)) * 4 + EOI
    yield "many-scans", many_scans(60)
    yield "too-many-scans", many_scans(600)
    yield "scan-of-nobody", SOI + table8() + ZERO_CODES + frame(SOF0, 8, 8, GRAY) + \
        scan([(9, 0)]) + blank + EOI
    yield "scan-of-too-many", SOI + table8() + ZERO_CODES + frame(SOF0, 8, 8, GRAY) + \
        scan([(1, 0)] * 5) + blank + EOI
    yield "scan-without-the-rest", SOI + table8() + ZERO_CODES + frame(SOF0, 32, 32, YCBCR) + \
        scan([(1, 0)]) + blank + EOI
    yield "bad-approximation", SOI + table8() + ZERO_CODES + frame(SOF2, 16, 16, GRAY) + \
        scan([(1, 0)], 0, 0, 0xDD) + blank + EOI
    yield "refinement-first", SOI + table8() + ZERO_CODES + frame(SOF2, 16, 16, GRAY) + \
        scan([(1, 0)], 1, 63, 0x10) + blank + EOI
    for factors in (0x00, 0x44, 0x12, 0x21, 0x31, 0x14, 0x41, 0x51, 0xFF):
        parts = [(1, factors, 0), (2, 0x11, 0), (3, 0x11, 0)]
        yield f"factors-{factors:02x}", SOI + table8() + ZERO_CODES + \
            frame(SOF0, 40, 24, parts) + scan([(1, 0), (2, 0), (3, 0)]) + bytes(64) + EOI
    yield "four-components", SOI + table8() + ZERO_CODES + \
        frame(SOF0, 8, 8, [(i, 0x11, 0) for i in range(4)]) + \
        scan([(i, 0) for i in range(4)]) + blank + EOI
    # YCCK, with K as Y and otherwise.
    for factors, black in ((0x11, 0x11), (0x22, 0x22), (0x21, 0x21), (0x41, 0x41), (0x22, 0x11)):
        parts = [(1, factors, 0), (2, 0x11, 0), (3, 0x11, 0), (4, black, 0)]
        for name, scans in (("one-scan", [[1, 2, 3, 4]]), ("two-scans", [[1, 2], [3, 4]]),
                            ("four-scans", [[1], [2], [3], [4]])):
            yield f"ycck-{factors:02x}-{black:02x}-{name}", SOI + \
                segment(APP14, b"Adobe\0\x64\0\0\0\0\x02") + table8() + ZERO_CODES + \
                frame(SOF0, 40, 24, parts) + \
                b"".join(scan([(i, 0) for i in ids]) + bytes(64) for ids in scans) + EOI
    for name, adobe in (("adobe", segment(APP14, b"Adobe\0\x64\0\0\0\0\0")), ("bare", b"")):
        parts = [(letter, 0x11, 0) for letter in b"CMYK"]
        cmyk = SOI + adobe + table8() + ZERO_CODES + frame(SOF0, 40, 24, parts) + \
            scan([(part[0], 0) for part in parts]) + bytes(64) + EOI
        yield f"cmyk-{name}", cmyk
        yield f"cmyk-{name}-trailer", cmyk + b"the bytes behind"
        yield from jpeg_seeds.mpf_files(cmyk, [gray(8, 8, blank), cmyk], f"cmyk-{name}-")
    yield "two-components", SOI + table8() + ZERO_CODES + frame(SOF0, 8, 8, YCBCR[:2]) + EOI
    yield "fill-bytes", SOI + b"\xff" * 20 + gray(8, 8, blank)[2:]
    yield "bytes-between-markers", SOI + b"some text" + gray(8, 8, blank)[2:]
    yield "thumbnail", SOI + segment(APP1, gray(8, 8, blank)) + gray(16, 16, blank)[2:]
    yield "field", SOI + segment(APP0, b"AVI1\x01\0") + gray(16, 16, blank)[2:]
    yield "adobe", SOI + segment(APP14, b"Adobe\0\x64\0\0\0\0\x01") + \
        frame(SOF0, 8, 8, YCBCR) + EOI
    yield "restarts", SOI + segment(DRI, b"\0\x01") + \
        gray(24, 8, b"\0\xff\xd0\0\xff\xd3\0\xff\xd1")[2:]
    yield "length-too-small", SOI + segment(COM, b"x" * 20, 1) + gray(8, 8, blank)[2:]
    yield "length-zero", SOI + segment(COM, b"", 0) + gray(8, 8, blank)[2:]
    yield "length-too-large", SOI + segment(COM, b"x" * 20, 60000) + gray(8, 8, blank)[2:]
    yield "soi-alone", SOI
    yield "soi-eoi", SOI + EOI
    yield "sois", SOI * 50
    yield "ends-with-half-a-marker", gray(8, 8, blank) + b"\xff"
    yield "nothing", b""
    yield from jpeg_seeds.mpf_files(gray(16, 16, bytes(4)),
                               [gray(8, 8, bytes(4)), gray(24, 8, bytes(6))])


def sound(make_jpegs, cjpeg):
    """Files of cjpeg's: every kind and process at one size, one kind at every size."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "scans.txt")
        for kind, kind_args in make_jpegs.KINDS.items():
            make_jpegs.scan_script(kind, script)
            for process, process_args in make_jpegs.PROCESSES.items():
                sizes = make_jpegs.SIZES if (kind, process) == ("420", "baseline") else [(33, 17)]
                for size in sizes:
                    args = [script if arg == "SCANS" else arg for arg in process_args]
                    made = subprocess.run([cjpeg, "-dct", "int", *kind_args, *args],
                                          input=make_jpegs.picture(*size), check=True,
                                          stdout=subprocess.PIPE)
                    yield f"{kind}-{process}-{size[0]}x{size[1]}", made.stdout


def damaged(name, data):
    """Truncated and corrupted sound files."""
    half = len(data) // 2
    yield f"{name}-cut-off", data[:half]
    yield f"{name}-without-end", data[:-2]
    yield f"{name}-with-marker-inside", data[:half] + b"\xff\xc8" + data[half:]
    yield f"{name}-with-restart-inside", data[:half] + b"\xff\xd5" + data[half:]
    yield f"{name}-with-wrong-bits", data[:half] + bytes([data[half] ^ 0x24]) + data[half + 1:]


def irregular(name, data):
    """What takes nothing away from a sound file."""
    parameters = data.index(b"\xff\xda") + 4
    parameters += 1 + 2 * data[parameters]
    yield f"{name}-with-bytes-left-over", data[:-2] + b"\x5a\xa5\x00\x11" + EOI
    yield f"{name}-with-a-text-left-over", data[:-2] + b"some text, " * 20 + EOI
    yield f"{name}-with-a-restart-behind", data[:-2] + b"\xff\xd2" + EOI
    yield f"{name}-with-odd-parameters", data[:parameters] + b"\1" + data[parameters + 1:]


def files(make_jpegs, cjpeg):
    for name, data in sound(make_jpegs, cjpeg):
        yield name, data
        if name.startswith("420-"):
            yield from damaged(name, data)
            yield from irregular(name, data)
    yield from hand_made()


def main():
    script, target, folder = sys.argv[1:]
    cjpeg = shutil.which("cjpeg")
    if not cjpeg:
        print("no cjpeg (package libjpeg-turbo-progs)")
        return SKIP
    spec = importlib.util.spec_from_file_location("make_jpegs", script)
    make_jpegs = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(make_jpegs)
    os.makedirs(folder, exist_ok=True)
    own_seeds = {**apv_seeds.SEEDS, **coef_seeds.SEEDS, **dirac_seeds.SEEDS, **jpeg_seeds.SEEDS}
    seeds = (own_seeds[target]() if target in own_seeds else
             jpeg_seeds.OF_FILES.get(target, list)(list(files(make_jpegs, cjpeg))))
    for name, data in seeds:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
