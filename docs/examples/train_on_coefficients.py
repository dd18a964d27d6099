#!/usr/bin/env python3
"""Trains a small network on JPEG coefficients instead of pixels, and prints how often it is right.

usage: train_on_coefficients.py [EPOCHS]

The pictures are scikit-learn's handwritten digits, enlarged to 32 x 32 and written as JPEG files of
quality 75. A Reader reads them; of each picture the network sees 64 planes of 4 x 4, one for each
frequency, and never a pixel. Takes well under a minute on a CPU. Needs torch, scikit-learn, the
module cudatransform and the plugin.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import sys
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import cudatransform as ct

BATCH = 64
TESTED = 5  # one in this many pictures is for tests, not for training


def write_digits(folder):
    """Writes the digits as JPEG files. Returns their paths and the digits."""
    digits = load_digits()
    paths = []
    for index, picture in enumerate(digits.images):
        pixels = np.kron(picture * 255 / 16, np.ones((4, 4))).astype(np.uint8)
        paths.append(os.path.join(folder, f"{index:05d}.jpg"))
        ct.write(ct.Picture.from_pixels(pixels, quality=75), paths[-1])
    return paths, torch.tensor(digits.target)


def read_planes(paths):
    """float32 (pictures, 64, 4, 4): dequantized coefficients in zigzag order, about -1 to 1."""
    planes = [picture.planes()[0] * picture.table(0).ravel()[ct.ZIGZAG, None, None]
              for batch in ct.Reader(paths, batch_size=BATCH) for picture in batch]
    return torch.tensor(np.stack(planes), dtype=torch.float32) / 1024


def network():
    """Frequencies are channels: the first layer is as wide as there are of them."""
    return nn.Sequential(nn.BatchNorm2d(64), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(64 * 16, 10))


def train(planes, targets, epochs):
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(epochs):
        for chosen in torch.randperm(len(planes)).split(BATCH):
            loss = nn.functional.cross_entropy(model(planes[chosen]), targets[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.eval()


def main(epochs=15):
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        paths, targets = write_digits(folder)
        planes = read_planes(paths)
    tested = torch.arange(len(paths)) % TESTED == 0
    model = train(planes[~tested], targets[~tested], epochs)
    with torch.no_grad():
        right = model(planes[tested]).argmax(1) == targets[tested]
    print(f"{int((~tested).sum())} pictures learnt, {len(right)} tested: "
          f"{100 * right.float().mean():.1f} % right")


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:] == ["--help"]:
        sys.exit(__doc__)
    main(*map(int, sys.argv[1:]))
