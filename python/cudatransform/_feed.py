"""A Reader's files on their way into its decoder: read by one thread or several, pushed in order."""
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# To read a file is to copy it out of the page cache. Where a GPU decodes, one thread copies large files
# more slowly than they are decoded, so more threads, "lanes", take a file each. On small files, and
# where the cores decode, lanes would only wait for Python's lock and take cores from the decoder.
from __future__ import annotations

import collections
import os
import queue
import threading
from typing import Any, Deque, Dict, Iterator, Optional

import numpy as np

from . import _gst, jpeg
from ._stage import Stage, StageError
from .errors import Failure, ReadError

# A grey picture of 8 x 8 samples. The decoder calls a kind of file that it cannot hold an error of
# the stream if none has been decoded before, and damage afterwards: so one has.
MARKER = (b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64 + b"\xff\xc0\0\x0b\x08\0\x08\0\x08\1\1\x11\0"
          b"\xff\xda\0\x08\1\1\0\0\x3f\0\x2b\xff\xd9")
MOST_LANES = 3
_CORES_A_LANE = 4
_LARGE = 1 << 17         # bytes of a file that more lanes begin with
_LEAST_MEMORY = 1 << 16  # for a file's bytes


class Memory:
    """Memory for the bytes of one file after the other."""

    __slots__ = ("array", "view", "address")

    def __init__(self, size: int) -> None:
        self.array = np.empty(size, np.uint8)
        self.view, self.address = self.array.data, _gst.address_of(self.array)


class Entry:
    """A file on its way: its bytes and their GstBuffer, or why there are none."""

    __slots__ = ("path", "data", "buffer", "failure")

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: Optional[Memory] = None
        self.buffer = 0
        self.failure: Optional[Failure] = None


class End:
    """Behind the last file: of all paths, or the error that the caller's iterable has raised."""

    __slots__ = ("error",)

    def __init__(self, error: Optional[BaseException] = None) -> None:
        self.error = error


class _Lane:
    """A thread that reads. `asking`: it has no file, and needs nothing that close() frees."""

    def __init__(self, feed: "Feed") -> None:
        self.asking = True
        self.thread = threading.Thread(target=feed.run, args=(self,), daemon=True,
                                       name="cudatransform.Reader")


class Feed:
    """Reads the caller's files and pushes them, each with a time of twice its number, from 1 on.

    entries: of the files that have been pushed or cannot be, in order; an End is the last
    memory: what comes back from the taking thread for files to come
    lock: of `pushed`, the number of the last file that a lane has, `lost`, that of the last one that
        an error of the stream has taken, and whether the end has been pushed
    most_lanes: threads that may read at once
    """

    def __init__(self, stage: Stage, paths: Iterator[Any], ahead: int, most_lanes: int) -> None:
        self._gst, self._stage, self._paths = _gst.libraries(), stage, paths
        self.entries: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self.memory: Deque[Memory] = collections.deque()
        self.lock = threading.Lock()
        self.pushed = self.lost = self._marked = 0
        self._ended = self._closing = False
        # Files that may come: as told to the lanes, and of those what a lane has taken over.
        self._told: "queue.SimpleQueue[int]" = queue.SimpleQueue()
        self._told.put(ahead)
        self._room = 0
        # One lane at a time waits for room and is in the caller's iterable.
        self._asking, self._in_paths, self._over = threading.Lock(), False, False
        # Of the second lock: what has been read before the file in front of it, the number of the next
        # one to push, and whether a lane pushes.
        self._order, self._pushing = threading.Lock(), False
        self._read: Dict[int, Any] = {}
        self._next = 1
        self._most_lanes, self._lanes = most_lanes, [_Lane(self)]
        self._lanes[0].thread.start()

    def give_room(self, files: int) -> None:
        """So many more may come."""
        self._told.put(files)

    def run(self, lane: _Lane) -> None:
        """A lane's thread."""
        try:
            if lane is self._lanes[0]:
                self._stage.set_caps(jpeg.JPEG_CAPS)
                self._push_marker(1)
            while self._one(lane):
                pass
        except BaseException as error:  # what nobody expects is raised where it is awaited
            self._over = True
            if not self._closing:
                self._push_end(End(error))

    def _one(self, lane: _Lane) -> bool:
        """Brings the next file on its way. False: there are no more."""
        ending: Any = End()
        path = None
        with self._asking:
            if self._over or self._closing:
                return False
            self._room = (self._room or self._told.get()) - 1
            self._in_paths = not self._closing
            try:
                # An object of the caller's may be anything: its words are taken here, too.
                path = os.fspath(next(self._paths)) if self._in_paths else None
            except StopIteration:
                pass
            except BaseException as error:  # the caller's: raised where it is awaited
                ending = End(error)
            self._over = path is None
            with self.lock:
                self._in_paths = False
                if self._closing:
                    return False
                lane.asking = False
                self.pushed += 1
                number = self.pushed
        if path is None:
            self._push_in_order(number, ending)
            return False
        entry = self._entry_of(path, number)
        self._more_lanes_for(entry.data)
        self._push_in_order(number, entry)
        lane.asking = True
        return True

    def _more_lanes_for(self, data: Optional[Memory]) -> None:
        if len(self._lanes) == self._most_lanes or data is None or len(data.view) < _LARGE:
            return
        with self.lock:
            while len(self._lanes) < self._most_lanes and not self._closing:
                self._lanes.append(_Lane(self))
                self._lanes[-1].thread.start()

    def _entry_of(self, path: str, number: int) -> Entry:
        entry = Entry(path)
        try:
            descriptor, size = jpeg.open_picture(path)
            try:
                memory = self._memory_for(size)
                jpeg.fill_from(descriptor, memory.view[:size], path)
            finally:
                os.close(descriptor)
        except ReadError as error:
            entry.failure = Failure(path, error.reason)
        except (OSError, MemoryError, ValueError) as error:
            entry.failure = Failure(path, jpeg.reason_of(error))
        else:
            entry.data = memory
            entry.buffer = _gst.buffer_around(self._gst, memory.address, size)
            _gst.BufferHead.from_address(entry.buffer).pts = 2 * number
        return entry

    def _memory_for(self, size: int) -> Memory:
        """Memory of an earlier file if it is large enough: fresh pages cost more than the copy. That
        of the last one, which caches still have."""
        try:
            memory = self.memory.pop()
            if len(memory.view) >= size:
                return memory
        except IndexError:
            pass
        return Memory(max(_LEAST_MEMORY, size + size // 4))

    def _push_in_order(self, number: int, item: Any) -> None:
        """Pushes what a lane has read if all before it is pushed, and what others have read behind it.
        If not, the lane that reads the one before it will push it: nobody waits."""
        with self._order:
            if self._pushing or number != self._next:
                self._read[number] = item
                return
            self._pushing = True
        while item is not None:
            if isinstance(item, End):
                self._push_end(item)
                return  # and nobody pushes any more
            self.entries.put(item)
            if item.failure is None:
                self._push(item)
            with self._order:
                self._next += 1
                item = self._read.pop(self._next, None)
                self._pushing = item is not None

    def _push(self, entry: Entry) -> None:
        buffer, entry.buffer = entry.buffer, 0
        try:
            self._stage.push(buffer)
        except StageError:
            if not self._closing:
                self.recover()

    def _push_end(self, end: End) -> None:
        # The pictures before an error come, too.
        with self.lock:
            self._ended = True
            self._stage.push_end()
        self.entries.put(end)

    def _push_marker(self, time: int) -> None:
        def fill(memory: memoryview) -> None:
            memory[:] = MARKER
        buffer = _gst.buffer_of_size(self._gst, len(MARKER), fill)
        _gst.BufferHead.from_address(buffer).pts = time
        self._stage.push(buffer)

    def recover(self) -> None:
        """After an error of the stream, of any thread: what is on its way is lost, the rest goes on."""
        with self.lock:
            self._stage.flush()
            self.lost = self.pushed
            try:
                self._push_marker(2 * self.pushed + 1)
            except StageError:
                self._stage.flush()
            if self._ended:
                self._stage.push_end()

    def finish_if_idle(self) -> None:
        """Has the decoder finish what it has where all lanes wait: a marker, with the odd time behind
        the last file, pushes the others out."""
        with self.lock:
            if self._next != self.pushed + 1 or self._marked == self.pushed or self._ended:
                return
            try:
                self._push_marker(2 * self.pushed + 1)
                self._stage.finish_all()
                self._marked = self.pushed
            except StageError:
                self._stage.flush()
                self.lost = self.pushed

    def stop(self) -> None:
        """Ends the lanes, before the stage is closed."""
        with self.lock:
            self._closing = True
        self._told.put(1)
        self._stage.stop()
        # In the caller's iterable one may be for ever; it ends when it comes back, and so do those
        # that wait for it.
        for lane in self._lanes:
            while lane.thread.is_alive() and not (self._in_paths and lane.asking):
                lane.thread.join(.01)
        for item in self._read.values():
            if isinstance(item, Entry) and item.buffer:
                self._gst.gst_mini_object_unref(item.buffer)
        self._read.clear()


def lanes_for(on_cuda: bool) -> int:
    """As many as a Reader may need."""
    cores = len(os.sched_getaffinity(0))
    return min(MOST_LANES, max(1, cores // _CORES_A_LANE)) if on_cuda else 1
