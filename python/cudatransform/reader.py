"""Many JPEG files as batches of pictures, read and decoded ahead. Errors are values."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import os
import weakref
from typing import Any, Dict, Generator, Iterable, Iterator, List, Optional, Sequence, Union

import numpy as np

from ._decoding import CHANNELS, MODES, Ahead, Wanted, decoded_pixels, items_of, part_of, stacked_of
from ._filters import check_type
from ._sources import Source, Sources
from ._walk import walk_through
from .errors import Failure, is_interruption, one_of, true_or_false, whole_number
from .picture import Picture
from .planes import Planes
from .resampling import LAYOUTS, Decoded, Resampling, is_side, parts_of

_MAX_BATCHES = 64  # under way, as the library takes them
_GPU_BATCHES = 4    # at least: a GPU works on some while the CPU packs and takes others


class Batch(List[Any]):
    """A Reader's list with a Picture, Planes, pixels, or a Failure for each path, in their order.

    paths: of the items
    stacked: of a Reader with stack=True, one array (n, ...) of those that were read, in whose
        memory the items are; None without any and, without `size`, unless all were read and have
        one size
    """

    def __init__(self, items: Iterable[Any] = (), paths: Sequence[str] = (),
                 stacked: Any = None) -> None:
        super().__init__(items)
        self.paths, self.stacked = list(paths), stacked

    @property
    def pictures(self) -> List[Any]:
        """Those that were read."""
        return [item for item in self if not isinstance(item, Failure)]

    @property
    def irregular(self) -> List[Union[Picture, Planes]]:
        """Those of `pictures` with irregular files, see Picture.irregular; not of pixels."""
        return [item for item in self if isinstance(item, (Picture, Planes)) and item.irregular]

    @property
    def failures(self) -> List[Failure]:
        """Those that could not be read: path and reason."""
        return [item for item in self if isinstance(item, Failure)]


class Reader:
    """Reads JPEG files in batches, many at once and in order.

    paths: of the files; or bytes, memoryviews and binary files, or any of these. An iterable other
        than a list or a tuple is walked through by another thread, as it needs files
    batch_size: pictures in a batch; the last one may have fewer
    device: `cpu`: numpy arrays. `cuda` or `cuda:1`: arrays on that GPU, see CudaPicture. A list of
        GPUs: batches go to each of them in turn
    num_workers: 1 to 1024 files that are decoded at once, each on a thread; None: as many as the
        process may use cores, and twice as many for a GPU, which decodes the larger files itself
    output: `coefficients`: Pictures. `pixels`: arrays, as decode() makes them with `mode`,
        `reduce`, `upsampling` and `exif`
    layout: of coefficients. `block`: Pictures. `band`: Planes, of `dtype` as of Picture.planes();
        nothing is copied after the conversion
    max_pixels, max_memory, on_error: as of read()
    size: of pixels: they are resampled, a batch at once, to this width and height, or to this
        shorter side
    crops: the part of each picture to resample, left, top, right and bottom in whole pixels, after
        `reduce`, `draft` and `exif`; nothing outside is read, as by torchvision's resized_crop().
        An array of integers (n, 4) with a row for each path; or a function of width and height,
        called for the pictures in their order, in the thread that iterates, that returns such, or
        None for all of it
    stack: whether a batch's pixels are one array, Batch.stacked; None: where `size` is a width and
        a height
    draft: as of decode(); resample, reducing_gap, like, dtype, recipe, mean, std and layout, `hwc`
        or `chw`: as of resize()

    Iterating yields one Batch after the other; each `for` starts over, and the end of `with` ends
    them all. A file that cannot be read is a Failure in its place and stops nothing. While a batch
    is in use the next one is decoded: one batch and twice `num_workers` files, for a GPU at least
    four batches, are ahead of those that the caller has, and an iterable is one batch further. A
    Reader can be pickled, so torch's DataLoader takes it to processes that it starts by spawn. The
    constructor raises ValueError and TypeError; iteration OSError where no file descriptor is free,
    and Unavailable in a forked process and where there is no such GPU.
    """

    def __init__(self, paths: Iterable[Source], batch_size: int = 32,
                 device: Union[str, Sequence[str]] = "cpu", num_workers: Optional[int] = None,
                 output: str = "coefficients", mode: str = "RGB", reduce: int = 1,
                 upsampling: str = "fancy", exif: bool = False, layout: str = "block",
                 dtype: Any = np.int16, max_pixels: Optional[int] = None,
                 max_memory: Optional[int] = None, on_error: str = "fail", size: Any = None,
                 resample: Any = "bicubic", crops: Any = None,
                 reducing_gap: Optional[float] = None, draft: bool = False,
                 stack: Optional[bool] = None, like: str = "pillow-13",
                 recipe: str = "torchvision", mean: Optional[Sequence[float]] = None,
                 std: Optional[Sequence[float]] = None) -> None:
        _check_paths(paths)
        whole_number("batch_size", batch_size)
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        if num_workers is not None and not 1 <= whole_number("num_workers", num_workers) <= 1024:
            raise ValueError(f"num_workers must be 1 to 1024, not {num_workers}")
        one_of("output", output, ("coefficients", "pixels"))
        one_of("mode", mode, MODES)
        true_or_false("exif", exif)
        if output == "coefficients" and (mode, reduce, upsampling, exif) != ("RGB", 1, "fancy",
                                                                             False):
            raise ValueError("mode, reduce, upsampling and exif need output='pixels'")
        self.wanted = [Wanted.of(mode if output == "pixels" else None, reduce, upsampling, exif,
                                 one, max_pixels, max_memory, on_error)
                       for one in _devices_of(device)]
        how = (resample, reducing_gap, like, recipe, mean, std)
        given = (*how, crops, draft)
        if size is None and not all(map(_is_default, given, _NO_RESAMPLING)):
            raise ValueError("resample, reducing_gap, like, recipe, mean, std, crops and draft "
                             "need size")
        self.resampling = None
        if size is not None:
            if output != "pixels":
                raise ValueError("size needs output='pixels'")
            self.resampling = _resampling_of(size, dtype, layout, *how).check(
                CHANNELS[mode], max_memory)
            layout, dtype = "block" if layout in LAYOUTS else layout, np.int16
        self.stack, self.crops = _stack_of(stack, output, size), _crops_of(crops, paths)
        if self.stack and size is None:
            self.wanted = [wanted._replace(stack=wanted.is_pixels) for wanted in self.wanted]
        one_of("layout", layout, ("block", "band"))
        kind = check_type(dtype)
        if layout == "block" and kind != np.int16:
            raise ValueError("dtype needs size, or layout='band' of output='coefficients'")
        if layout == "band" and output == "pixels":
            raise ValueError("layout='band' needs output='coefficients'")
        true_or_false("draft", draft)
        if draft:
            size = self.resampling and self.resampling.size
            self.wanted = [wanted.drafted(size) for wanted in self.wanted]
        self.paths, self.batch_size, self.device = paths, batch_size, device
        self._walks: List["weakref.ref[Generator[Batch, None, None]]"] = []
        self.planes = kind if layout == "band" else None
        cores = len(os.sched_getaffinity(0))
        self.own_workers = None if num_workers is None else int(num_workers)
        self.num_workers = self.own_workers or cores * (1 if device == "cpu" else 2)

    def __len__(self) -> int:
        """The number of batches. Raises TypeError where paths have no length."""
        return -(-len(self.paths) // self.batch_size)  # type: ignore

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: Any) -> None:
        """Ends all walks that have begun: their iterators have no more batches."""
        for walk in filter(None, [known() for known in self._walks]):
            walk.close()

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_walks": []}

    def __iter__(self) -> Iterator[Batch]:
        walk = self._walk()
        # Not a WeakSet, whose callbacks would drop the exception of a signal's handler.
        self._walks = [known for known in self._walks if known() is not None] + [weakref.ref(walk)]
        return walk

    def _walk(self) -> Generator[Batch, None, None]:
        walk = Walk(self)
        try:
            while True:
                batch = walk.next()
                if batch is None:
                    return
                yield batch
        finally:
            walk.close()


def _check_paths(paths: Any) -> None:
    """Raises TypeError and ValueError."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        path = os.fsdecode(paths)
        files = f"glob.glob({os.path.join(path, '*.jpg')!r})" if os.path.isdir(path) else [path]
        raise ValueError(f"paths must be an iterable of paths, such as {files}, not {paths!r}")
    if not hasattr(paths, "__iter__") and not hasattr(paths, "__getitem__"):
        raise TypeError(f"paths must be an iterable of paths, not {type(paths).__name__}")


# The arguments of a Reader that does not resample.
_NO_RESAMPLING = ("bicubic", None, "pillow-13", "torchvision", None, None, None, False)


def _is_default(value: Any, default: Any) -> bool:
    return value is default or isinstance(value, str) and value == default


def _resampling_of(size: Any, dtype: Any, layout: Any, resample: Any, reducing_gap: Any, like: Any,
                   recipe: Any, mean: Any, std: Any) -> Resampling:
    """dtype, layout: as of Reader, whose defaults are those of coefficients"""
    return Resampling.of(size, resample, reducing_gap, False, like,
                         "uint8" if dtype is np.int16 else dtype,
                         "hwc" if layout == "block" else layout, recipe, mean, std)


def _stack_of(stack: Any, output: str, size: Any) -> bool:
    """Raises TypeError and ValueError."""
    if stack is None:
        return size is not None and not is_side(size)
    true_or_false("stack", stack)
    if stack and (is_side(size) or output != "pixels"):
        raise ValueError("stack=True needs output='pixels', and size=(width, height) or none")
    return bool(stack)


def _crops_of(crops: Any, paths: Any) -> Any:
    """A function, an array (n, 4), or None. Raises ValueError."""
    if crops is None or callable(crops):
        return crops
    made = np.asarray(crops)
    if made.ndim != 2 or made.shape[1] != 4 or made.dtype.kind not in "iu":
        raise ValueError("crops must be a function, or integers (n, 4): left, top, right and "
                         f"bottom of each picture, not {made.dtype} {made.shape}")
    if hasattr(paths, "__len__") and len(made) != len(paths):
        raise ValueError(f"crops must have a row for each of {len(paths)} paths, not {len(made)}")
    return made.astype(np.int64)


def _if_small(how: Resampling, pixels: Any, name: str) -> Any:
    """The same, or a Failure: the result would have too many bytes."""
    if isinstance(how.size, tuple) or isinstance(pixels, Failure):
        return pixels
    try:
        how.size_of(pixels.shape)
        return pixels
    except ValueError as error:
        if is_interruption(error):
            raise
        return Failure(name, str(error))


def _devices_of(device: Any) -> Sequence[Any]:
    """The one device or the GPUs of a list. Raises ValueError."""
    if not isinstance(device, (list, tuple)):
        return [device]
    if not device or "cpu" in device:
        raise ValueError("device must be a list of GPUs such as ['cuda:0', 'cuda:1'], not "
                         f"{device!r}")
    return device


class Walk:
    """One walk through the files: batches are pushed as they come, and pulled in order."""

    def __init__(self, reader: Reader) -> None:
        self._batch, self._planes = reader.batch_size, reader.planes
        self._resampling, self._stack, self._crops = reader.resampling, reader.stack, reader.crops
        # The library crops where it knows before: it decodes only what crops need.
        self._crops_ahead = (self._crops is not None and not callable(self._crops) and
                             reader.wanted[0].is_pixels)
        self._pushed = self._pulled = 0  # files
        batches = 1 - -2 * reader.num_workers // reader.batch_size
        if reader.device != "cpu":
            batches = max(batches, _GPU_BATCHES)
        batches = min(batches, _MAX_BATCHES)
        self._devices = [Ahead(wanted, reader.own_workers, batches) for wanted in reader.wanted]
        self._max_batches = batches * len(self._devices)
        self._under_way: List[Ahead] = []  # a batch of each, the oldest one first
        self._files = walk_through(reader.paths)
        self._files.give_room((self._max_batches + 1) * self._batch)
        self._error: Optional[BaseException] = None
        self._has_ended = False

    def next(self) -> Optional[Batch]:
        """None: there are no more."""
        while True:
            self._push(wait=True)
            if self._under_way:
                pulled = self._under_way[0].pull()
                if pulled is not None:
                    del self._under_way[0]
                    self._files.give_room(self._batch)
                    self._push(wait=False)  # first, since making a batch takes a while
                    return self._batch_of(*pulled)
            elif self._has_ended:
                if self._error is not None:
                    raise self._error
                return None

    def _push(self, wait: bool) -> None:
        """As many batches as have come. wait: for a while, for the first"""
        while not self._has_ended and len(self._under_way) < self._max_batches:
            try:
                files = self._files.take(self._batch, wait and not self._under_way)
                if files is None:
                    return
                if files:
                    ahead = min(self._devices, key=len)
                    ahead.push(Sources(files, self._crops_of(len(files))))
                    self._under_way.append(ahead)
                self._has_ended = len(files) < self._batch
            except BaseException as error:
                if is_interruption(error):
                    raise
                self._error, self._has_ended = error, True

    def _crops_of(self, count: int) -> Any:
        """Those of the next files for the library; None: they are whole."""
        first, self._pushed = self._pushed, self._pushed + count
        if not self._crops_ahead:
            return None
        crops = self._crops[first:self._pushed]
        # Files beyond are Failures when they come.
        return np.concatenate([crops, np.tile((0, 0, 1, 1), (count - len(crops), 1))])

    def _batch_of(self, wanted: Wanted, sources: Sources, pictures: Any) -> Batch:
        is_direct = self._resampling is not None and wanted.is_pixels
        items = items_of(wanted, sources, pictures, decoded_pixels if is_direct else None)
        if self._planes is not None:
            items = [item if isinstance(item, Failure) else item.planes(self._planes)
                     for item in items]
        first, self._pulled = self._pulled, self._pulled + len(items)
        stacked = None
        if self._resampling is not None:
            if self._crops is not None or not isinstance(self._resampling.size, tuple):
                items = list(self._cropped(self._resampling, items, first, sources.names))
            good = [index for index, item in enumerate(items) if not isinstance(item, Failure)]
            pixels = [items[index] for index in good]
            if good and self._stack:
                stacked = self._resampling.stacked(pixels)
            parts = self._resampling.each(pixels) if stacked is None else parts_of(stacked)
            for index, part in zip(good, parts):
                items[index] = part
        elif self._stack:
            stacked = stacked_of(items)
        return Batch(items, sources.names, stacked)

    def _cropped(self, how: Resampling, items: Iterable[Any], first: int,
                 names: Sequence[str]) -> Iterator[Any]:
        """What is resampled of pictures, from a number on; a Failure where that cannot be."""
        crops = self._crops
        for number, (pixels, name) in enumerate(zip(items, names), first):
            crop: Any = None
            if isinstance(pixels, Failure):
                yield pixels
                continue
            if callable(crops):  # whose exceptions are the caller's
                height, width = pixels.shape[:2]
                crop = crops(width, height)
            elif crops is not None and number >= len(crops):
                yield Failure(name, f"crops has {len(crops)} rows, expected more than {number}")
                continue
            elif crops is not None and not self._crops_ahead:
                crop = crops[number]
            if crop is not None:
                part = pixels.part_within(crop) if isinstance(pixels, Decoded) else None
                pixels = part_of(pixels, crop, name) if part is None else part
            yield _if_small(how, pixels, name)

    def close(self) -> None:
        """Ends the decoding."""
        for ahead in self._devices:
            ahead.close(None)
        self._files.close()
