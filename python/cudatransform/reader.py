"""Many JPEG files as batches of pictures: files are read and decoded ahead, errors are values."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import os
import queue
import threading
from typing import Any, Deque, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _gst, jpeg
from ._stage import Stage, StageError
from .errors import Failure, ReadError, Unavailable
from .picture import Picture, picture_of_buffer

# A grey picture of 8 x 8 samples. The decoder calls a kind of file that it cannot hold an error of
# the stream if none has been decoded before, and damage afterwards: so one has.
_MARKER = (b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64 + b"\xff\xc0\0\x0b\x08\0\x08\0\x08\1\1\x11\0"
           b"\xff\xda\0\x08\1\1\0\0\x3f\0\x2b\xff\xd9")
_LEAST_MEMORY = 1 << 16  # for a file's bytes
_PATIENCE = 10_000_000   # nanoseconds
_MOST_TOGETHER = 8       # files whose room is given back at once
# The feeding thread does not wait for the decoder, nor the decoder for it.
_QUEUE = "queue name=first max-size-buffers=0 max-size-bytes=0 max-size-time=0 silent=true"
_END: Any = object()


class Batch(List[Union[Picture, Failure]]):
    """What a Reader yields: a list with a Picture or a Failure for each path, in their order."""

    @property
    def pictures(self) -> List[Picture]:
        """Those that were read."""
        return [item for item in self if isinstance(item, Picture)]

    @property
    def failures(self) -> List[Failure]:
        """Those that could not be read: path and reason."""
        return [item for item in self if isinstance(item, Failure)]


class Reader:
    """Reads JPEG files in batches, many at once and in order.

    paths: of the files; any iterable, walked through as files are needed, by another thread
    batch: pictures in a batch; the last one may have fewer
    device: `cpu`: numpy arrays. `cuda` or `cuda:1`: arrays on that GPU, see CudaPicture
    workers: files that are decoded at once, each on a thread; None: as many as cores may be used, and
        twice as many onto a GPU, which decodes the larger files itself

    Iterating yields a Batch after the other; each `for` begins anew. A file that cannot be read is a
    Failure in its place and stops nothing. While a batch is in use the next one is decoded: pictures
    of one batch and twice `workers` are ahead of those that the caller has. A Reader
    can be pickled, so torch's DataLoader takes it to processes that it starts by spawn. Raises
    Unavailable in a forked process, and where there is no such GPU.
    """

    def __init__(self, paths: Iterable[Union[str, "os.PathLike[str]"]], batch: int = 32,
                 device: str = "cpu", workers: Optional[int] = None) -> None:
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise ValueError("one path, where several are expected: put it into a list")
        if batch < 1 or workers is not None and not 1 <= workers <= 1024:
            raise ValueError("a batch has at least one picture, and there are 1 to 1024 workers")
        kind, _, number = device.partition(":")
        if kind not in ("cpu", "cuda") or number and (kind == "cpu" or not number.isdigit()):
            raise ValueError(f"a device is cpu, cuda or cuda:NUMBER, not {device!r}")
        self.paths, self.batch, self.device = paths, batch, device
        self.workers = workers or len(os.sched_getaffinity(0)) * (1 if device == "cpu" else 2)

    def __iter__(self) -> Iterator[Batch]:
        run = _Run(self)
        try:
            batch = Batch()
            for item in run.items():
                batch.append(item)
                if len(batch) == self.batch:
                    yield batch
                    batch = Batch()
            if batch:
                yield batch
        finally:
            run.close()


class _Memory:
    """Memory for the bytes of one file after the other."""

    __slots__ = ("array", "view", "address")

    def __init__(self, size: int) -> None:
        self.array = np.empty(size, np.uint8)
        self.view, self.address = self.array.data, _gst.address_of(self.array)


class _Entry:
    """A file on its way: its bytes, or why there are none."""

    __slots__ = ("path", "data", "failure")

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: Optional[_Memory] = None
        self.failure: Optional[Failure] = None


class _Run:
    """One walk through the paths: a thread feeds the decoder, the caller's takes from it.

    A buffer's time is twice the number of its file, from 1 on. A time that does not come back
    belongs to a damaged file, which is read again, alone, to know what is wrong with it. Where
    nothing comes while the feeding thread waits (for room, because many are damaged, or for the
    caller's next path), the taking one pushes a marker, with the odd time behind the last file, and
    has the decoder finish all. An error of the stream takes all that is on its way: those files are
    read again, one by one, too.
    """

    def __init__(self, reader: Reader) -> None:
        self.gst = _gst.libraries()
        self.paths = iter(reader.paths)
        self.stage = _new_stage(reader)
        self.on_cuda = reader.device != "cpu"
        self.device = int(reader.device.partition(":")[2] or 0)
        self.entries: "queue.SimpleQueue[Union[_Entry, BaseException, None]]" = queue.SimpleQueue()
        # Files that may come: as told to the feeding thread, and those that it is not told of yet. A
        # thread that wakes for each file costs as much as reading it.
        ahead = reader.batch + 2 * reader.workers
        self.room: "queue.SimpleQueue[int]" = queue.SimpleQueue()
        self.room.put(ahead)
        self.taken, self.together = 0, max(1, min(_MOST_TOGETHER, ahead // 4))
        self.memory: Deque[_Memory] = collections.deque()
        # Of the lock: whether the feeding thread waits and pushes nothing, the files so far, those of
        # them that an error has taken, and whether no more come.
        self.lock = threading.Lock()
        self.closing = self.idle = self.in_paths = self.ended = False
        self.pushed = self.marked = self.lost = 0
        self.context = jpeg.Context()
        self.ahead = self.ahead_time = 0
        self.thread = threading.Thread(target=_feed, args=(self,), daemon=True,
                                       name="cudatransform.Reader")
        self.thread.start()

    def items(self) -> Iterator[Union[Picture, Failure]]:
        """The pictures and failures, in order."""
        number = 0
        while True:
            entry = self._next_entry()
            if entry is None:
                return
            if isinstance(entry, BaseException):
                raise entry
            number += 1
            item = entry.failure or self._take(number, entry)
            if entry.data is not None:
                # Its picture or a later one is there, so nobody reads these bytes any more.
                self.memory.append(entry.data)
            self.taken += 1
            if self.taken == self.together:
                self._give_room()
            if number % 32 == 0:
                self._look_for_errors()
            yield item

    def _next_entry(self) -> Union[_Entry, BaseException, None]:
        try:
            return self.entries.get_nowait()
        except queue.Empty:
            self._give_room()
            return self.entries.get()

    def _give_room(self) -> None:
        if self.taken:
            self.room.put(self.taken)
        self.taken = 0

    def _take(self, number: int, entry: _Entry) -> Union[Picture, Failure]:
        time = 2 * number
        while self.ahead_time < time:
            if number <= self.lost:
                return self._alone(entry)
            self._drop_ahead()
            self.ahead = self.stage.pull(_PATIENCE)
            if self.ahead:
                self.ahead_time = _gst.BufferHead.from_address(self.ahead).pts
            elif self.stage.has_ended():
                return self._alone(entry)
            else:
                self._look_for_errors()
                self._give_room()
                self._finish_if_idle()
        if self.ahead_time > time:
            return self._alone(entry)
        buffer, self.ahead = self.ahead, 0
        return self._picture(buffer, entry.path)

    def _look_for_errors(self) -> None:
        if self.stage.forget_messages():
            self.recover()

    def recover(self) -> None:
        """After an error of the stream, of any thread: what is on its way is lost, the rest goes on."""
        with self.lock:
            self.stage.flush()
            self.lost = self.pushed
            try:
                _push_marker(self, 2 * self.pushed + 1)
            except StageError:
                self.stage.flush()
            if self.ended:
                self.stage.push_end()

    def _finish_if_idle(self) -> None:
        with self.lock:
            if not self.idle or self.marked == self.pushed:
                return
            try:
                _push_marker(self, 2 * self.pushed + 1)
                self.stage.finish_all()
                self.marked = self.pushed
            except StageError:
                self.stage.flush()
                self.lost = self.pushed

    def _picture(self, buffer: int, path: str) -> Picture:
        if not self.on_cuda:
            return picture_of_buffer(self.gst, buffer, path)
        from .cuda import picture_on_device
        return picture_on_device(self.gst, buffer, path, self.device)

    def _alone(self, entry: _Entry) -> Union[Picture, Failure]:
        try:
            picture = self.context.read(entry.path)
        except ReadError as error:
            return Failure(error.path, error.reason)
        # It was not damaged: an error of the stream took it, or it is another file by now.
        if not self.on_cuda:
            return picture
        from .cuda import read_onto_device
        try:
            return read_onto_device(entry.path, self.device)
        except (OSError, StageError, Unavailable) as error:
            return Failure(entry.path, jpeg.reason_of(error))

    def _drop_ahead(self) -> None:
        if self.ahead:
            self.gst.gst_mini_object_unref(self.ahead)
        self.ahead = 0

    def close(self) -> None:
        """Ends the thread, and frees everything but the pictures."""
        if _gst._forked:
            return  # the thread is the parent's, and the elements need theirs
        with self.lock:
            self.closing = True
        self.room.put(1)
        self.stage.stop()
        # In the caller's iterable it may be for ever; it ends when it comes back.
        while self.thread.is_alive() and not self.in_paths:
            self.thread.join(.01)
        self._drop_ahead()
        self.stage.close()
        self.context.close()


def _new_stage(reader: Reader) -> Stage:
    elements = f"{_QUEUE} ! jpegcoefdec n-threads={reader.workers} qos=false"
    if reader.device == "cpu":
        return Stage(f"{elements} backend=cpu")
    from . import cuda
    return cuda.decoder_stage(elements, int(reader.device.partition(":")[2] or 0))


def _feed(run: _Run) -> None:
    """The feeding thread: reads files in order and pushes them."""
    end: Optional[BaseException] = None
    try:
        run.stage.set_caps(jpeg.JPEG_CAPS)
        _push_marker(run, 1)
        room = 0
        while True:
            path, room = _next_path(run, room)
            if run.closing:
                return
            if path is _END:
                break
            _feed_one(run, run.pushed, os.fspath(path))
    except BaseException as error:  # of the caller's iterator, too: it is raised where it is awaited
        end = error
    if run.closing:
        return
    # The pictures before an error come, too.
    with run.lock:
        run.ended = True
        run.stage.push_end()
    run.entries.put(end)


def _push_marker(run: _Run, time: int) -> None:
    def fill(memory: memoryview) -> None:
        memory[:] = _MARKER
    buffer = _gst.buffer_of_size(run.gst, len(_MARKER), fill)
    _gst.BufferHead.from_address(buffer).pts = time
    run.stage.push(buffer)


def _next_path(run: _Run, room: int) -> Tuple[Any, int]:
    """The caller's next path, as soon as there is room for its picture, and how much is left; _END at
    the end."""
    with run.lock:
        run.idle = True
    room = (room or run.room.get()) - 1
    run.in_paths = not run.closing
    try:
        path = next(run.paths, _END) if run.in_paths else _END
    finally:
        with run.lock:
            run.in_paths = run.idle = False
            run.pushed += 1
    return path, room


def _feed_one(run: _Run, number: int, path: str) -> None:
    entry = _Entry(path)
    try:
        descriptor, size = jpeg.open_picture(path)
        try:
            memory = _memory_for(run, size)
            jpeg.fill_from(descriptor, memory.view[:size], path)
        finally:
            os.close(descriptor)
    except ReadError as error:
        entry.failure = Failure(path, error.reason)
    except (OSError, MemoryError, ValueError) as error:
        entry.failure = Failure(path, jpeg.reason_of(error))
    if entry.failure is not None:
        run.entries.put(entry)
        return
    entry.data = memory
    buffer = _gst.buffer_around(run.gst, memory.address, size)
    _gst.BufferHead.from_address(buffer).pts = 2 * number
    run.entries.put(entry)
    try:
        run.stage.push(buffer)
    except StageError:
        if run.closing:
            return
        run.recover()


def _memory_for(run: _Run, size: int) -> _Memory:
    """Memory of an earlier file if it is large enough: fresh pages cost more than the copy. That of
    the last one, which caches still have."""
    if run.memory:
        memory = run.memory.pop()
        if len(memory.view) >= size:
            return memory
    return _Memory(max(_LEAST_MEMORY, size + size // 4))
