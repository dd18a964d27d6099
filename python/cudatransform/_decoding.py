"""JPEG files to pixels and coefficients by the library: one at a time, and batches ahead."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import ctypes
import itertools
import math
import os
import struct
from ctypes import byref, c_int32, c_void_p
from functools import lru_cache, partial
from typing import Any, Callable, Deque, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _native, color
from ._cuda_memory import CudaArray, uploaded
from ._device import number_of
from ._filters import UPSAMPLINGS, check_upsampling
from ._gone import in_turn, when_gone, when_gone_lightly
from ._info import orientation_of, upright
from ._native import FIRST, Block
from ._sources import Sources, name_of
from .cuda import CudaPicture
from .errors import (NO_DESCRIPTORS, Failure, ReadError, is_interruption, one_of, read_error,
                     true_or_false, warn, whole_number)
from .picture import Picture, samples_at
from .resampling import Decoded, crop_of, cropped, parts_of, resize

CHANNELS = {"RGB": 3, "L": 1, "CMYK": 4}
MODES = tuple(CHANNELS)
REDUCES = (1, 2, 4, 8)
ON_ERROR = ("fail", "conceal")
_MAX_CALLS = 64
_UINT8 = np.dtype(np.uint8)
_POLL = 50  # milliseconds until a wait checks for signals
_CODES = np.dtype({"names": ["code"], "formats": ["i4"], "offsets": [0],
                   "itemsize": ctypes.sizeof(_native.Picture)})
_PIXELS = _native.columns_of(_native.Picture, "width", "height", "data", "pitch")
_IMAGE = struct.Struct("=Qq2i")  # the first members of CtImage
_new_block = Block.from_address


class Limits(NamedTuple):
    """What decode(), read() and Reader take of files; None: the library's default."""

    max_pixels: Optional[int] = None
    max_memory: Optional[int] = None
    on_error: str = "fail"

    def check(self) -> "Limits":
        """Raises ValueError and TypeError."""
        for name in ("max_pixels", "max_memory"):
            value = getattr(self, name)
            if value is not None and not 1 <= whole_number(name, value) < 1 << 64:
                raise ValueError(f"{name} must be at least 1, not {value}")
        one_of("on_error", self.on_error, ON_ERROR)
        return self


class Wanted(NamedTuple):
    """The pixels or coefficients that are made of files; `device` is None for the CPU.

    mode: of pixels; None: coefficients
    draft: width and height that pixels have at least, where they are reduced for it
    exif: whether pixels are upright
    stack: whether those of a batch, of one size, lie one after the other
    """

    mode: Optional[str] = None
    reduce: int = 1
    upsampling: str = "fancy"
    device: Optional[int] = None
    limits: Limits = Limits()
    draft: Optional[Tuple[int, int]] = None
    exif: bool = False
    stack: bool = False

    @classmethod
    def of(cls, *arguments: Any) -> "Wanted":
        """mode, reduce, upsampling, exif, device, max_pixels, max_memory and on_error as in
        decode(). Raises ValueError and TypeError."""
        try:
            return _known(*arguments)
        except TypeError:  # also of arguments that have no hash
            return cls._checked(*arguments)

    @classmethod
    def _checked(cls, mode: Optional[str], reduce: Any, upsampling: Any, exif: Any, device: Any,
                 *limits: Any) -> "Wanted":
        if mode is not None:
            one_of("mode", mode, MODES)
        if whole_number("reduce", reduce) not in REDUCES:
            raise ValueError(f"reduce must be 1, 2, 4 or 8, not {reduce}")
        check_upsampling(upsampling)
        true_or_false("exif", exif)
        return cls(mode, int(reduce), upsampling, number_of(device), Limits(*limits).check(),
                   exif=bool(exif))

    def drafted(self, size: Any) -> "Wanted":
        """The same at a scale that pixels of a size need at least. Raises ValueError.

        size: width and height of the file's pixels, as in Pillow not turned, or the shorter side
        """
        if size is None:
            raise ValueError("draft=True needs size")
        if self.reduce != 1:
            raise ValueError("draft=True needs reduce=1")
        width, height = size if isinstance(size, tuple) else (size, size)
        return self._replace(draft=(width, height))

    @property
    def is_pixels(self) -> bool:
        """Whether the library computes the pixels; those of CMYK are computed from coefficients."""
        return self.mode in ("RGB", "L")

    def options(self, batches: int = 0) -> _native.DecodeOptions:
        output = {"RGB": _native.RGB, "L": _native.GRAY}.get(self.mode or "", _native.COEFFICIENTS)
        limits = self.limits
        return _native.DecodeOptions(
            ctypes.sizeof(_native.DecodeOptions), output, UPSAMPLINGS.index(self.upsampling),
            self.reduce if self.is_pixels else 1, limits.on_error == "conceal", True, self.stack,
            limits.max_pixels or 0, limits.max_memory or 0, batches,
            *(self.is_pixels and self.draft or (0, 0)), self.exif and self.is_pixels)

    def why_not(self, sampling: str, depth: int) -> Optional[str]:
        """Why there are no such pixels of sound files of that kind; None: there are."""
        if depth != 8:
            return f"its samples have {depth} bits: read(source).pixels() decodes them"
        if self.mode == "L" and color.is_ink(sampling):
            return f"it is {sampling}: pass mode='RGB' or 'CMYK'"
        if self.mode == "CMYK" and not color.is_ink(sampling):
            return f"mode='CMYK' needs CMYK or YCCK, it is {sampling}"
        return color.why_no_pixels(sampling)

    def made_of(self, picture: Picture) -> np.ndarray:
        """The pixels of a picture in system memory, not turned, where why_not() has none."""
        width, height, scale = picture.width, picture.height, self.reduce
        if self.draft is not None:
            scale = reduce_for(self.draft, width, height)
        if scale == 1 and self.mode != "L":
            pixels = picture.pixels(self.upsampling)
        else:
            samples, sampling = samples_at(picture, scale)
            is_fancy = self.upsampling == "fancy" and scale < 8  # as in libjpeg
            size = -(-height // scale), -(-width // scale)
            if self.mode == "L" and not sampling.startswith("RGB"):
                return color.larger(samples[0], sampling, 0, size, is_fancy)
            pixels = color.to_pixels(samples, sampling, size, fancy=is_fancy)
        if self.mode == "L":
            return color.luma(pixels)
        return color.without_ink(pixels) if self.mode == "RGB" else pixels


def reduce_for(size: Sequence[int], width: int, height: int) -> int:
    """What Pillow's draft() divides a picture's sides by for a size."""
    ratio = min(width // max(size[0], 1), height // max(size[1], 1))
    return next(one for one in reversed(REDUCES) if one <= max(ratio, 1))


_known = lru_cache(64, typed=True)(Wanted._checked)
_options = lru_cache(64)(Wanted.options)


class _Call:
    """What ct_decode_image() takes for one file, and what it fills in.

    run: calls it, with where the block goes and `problem` as arguments
    """

    __slots__ = ("source", "image", "error", "problem", "run", "unref")

    def __init__(self, wanted: Wanted) -> None:
        library = _native.library()
        self.source, self.image, self.error = (_native.HeldSource(), _native.Image(),
                                               _native.Error())
        self.problem = byref(self.error)
        self.unref = library.ct_block_unref
        self.run = partial(library.ct_decode_image, _native.engine(wanted.device),
                           byref(_options(wanted)), byref(self.source), byref(self.image))


class Singles:
    """Decodes files one at a time, on any thread.

    Threads that have decoded their files wait for the interpreter lock, and the one that has it
    runs Python with cold caches, seven times as slowly: so a file takes little Python, what files
    have in common is made once, and the one call of C that may wait gives up the lock.
    """

    __slots__ = ("_wanted", "calls")

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.calls: Deque[_Call] = collections.deque(maxlen=_MAX_CALLS)  # that are used again

    def decode(self, source: Any, crop: Optional[Tuple[int, ...]] = None) -> Any:
        """As decode_one() and decode_part()."""
        data, path = source, None
        if type(source) is str and "\0" not in source:
            path = os.fsencode(source)
        elif type(source) is not bytes:
            path = _path_of(source)
            data = None if path is not None else _bytes_of(source)
            if path is None and data is None:
                return _decode_any(self._wanted, source, crop)
        try:
            call = self.calls.pop()
        except IndexError:
            call = _Call(self._wanted)
        own = call.source
        if path is not None:
            own.path = path
        elif data is source:
            own.data, own.size = data, len(data)
        else:
            own.data, own.size = _native.address_of(data), len(data)
        if crop is not None:
            own.left, own.top, own.right, own.bottom = crop
        block = _new_block(FIRST)
        place = when_gone_lightly(block, call.unref)
        code, error = call.run(byref(place), call.problem), call.error
        if code != _native.OK or error.code != _native.OK:
            return _refused(self._wanted, source, crop, code, error)
        # Keeps no data of the caller's, and reuses none of an interrupted call.
        own.data = own.path = None
        if crop is not None:
            own.left = own.top = own.right = own.bottom = 0
        data, pitch, width, height = _IMAGE.unpack_from(call.image)
        self.calls.append(call)
        return _array_of(self._wanted, block, width, height, data, pitch)


def _path_of(source: Any) -> Optional[bytes]:
    """The path of a PathLike; None: it is none, or one for Sources()."""
    if not isinstance(source, os.PathLike):
        return None
    path = os.fspath(source)
    return os.fsencode(path) if type(path) is str and "\0" not in path else None


def _bytes_of(source: Any) -> Optional[np.ndarray]:
    """What holds the bytes of a bytearray or a memoryview; None: it is neither, or one for
    Sources()."""
    if type(source) not in (bytearray, memoryview):
        return None
    try:
        view = memoryview(source)
        return np.frombuffer(view, np.uint8) if view.c_contiguous and view.nbytes else None
    except ValueError as error:
        if is_interruption(error):
            raise
        return None  # it has been released


PLAIN = Singles(Wanted("RGB"))


@lru_cache(64)
def _decoder_of(wanted: Wanted) -> Callable[..., Any]:
    if wanted.is_pixels and wanted.limits.on_error != "conceal":
        return Singles(wanted).decode
    return partial(_decode_any, wanted)


# The parent's engines are in their calls.
os.register_at_fork(after_in_child=_decoder_of.cache_clear)
os.register_at_fork(after_in_child=PLAIN.calls.clear)


def _refused(wanted: Wanted, source: Any, crop: Any, code: int, error: _native.Error) -> Any:
    """What decode_one() and decode_part() return or raise after an error of ct_decode_image(), its
    own or the file's."""
    _native.check(code, error)
    pictures = _native.Pictures(1)
    pictures.array[0].error = error
    return _only_item(wanted, Sources((source,), None if crop is None else (crop,)), pictures)


def decode_part(wanted: Wanted, source: Any, crop: Tuple[int, ...]) -> Any:
    """As decode_one() of crop_of(), in the picture as it is to be seen."""
    if wanted.is_pixels:
        return _decoder_of(wanted)(source, crop)
    whole = decode_one(wanted, source)
    try:
        return cropped(whole, crop)
    except ValueError as error:
        raise read_error(name_of(source), str(error)) from None


def decode_one(wanted: Wanted, source: Any) -> Any:
    """The requested pixels or coefficients of a file. Raises ReadError, TypeError and
    Unavailable."""
    return _decoder_of(wanted)(source)


def _decode_any(wanted: Wanted, source: Any, crop: Any = None) -> Any:
    sources = Sources((source,), None if crop is None else (crop,))
    pictures, error = _native.Pictures(1), _native.Error()
    _native.check(_native.library().ct_decode(
        _native.engine(wanted.device), _options(wanted), sources.array, 1, pictures.array, error),
        error)
    return _only_item(wanted, sources, pictures)


def _only_item(wanted: Wanted, sources: Sources, pictures: _native.Pictures) -> Any:
    item, = items_of(wanted, sources, pictures)
    if isinstance(item, Failure):
        raise read_error(*item)
    return item


def part_of(pixels: Any, crop: Any, name: str) -> Any:
    """A part of a file's pixels, or a Failure: the picture has no such part."""
    try:
        return cropped(pixels, crop_of(crop))
    except ValueError as error:
        if is_interruption(error):
            raise
        return Failure(name, str(error))


def items_of(wanted: Wanted, sources: Sources, pictures: _native.Pictures,
             make: Optional[Callable[..., Iterator[Any]]] = None) -> List[Any]:
    """The requested result of each file of a batch, or a Failure. Raises Unavailable.

    make: of the pictures, as decoded_pixels() does it; None: arrays or Pictures
    """
    codes = pictures.columns(_CODES)["code"]
    refused = {index: pictures.array[index].error for index in np.flatnonzero(codes).tolist()}
    for index, error in refused.items():
        _native.check_device(error)
        number = NO_DESCRIPTORS.get(error.words)
        if number is not None:  # which is no fault of the file
            raise OSError(number, error.words, sources.names[index])
    if wanted.limits.on_error == "conceal":
        for name, picture in zip(sources.names, pictures.array):
            if picture.error.code == _native.OK and picture.error.text:
                warn(f"{name}: {picture.error.words}")
    make = make or (_pixels if wanted.is_pixels else _pictures)
    items = list(make(wanted, sources, pictures))
    for index, error in refused.items():
        name = sources.names[index]
        items[index] = Failure(name, sources.reasons.get(index, error.words))
        if error.code == _native.UNSUPPORTED and wanted.is_pixels:
            items[index] = _otherwise(wanted, sources, index)
            if sources.crops is not None and not isinstance(items[index], Failure):
                items[index] = part_of(items[index], sources.crops[index], name)
    if wanted.mode == "CMYK":
        items = [item if isinstance(item, Failure) else _otherwise(wanted, sources, index, item)
                 for index, item in enumerate(items)]
    return items


def _otherwise(wanted: Wanted, sources: Sources, index: int,
               picture: Optional[Picture] = None) -> Any:
    """Pixels of a kind of files that the library makes none of, on the CPU, or a Failure.

    picture: of the file; None: it is read
    """
    try:
        source = sources.again(index)
        if picture is None:
            picture = decode_one(Wanted(limits=wanted.limits), source)
        reason = wanted.why_not(picture.sampling, picture.depth)
        if reason is not None:
            return Failure(sources.names[index], reason)
        pixels = wanted.made_of(picture.cpu())
        if wanted.exif:
            pixels = upright(pixels, orientation_of(source))
        return uploaded(pixels, wanted.device)
    except (ReadError, MemoryError) as error:
        if is_interruption(error):
            raise
        return Failure(sources.names[index], getattr(error, "reason", str(error)))


def _pixels(wanted: Wanted, _: Sources, pictures: _native.Pictures) -> Iterator[Any]:
    columns = pictures.columns(_PIXELS)
    return map(_array_of, itertools.repeat(wanted), pictures.take_blocks(),
               *(columns[name].tolist() for name in _PIXELS.names or ()))


def decoded_pixels(wanted: Wanted, _: Sources, pictures: _native.Pictures) -> Iterator[Decoded]:
    """The same, which `pictures` holds on; nonsense of those that there are not."""
    columns, count = pictures.columns(_PIXELS), len(pictures)
    rows = (columns[name].tolist() for name in ("data", "pitch", "width", "height"))
    return map(Decoded._make, zip(*rows, itertools.repeat(CHANNELS[wanted.mode or ""], count),
                                  itertools.repeat(wanted.device, count)))


def _array_of(wanted: Wanted, block: Block, width: int, height: int, data: int,
              pitch: int) -> Any:
    """A picture's pixels; None: it has none."""
    if not data:
        return None
    is_rgb = wanted.mode == "RGB"
    shape = (height, width, 3) if is_rgb else (height, width)
    strides = (pitch, 3, 1) if is_rgb else (pitch, 1)
    if wanted.device is None:
        return np.ndarray(shape, _UINT8, block, data - FIRST,
                          strides if pitch > strides[1] * width else None)
    block.address = data
    return CudaArray(block, 0, shape, strides, wanted.device, _UINT8)


class _Stack(Block):
    """The memory of pixels that lie one after the other, which holds all of them."""

    __slots__ = ("held",)

    def __init__(self, held: List[Any], address: int) -> None:
        self.held, self.address = held, address


def stacked_of(items: List[Any]) -> Any:
    """One array (n, ...) of pixels of one size: the memory that they lie in one after the other, or
    a copy, whose parts they become. None: there is a Failure, or another size."""
    first, shape = items[0], getattr(items[0], "shape", ())
    if not shape or any(getattr(item, "shape", ()) != shape for item in items):
        return None
    address, *others = [item.address if isinstance(item, CudaArray) else _native.address_of(item)
                        for item in items]
    size = math.prod(shape)
    if any(other != address + size * index for index, other in enumerate(others, 1)):
        made = resize(items, shape[1::-1], "nearest", alpha=False)
        items[:] = parts_of(made)
        return made
    stack, shape, strides = (_Stack(list(items), address), (len(items), *shape),
                             (size, *first.strides))
    if isinstance(first, CudaArray):
        return CudaArray(stack, 0, shape, strides, first.device, _UINT8)
    return stack.array(shape, strides)


def _pictures(wanted: Wanted, sources: Sources, pictures: _native.Pictures) -> Iterator[Any]:
    kind = Picture if wanted.device is None else CudaPicture
    blocks = pictures.take_blocks()
    for path, block, made in zip(sources.paths, blocks, pictures.array):
        if made.error.code != _native.OK:
            yield None
            continue
        yield kind.of_native(made, block, path, wanted.device)


class Ahead:
    """Batches of files that are decoded while others are in use.

    workers: threads of an engine of its own; None: the process's engine
    batches: that may be under way
    One thread at a time may use it. Raises Unavailable.
    """

    def __init__(self, wanted: Wanted, workers: Optional[int], batches: int) -> None:
        self._library = library = _native.library()
        self._wanted, self._process = wanted, os.getpid()
        self._under_way: List[Sources] = []
        own = workers is not None and wanted.device is None
        self._engine = (_native.Engine(None, workers or 0) if own else
                        _native.engine(wanted.device))
        self._decoder = c_void_p()
        # The decoder reads what the sources hold, and the engine has to outlive it.
        held = self._under_way, self._engine
        self.close = in_turn([partial(library.ct_decoder_free, self._decoder),
                              partial(held.__len__)])
        when_gone(self, self.close)
        error = _native.Error()
        _native.check(library.ct_decoder_new(self._engine, wanted.options(batches),
                                             byref(self._decoder), error), error)

    def __len__(self) -> int:
        return len(self._under_way)

    def push(self, sources: Sources) -> None:
        _native.check_process(self._process)
        error = _native.Error()
        self._under_way.append(sources)
        _native.check(self._library.ct_decoder_push(self._decoder, sources.array,
                                                    len(sources.array), error), error)

    def pull(self) -> Optional[Tuple[Wanted, Sources, _native.Pictures]]:
        """The oldest batch, for items_of(); None: it is not done yet, after some time."""
        _native.check_process(self._process)
        sources, is_done, error = self._under_way[0], c_int32(), _native.Error()
        pictures = _native.Pictures(len(sources.array))
        _native.check(self._library.ct_decoder_pull(
            self._decoder, pictures.array, len(pictures), _POLL, byref(is_done), error), error)
        if not is_done.value:
            return None
        del self._under_way[0]
        return self._wanted, sources, pictures
