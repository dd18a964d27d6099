"""A sheet of crops out of files of equal bytes: metrics disagree, so somebody has to look."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import judge_peers
from bench_runs import BenchError
from demo_pictures import font
from PIL import Image, ImageDraw

SHOWN = ("perceptual, rd", judge_peers.BASE, "mozjpeg")
CROP = (160, 112)  # pixels, shown twice as wide and high
GAP, BAR = 6, 20


def largest_within(encode, pixels, size):
    """The file of the highest quality that has at most `size` bytes, and its quality."""
    low, high, best = 1, 100, None
    while low <= high:
        middle = (low + high) // 2
        data = encode(pixels, middle)
        if len(data) <= size:
            low, best = middle + 1, (data, middle)
        else:
            high = middle - 1
    if best is None:
        raise BenchError(f"no quality makes a file of {size} bytes")
    return best


def columns_of(pixels, encoders, quality):
    """[(label, picture)]: the original, and files of the base's bytes at that quality."""
    size = len(encoders[judge_peers.BASE](pixels, quality))
    columns = [("original", Image.fromarray(pixels))]
    for name in SHOWN:
        if name in encoders:
            data, found = largest_within(encoders[name], pixels, size)
            columns.append((f"{name}: quality {found}, {len(data)} bytes",
                            Image.fromarray(judge_peers.decode(data))))
    return columns


def draw(path, pictures, encoders, crops, quality):
    """crops: (picture, left, top) of each row."""
    rows = []
    for name, left, top in crops:
        if name not in pictures:
            raise BenchError(f"no picture is called {name!r}")
        box = (left, top, left + CROP[0], top + CROP[1])
        rows.append([(label, picture.crop(box).resize((2 * CROP[0], 2 * CROP[1]), Image.NEAREST))
                     for label, picture in columns_of(pictures[name], encoders, quality)])
    across, down = 2 * CROP[0] + GAP, 2 * CROP[1] + BAR
    sheet = Image.new("RGB", (across * len(rows[0]) - GAP, down * len(rows)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, cells in enumerate(rows):
        for column, (label, picture) in enumerate(cells):
            pen.text((column * across + 2, row * down + 2), label, fill="black", font=font(13))
            sheet.paste(picture, (column * across, row * down + BAR))
    sheet.save(path, "JPEG", quality=82, optimize=True, progressive=True, subsampling=0)
