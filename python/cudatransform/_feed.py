"""A Reader's files on their way into its decoder: read by a thread, ahead, and pushed in order."""
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# To read a file is to copy it out of the page cache. One thread copies large files more slowly than
# a GPU decodes them, so the C library's threads read several of those at once.
from __future__ import annotations

import _thread
import collections
import os
import queue
import threading
import time
import weakref
from typing import Any, Deque, Iterator, Optional, Set

import numpy as np

from . import _gst, jpeg
from ._reads import FileRead, PatientFiles, QuickFiles
from ._stage import Stage, StageError
from .errors import Failure, ReadError

# A grey picture of 8 x 8 samples, decoded before all others. A file of an unsupported kind is an
# error of the stream if it is the first, and later only a damaged picture.
MARKER = (b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64 + b"\xff\xc0\0\x0b\x08\0\x08\0\x08\1\1\x11\0"
          b"\xff\xda\0\x08\1\1\0\0\x3f\0\x2b\xff\xd9")
MOST_READS = 8
_CORES_A_READ = 2
_LARGE = 1 << 17         # bytes of a file that is read at the same time as others
_LEAST_MEMORY = 1 << 16  # for a file's bytes


class Memory:
    """Memory for the bytes of one file after the other."""

    __slots__ = ("array", "view", "address")

    def __init__(self, size: int) -> None:
        self.array = np.empty(size, np.uint8)
        self.view, self.address = self.array.data, _gst.address_of(self.array)


class Entry:
    """A file on its way: its bytes, which may still be being read, or why there are none."""

    __slots__ = ("path", "number", "data", "size", "failure", "descriptor", "read")

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number, self.size = path, number, 0
        self.data: Optional[Memory] = None
        self.failure: Optional[Failure] = None
        self.descriptor, self.read = -1, None  # type: int, Optional[FileRead]

    def fail(self, error: Exception) -> None:
        """Notes why there are no bytes: an entry has either `data` or a `failure`."""
        self.data = None
        self.failure = Failure(self.path, error.reason if isinstance(error, ReadError)
                               else jpeg.reason_of(error))

    def finish(self, files: PatientFiles) -> None:
        """Ends a read that is over."""
        if self.read is None:
            return
        try:
            got = self.read.done()
            if got < self.size:
                jpeg.fill_from(self.descriptor, self.data.view[got:self.size],  # type: ignore
                               self.path, got)
        except (OSError, ReadError) as error:
            self.fail(error)
        finally:
            files.close(self.descriptor)
            self.read = None

    def abandon(self, files: PatientFiles) -> None:
        """Awaits a read whose bytes nobody wants: it fills its memory until it is over."""
        if self.read is not None:
            self.read.wait()
            files.close(self.descriptor)
            self.read = None


class End:
    """Stands behind the last file; `error` is what the caller's iterable has raised, if it has."""

    __slots__ = ("error",)

    def __init__(self, error: Optional[BaseException] = None) -> None:
        self.error = error


class Feed:
    """Reads the caller's files and pushes them, each with a time of twice its number, from 1 on.

    owner: the object that uses the Feed. When nothing refers to it any more, the thread ends and
        frees the stage, so that an interruption of a constructor or of close() leaves nothing
        behind
    entries: of the files that have been pushed or cannot be, in order; an End is the last
    memory: comes back from the taking thread, for files to come
    lost: the number of the last file that an error of the stream has taken
    most_reads: files that are read behind the next one to push; 0: the thread reads them itself
    """

    def __init__(self, owner: Any, stage: Stage, paths: Iterator[Any], ahead: int,
                 most_reads: int) -> None:
        self._gst, self._stage, self._paths = _gst.libraries(), stage, paths
        # The decoder may read any of it throughout the decoder's life.
        self._all_memory: Set[Memory] = set()
        stage.memory = self._all_memory
        self.entries: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self.memory: Deque[Memory] = collections.deque()
        self.lost = 0
        # The push state: the files whose reads have begun, the number of the last pushed file, that
        # of the last one with a marker after it, and whether the end was pushed.
        self._lock = threading.RLock()
        self._reading: Deque[Entry] = collections.deque()
        self._pushed = self._marked = 0
        self._ended = self._closing = False
        # The number of files that may come: as told to the thread, and the part of it that the
        # thread has taken over. Anything but a number ends the thread.
        self._told: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._told.put(ahead)
        self._owner = weakref.ref(owner, self._told.put)
        self._room = self._number = 0
        self._in_paths = self._opening = False
        self._most_reads, self._files = most_reads, QuickFiles()
        self._ident, self._is_gone = 0, False  # of the thread
        self._over: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._gone: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        begun: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        _thread.start_new_thread(self._look_after_thread, (begun,))
        error = begun.get()
        if error is not None:
            raise error

    def _look_after_thread(self, begun: "queue.SimpleQueue[Any]") -> None:
        """Starts and frees the thread from one that no signal reaches: an interruption of
        threading.Thread's own Python code would leave it broken."""
        thread = threading.Thread(target=self._run, daemon=True, name="cudatransform.Reader")
        try:
            thread.start()
        except BaseException as error:  # there are too many threads
            begun.put(error)
            return
        begun.put(None)
        self._over.get()
        while thread.is_alive():  # no join(), which leaves a record of this thread, too
            time.sleep(1e-4)
        del thread
        self._is_gone = True
        self._gone.put(None)

    def _is_over(self) -> bool:
        return self._closing or self._owner() is None

    def give_room(self, files: int) -> None:
        """Lets so many more files come."""
        self._told.put(files)

    def _run(self) -> None:
        self._ident = threading.get_ident()
        try:
            self._stage.set_caps(jpeg.JPEG_CAPS)
            self._push_marker(1)
            while self._one():
                pass
        except BaseException as error:  # raised again in the taking thread
            if not self._is_over():
                self._push_end(End(error))
        finally:
            try:
                self._abandon_reads()
                if self._owner() is None and not self._closing:
                    self._stage.close()
                    _gst.give_memory_back()
            finally:
                self._over.put(None)

    def _one(self) -> bool:
        """Brings the next file on its way. False: there are no more."""
        if not self._room:
            try:
                told = self._told.get_nowait()
            except queue.Empty:
                self._push_all()
                told = self._told.get()
            if not isinstance(told, int):
                return False
            self._room = told
        self._room -= 1
        end = End()
        path = None
        with self._lock:
            if self._is_over():
                return False
            self._in_paths = True
        try:
            # The caller's object may be anything, so its path is taken under the same guard.
            path = os.fspath(next(self._paths))
        except StopIteration:
            pass
        except BaseException as error:  # the caller's: raised again in the taking thread
            end = End(error)
        with self._lock:
            self._in_paths, self._opening = False, path is not None
            if self._is_over():
                return False
        if path is None:
            self._push_all()
            self._push_end(end)
            return False
        self._number += 1
        self._reading.append(self._entry_of(path, self._number))
        self._opening = False
        while self.push_oldest(len(self._reading) > self._most_reads):
            pass
        return True

    def _entry_of(self, path: str, number: int) -> Entry:
        entry = Entry(path, number)
        try:
            descriptor, size = jpeg.open_picture(path, self._files)
            try:
                memory = self._memory_for(size)
                entry.data, entry.size = memory, size
                if self._most_reads and size >= _LARGE:
                    try:
                        entry.read = FileRead(descriptor, memory.address, size)
                        entry.descriptor = descriptor
                        return entry
                    except OSError:  # the system allows no more of such reads
                        pass
                jpeg.fill_from(descriptor, memory.view[:size], path)
            finally:
                if entry.read is None:
                    self._files.close(descriptor)
        except (OSError, MemoryError, ValueError, ReadError) as error:
            entry.fail(error)
        return entry

    def _memory_for(self, size: int) -> Memory:
        """The memory that came back last, which caches still hold, if it is large enough, or new.
        Fresh pages cost more than the copy."""
        try:
            memory = self.memory.pop()
            if len(memory.view) >= size:
                return memory
            self._all_memory.discard(memory)
        except IndexError:
            pass
        memory = Memory(max(_LEAST_MEMORY, size + size // 4))
        self._all_memory.add(memory)
        return memory

    def push_oldest(self, wait: bool = True) -> bool:
        """Pushes the oldest file's bytes when they are there. Of several threads one does it.

        False: there is no file, its bytes are not there, or the Reader is being closed.
        """
        try:
            entry = self._reading[0]
        except IndexError:
            return False
        read = entry.read  # another thread may end it
        if read is not None and not read.is_over():
            if not wait:
                return False
            read.wait()
        with self._lock:
            if self._is_over():
                return False
            if self._reading and self._reading[0] is entry:
                self._reading.popleft()
                entry.finish(self._files)
                self.entries.put(entry)
                if entry.data is not None:
                    self._push(entry)
        return True

    def _push_all(self) -> None:
        while self.push_oldest():
            pass

    def _push(self, entry: Entry) -> None:
        buffer = _gst.buffer_around(self._gst, entry.data.address, entry.size)  # type: ignore
        _gst.BufferHead.from_address(buffer).pts = 2 * entry.number
        self._pushed = entry.number
        try:
            self._stage.push(buffer)
        except StageError:
            if not self._is_over():
                self.recover()

    def _push_end(self, end: End) -> None:
        # Also after an error: the pictures before it come out.
        with self._lock:
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
        """Goes on after an error of the stream, without the files on their way. For any thread."""
        with self._lock:
            self._stage.flush()
            self.lost = self._pushed
            try:
                self._push_marker(2 * self._pushed + 1)
            except StageError:
                self._stage.flush()
            if self._ended:
                self._stage.push_end()

    def finish_if_idle(self) -> None:
        """Where the thread waits for the caller, has the decoder finish what it has: a marker, with
        the odd time behind the last file, pushes the others out. Does not wait for reads that have
        not ended: they are of later files."""
        if self.push_oldest(wait=False):
            return
        with self._lock:
            if self._opening or self._marked == self._pushed or self._ended or self._closing:
                return
            try:
                self._push_marker(2 * self._pushed + 1)
                self._stage.finish_all()
                self._marked = self._pushed
            except StageError:
                self._stage.flush()
                self.lost = self._pushed

    def stop(self) -> None:
        """Ends the thread, before the stage is closed."""
        self._closing = True
        self._told.put(None)
        self._stage.stop()
        # The thread may stay in the caller's iterable for ever; it ends when that returns. It is
        # this very thread if the garbage collector has found the Reader in it.
        while (not self._is_gone and not self._in_paths
               and self._ident != threading.get_ident()):
            try:
                self._gone.get(timeout=.01)
            except queue.Empty:
                pass
        self._abandon_reads()

    def _abandon_reads(self) -> None:
        while self._reading:
            try:
                self._reading.popleft().abandon(self._files)
            except IndexError:  # the other thread does it, too
                return


def reads_for(on_cuda: bool) -> int:
    """How many files a Reader reads at once."""
    return min(MOST_READS, len(os.sched_getaffinity(0)) // _CORES_A_READ) if on_cuda else 0
