"""Pixels resampled with Pillow's bytes, and as the floats that vision models take."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import math
import operator
from ctypes import byref, c_double, c_void_p
from functools import partial
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _device, _native
from ._cuda_memory import CudaArray
from ._gone import when_gone
from .errors import one_of, true_or_false, whole_number

FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021")
_PILLOW_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # by number
VERSIONS = ("pillow-13", "pillow-12", "pillow-11")                # CtResizeOrder
RECIPES = ("torchvision", "torchvision-v2", "hf", "hf-fast")    # CtRecipe
LAYOUTS = ("hwc", "chw")
_TYPES = ("uint8", "float32", "float16")
_LARGEST_SIDE = 1 << 16


def resize(array: Any, size: Any, resample: Any = "bicubic", *, box: Any = None,
           reducing_gap: Optional[float] = None, alpha: bool = True, like: str = "pillow-13",
           dtype: Any = "uint8", layout: str = "hwc", recipe: str = "torchvision",
           mean: Optional[Sequence[float]] = None, std: Optional[Sequence[float]] = None) -> Any:
    """Resamples pixels to a size, with the bytes of Pillow's Image.resize().

    array: uint8 (height, width[, 1 to 4]), of numpy, or on a GPU, where it is resampled; or a list
        or tuple of such with as many channels, of any sizes, which the library resamples at once
    size: width and height, 1 to 65536; of one array, or of several of one size, also the shorter
        side, as torchvision takes it: the longer one keeps its ratio, rounded down
    resample: `nearest`, `box`, `bilinear`, `hamming`, `bicubic`, `lanczos`, `mks2013`, `mks2021`,
        or a member of Pillow's Image.Resampling
    box: left, top, right and bottom of the part to resample, with fractions; of several arrays a
        list with one for each
    reducing_gap: as of Pillow, at least 1
    alpha: whether the last of two or four channels is alpha, as of LA and RGBA: others are
        multiplied by it before, and divided behind. False: CMYK, RGBX
    like: the version whose bytes are wanted: `pillow-13`, `pillow-12` (12.2, 12.3) or `pillow-11`
        (up to 12.1), which differ in the order of the passes
    dtype: uint8; float32 or float16: values by `recipe`
    layout: `hwc`: (height, width[, channels]). `chw`: (channels, height, width)
    recipe: whose floats they are, to the bit: `torchvision` (ToTensor, Normalize),
        `torchvision-v2` (ToDtype(scale=True), Normalize), `hf` (Hugging Face's image processors)
        or `hf-fast` (their fast ones)
    mean, std: of each channel; None: floats are scaled to 0 to 1
    Returns a numpy array or a CudaArray, of several arrays one, (n, ...). Raises ValueError,
    TypeError, MemoryError and Unavailable.
    """
    is_one = not isinstance(array, (list, tuple))
    arrays = [array] if is_one else list(array)
    if not arrays:
        raise ValueError("array must be pixels or a list of them, not an empty list")
    images = _images_of(arrays)
    first = images.array[0]
    options = _options_of(size_of(size, first.width, first.height), resample, reducing_gap, alpha,
                          like, dtype, layout, recipe)
    channels, device = first.channels, images.device
    options.mean = _numbers_of("mean", mean, channels)
    options.std = _numbers_of("std", std, channels)
    if (mean is None) != (std is None) or mean is not None and np.dtype(dtype) == np.uint8:
        raise ValueError("mean and std need each other, and dtype float32 or float16")
    block = _Resized(_native.engine(device), options, images.array, _boxes_of(box, is_one, arrays))
    width, height = options.width, options.height
    shape: Tuple[int, ...] = ((channels, height, width) if layout == "chw" else
                              (height, width, channels))
    if images.are_flat and layout == "hwc":
        shape = height, width
    shape = shape if is_one else (len(arrays), *shape)
    kind = np.dtype(dtype)
    if device is None:
        return block.array(shape, typestr=kind.str)
    strides = tuple(kind.itemsize * math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    return CudaArray(block, 0, shape, strides, device, kind)


class _Resized(_native.Block):
    """The library's results, one after the other."""

    __slots__ = ()

    def __init__(self, engine: _native.Engine, options: _native.ResizeOptions, images: Any,
                 boxes: Any) -> None:
        block, data, error = c_void_p(), c_void_p(), _native.Error()
        when_gone(self, partial(_native.library().ct_block_unref, block))
        _native.check(_native.library().ct_resize(engine, options, images, boxes, len(images),
                                                  byref(block), byref(data), error), error)
        self.address = data.value or 0


class _Images:
    """Pixels as the library takes them, and what holds their memory."""

    def __init__(self, count: int) -> None:
        self.array = (_native.Image * count)()
        self.held: List[Any] = []
        self.device: Optional[int] = None
        self.are_flat = False


def _images_of(arrays: Sequence[Any]) -> _Images:
    images = _Images(len(arrays))
    kinds = set()
    for index, given in enumerate(arrays):
        on_device = isinstance(given, _device.View) or _device.is_on_device(given)
        if on_device:
            pixels: Any = given if isinstance(given, _device.View) else _device.view(given)
        else:
            pixels = np.asarray(given)
        shape = pixels.shape
        if pixels.dtype != np.uint8 or 0 in shape or not (
                len(shape) == 2 or len(shape) == 3 and shape[2] <= 4):
            raise ValueError("pixels must be uint8 (height, width) or (height, width, 1 to 4), "
                             f"not {pixels.dtype} {shape}")
        channels = 1 if len(shape) == 2 else shape[2]
        steps = (channels, 1)[-len(shape) + 1:]
        if on_device:
            pixels = _device.with_rows(pixels, steps)
        elif pixels.strides[1:] != steps or pixels.strides[0] < shape[1] * channels:
            pixels = np.ascontiguousarray(pixels)
        device = pixels.device if on_device else None
        kinds.add((device, channels, len(shape)))
        address = pixels.address if on_device else _native.address_of(pixels)
        images.array[index] = _native.Image(address, pixels.strides[0], shape[1], shape[0],
                                            channels, on_device)
        images.held.append(pixels)
    if len(kinds) > 1:
        raise ValueError("arrays must have the same number of channels, and lie on one device")
    (images.device, _, dimensions), = kinds
    images.are_flat = dimensions == 2
    return images


def _options_of(size: Tuple[int, int], resample: Any, reducing_gap: Any, alpha: Any, like: Any,
                dtype: Any, layout: Any, recipe: Any) -> _native.ResizeOptions:
    width, height = size
    name = filter_of(resample)
    true_or_false("alpha", alpha)
    one_of("like", like, VERSIONS)
    one_of("layout", layout, LAYOUTS)
    one_of("recipe", recipe, RECIPES)
    gap = 0. if reducing_gap is None else float(reducing_gap)
    if reducing_gap is not None and not gap >= 1:
        raise ValueError(f"reducing_gap must be at least 1, not {reducing_gap}")
    try:
        kind = np.dtype(dtype).name
    except TypeError:
        kind = str(dtype)
    if kind not in _TYPES:
        raise ValueError(f"dtype must be {', '.join(_TYPES)}, not {dtype!r}")
    return _native.ResizeOptions(
        ctypes.sizeof(_native.ResizeOptions), width, height, FILTERS.index(name),
        VERSIONS.index(like), gap, bool(alpha), _native.TYPES.index(kind), layout == "chw",
        RECIPES.index(recipe))


def size_of(size: Any, width: int, height: int) -> Tuple[int, int]:
    """The width and height of a result. Raises TypeError and ValueError.

    size: as of resize(); width, height: of the picture
    """
    if hasattr(size, "__index__"):
        shorter = whole_number("size", size)
        size = ((shorter, shorter * height // width) if width <= height else
                (shorter * width // height, shorter))
    try:
        width, height = size
    except (TypeError, ValueError):
        raise TypeError(f"size must be (width, height) or the shorter side, not {size!r}") from None
    for name, side in (("width", width), ("height", height)):
        if not 1 <= whole_number(name, side) <= _LARGEST_SIDE:
            raise ValueError(f"{name} must be 1 to {_LARGEST_SIDE}, not {side}")
    return int(width), int(height)


def filter_of(resample: Any) -> str:
    """The name of a filter. Raises TypeError and ValueError."""
    if not isinstance(resample, str):
        number = operator.index(resample)
        name = str(getattr(resample, "name", "")).lower()  # Pillow's members have one
        if name not in FILTERS:
            if not 0 <= number < len(_PILLOW_FILTERS):
                raise ValueError(f"resample must be 0 to 5, as Image.Resampling, not {resample!r}")
            name = _PILLOW_FILTERS[number]
        return name
    one_of("resample", resample, FILTERS)
    return resample


def _boxes_of(box: Any, is_one: bool, arrays: Sequence[Any]) -> Any:
    if box is None:
        return None
    boxes = [box] if is_one else list(box)
    if len(boxes) != len(arrays):
        raise ValueError(f"box must be a list of {len(arrays)}, one for each array, not of "
                         f"{len(boxes)}")
    made = (_native.Box * len(boxes))()
    for to, given in zip(made, boxes):
        sides = [float(side) for side in given]
        if len(sides) != 4 or not all(map(math.isfinite, sides)):
            raise ValueError(f"box must be (left, top, right, bottom), not {given!r}")
        to.left, to.top, to.right, to.bottom = sides
    return made


def _numbers_of(name: str, given: Any, channels: int) -> Any:
    if given is None:
        return None
    numbers = [float(number) for number in given]
    if len(numbers) != channels:
        raise ValueError(f"{name} must be {channels} numbers, one for each channel, not "
                         f"{len(numbers)}")
    return (c_double * channels)(*numbers)
