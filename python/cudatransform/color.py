"""Colours and sampling of JPEG pictures in libjpeg's integers: pixels to planes, and back."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np

# GStreamer's samplings: the columns and rows of the picture that a sample of Cb or Cr covers. None:
# no chroma.
SAMPLINGS = {
    "GRAYSCALE": None, "YCbCr-4:2:0": (2, 2), "YCbCr-4:2:2": (2, 1), "YCbCr-4:4:4": (1, 1),
    "YCbCr-4:4:0": (1, 2), "YCbCr-4:1:1": (4, 1), "RGB": (1, 1), "CMYK-4:4:4": (1, 1),
    "YCCK-4:2:0": (2, 2), "YCCK-4:2:2": (2, 1), "YCCK-4:4:4": (1, 1), "YCCK-4:4:0": (1, 2),
    "YCCK-4:1:1": (4, 1),
}
_SHORT = {"gray": "GRAYSCALE", "grey": "GRAYSCALE", "rgb": "RGB", "cmyk": "CMYK-4:4:4",
          **{name[-5:]: name for name in SAMPLINGS if name.startswith("YCbCr")}}


def sampling_of(name: str) -> str:
    """A sampling by its name or a short one (`4:2:0`, `gray`, `rgb`). Raises ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"a sampling is a str, not {type(name).__name__}")
    name = _SHORT.get(name.lower(), name)
    if name not in SAMPLINGS:
        raise ValueError(f"no sampling is called {name!r}; there are {', '.join(SAMPLINGS)}")
    return name


def ids_of(sampling: str) -> Tuple[int, ...]:
    """The ids of a sampling's components, as libjpeg gives them."""
    if sampling == "GRAYSCALE":
        return (1,)
    if sampling == "RGB":
        return tuple(b"RGB")
    if sampling.startswith("CMYK"):
        return tuple(b"CMYK")
    return (1, 2, 3, 4) if sampling.startswith("YCCK") else (1, 2, 3)


def is_chroma(sampling: str, index: int) -> bool:
    """Whether a component is Cb or Cr."""
    return index in (1, 2) and sampling.startswith("Y")


def ratio_of(sampling: str, index: int) -> Tuple[int, int]:
    """The columns and rows of the picture that a sample of a component stands for."""
    return SAMPLINGS[sampling] or (1, 1) if is_chroma(sampling, index) else (1, 1)


def _fix(value: float) -> int:
    """A factor in libjpeg's fixed point: times 2 to the power of 16, rounded."""
    return int(value * 65536 + 0.5)


def to_planes(pixels: np.ndarray, sampling: str) -> List[np.ndarray]:
    """Grey, RGB or CMYK pixels, uint8 (height, width[, 3 or 4]), as planes of a sampling: cjpeg's.

    A sample of chroma is the mean of those that it stands for, with ties rounded by libjpeg's
    pattern. Planes of chroma that are smaller than the picture have a width of whole blocks.
    """
    columns_rows = SAMPLINGS[sampling]
    if columns_rows is None:
        return [np.ascontiguousarray(pixels) if pixels.ndim == 2 else _luma(pixels)]
    if sampling == "RGB":
        return [np.ascontiguousarray(pixels[:, :, channel]) for channel in range(3)]
    if sampling.startswith("CMYK"):
        return [255 - pixels[:, :, channel] for channel in range(4)]
    if sampling.startswith("YCCK"):  # ink that is not there is light
        return [*to_planes(pixels[:, :, :3], "YCbCr" + sampling[4:]), 255 - pixels[:, :, 3]]
    red, green, blue = (pixels[:, :, channel].astype(np.int32) for channel in range(3))
    centre = (128 << 16) + (1 << 15) - 1
    cb = (-_fix(.168735892) * red - _fix(.331264108) * green + _fix(.5) * blue + centre) >> 16
    cr = (_fix(.5) * red - _fix(.418687589) * green - _fix(.081312411) * blue + centre) >> 16
    return [_luma(pixels), *(_smaller(plane, *columns_rows) for plane in (cb, cr))]


def _luma(pixels: np.ndarray) -> np.ndarray:
    red, green, blue = (pixels[:, :, channel].astype(np.int32) for channel in range(3))
    return ((_fix(.299) * red + _fix(.587) * green + _fix(.114) * blue + (1 << 15)) >> 16).astype(
        np.uint8)


def _smaller(plane: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The means of rectangles, in whole blocks across.

    The last samples are repeated before means are taken, not the last means, as libjpeg does it.
    """
    if columns * rows == 1:
        return plane.astype(np.uint8)
    height, width = plane.shape
    plane = np.pad(plane, ((0, -height % rows), (0, -width % (8 * columns))), mode="edge")
    total = np.zeros((len(plane) // rows, plane.shape[1] // columns), np.int32)
    for y in range(rows):
        for x in range(columns):
            total += plane[y::rows, x::columns]
    across = np.arange(total.shape[1], dtype=np.int32) & 1
    if (columns, rows) == (2, 1):
        total = (total + across) >> 1
    elif (columns, rows) == (2, 2):
        total = (total + 1 + across) >> 2
    else:
        total = (total + columns * rows // 2) // (columns * rows)
    return total.astype(np.uint8)


def to_pixels(planes: Sequence[np.ndarray], sampling: str, size: Tuple[int, int],
              depth: int = 8) -> np.ndarray:
    """Planes as pixels of their type: grey (height, width), RGB (height, width, 3), or CMYK
    (height, width, 4), inverted as Pillow does: 255 is all of the ink. Others are djpeg's.

    Chroma is enlarged by repeating samples, as by -nosmooth. `size`: height and width. `depth`:
    bits of a sample.
    """
    height, width = size
    peak, centre = (1 << depth) - 1, 1 << (depth - 1)
    if sampling == "GRAYSCALE":
        return planes[0]
    if sampling == "RGB":
        return np.stack(planes, axis=2)
    if sampling.startswith("CMYK"):
        return peak - np.stack(planes, axis=2)
    if sampling.startswith("YCCK"):
        cmy = to_pixels(planes[:3], "YCbCr" + sampling[4:], size, depth)
        return np.dstack([cmy, peak - planes[3]])
    columns, rows = SAMPLINGS[sampling] or (1, 1)
    luma = planes[0].astype(np.int32)
    cb, cr = (plane.repeat(rows, 0).repeat(columns, 1)[:height, :width].astype(np.int32) - centre
              for plane in planes[1:])
    half = 1 << 15
    pixels = np.empty((height, width, 3), planes[0].dtype)
    red = luma + ((_fix(1.402) * cr + half) >> 16)
    green = luma + ((-_fix(.34414) * cb - _fix(.71414) * cr + half) >> 16)
    blue = luma + ((_fix(1.772) * cb + half) >> 16)
    for channel, values in enumerate((red, green, blue)):
        np.clip(values, 0, peak, out=values)
        pixels[:, :, channel] = values
    return pixels
