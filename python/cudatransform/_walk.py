"""A caller's iterable of files: its next ones as they come, walked through by another thread."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import _thread
import itertools
import queue
from functools import partial
from typing import Any, Iterable, List, Optional

from ._gone import in_turn, when_gone

_TIMEOUT = .05  # seconds that close() waits for the thread, which may be in the caller's code


class Listed:
    """The same of a list or a tuple, which cannot wait and needs no thread."""

    def __init__(self, files: Iterable[Any]) -> None:
        self._files = iter(files)

    def take(self, count: int, wait: bool) -> Optional[List[Any]]:
        """The next files, `count` or those that remain; none at the end."""
        return list(itertools.islice(self._files, count))

    def give_room(self, count: int) -> None:
        """Allows this many more files."""

    def close(self) -> None:
        """Ends the walk."""


class _End:
    """After the last file. `error`: of the iterable's."""

    def __init__(self, error: Optional[BaseException] = None) -> None:
        self.error = error


class Walked:
    """The files of any iterable. The thread does not refer to this object, and ends with it."""

    def __init__(self, files: Iterable[Any]) -> None:
        files = iter(files)
        self._taken: List[Any] = []
        self._end: Optional[_End] = None
        self._came: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._room: "queue.SimpleQueue[Optional[int]]" = queue.SimpleQueue()
        self._over: "queue.SimpleQueue[None]" = queue.SimpleQueue()
        closing: List[None] = []
        self._stop = in_turn([partial(closing.append, None), partial(self._room.put, None)])
        when_gone(self, self._stop)
        _thread.start_new_thread(_walk, (files, self._room, self._came, closing, self._over))

    def take(self, count: int, wait: bool) -> Optional[List[Any]]:
        """The next files, `count` or those that are left; none at the end, None: they have not
        come yet. Raises what the iterable raises, instead of a last batch with fewer files.

        wait: for a while
        """
        while len(self._taken) < count and self._end is None:
            try:
                one = self._came.get(wait, _TIMEOUT)
            except queue.Empty:
                return None
            if isinstance(one, _End):
                self._end = one
            else:
                self._taken.append(one)
        if self._end is not None and self._end.error is not None and len(self._taken) < count:
            raise self._end.error
        taken, self._taken = self._taken[:count], self._taken[count:]
        return taken

    def give_room(self, count: int) -> None:
        """Allows this many more files."""
        self._room.put(count)

    def close(self) -> None:
        """Ends the walk. A thread that is in the caller's iterable ends when that returns."""
        self._stop(None)
        try:
            self._over.get(timeout=_TIMEOUT)
        except queue.Empty:
            pass


def _walk(files: Any, room: Any, came: Any, closing: List[None], over: Any) -> None:
    left, end = 0, _End()
    try:
        while not closing:
            if left == 0:
                left = room.get()
                continue
            left -= 1
            try:
                came.put(next(files))
            except StopIteration:
                break
    except BaseException as error:  # the caller's: raised again in the taking thread
        end = _End(error)
    finally:
        came.put(end)
        over.put(None)


def walk_through(files: Iterable[Any]) -> Any:
    return Listed(files) if isinstance(files, (list, tuple)) else Walked(files)
