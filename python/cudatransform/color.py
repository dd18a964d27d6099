"""Colors and sampling of JPEG pictures in libjpeg's integers: pixels to planes, and back."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
import math
import re
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .errors import one_of

# GStreamer's samplings: the columns and rows of the picture that a sample of Cb or Cr covers. None:
# no chroma. Others are named by color and the sampling factors of all components:
# "YCbCr-2x2,1x2,1x2".
SAMPLINGS = {
    "GRAYSCALE": None, "YCbCr-4:2:0": (2, 2), "YCbCr-4:2:2": (2, 1), "YCbCr-4:4:4": (1, 1),
    "YCbCr-4:4:0": (1, 2), "YCbCr-4:1:1": (4, 1), "RGB": (1, 1), "CMYK-4:4:4": (1, 1),
    "YCCK-4:2:0": (2, 2), "YCCK-4:2:2": (2, 1), "YCCK-4:4:4": (1, 1), "YCCK-4:4:0": (1, 2),
    "YCCK-4:1:1": (4, 1), "YCbCr-4:4:1": (1, 4), "YCCK-4:4:1": (1, 4),
}
# So are two components of unspecified color: "2CLR-1x1,1x1".
_BY_FACTORS = re.compile("(YCbCr|RGB|CMYK|YCCK|2CLR)-([1-4]x[1-4](?:,[1-4]x[1-4]){1,3})")
COLORIMETRY = b"1:4:0:0"  # in GStreamer's words: JFIF's, full range and the matrix of BT.601
_SHORT = {"gray": "GRAYSCALE", "rgb": "RGB", "cmyk": "CMYK-4:4:4",
          **{short: name for name in SAMPLINGS if name.startswith("YCbCr")
             for short in (name[-5:], name[-5:].replace(":", ""))}}
_PILLOW_SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")  # 0, 1, 2
_SUBSAMPLINGS = (*_PILLOW_SUBSAMPLINGS, "4:4:0", "4:1:1", "4:4:1", "gray", "rgb", "cmyk", 0, 1, 2)
_DEFAULTS = {1: "gray", 3: "4:2:0"}  # by the number of channels
_PILLOW_MODES = ("L", "RGB", "CMYK")  # whose channels are pixels as they are taken here
_FOUR_CHANNELS = ('pass subsampling="cmyk" for CMYK, or drop alpha from RGBA: array[:, :, :3], or '
                  'Image.convert("RGB")')


def sampling_of(name: str) -> str:
    """A sampling by its name or a short one (`4:2:0`, `420`, `gray`). Raises TypeError and
    ValueError."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"sampling must be a str such as '4:2:0', not {name!r}")
    name = _SHORT.get(name.lower(), name)
    if name not in SAMPLINGS and not _is_by_factors(name):
        raise ValueError(f"sampling must be one of {', '.join(SAMPLINGS)}, or have the factors of "
                         f"each component such as 'YCbCr-2x2,1x2,1x2', not {name!r}")
    return name


def _is_by_factors(name: str) -> bool:
    """Whether it is what sampling_by() calls the factors of a sampling without another name."""
    found = _BY_FACTORS.fullmatch(name)
    if found is None:
        return False
    factors = factors_of(name)
    return len(factors) == len(ids_of(name)) and sampling_by(found[1], factors) == name


@functools.lru_cache(maxsize=256)
def factors_of(sampling: str) -> Tuple[Tuple[int, int], ...]:
    """The sampling factors of each component, across and down, without a common divisor."""
    if sampling not in SAMPLINGS:
        words = sampling.partition("-")[2].split(",")
        return tuple((int(word[0]), int(word[2])) for word in words)
    ratio = SAMPLINGS[sampling] or (1, 1)
    return tuple((1, 1) if is_chroma(sampling, index) else ratio
                 for index in range(len(ids_of(sampling))))


def _sides(factors: Sequence[Tuple[int, int]]) -> Tuple[List[int], List[int]]:
    """All factors across, and all down."""
    return [h for h, _ in factors], [v for _, v in factors]


def sampling_by(kind: str, factors: Sequence[Tuple[int, int]]) -> str:
    """The name of a sampling. kind: the color that names begin with; factors: as in a file"""
    across, down = (functools.reduce(math.gcd, sides) for sides in _sides(factors))
    least = tuple((h // across, v // down) for h, v in factors)
    found = _BY_NAME.get((kind, least))
    return found or f"{kind}-{','.join(f'{h}x{v}' for h, v in least)}"


@functools.lru_cache(maxsize=256)
def sides_of(sampling: str, index: int, width: int, height: int) -> Tuple[int, int]:
    """The width and height of a component of a picture."""
    factors = factors_of(sampling)
    (h, v), (all_h, all_v) = factors[index], _sides(factors)
    return -(-width * h // max(all_h)), -(-height * v // max(all_v))


def subsampling_of(given: Any) -> str:
    """A sampling by a name of sampling_of() or by Pillow's number. Raises TypeError and ValueError.
    """
    if isinstance(given, str) and given:
        if given.lower() not in _SHORT and given not in SAMPLINGS:
            one_of("subsampling", given, _SUBSAMPLINGS)
        return sampling_of(given)
    if isinstance(given, (bool, str)) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"subsampling must be a str such as '4:2:0', or 0, 1 or 2, not {given!r}")
    if not 0 <= given < len(_PILLOW_SUBSAMPLINGS):
        raise ValueError(f"subsampling must be 0 (4:4:4), 1 (4:2:2) or 2 (4:2:0), not {given}")
    return sampling_of(_PILLOW_SUBSAMPLINGS[given])


def check_shape(pixels: Any) -> None:
    """Raises ValueError for arrays and Views that are not pixels."""
    dtype, shape = pixels.dtype, pixels.shape
    if dtype not in (np.uint8, np.uint16) or 0 in shape or not (
            len(shape) == 2 or len(shape) == 3 and shape[2] in (3, 4)):
        words = getattr(pixels, "words", f"{dtype} {shape}")
        raise ValueError("pixels must be uint8 or, of 12 bits, uint16 (height, width), (height, "
                         f"width, 3) or (height, width, 4), not {words}")


def depth_of(pixels: np.ndarray) -> int:
    """The bits of checked pixels."""
    return 8 if pixels.dtype == np.uint8 else 12


def checked(array: Any, subsampling: Any) -> Tuple[np.ndarray, str]:
    """Pixels as a numpy array, and the sampling of that name or their default one.

    array: pixels, or a Pillow image. Raises TypeError and ValueError.
    """
    mode = _pillow_mode_of(array)
    if mode is not None and mode not in _PILLOW_MODES:
        scaled = ", scaled to 0 to 255" if mode[:1] in ("I", "F") else ""
        raise ValueError(f"a Pillow image must have mode {', '.join(_PILLOW_MODES)}, not "
                         f'{mode}: image.convert("RGB"){scaled}')
    pixels = np.asarray(array)
    if pixels.ndim == 0:
        raise TypeError("array must be pixels or a Pillow image (encode takes several: a list or "
                        f"tuple), not {type(array).__name__}")
    check_shape(pixels)
    if pixels.dtype == np.uint16 and int(pixels.max()) > 4095:
        raise ValueError(f"pixels of uint16 have 12 bits, 0 to 4095, not {pixels.max()}: "
                         "array >> 4 of 16 bits")
    if subsampling is None and mode == "CMYK":
        subsampling = "cmyk"
    return pixels, sampling_for(subsampling, pixels.shape)


def _pillow_mode_of(array: Any) -> Optional[str]:
    """The mode of a Pillow image, which names its colors; None for any other object."""
    mode = getattr(array, "mode", None)  # numpy's memmap has one, too
    # Of the type: an image copies its pixels for each access to its interface.
    is_image = (isinstance(mode, str) and not isinstance(array, np.ndarray)
                and hasattr(type(array), "__array_interface__"))
    return mode if is_image else None


def channels_of(shape: Tuple[int, ...]) -> int:
    """The channels of pixels."""
    return 1 if len(shape) == 2 else shape[2]


def sampling_for(given: Any, shape: Tuple[int, ...]) -> str:
    """The sampling of subsampling_of(), or the default one, for pixels of a shape.

    Four channels have no default: they may be CMYK or RGBA. Raises TypeError and ValueError.
    """
    channels = channels_of(shape)
    if given is None and channels == 4:
        raise ValueError(f"a four-channel array is ambiguous: {_FOUR_CHANNELS}")
    sampling = subsampling_of(_DEFAULTS[channels] if given is None else given)
    if (channels == 4) != (len(ids_of(sampling)) == 4):
        raise ValueError(f"{sampling} of pixels with {channels} channels: CMYK and YCCK "
                         "require (height, width, 4), others do not accept it"
                         + (f"; {_FOUR_CHANNELS}" if channels == 4 else ""))
    return sampling


def ids_of(sampling: str) -> Tuple[int, ...]:
    """The ids of a sampling's components, as libjpeg gives them."""
    if sampling == "GRAYSCALE":
        return (1,)
    if sampling.startswith("RGB"):
        return tuple(b"RGB")
    if sampling.startswith("CMYK"):
        return tuple(b"CMYK")
    if sampling.startswith("2CLR"):
        return (1, 2)
    return (1, 2, 3, 4) if sampling.startswith("YCCK") else (1, 2, 3)


def is_ink(sampling: Optional[str]) -> bool:
    """Whether it is of CMYK or YCCK."""
    return sampling is not None and sampling.startswith(("CMYK", "YCCK"))


def is_chroma(sampling: str, index: int) -> bool:
    """Whether a component is Cb or Cr."""
    return index in (1, 2) and sampling.startswith("Y")


_BY_NAME = {(name.partition("-")[0], factors_of(name)): name for name in SAMPLINGS}


def ratio_of(sampling: str, index: int) -> Tuple[int, int]:
    """The columns and rows of the picture that a sample of a component covers."""
    factors = factors_of(sampling)
    (h, v), (all_h, all_v) = factors[index], _sides(factors)
    return max(all_h) // h, max(all_v) // v


def why_no_pixels(sampling: str) -> Optional[str]:
    """Why there are no pixels of pictures with a sampling; None: there are."""
    if sampling.startswith("2CLR"):
        return f"{sampling} has two components of unspecified color"
    factors = factors_of(sampling)
    sides = [max(side) % part for side in _sides(factors) for part in side]
    return f"libjpeg does not upsample by the fractions of {sampling}" if any(sides) else None


def _fix(value: float) -> int:
    """A factor in libjpeg's fixed point: times 2 to the power of 16, rounded."""
    return int(value * 65536 + 0.5)


def to_planes(pixels: np.ndarray, sampling: str) -> List[np.ndarray]:
    """Gray, RGB or CMYK pixels, (height, width[, 3 or 4]), as planes of a sampling: cjpeg's.

    A sample of chroma is the mean of those that it covers, with ties rounded by libjpeg's
    pattern. Planes of chroma that are smaller than the picture have a width of whole blocks.
    """
    columns_rows, peak = SAMPLINGS[sampling], pixels.dtype.type((1 << depth_of(pixels)) - 1)
    if columns_rows is None:
        return [np.ascontiguousarray(pixels) if pixels.ndim == 2 else luma(pixels)]
    if sampling == "RGB":
        return [np.ascontiguousarray(pixels[:, :, channel]) for channel in range(3)]
    if sampling.startswith("CMYK"):
        return [peak - pixels[:, :, channel] for channel in range(4)]
    if sampling.startswith("YCCK"):  # ink that is not there is light
        return [*to_planes(pixels[:, :, :3], "YCbCr" + sampling[4:]), peak - pixels[:, :, 3]]
    red, green, blue = (pixels[:, :, channel].astype(np.int32) for channel in range(3))
    center = (1 << (depth_of(pixels) - 1) << 16) + (1 << 15) - 1
    cb = (-_fix(.16874) * red - _fix(.33126) * green + _fix(.5) * blue + center) >> 16
    cr = (_fix(.5) * red - _fix(.41869) * green - _fix(.08131) * blue + center) >> 16
    return [luma(pixels), *(_smaller(plane, *columns_rows).astype(pixels.dtype)
                            for plane in (cb, cr))]


def luma(pixels: np.ndarray) -> np.ndarray:
    """JFIF's Y of RGB: (height, width), in the pixels' type."""
    red, green, blue = (pixels[:, :, channel].astype(np.int32) for channel in range(3))
    return ((_fix(.299) * red + _fix(.587) * green + _fix(.114) * blue + (1 << 15)) >> 16).astype(
        pixels.dtype)


def _smaller(plane: np.ndarray, columns: int, rows: int) -> np.ndarray:
    """The means of rectangles, in whole blocks across: int32.

    The last samples are repeated before means are taken, not the last means, as libjpeg does it.
    """
    if columns * rows == 1:
        return plane
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
    return total


def to_pixels(planes: Sequence[np.ndarray], sampling: str, size: Tuple[int, int], depth: int = 8,
              fancy: bool = True) -> np.ndarray:
    """Planes as pixels of their type: gray (height, width), RGB (height, width, 3), or CMYK
    (height, width, 4), inverted as Pillow does: 255 = full ink. Others are djpeg's.

    `size`: height and width. `depth`: bits of a sample. `fancy`: enlarge chroma by triangle
    filters, as libjpeg-turbo does without options, or else by repeating samples, as by -nosmooth.
    """
    planes = [larger(plane, sampling, index, size, fancy) for index, plane in enumerate(planes)]
    peak, center = (1 << depth) - 1, 1 << (depth - 1)
    if len(planes) == 1:
        return planes[0]
    if sampling.startswith("RGB"):
        return np.stack(planes, axis=2)
    if sampling.startswith("CMYK"):
        return peak - np.stack(planes, axis=2)
    if len(planes) == 4:
        return np.dstack([_to_rgb(planes[:3], center, peak), peak - planes[3]])
    return _to_rgb(planes, center, peak)


def _to_rgb(planes: Sequence[np.ndarray], center: int, peak: int) -> np.ndarray:
    """Of Y, Cb and Cr of one size."""
    y, cb, cr = (plane.astype(np.int32) for plane in planes)
    cb, cr = cb - center, cr - center
    half = 1 << 15
    pixels = np.empty((*y.shape, 3), planes[0].dtype)
    red = y + ((_fix(1.402) * cr + half) >> 16)
    green = y + ((-_fix(.34414) * cb - _fix(.71414) * cr + half) >> 16)
    blue = y + ((_fix(1.772) * cb + half) >> 16)
    for channel, values in enumerate((red, green, blue)):
        np.clip(values, 0, peak, out=values)
        pixels[:, :, channel] = values
    return pixels


def without_ink(pixels: np.ndarray) -> np.ndarray:
    """RGB of CMYK, 255 = full ink, as Pillow's convert("RGB") computes it."""
    paper = (255 - pixels[:, :, 3:]).astype(np.uint16)
    product = pixels[:, :, :3] * paper + 128
    return (paper - ((product >> 8) + product >> 8)).astype(np.uint8)


def larger(plane: np.ndarray, sampling: str, index: int, size: Tuple[int, int],
           fancy: bool = True) -> np.ndarray:
    """A component's samples at the size, height and width, of the picture."""
    columns, rows = ratio_of(sampling, index)
    if columns * rows == 1:
        return plane
    return _larger(plane.astype(np.int32), columns, rows, size, fancy).astype(plane.dtype)


def _larger(plane: np.ndarray, columns: int, rows: int, size: Tuple[int, int],
            fancy: bool) -> np.ndarray:
    """int32 of a size in place of a component that has a part of its columns and rows."""
    narrow = columns == 2 and plane.shape[1] <= 2
    if not fancy or narrow or columns > 2 or rows > 2 or columns * rows == 1:
        return plane.repeat(rows, 0).repeat(columns, 1)[:size[0], :size[1]]
    if rows == 2:
        plane = _blended(plane)
        if columns == 1:
            plane = (plane + 1 + (np.arange(len(plane)) & 1)[:, None]) >> 2
    if columns == 2:
        plane = _blended(plane.T).T
        odd = np.arange(plane.shape[1]) & 1
        plane = (plane + 8 - odd) >> 4 if rows == 2 else (plane + 1 + odd) >> 2
    return plane[:size[0], :size[1]]


def _blended(plane: np.ndarray) -> np.ndarray:
    """Twice as many rows: three times the near row and once the next one, not divided by four."""
    edged = np.pad(plane, ((1, 1), (0, 0)), mode="edge")
    rows = np.stack([3 * plane + edged[:-2], 3 * plane + edged[2:]], axis=1)
    return rows.reshape(-1, plane.shape[1])
