#!/usr/bin/env python3
"""An image processor of Hugging Face on a Reader: its pixel values, to the bit.

usage: images_for_transformers.py FOLDER [cpu|cuda]

Takes size, filter, crop, mean and standard deviation of a processor, such as those of ViT and CLIP,
and makes the `pixel_values` that the processor makes with Pillow (`use_fast=False`, since
transformers 5 the classes whose names end with Pil). Counts the values that differ, of all JPEG
files below a folder. Needs torch, transformers, Pillow and the module cudatransform.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import os
import sys

import PIL
import torch
import transformers
from PIL import Image

import cudatransform as ct


def pillow_at_hand():
    """Whose bytes the Pillow that is installed makes, as `like` takes it."""
    version = tuple(map(int, PIL.__version__.split(".")[:2]))
    return "pillow-13" if version >= (13, 0) else "pillow-12" if version >= (12, 2) else "pillow-11"


def options_of(processor):
    """The arguments of a Reader, and the sides of a crop in the middle, None without one."""
    if abs(processor.rescale_factor * 255 - 1) > 1e-9 or not (
            processor.do_resize and processor.do_rescale and processor.do_normalize):
        raise ValueError("the processor must resize, rescale by 1/255 and normalize")
    sides = dict(processor.size)
    shorter = sides.get("shortest_edge")
    options = {"output": "pixels", "resample": int(processor.resample), "layout": "chw",
               "size": shorter or (sides["width"], sides["height"]), "dtype": "float32",
               "recipe": "hf", "mean": processor.image_mean, "std": processor.image_std,
               "like": pillow_at_hand()}
    crop = dict(processor.crop_size) if getattr(processor, "do_center_crop", False) else None
    return options, crop and (crop["height"], crop["width"])


def pixel_values(processor, paths, batch_size=64, device="cpu"):
    """float32 tensors (up to `batch_size`, 3, height, width), and the paths of those in them."""
    options, crop = options_of(processor)
    for batch in ct.Reader(paths, batch_size, device, **options):
        if not batch.pictures:
            continue
        if crop is None and batch.stacked is not None:
            tensor = torch.from_dlpack(batch.stacked)  # no copy
        else:
            tensor = torch.stack([middle(torch.from_dlpack(item), crop)
                                  for item in batch.pictures])
        yield tensor, [path for path, item in zip(batch.paths, batch)
                       if not isinstance(item, ct.Failure)]


def middle(tensor, crop):
    """The part of a tensor (3, height, width) that is not smaller, as processors crop."""
    if crop is None:
        return tensor
    top, left = (tensor.shape[1] - crop[0]) // 2, (tensor.shape[2] - crop[1]) // 2
    return tensor[:, top:top + crop[0], left:left + crop[1]]


def processors():
    """Two that need no download, with their defaults."""
    for name in "ViTImageProcessor", "CLIPImageProcessor":
        yield getattr(transformers, name + "Pil", None) or getattr(transformers, name)


def main(folder, device="cpu"):
    paths = sorted(glob.glob(os.path.join(folder, "**", "*.jpg"), recursive=True))
    for processor in (kind() for kind in processors()):
        pictures = count = differ = 0
        for tensor, read in pixel_values(processor, paths, 64, device):
            for one, path in zip(tensor.cpu(), read):
                with Image.open(path) as picture:
                    wanted = processor(picture.convert("RGB"), return_tensors="pt").pixel_values[0]
                differ += int((one != wanted).sum())
            pictures, count = pictures + len(tensor), count + tensor.numel()
        print(f"{type(processor).__name__}: {pictures} pictures, {differ} of {count} values differ")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
