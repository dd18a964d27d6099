"""Describes a JPEG file for tools/demo: what it is, and how small it gets without loss."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os

import numpy

import cudatransform
from cudatransform._info import process_of
from cudatransform.tables import estimated_quality
from demo_pipelines import DemoError

# Options of cudatransform.write, and remarks on the results.
WAYS = (("plain", {}, ""), ("optimize", {"optimize": True}, ""),
        ("progressive", {"progressive": True}, ""),
        ("arithmetic", {"arithmetic": True}, "  (few programs read it)"))


def read(path):
    """The file's picture; None for a file of another kind or one that cannot be read."""
    try:
        return cudatransform.read(path)
    except cudatransform.ReadError:
        return None


def quality_text(table, base):
    """libjpeg's quality of a table, or the nearest one. base: 0, of luma; 1, of chroma."""
    quality = estimated_quality(table, base)
    if numpy.array_equal(cudatransform.quality_tables(quality)[base], table):
        return f"libjpeg's quality {quality}"
    return f"not one of libjpeg's, nearest to its quality {quality}"


def describe(picture):
    size = os.path.getsize(picture.path)
    bits = 8 * size / (picture.width * picture.height)
    print("The file, read by jpegcoefdec and made a picture by cudaidct8x8:")
    print(f"  JPEG, {process_of(picture.path)}; {picture.sampling}")
    print(f"  {size} bytes, {bits:.2f} bits a pixel; {len(picture.markers)} bytes of it are "
          "metadata")
    roles = {component.table: base for base, component in ((1, picture.components[-1]),
                                                           (0, picture.components[0]))}
    for index, base in sorted(roles.items()):
        table = picture.tables[index]
        name = ("luma table", "chroma table")[base] if len(roles) > 1 else "only table"
        print(f"  {name}: DC in steps of {table[0, 0]}, AC of {table.ravel()[1:].min()} to "
              f"{table.ravel()[1:].max()}; {quality_text(table, base)}")
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


def write_again(picture, folder):
    """Writes files of the same coefficients in every coding."""
    os.makedirs(folder, exist_ok=True)
    size = os.path.getsize(picture.path)
    print(f"\nIts {picture.sampling} coefficients written again by jpegcoefenc, without metadata "
          "and without loss:")
    print(f"  {'the file':18}{size:>12} bytes")
    bare = picture.copy()
    bare.markers = b""
    for name, options, remark in WAYS:
        path = os.path.join(folder, f"again-{name}.jpg")
        data = cudatransform.write(bare, path, **options)
        again = cudatransform.read(path)
        # We check the claim above for each file.
        if len(again) != len(picture) or not all(
                numpy.array_equal(again[index], picture[index]) and
                numpy.array_equal(again.table(index), picture.table(index))
                for index in range(len(picture))):
            raise DemoError(f"{path} has other coefficients than {picture.path}: please report it")
        print(f"  {name:18}{len(data):>12} bytes {100 * len(data) / size:6.1f} %   {path}{remark}",
              flush=True)
