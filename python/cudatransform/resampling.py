"""Pixels resampled with Pillow's bytes, and as the floats that vision models take."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import math
import operator
from ctypes import byref, c_double, c_void_p
from functools import lru_cache
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _device, _native
from ._bfloat16 import Bfloat16Array
from ._cuda_memory import CudaArray
from ._dlpack import BFLOAT16, type_of
from ._gone import when_gone_lightly
from .errors import is_interruption, one_of, true_or_false, whole_number

FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021")
_PILLOW_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # by number
VERSIONS = ("pillow-13", "pillow-12", "pillow-11")                # CtResizeOrder
RECIPES = ("torchvision", "torchvision-v2", "hf", "hf-fast")    # CtRecipe
LAYOUTS = ("hwc", "chw")
_TYPES = ("uint8", "float32", "float16", "bfloat16")
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
        multiplied by it before, and divided after. False: CMYK, RGBX
    like: the version whose bytes are wanted: `pillow-13`, `pillow-12` (12.2, 12.3) or `pillow-11`
        (up to 12.1), which differ in the order of the passes
    dtype: uint8; float32, float16 or bfloat16, also as torch's types: values by `recipe`
    layout: `hwc`: (height, width[, channels]). `chw`: (channels, height, width)
    recipe: whose floats they are, to the bit: `torchvision` (ToTensor, Normalize),
        `torchvision-v2` (ToDtype(scale=True), Normalize), `hf` (Hugging Face's image processors)
        or `hf-fast` (their fast ones)
    mean, std: of each channel; None: floats are scaled to 0 to 1
    Returns a numpy array, a Bfloat16Array of bfloat16, or a CudaArray; of several arrays one,
    (n, ...). Raises ValueError, TypeError, MemoryError and Unavailable.
    """
    how = Resampling.of(size, resample, reducing_gap, alpha, like, dtype, layout, recipe, mean, std)
    is_one = not isinstance(array, (list, tuple))
    arrays = [array] if is_one else list(array)
    if not arrays:
        raise ValueError("array must be pixels or a list of them, not an empty list")
    boxes = box
    if box is not None:
        boxes = [box_of(one) for one in ([box] if is_one else list(box))]
        if len(boxes) != len(arrays):
            raise ValueError(f"box must be a list of {len(arrays)}, one for each array, not of "
                             f"{len(boxes)}")
    made = how.stacked(arrays, boxes)
    return parts_of(made)[0] if is_one else made


class Resampling(NamedTuple):
    """What resize(), decode() and Reader accept, except boxes. Make it by of().

    size: width and height, the shorter side, or None: that of the pixels
    max_memory: bytes of a result; None: no limit
    """

    size: Any
    filter: int
    gap: float
    alpha: bool
    order: int
    kind: str
    layout: str
    recipe: int
    mean: Optional[Tuple[float, ...]]
    std: Optional[Tuple[float, ...]]
    max_memory: Optional[int] = None

    @classmethod
    def of(cls, size: Any, *others: Any) -> "Resampling":
        """Arguments as of _checked(). Raises TypeError and ValueError."""
        if isinstance(size, tuple) and set(map(type, size)) != {int}:  # (4., 4.) equals (4, 4)
            return cls._checked(size, *others)
        try:
            return _known(size, *others)
        except TypeError:  # also of arguments that have no hash
            return cls._checked(size, *others)

    @classmethod
    def _checked(cls, size: Any, resample: Any, reducing_gap: Any, alpha: Any, like: Any,
                 dtype: Any, layout: Any, recipe: Any, mean: Any, std: Any) -> "Resampling":
        """As of resize(), but size may be None. Raises TypeError and ValueError."""
        filter = FILTERS.index(filter_of(resample))
        true_or_false("alpha", alpha)
        one_of("like", like, VERSIONS)
        one_of("layout", layout, LAYOUTS)
        one_of("recipe", recipe, RECIPES)
        gap = gap_of(reducing_gap)
        kind = _kind_of(dtype)
        if (mean is None) != (std is None) or mean is not None and kind == "uint8":
            raise ValueError("mean and std need each other, and dtype float32, float16 or bfloat16")
        return cls(None if size is None else _checked_size(size), filter, gap, bool(alpha),
                   VERSIONS.index(like), kind, layout, RECIPES.index(recipe),
                   _numbers_of("mean", mean), _numbers_of("std", std))

    def check(self, channels: int, max_memory: Optional[int]) -> "Resampling":
        """The same with a limit, if pixels of this many channels can become one. Raises
        ValueError."""
        how = self if max_memory is None else self._replace(max_memory=max_memory)
        how._check_channels(channels)
        if max_memory is not None and isinstance(self.size, tuple):
            how.size_of((*self.size, channels))
        return how

    def _check_channels(self, channels: int) -> None:
        for name, numbers in (("mean", self.mean), ("std", self.std)):
            if numbers is not None and len(numbers) != channels:
                raise ValueError(f"{name} must be {channels} numbers, one for each channel, not "
                                 f"{len(numbers)}")

    def is_plain(self) -> bool:
        """Whether results have the type and the order of the pixels."""
        return self.kind == "uint8" and self.layout == "hwc"

    def size_of(self, shape: Tuple[int, ...]) -> Tuple[int, int]:
        """Width and height of the result of pixels (height, width[, channels]). Raises
        ValueError."""
        height, width, channels = (*shape, 1)[:3]
        size = size_of((width, height) if self.size is None else self.size, width, height)
        needed = math.prod(size) * channels * type_of(self.kind).itemsize
        if self.max_memory is not None and needed > self.max_memory:
            raise ValueError(f"size {size[0]}x{size[1]} needs {needed} bytes, exceeds "
                             f"max_memory={self.max_memory}")
        return size

    def stacked(self, arrays: Sequence[Any], boxes: Optional[Sequence[Any]] = None) -> Any:
        """One array (n, ...) of at least one. Raises as resize().

        boxes: of box_of(), one for each array
        """
        images = _images_of(arrays)
        channels, device = images.array[0].channels, images.device
        self._check_channels(channels)
        sizes = ({self.size} if isinstance(self.size, tuple) else
                 {self.size_of((image.height, image.width, channels)) for image in images.array})
        if len(sizes) > 1:
            raise ValueError("size must be (width, height) of arrays of different sizes, not "
                             f"{self.size!r}")
        (width, height), = sizes
        options = _native.ResizeOptions(
            ctypes.sizeof(_native.ResizeOptions), width, height, self.filter, self.order, self.gap,
            self.alpha, _native.TYPES.index(self.kind), self.layout == "chw", self.recipe,
            _pointer_to(self.mean), _pointer_to(self.std))
        places = None if boxes is None else (_native.Box * len(boxes))(*boxes)
        block = _Resized(_native.engine(device), options, images.array, places)
        shape: Tuple[int, ...] = ((channels, height, width) if self.layout == "chw" else
                                  (height, width) if images.are_flat else (height, width, channels))
        shape = len(arrays), *shape
        kind = type_of(self.kind)
        if device is not None:
            strides = tuple(kind.itemsize * math.prod(shape[axis + 1:])
                            for axis in range(len(shape)))
            return CudaArray(block, 0, shape, strides, device, kind)
        if kind is BFLOAT16:
            return Bfloat16Array(block.array(shape, dtype=np.dtype("<u2")))
        return block.array(shape, dtype=kind)

    def each(self, arrays: Sequence[Any]) -> List[Any]:
        """A result for each array. Those of one size are computed together."""
        sizes = [self.size_of(array.shape) for array in arrays]
        made: List[Any] = [None] * len(arrays)
        for size in set(sizes):
            which = [index for index, other in enumerate(sizes) if other == size]
            stacked = self._replace(size=size).stacked([arrays[index] for index in which])
            for index, part in zip(which, parts_of(stacked)):
                made[index] = part
        return made


_known = lru_cache(64, typed=True)(Resampling._checked)


def parts_of(stacked: Any) -> Sequence[Any]:
    """The arrays that one of stacked() consists of."""
    return stacked if isinstance(stacked, np.ndarray) else stacked.parts()


_new_tuple = tuple.__new__


class Decoded(NamedTuple):
    """Pixels in the memory of a decoded picture, which somebody else holds: those of a batch that
    becomes one array need none of their own."""

    address: int
    pitch: int
    width: int
    height: int
    channels: int  # 1: without a dimension for it
    device: Optional[int]

    @property
    def shape(self) -> Tuple[int, ...]:
        return ((self.height, self.width) if self.channels == 1 else
                (self.height, self.width, self.channels))

    def part(self, left: int, top: int, right: int, bottom: int) -> "Decoded":
        return Decoded(self.address + top * self.pitch + left * self.channels, self.pitch,
                       right - left, bottom - top, self.channels, self.device)

    def part_within(self, crop: Any) -> Optional["Decoded"]:
        """cropped() of crop_of() in a fifth of the time, which a GPU waits for; None: cropped()
        and crop_of() make other crops, and say what is wrong with one."""
        if type(crop) is not tuple or len(crop) != 4:
            return None
        (address, pitch, width, height, channels, device), (left, top, right, bottom) = self, crop
        if not (type(left) is type(top) is type(right) is type(bottom) is int and
                0 <= left < right <= width and 0 <= top < bottom <= height):
            return None
        return _new_tuple(Decoded, (address + top * pitch + left * channels, pitch, right - left,
                                    bottom - top, channels, device))


class _Resized(_native.Block):
    """The library's results, in order."""

    __slots__ = ()

    def __init__(self, engine: _native.Engine, options: _native.ResizeOptions, images: Any,
                 boxes: Any) -> None:
        library, data, error = _native.library(), c_void_p(), _native.Error()
        block = when_gone_lightly(self, library.ct_block_unref)
        _native.check(library.ct_resize(engine, options, images, boxes, len(images), byref(block),
                                        byref(data), error), error)
        self.address = data.value or 0


# Those of the first of Decoded's members, and the last.
_COLUMNS = _native.columns_of(_native.Image, "data", "pitch", "width", "height", "channels",
                              "on_device")


class _Images:
    """Pixels as the library takes them, and what holds their memory."""

    def __init__(self, count: int) -> None:
        self.array = (_native.Image * count)()
        self.held: List[Any] = []
        self.device: Optional[int] = None
        self.are_flat = False


def _images_of(arrays: Sequence[Any]) -> _Images:
    images = _Images(len(arrays))
    if all(isinstance(one, Decoded) for one in arrays):
        columns = _native.as_array(images.array, _COLUMNS)
        *values, (images.device, *_) = zip(*arrays)
        for name, column in zip(_COLUMNS.names or (), values):
            columns[name] = column
        images.are_flat = arrays[0].channels == 1
        columns["on_device"] = images.device is not None
        return images
    kinds = set()
    for index, given in enumerate(arrays):
        images.array[index], held, kind = _image_of(given)
        images.held.append(held)
        kinds.add(kind)
    if len(kinds) > 1:
        raise ValueError("arrays must have the same number of channels, and be on one device")
    (images.device, _, dimensions), = kinds
    images.are_flat = dimensions == 2
    return images


def _image_of(given: Any) -> Tuple[_native.Image, Any, Tuple[Optional[int], int, int]]:
    """An array's image, what holds its memory, and its device, channels and dimensions. Raises
    ValueError."""
    if isinstance(given, Decoded):
        on_device = given.device is not None
        return (_native.Image(*given[:5], on_device), None,
                (given.device, given.channels, len(given.shape)))
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
    address = pixels.address if on_device else _native.address_of(pixels)
    # An array of one row may have any stride.
    pitch = pixels.strides[0] if shape[0] > 1 else shape[1] * channels
    image = _native.Image(address, pitch, shape[1], shape[0], channels, on_device)
    return image, pixels, (pixels.device if on_device else None, channels, len(shape))


def _kind_of(dtype: Any) -> str:
    """The name of a type of numpy's, torch's or a str. Raises ValueError."""
    if isinstance(dtype, str) and dtype in _TYPES:
        return dtype
    kind = str(dtype)
    if kind.startswith("torch."):
        kind = kind[len("torch."):]
    elif kind != BFLOAT16.name:
        try:
            kind = np.dtype(dtype).name
        except TypeError:
            pass
    if kind not in _TYPES:
        raise ValueError(f"dtype must be {', '.join(_TYPES)}, not {dtype!r}")
    return kind


def is_side(size: Any) -> bool:
    """Whether a size is the shorter side."""
    return hasattr(size, "__index__") and not hasattr(size, "__len__")  # arrays have both


def _checked_size(size: Any) -> Any:
    """A width and a height, or the shorter side. Raises TypeError and ValueError."""
    if is_side(size):
        size = whole_number("size", size)
        if not 1 <= size <= _LARGEST_SIDE:
            raise ValueError(f"size must be 1 to {_LARGEST_SIDE}, not {size}")
        return size
    try:
        width, height = size
    except (TypeError, ValueError):
        raise TypeError(f"size must be (width, height) or the shorter side, not {size!r}") from None
    for name, side in (("width", width), ("height", height)):
        if not 1 <= whole_number(name, side) <= _LARGEST_SIDE:
            raise ValueError(f"{name} must be 1 to {_LARGEST_SIDE}, not {side}")
    return int(width), int(height)


def size_of(size: Any, width: int, height: int) -> Tuple[int, int]:
    """The width and height of a result. Raises TypeError and ValueError.

    size: as of resize(); width, height: of the picture
    """
    size = _checked_size(size)
    if not isinstance(size, tuple):
        size = _checked_size((size, size * height // width) if width <= height else
                             (size * width // height, size))
    return size


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


def box_of(given: Any) -> Tuple[float, ...]:
    """Left, top, right and bottom. Raises TypeError and ValueError."""
    sides = _floats_of("box", "(left, top, right, bottom)", given)
    if len(sides) != 4 or not all(map(math.isfinite, sides)):
        raise ValueError(f"box must be (left, top, right, bottom), not {given!r}")
    return sides


def gap_of(given: Any) -> float:
    """reducing_gap; None: 0. Raises TypeError and ValueError."""
    if given is None:
        return 0.
    try:
        gap = float(+given)  # float() alone takes text
    except TypeError:
        raise TypeError(f"reducing_gap must be a number, not {given!r}") from None
    if not 1 <= gap < math.inf:
        raise ValueError(f"reducing_gap must be at least 1, not {given}")
    return gap


def _floats_of(name: str, words: str, given: Any) -> Tuple[float, ...]:
    """Raises TypeError."""
    try:
        return tuple(float(+number) for number in given)
    except (TypeError, ValueError) as error:
        if is_interruption(error):
            raise
        raise TypeError(f"{name} must be {words}, not {given!r}") from None


def crop_of(given: Any, name: str = "crop") -> Tuple[int, ...]:
    """Left, top, right and bottom of whole pixels. Raises TypeError and ValueError."""
    if not hasattr(given, "__iter__"):
        raise TypeError(f"{name} must be (left, top, right, bottom), not {given!r}")
    sides = tuple(whole_number(f"each side of {name}", side) for side in given)
    if len(sides) != 4 or sides[0] >= sides[2] or sides[1] >= sides[3]:
        raise ValueError(f"{name} must be (left, top, right, bottom) and not empty, not {given!r}")
    if sides[0] < 0 or sides[1] < 0 or max(sides) > _LARGEST_SIDE:
        raise ValueError(f"{name} {sides} reaches beyond the picture")
    return sides


def cropped(pixels: Any, crop: Tuple[int, ...]) -> Any:
    """A part of pixels, without a copy. Raises ValueError."""
    left, top, right, bottom = crop
    height, width = pixels.shape[:2]
    if left < 0 or top < 0 or right > width or bottom > height:
        raise ValueError(f"crop {crop} is empty or reaches beyond the {width}x{height} picture")
    if isinstance(pixels, np.ndarray):
        return pixels[top:bottom, left:right]
    return pixels.part(left, top, right, bottom)


def _numbers_of(name: str, given: Any) -> Optional[Tuple[float, ...]]:
    if given is None:
        return None
    numbers = _floats_of(name, "a number for each channel", given)
    for number in numbers:
        # As float32: larger ones are infinite.
        single = float(np.array(number).astype(np.float32)) if abs(number) < 1e38 else math.inf
        if not math.isfinite(single) or name == "std" and single == 0:
            what = "numbers" if name == "mean" else "numbers other than 0"
            raise ValueError(f"{name} must be finite {what}, not {number}")
    return numbers


def _pointer_to(numbers: Optional[Tuple[float, ...]]) -> Any:
    return None if numbers is None else (c_double * len(numbers))(*numbers)
