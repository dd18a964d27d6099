"""The whitepaper's figures: its picture, the basis functions, and the picture under three grids."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import math
import os

import demo_pictures  # chooses matplotlib's way to draw without a screen
import matplotlib.pyplot as plot
import numpy
from PIL import Image

SIDE = 512  # samples of the picture that are shown


def basis(k):
    """The k-th of eight: alpha(k) cos((2n + 1) k pi / 16)."""
    n = numpy.arange(8)
    return math.sqrt((1 if k == 0 else 2) / 8) * numpy.cos((2 * n + 1) * k * math.pi / 16)


def save(figure, path):
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    plot.close(figure)
    # A palette halves the file.
    Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)


def one_dimensional(path):
    figure, axes = plot.subplots(2, 4, figsize=(9, 4), sharex=True, sharey=True,
                                 layout="constrained")
    fine = numpy.linspace(-0.5, 7.5, 161)
    for k, panel in enumerate(axes.flat):
        scale = math.sqrt((1 if k == 0 else 2) / 8)
        panel.plot(fine, scale * numpy.cos((2 * fine + 1) * k * math.pi / 16), color="tab:gray",
                   linewidth=0.8)
        panel.stem(range(8), basis(k), basefmt=" ")
        panel.axhline(0, color="black", linewidth=0.5)
        panel.set_title(f"u = {k}", fontsize=10)
        panel.set_xticks(range(8))
    save(figure, path)


def two_dimensional(path):
    gap = 1
    sheet = numpy.full((8 * (8 + gap) + gap, 8 * (8 + gap) + gap), numpy.nan)
    for v in range(8):
        for u in range(8):
            top, left = gap + v * (8 + gap), gap + u * (8 + gap)
            function = numpy.outer(basis(v), basis(u))
            sheet[top : top + 8, left : left + 8] = function / abs(function).max()
    figure, axes = plot.subplots(figsize=(6, 6), layout="constrained")
    colors = plot.get_cmap("gray").with_extremes(bad="tab:blue")
    axes.imshow(sheet, cmap=colors, vmin=-1, vmax=1, interpolation="nearest")
    centers = [gap + i * (8 + gap) + 3.5 for i in range(8)]
    axes.set_xticks(centers, range(8))
    axes.set_yticks(centers, range(8))
    axes.set_xlabel("u")
    axes.set_ylabel("v")
    save(figure, path)


def grid(axes, picture, title, width, height):
    axes.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest",
                extent=(0, picture.shape[1], picture.shape[0], 0))
    axes.hlines(range(0, picture.shape[0] + 1, height), 0, picture.shape[1], color="yellow",
                linewidth=0.6)
    axes.vlines(range(0, picture.shape[1] + 1, width), 0, picture.shape[0], color="yellow",
                linewidth=0.6)
    axes.set_title(title, fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])


def grids(path, picture):
    # We show a part, so that blocks can be distinguished.
    height, width = (min(128, size // 32 * 32) or size for size in picture.shape)
    top, left = ((whole - part) // 2 // 8 * 8
                 for whole, part in zip(picture.shape, (height, width)))
    part = picture[top : top + height, left : left + width]
    figure, axes = plot.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    for panel, (title, across, down) in zip(axes, (("blocks of 8 x 8", 8, 8),
                                                   ("macroblocks: four blocks in a row", 32, 8),
                                                   ("macroblocks: two by two blocks", 16, 16))):
        grid(panel, part, title, across, down)
    save(figure, path)


def draw(folder, paper, picture_path):
    """Draws the whitepaper's figures; returns the paths. Without a picture, the basis functions."""
    os.makedirs(folder, exist_ok=True)
    names = [os.path.join(folder, figure["file"]) for figure in paper["figures"]]
    one_dimensional(names[1])
    two_dimensional(names[2])
    if not picture_path:
        return names[1:3]
    with Image.open(picture_path) as image:
        picture = numpy.asarray(image.convert("L"))
    shown = demo_pictures.center(picture)[:SIDE, :SIDE]
    Image.fromarray(numpy.ascontiguousarray(shown)).save(names[0], optimize=True)
    grids(names[3], picture)
    return names
