#!/usr/bin/env python3
"""torchvision's ImageNet recipe on a Reader: the tensors of its transforms, to the bit.

usage: imagenet_for_torch.py FOLDER [cpu|cuda]

Training: RandomResizedCrop(224), RandomHorizontalFlip(), ToTensor(), Normalize(). Evaluation:
Resize(256), CenterCrop(224), ToTensor(), Normalize(). Makes batches of all JPEG files below a
folder by both, and counts the values that differ from those of torchvision's transforms of Pillow's
pictures, with the same random numbers. Needs torch, torchvision, Pillow and the module
cudatransform.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import sys

import PIL
import torch
from PIL import Image
from torchvision import transforms

import cudatransform as ct

SIDE, SHORTER = 224, 256
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SCALE, RATIO, FLIPPED = (0.08, 1.0), (3 / 4, 4 / 3), 0.5


def pillow_at_hand():
    """Whose bytes the Pillow that is installed makes, as `like` takes it."""
    version = tuple(map(int, PIL.__version__.split(".")[:2]))
    return "pillow-13" if version >= (13, 0) else "pillow-12" if version >= (12, 2) else "pillow-11"


FLOATS = {"output": "pixels", "resample": "bilinear", "layout": "chw", "dtype": "float32",
          "recipe": "torchvision", "mean": MEAN, "std": STD, "like": pillow_at_hand()}


def training_batches(paths, batch_size=64, device="cpu"):
    """float32 tensors (up to `batch_size`, 3, SIDE, SIDE), and the paths of those in them."""
    flips = []

    def crop(width, height):
        # In the order in which torchvision's transforms take random numbers for a picture.
        size = torch.empty(1, height, width, device="meta")
        top, left, rows, columns = transforms.RandomResizedCrop.get_params(size, SCALE, RATIO)
        flips.append(bool(torch.rand(1) < FLIPPED))
        return left, top, left + columns, top + rows

    for batch in ct.Reader(paths, batch_size, device, size=(SIDE, SIDE), crops=crop, **FLOATS):
        if batch.stacked is None:
            continue
        tensor = torch.from_dlpack(batch.stacked)  # no copy
        flipped = torch.tensor(flips, device=tensor.device)
        tensor[flipped] = tensor[flipped].flip(-1)
        flips.clear()
        yield tensor, [path for path, item in zip(batch.paths, batch)
                       if not isinstance(item, ct.Failure)]


def evaluation_batches(paths, batch_size=64, device="cpu"):
    """The same, without random numbers."""
    for batch in ct.Reader(paths, batch_size, device, size=SHORTER, **FLOATS):
        if batch.pictures:
            yield (torch.stack([middle(torch.from_dlpack(item)) for item in batch.pictures]),
                   [path for path, item in zip(batch.paths, batch)
                    if not isinstance(item, ct.Failure)])


def middle(tensor):
    """CenterCrop()'s part of a tensor (3, height, width)."""
    height, width = tensor.shape[1:]
    top, left = round((height - SIDE) / 2), round((width - SIDE) / 2)
    return tensor[:, top:top + SIDE, left:left + SIDE]


def originals():
    """torchvision's transforms for training and evaluation."""
    floats = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    return (transforms.Compose([transforms.RandomResizedCrop(SIDE, SCALE, RATIO),
                                transforms.RandomHorizontalFlip(FLIPPED), *floats]),
            transforms.Compose([transforms.Resize(SHORTER), transforms.CenterCrop(SIDE), *floats]))


def differences(batches, transform):
    """How many pictures and values there are, and how many values differ from a transform's."""
    pictures = count = differ = 0
    made = [(tensor.cpu(), paths) for tensor, paths in batches()]
    torch.manual_seed(1)
    for tensor, paths in made:
        for one, path in zip(tensor, paths):
            with Image.open(path) as picture:
                differ += int((one != transform(picture.convert("RGB"))).sum())
        pictures, count = pictures + len(tensor), count + tensor.numel()
    return pictures, count, differ


def main(folder, device="cpu"):
    paths = sorted(glob.glob(os.path.join(folder, "**", "*.jpg"), recursive=True))
    for name, batches, transform in zip(("training", "evaluation"),
                                        (training_batches, evaluation_batches), originals()):
        torch.manual_seed(1)
        pictures, count, differ = differences(lambda make=batches: make(paths, 64, device),
                                              transform)
        print(f"{name}: {pictures} pictures, {differ} of {count} values differ from torchvision's")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
