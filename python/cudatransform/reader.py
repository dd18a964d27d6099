"""Many JPEG files as batches of pictures, read and decoded ahead. Errors are values."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import os
import queue
from typing import Any, Deque, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _gst, jpeg
from ._cuda_memory import context_of
from ._device import number_of
from ._feed import End, Entry, Feed, reads_for
from ._pixels import Wanted
from ._stage import Stage, StageError
from .cuda import decoder_stage, picture_on_device, read_onto_device
from .errors import Failure, ReadError, Unavailable, is_interruption, whole_number
from .jpeg import ink_of
from .picture import Picture, picture_of_sample
from .planes import Planes, wanted_planes

_PATIENCE = 10_000_000  # nanoseconds
_MOST_TOGETHER = 8      # files whose room is given back at once
# The pushing thread and the decoder do not wait for each other.
_QUEUE = "queue name=first max-size-buffers=0 max-size-bytes=0 max-size-time=0 silent=true"


class Batch(List[Any]):
    """A Reader's list with a Picture, Planes, pixels, or a Failure for each path, in their order.

    paths: of the items
    """

    def __init__(self) -> None:
        super().__init__()
        self.paths: List[str] = []

    @property
    def pictures(self) -> List[Any]:
        """Those that were read."""
        return [item for item in self if not isinstance(item, Failure)]

    @property
    def irregular(self) -> List[Union[Picture, Planes]]:
        """Those of `pictures` whose files were odd, see Picture.irregular. Pixels do not say it."""
        return [item for item in self if isinstance(item, (Picture, Planes)) and item.irregular]

    @property
    def failures(self) -> List[Failure]:
        """Those that could not be read: path and reason."""
        return [item for item in self if isinstance(item, Failure)]


class Reader:
    """Reads JPEG files in batches, many at once and in order.

    paths: of the files; any iterable, which another thread walks through as it needs files
    batch: pictures in a batch; the last one may have fewer
    device: `cpu`: numpy arrays. `cuda` or `cuda:1`: arrays on that GPU, see CudaPicture
    workers: 1 to 1024 files that are decoded at once, each on a thread; None: as many as the
        process may use cores, and twice as many for a GPU, which decodes the larger files itself
    output: `coefficients`: Pictures. `pixels`: arrays, as decode() makes them with `mode`, `scale`
        and `upsampling`
    layout: of coefficients. `block`: Pictures. `band`: Planes, of `dtype` as of Picture.planes();
        nothing is copied behind the conversion

    Iterating yields one Batch after the other; each `for` begins anew. A file that cannot be read
    is a Failure in its place and stops nothing. While a batch is in use the next one is decoded:
    one batch and twice `workers` files are ahead of those that the caller has. A Reader can be
    pickled, so torch's DataLoader takes it to processes that it starts by spawn. The constructor
    raises ValueError and TypeError, iteration Unavailable in a forked process and where there is no
    such GPU.
    """

    def __init__(self, paths: Iterable[Union[str, "os.PathLike[str]"]], batch: int = 32,
                 device: str = "cpu", workers: Optional[int] = None, output: str = "coefficients",
                 mode: str = "RGB", scale: int = 1, upsampling: str = "fancy",
                 layout: str = "block", dtype: Any = np.int16) -> None:
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise ValueError("paths are an iterable of paths, not one path: put it into a list")
        if not hasattr(paths, "__iter__") and not hasattr(paths, "__getitem__"):
            raise TypeError(f"paths are an iterable of paths, not {type(paths).__name__}")
        whole_number("the size of a batch", batch)
        if workers is not None:
            whole_number("the number of workers", workers)
        if batch < 1 or workers is not None and not 1 <= workers <= 1024:
            raise ValueError("a batch has at least one picture, and there are 1 to 1024 workers, "
                             f"not {batch} and {workers}")
        if output not in ("coefficients", "pixels"):
            raise ValueError(f"an output is coefficients or pixels, not {output!r}")
        if layout not in ("block", "band"):
            raise ValueError(f"a layout is block or band, not {layout!r}")
        planes = wanted_planes(dtype, number_of(device))
        if layout == "block" and planes.dtype != np.int16:
            raise ValueError(f"coefficients in blocks are int16, not {planes.dtype}: of that type "
                             "they are made with layout='band'")
        if layout == "band" and output == "pixels":
            raise ValueError("bands are of coefficients: pixels have none")
        wanted = Wanted(mode, scale, upsampling, number_of(device)).check()
        self.paths, self.batch, self.device = paths, batch, device
        self.wanted = wanted if output == "pixels" else None  # of files' pixels
        self.planes = planes if layout == "band" else None
        cores = len(os.sched_getaffinity(0))
        self.workers = cores * (1 if device == "cpu" else 2) if workers is None else int(workers)

    def __iter__(self) -> Iterator[Batch]:
        run = Walk(self)
        try:
            while True:
                batch = Batch()
                whole = run.fill(batch, self.batch)
                if batch:
                    yield batch
                if not whole:
                    return
        finally:
            run.close()


class Walk:
    """One walk through the paths: a Feed fills the decoder, the caller's thread takes from it.

    A buffer's time is twice the number of its file, from 1 on. A time that does not come back
    belongs to a damaged file, which is read again, alone, to learn what is wrong with it. Where
    nothing comes while the Feed waits (for room, because many are damaged, or for the caller's next
    path), the decoder must finish all that it has. An error of the stream loses all files on their
    way, which are read again one by one, too.
    """

    def __init__(self, reader: Reader) -> None:
        self.gst = _gst.libraries()
        paths = iter(reader.paths)
        self.stage = _new_stage(reader)
        self.device, self.wanted = number_of(reader.device), reader.wanted
        self.planes = reader.planes
        # The Feed learns of room for several files at once: waking its thread for each file costs
        # as much as reading one.
        ahead = reader.batch + 2 * reader.workers
        self.taken, self.together = 0, max(1, min(_MOST_TOGETHER, ahead // 4))
        self.context = jpeg.Context()
        self.ahead: Optional[_gst.Sample] = None
        self.ahead_time = 0
        # Buffers to make pictures of, their places in the batch, and their files.
        self.buffers: Deque[Tuple[_gst.Sample, int, Entry]] = collections.deque()
        self.feed = Feed(self, self.stage, paths, ahead, reads_for(self.device is not None))

    def fill(self, batch: Batch, size: int) -> bool:
        """Appends the next pictures and failures, in order. False: there are fewer than `size`."""
        while len(batch) < size:
            entry = self._next_entry()
            if isinstance(entry, End):
                self._make_pictures(batch)
                if entry.error is not None:
                    raise entry.error
                return False
            item = self._take(entry) if entry.failure is None else entry.failure
            if isinstance(item, _gst.Sample):
                self.buffers.append((item, len(batch), entry))
            elif entry.data is not None:
                self.feed.memory.append(entry.data)
            batch.append(item)
            batch.paths.append(entry.path)
            self.taken += 1
            if self.taken == self.together:
                self._give_room()
                self._make_pictures(batch)
            if entry.number % 32 == 0:
                self._look_for_errors()
        self._make_pictures(batch)
        return True

    def _make_pictures(self, batch: Batch) -> None:
        """Makes pictures of the buffers that have come. Several at once take half the time: between
        single ones the decoder drives this code out of the caches."""
        while self.buffers:
            sample, index, entry = self.buffers.popleft()
            batch[index] = self._picture(sample, entry.path)
            # The picture is complete, so the decoder has read its file's bytes.
            self.feed.memory.append(entry.data)  # type: ignore

    def _next_entry(self) -> Union[Entry, End]:
        try:
            return self.feed.entries.get_nowait()
        except queue.Empty:
            self._give_room()
        while True:
            try:
                return self.feed.entries.get(timeout=_PATIENCE / 1e9)
            except queue.Empty:  # the caller's iterable may wait for files that are read already
                self.feed.push_oldest(wait=False)  # what is not read may be a later file by now

    def _give_room(self) -> None:
        if self.taken:
            self.feed.give_room(self.taken)
        self.taken = 0

    def _take(self, entry: Entry) -> Any:
        """The Sample of a file on its way; without one the item that another try makes."""
        time = 2 * entry.number
        while self.ahead_time < time:
            if entry.number <= self.feed.lost:
                return self._alone(entry)
            self.ahead = None  # before the next one comes, which may use its memory
            self.ahead = self.stage.pull(_PATIENCE)
            if self.ahead is not None:
                self.ahead_time = _gst.BufferHead.from_address(self.ahead.buffer).pts
            elif self.stage.has_ended():
                return self._alone(entry)
            else:
                self._look_for_errors()
                self._give_room()
                self.feed.finish_if_idle()
        if self.ahead_time > time or self.ahead is None:
            return self._alone(entry)
        sample, self.ahead = self.ahead, None
        return sample

    def _look_for_errors(self) -> None:
        if self.stage.forget_messages():
            self.feed.recover()

    def _picture(self, sample: _gst.Sample, path: str) -> Any:
        if self.wanted is not None and self.wanted.mode != "CMYK":
            return self.wanted.pixels_of(self.gst, sample)
        if self.planes is not None:
            return self.planes.planes_of(self.gst, sample, path)
        if self.device is not None:
            return picture_on_device(self.gst, sample, path, self.device)
        picture = picture_of_sample(self.gst, sample, path)
        if self.wanted is None:
            return picture
        try:
            return ink_of(picture, path, self.wanted)
        except ReadError as error:
            return Failure(error.path, error.reason)

    def _alone(self, entry: Entry) -> Any:
        try:
            if self.wanted is not None:
                return self.context.decode_as(self.wanted, entry.path)
            picture = self.context.read(entry.path)
            # It is not damaged: an error of the stream took it, or it is another file by now.
            if self.device is not None:
                picture = read_onto_device(entry.path, self.device)
            return picture if self.planes is None else picture.planes(self.planes.dtype)
        except ReadError as error:
            return Failure(error.path, error.reason)
        except (OSError, StageError, Unavailable) as error:
            if is_interruption(error):
                raise
            return Failure(entry.path, jpeg.reason_of(error))

    def close(self) -> None:
        """Ends the Feed, and frees everything but the pictures."""
        if _gst._forked:
            return  # the threads, without which elements cannot stop, are the parent's
        self.feed.stop()
        self.ahead = None
        self.buffers.clear()
        self.stage.close()
        self.context.close()
        _gst.give_memory_back()


def _new_stage(reader: Reader) -> Stage:
    elements = f"{_QUEUE} ! jpegcoefdec n-threads={reader.workers} qos=false"
    device = number_of(reader.device)
    if reader.wanted is not None and reader.wanted.mode != "CMYK":
        context = None if device is None else context_of(device)[0]
        return Stage(f"{elements} {reader.wanted.line(ahead=True)}", context=context, queued=True)
    rest = "" if reader.planes is None else f" ! {reader.planes.line()}"
    if device is None:
        return Stage(f"{elements} backend=cpu{rest}", queued=True)
    return decoder_stage(elements, device, queued=True, rest=rest)
