#!/usr/bin/env python3
"""Batches of photographs for a network of PyTorch, with the pixels of Pillow, decoded on a GPU.

usage: pixels_for_torch.py FOLDER [cpu|cuda]

Reads all JPEG files below a folder, makes squares of 224 x 224 of them on the device, prints how
many pictures it made, their mean color and, where Pillow is installed, how many samples of the
first pictures differ from Pillow's. Needs torch, the module cudatransform and the plugin.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import sys

import numpy as np
import torch
from torch import nn

import cudatransform as ct

SIDE, COMPARED = 224, 20


class Photographs(torch.utils.data.IterableDataset):
    """uint8 tensors (height, width, 3) of JPEG files, on `device`, in the order of paths.

    The Reader decodes ahead on threads of its own, so a DataLoader needs no workers for it. Files
    that cannot be read are left out; `failures` has them.
    """

    def __init__(self, paths, device="cpu"):
        super().__init__()
        self.paths, self.device, self.failures = paths, device, []

    def __iter__(self):
        for batch in ct.Reader(self.paths, batch_size=64, device=self.device, output="pixels"):
            self.failures += batch.failures
            for pixels in batch.pictures:
                yield torch.from_dlpack(pixels)  # no copy


def square(pixels):
    """float32 (3, SIDE, SIDE), 0 to 1: the middle of a picture, enlarged or made smaller."""
    height, width, _ = pixels.shape
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    middle = pixels[top:top + side, left:left + side].permute(2, 0, 1)[None].float() / 255
    return nn.functional.interpolate(middle, size=(SIDE, SIDE), mode="bilinear", antialias=True)[0]


def batches(photographs, size=32):
    """float32 tensors (up to `size`, 3, SIDE, SIDE)."""
    squares = []
    for pixels in photographs:
        squares.append(square(pixels))
        if len(squares) == size:
            yield torch.stack(squares)
            squares = []
    if squares:
        yield torch.stack(squares)


def differences(paths, device):
    """How many samples of RGB files differ from Pillow's, and how many there are."""
    from PIL import Image
    differ = count = 0
    for path in paths:
        with Image.open(path) as picture:
            if picture.mode != "RGB":
                continue
            wanted = torch.from_numpy(np.array(picture))
        pixels = torch.from_dlpack(ct.decode(path, device=device)).cpu()
        differ, count = differ + int((pixels != wanted).sum()), count + wanted.numel()
    return differ, count


def main(folder, device="cpu"):
    paths = sorted(glob.glob(os.path.join(folder, "**", "*.jpg"), recursive=True))
    photographs = Photographs(paths, device)
    number, total = 0, torch.zeros(3)
    for batch in batches(photographs):
        number += len(batch)
        total += batch.mean(dim=(2, 3)).sum(dim=0).cpu()
    red, green, blue = (total / max(number, 1)).tolist()
    print(f"{number} pictures, mean color {red:.3f} {green:.3f} {blue:.3f}")
    for path, reason in photographs.failures:
        print(f"{path}: {reason}")
    try:
        differ, samples = differences(paths[:COMPARED], device)
    except ImportError:
        return
    print(f"{differ} of {samples} samples differ from Pillow's")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
