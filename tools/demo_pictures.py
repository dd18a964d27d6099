"""The pictures of tools/demo: arrays and numbers to PNG files."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import matplotlib

matplotlib.use("Agg")
import matplotlib.font_manager  # noqa: E402
import matplotlib.pyplot as plot  # noqa: E402
import numpy  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

GAIN = 4  # of the shown difference
LARGEST = 900  # samples of a side that are shown one to one
ZOOM_BLOCKS = (16, 12)  # width and height of the part that is shown enlarged
CHROMA_BLOCKS = (8, 8)  # of the part whose chroma is


def font(size):
    return ImageFont.truetype(matplotlib.font_manager.findfont("DejaVu Sans"), size)


def center(array):
    """The middle of a picture that is too large to be shown one to one."""
    height, width = array.shape[:2]
    top, left = max(0, height - LARGEST) // 2, max(0, width - LARGEST) // 2
    return array[top : top + LARGEST, left : left + LARGEST]


def triptych(path, source, reconstruction, quality, psnr):
    difference = (reconstruction.astype(int) - source) * GAIN + 128
    difference = numpy.clip(difference, 0, 255).astype(numpy.uint8)
    text = "" if psnr is None else f", {psnr:.2f} dB"
    panels = [("source", source), (f"quality {quality}{text}", reconstruction),
              (f"difference x {GAIN}", difference)]
    if source.shape[0] > LARGEST or source.shape[1] > LARGEST:
        panels[0] = ("source, center at 1:1", source)
    shown = [(label, Image.fromarray(numpy.ascontiguousarray(center(array))))
             for label, array in panels]
    width, height = shown[0][1].size
    cell = max(width, 180)
    size = max(12, min(20, cell // 22))
    bar, gap = 2 * size, 6
    sheet = Image.new("RGB", (3 * cell + 2 * gap, height + bar), "white")
    draw = ImageDraw.Draw(sheet)
    for index, (label, picture) in enumerate(shown):
        left = index * (cell + gap)
        draw.text((left + 4, size // 3), label, fill="black", font=font(size))
        sheet.paste(picture, (left, bar))
    sheet.save(path, optimize=True)


def busiest_window(magnitude, blocks):
    """The window, in whole blocks, with the largest sum: where there is most to see."""
    height, width = magnitude.shape[0] // 8, magnitude.shape[1] // 8
    across, down = min(blocks[0], width), min(blocks[1], height)
    sums = magnitude.reshape(height, 8, width, 8).sum(axis=(1, 3))
    total = numpy.zeros((height + 1, width + 1))
    total[1:, 1:] = sums.cumsum(0).cumsum(1)
    window = (total[down:, across:] - total[:-down, across:] - total[down:, :-across]
              + total[:-down, :-across])
    row, column = numpy.unravel_index(window.argmax(), window.shape)
    return slice(8 * row, 8 * (row + down)), slice(8 * column, 8 * (column + across))


def log_magnitude(values):
    return numpy.log2(1 + numpy.abs(values.astype(float)))


def show(axes, array, title, grid, **options):
    """Draws one panel; `grid` draws a line around every block."""
    height, width = array.shape[:2]
    # "antialiased" averages if several values share a pixel, and leaves enlarged ones square.
    image = axes.imshow(array, interpolation="antialiased", extent=(0, width, height, 0), **options)
    axes.set_title(title, fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])
    if grid:
        axes.hlines(range(0, height + 1, 8), 0, width, color="white", linewidth=0.4, alpha=0.6)
        axes.vlines(range(0, width + 1, 8), 0, height, color="white", linewidth=0.4, alpha=0.6)
    return image


def coefficients(path, source, values, levels, quality):
    magnitude, level_magnitude = log_magnitude(values), log_magnitude(levels)
    window = busiest_window(magnitude, ZOOM_BLOCKS)
    zeros = 100 * numpy.mean(levels == 0)
    figure, axes = plot.subplots(2, 2, figsize=(11, 7.7), layout="constrained")
    show(axes[0, 0], source, "source; framed: the part that is enlarged below", False)
    outline_window(axes[0, 0], source, window)
    image = show(axes[0, 1], magnitude,
                 "luma coefficients, a block's where its samples are", False, cmap="magma")
    figure.colorbar(image, ax=axes[0, 1], label="log2(1 + |coefficient|)", shrink=0.85)
    show(axes[1, 0], magnitude[window], "enlarged: DC at the top left of each 8 x 8 block", True,
         cmap="magma", vmin=0, vmax=magnitude.max())
    image = show(axes[1, 1], level_magnitude[window],
                 f"the same, quantized at quality {quality}: "
                 f"{zeros:.1f} % of all luma levels are 0",
                 True, cmap="magma", vmin=0)
    figure.colorbar(image, ax=axes[1, 1], label="log2(1 + |level|)", shrink=0.85)
    figure.savefig(path, dpi=100)
    plot.close(figure)


def chroma(path, fancy, nearest):
    """The part of a picture where two upsampling filters of chroma differ most, enlarged, and the
    difference. fancy, nearest: uint8 (height, width, 3)."""
    difference = numpy.abs(fancy.astype(int) - nearest)
    height, width = (size // 8 * 8 for size in difference.shape[:2])
    window = busiest_window(difference.sum(axis=2)[:height, :width], CHROMA_BLOCKS)
    share = 100 * numpy.mean(difference > 0)
    figure, axes = plot.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    shown = numpy.clip(difference * GAIN, 0, 255).astype(numpy.uint8)
    for panel, array, title in zip(axes, (fancy, nearest, shown), (
            "fancy: Pillow's pixels", "nearest: chroma repeated",
            f"difference x {GAIN}; {share:.0f} % of all samples differ")):
        show(panel, array[window], title, False)
    figure.savefig(path, dpi=100)
    plot.close(figure)


def outline_bands(axes, shape, levels):
    """A line between the bands of each level."""
    for level in range(1, levels + 1):
        bottom, right = shape[0] >> (level - 1), shape[1] >> (level - 1)
        axes.hlines(bottom // 2, 0, right, color="white", linewidth=0.6, alpha=0.8)
        axes.vlines(right // 2, 0, bottom, color="white", linewidth=0.6, alpha=0.8)


def two_transforms(path, dct, pyramid, levels):
    """The coefficients of the 8x8 DCT, and those of a wavelet transform."""
    figure, (left, right) = plot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    magnitude = log_magnitude(dct)
    largest = magnitude.max()
    show(left, magnitude, "cudadct8x8: a block's coefficients where its samples are", False,
         cmap="magma", vmin=0, vmax=largest)
    image = show(right, log_magnitude(pyramid),
                 f"cudadwt: the picture made small, and {levels} levels of detail", False,
                 cmap="magma", vmin=0, vmax=largest)
    outline_bands(right, pyramid.shape, levels)
    figure.colorbar(image, ax=right, label="log2(1 + |coefficient|)", shrink=0.85)
    figure.savefig(path, dpi=100)
    plot.close(figure)


def outline_window(axes, source, window):
    size = window[1].stop - window[1].start, window[0].stop - window[0].start
    corner = window[1].start, window[0].start
    axes.add_patch(plot.Rectangle(corner, *size, fill=False, edgecolor="white", linewidth=1.5))
    axes.set_xlim(0, source.shape[1])
    axes.set_ylim(source.shape[0], 0)


def quality_plot(path, points):
    quality, psnr, zeros = (numpy.array(column, float) for column in zip(*points))
    figure, (top, bottom) = plot.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
    finite = numpy.isfinite(psnr)  # identical frames: infinity, which an axis cannot show
    top.plot(quality[finite], psnr[finite], "o-", color="tab:blue")
    top.set_ylabel("PSNR of all samples [dB]")
    bottom.plot(quality, 100 * zeros, "s-", color="tab:red")
    bottom.set_ylabel("zero coefficients [%]")
    bottom.set_xlabel("quality (JPEG's Annex K tables, libjpeg's scaling)")
    for axes in (top, bottom):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=100)
    plot.close(figure)
