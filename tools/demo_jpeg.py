"""Describes a JPEG file for tools/demo: what it is, and how small it gets without loss."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from dataclasses import dataclass, field
import math
import os

import demo_pipelines
from demo_pipelines import DemoError

SOI, SOS, DQT, DRI, COM = b"\xff\xd8", 0xDA, 0xDB, 0xDD, 0xFE
# Kinds of frame (ITU-T T.81, table B.1). 0xC4 (DHT), 0xC8 (JPG) and 0xCC (DAC) are none.
PROCESSES = {0xC0: "baseline", 0xC1: "extended", 0xC2: "progressive", 0xC9: "extended, arithmetic",
             0xCA: "progressive, arithmetic"}
FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# ITU-T T.81, tables K.1 and K.2, which libjpeg's quality scales.
LUMA = (16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99)
CHROMA = (17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
          24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99) + 32 * (99,)
# Properties of jpegcoefenc for each file to write, and a remark on the result.
WAYS = (("", ""), ("optimize=true", ""), ("progressive=true", ""),
        ("arithmetic=true", "few programs read it"))


@dataclass
class Jpeg:
    path: str
    size: int  # bytes
    process: str = ""
    width: int = 0
    height: int = 0
    factors: list = field(default_factory=list)  # (horizontal, vertical) of each component
    table_of: list = field(default_factory=list)  # slot of each component's table
    tables: dict = field(default_factory=dict)  # slot: 64 divisors, natural order
    restart_interval: int = 0  # MCUs
    metadata: int = 0  # bytes: JFIF, Exif, profiles, thumbnails, comments


def natural_order():
    """The natural index of every coefficient in zigzag order: diagonal by diagonal."""
    def place(index):
        row, column = divmod(index, 8)
        return row + column, row if (row + column) % 2 else column
    return sorted(range(64), key=place)


def read_tables(jpeg, segment):
    while segment:
        wide, slot = segment[0] >> 4, segment[0] & 15
        size = 128 if wide else 64
        body = segment[1 : 1 + size]
        values = [body[i] << 8 | body[i + 1] for i in range(0, size, 2)] if wide else list(body)
        table = [0] * 64
        for index, value in zip(natural_order(), values, strict=True):
            table[index] = value
        jpeg.tables[slot] = table
        segment = segment[1 + size :]


def read_frame(jpeg, marker, segment):
    jpeg.process = PROCESSES.get(marker, "of a rare kind")
    jpeg.height, jpeg.width = segment[1] << 8 | segment[2], segment[3] << 8 | segment[4]
    for i in range(6, 6 + 3 * segment[5], 3):
        jpeg.factors.append(divmod(segment[i + 1], 16))
        jpeg.table_of.append(segment[i + 2])


def read(path):
    """The file's segments before its first scan; None for a broken file or one of another kind."""
    try:
        with open(path, "rb") as file:
            if file.read(2) != SOI:
                return None
            return read_segments(Jpeg(path, os.path.getsize(path)), file)
    except (IndexError, ValueError):
        return None


def read_segments(jpeg, file):
    while True:
        marker = file.read(2)
        while marker == b"\xff\xff":  # fill bytes
            marker = b"\xff" + file.read(1)
        length = int.from_bytes(file.read(2), "big")
        if marker[0] != 0xFF or length < 2:
            return None
        segment, code = file.read(length - 2), marker[1]
        if code == SOS:
            return jpeg if jpeg.factors else None
        if code == DQT:
            read_tables(jpeg, segment)
        elif code == DRI:
            jpeg.restart_interval = int.from_bytes(segment[:2], "big")
        elif code in FRAMES:
            read_frame(jpeg, code, segment)
        elif 0xE0 <= code <= 0xEF or code == COM:
            jpeg.metadata += length + 2


def scaled(base, quality, most):
    """libjpeg's quality scaling, with entries up to `most`."""
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    return [min(max((value * percent + 50) // 100, 1), most) for value in base]


def quality_text(table, base):
    """Which of libjpeg's qualities the table is, or is nearest to."""
    most = 255 if max(table) <= 255 else 32767

    def distance(quality):
        return sum(abs(math.log(a / b)) for a, b in zip(table, scaled(base, quality, most)))
    best = min(range(100, 0, -1), key=distance)
    return f"libjpeg's quality {best}" if distance(best) == 0 else \
        f"not one of libjpeg's, nearest to its quality {best}"


def table_roles(jpeg):
    """Name, slot and libjpeg's table to scale, of the tables worth showing."""
    if len(set(jpeg.table_of)) == 1:
        return [("only table", jpeg.table_of[0], LUMA)]
    return [("luma table", jpeg.table_of[0], LUMA), ("chroma table", jpeg.table_of[1], CHROMA)]


def describe(jpeg):
    bits = 8 * jpeg.size / (jpeg.width * jpeg.height)
    factors = ", ".join(f"{h}x{v}" for h, v in jpeg.factors)
    interval = jpeg.restart_interval
    restart = f", restart markers every {interval} MCUs" if interval else ""
    print("The file, read by jpegcoefdec and made a picture by cudaidct8x8:")
    print(f"  JPEG, {jpeg.process}; sampling factors {factors}{restart}")
    print(f"  {jpeg.size} bytes, {bits:.2f} bits a pixel; {jpeg.metadata} bytes of it are metadata")
    for name, slot, base in table_roles(jpeg):
        table = jpeg.tables.get(slot)
        if table and 0 not in table:
            print(f"  {name}: DC in steps of {table[0]}, AC of {min(table[1:])} to "
                  f"{max(table[1:])}; {quality_text(table, base)}")
    print()


def why_so_high(points, is_jpeg):
    """A sentence on the highest PSNR of [(quality, PSNR)] if it is unusually high, or ""."""
    quality, psnr = max(points, key=lambda point: point[1])
    if psnr < 50:  # quality 95 leaves 40 to 46 dB of a picture that was never compressed
        return ""
    if not is_jpeg:
        return (f"{psnr:.0f} dB at quality {quality} is more than most pictures reach: this one has"
                " little detail to\nlose, because it is smooth or was compressed before.")
    return (f"The file explains the {psnr:.0f} dB at quality {quality}: it is compressed already,"
            " in the same\nblocks, and steps that fit its own lose only the rounding of samples.")


def used_tables(jpeg):
    return [jpeg.tables.get(slot) for slot in jpeg.table_of]


def coefficients(path):
    with demo_pipelines.Pipeline("filesrc name=file ! jpegcoefdec ! video/x-dct ! "
                                 "appsink name=sink sync=false", path) as pipeline:
        pipeline.play()
        return demo_pipelines.pull(pipeline, "sink")


def write_again(jpeg, folder):
    """Writes files of the same coefficients in every coding."""
    os.makedirs(folder, exist_ok=True)
    caps, levels = coefficients(jpeg.path)
    print(f"\nIts {caps.get_string('sampling')} coefficients written again by jpegcoefenc, without "
          "metadata and without loss:")
    print(f"  {'the file':18}{jpeg.size:>12} bytes")
    for setting, remark in WAYS:
        name = setting.partition("=")[0] or "plain"
        with demo_pipelines.Pipeline("filesrc name=file ! jpegcoefdec ! jpegcoefenc "
                                     f"{setting} ! appsink name=sink sync=false",
                                     jpeg.path) as pipeline:
            pipeline.play()
            data = demo_pipelines.pull(pipeline, "sink")[1]
        path = os.path.join(folder, f"again-{name}.jpg")
        with open(path, "wb") as file:
            file.write(data)
        # The claim above is checked for each file.
        if coefficients(path)[1] != levels or used_tables(read(path)) != used_tables(jpeg):
            raise DemoError(f"{path} has other coefficients than {jpeg.path}; please report this")
        share = 100 * len(data) / jpeg.size
        print(f"  {setting or 'no setting':18}{len(data):>12} bytes {share:6.1f} %   {path}"
              f"{'  (' + remark + ')' if remark else ''}", flush=True)
