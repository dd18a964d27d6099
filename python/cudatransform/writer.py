"""Many pictures as JPEG files, encoded in batches while the caller makes the next ones."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import inspect
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import _device
from ._encoding import Quantization, Options
from ._native import check_process
from ._store import check_target, store
from .errors import whole_number
from .jpeg import encode, write
from .picture import Picture
from .transform import check_method

_WRITES = frozenset(inspect.signature(write).parameters) - {"picture", "target"}
_THREADS = 2  # one batch is encoded while another one is stored


class _File(Future):
    """A file to come. Who waits for it does not wait for its batch to be full."""

    def __init__(self, begin: Callable[["_File"], None]) -> None:
        super().__init__()
        self._begin = begin

    def result(self, timeout: Optional[float] = None) -> Optional[bytes]:
        self._begin(self)
        made: Optional[bytes] = super().result(timeout)
        return made

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        self._begin(self)
        return super().exception(timeout)


class _Item(NamedTuple):
    picture: Any
    target: Any
    result: _File


def _check(options: Dict[str, Any]) -> None:
    """Raises ValueError and TypeError as encode() does for its keywords."""
    parameters = inspect.signature(encode).parameters
    for name in options.keys() - parameters.keys() | options.keys() & {"array", "target"}:
        raise TypeError(f"{name} is not a keyword of encode()")
    check_method(options.get("method", "islow"))
    Options(**{name: options[name] for name in options.keys() & _WRITES}).check()
    given = {name: options[name] for name in Quantization._fields if name in options}
    Quantization(**given).checked()


class Writer:
    """Encodes pictures to JPEG files in batches, on other threads.

    batch_size: pictures of a call of encode() or write()
    options: keywords of encode() for arrays, among them those of write() for Pictures

    `with Writer(quality=90) as writer:` add() pictures there; the block's end waits for all files
    and raises the first error. Any number of threads may add pictures. The constructor raises
    ValueError and TypeError.
    """

    def __init__(self, batch_size: int = 32, **options: Any) -> None:
        if whole_number("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        _check(options)
        self.batch_size = int(batch_size)
        self._options = options
        self._of_pictures = {name: options[name] for name in options.keys() & _WRITES}
        self._lock = threading.Lock()
        self._items: List[_Item] = []
        self._error: Optional[BaseException] = None
        self._room = threading.BoundedSemaphore(2 * _THREADS)  # batches
        self._process = os.getpid()
        self._threads = ThreadPoolExecutor(_THREADS, "cudatransform-writer")

    def add(self, picture: Any, target: Any = None) -> "Future[Optional[bytes]]":
        """Takes a picture for a file. Waits while four batches are under way.

        picture: pixels as encode() takes one picture, or a Picture. Neither may change until its
            file is done
        target: a path or a binary file; None: the bytes are only returned
        Returns a future of the file's bytes, or of None where these went to a target; or of the
        error of encode(), write() or the target. Its result() begins a batch that is not full; for
        concurrent.futures.wait() call flush(). Raises TypeError for what is no target,
        RuntimeError after close(), and Unavailable in a forked process.
        """
        if target is not None:
            check_target(target)
        # The work of this thread's stream comes before the encoding, which another thread begins.
        if not isinstance(picture, Picture) and _device.is_on_device(picture):
            picture = _device.view(picture)
        item = _Item(picture, target, _File(self._begin_that_of))
        with self._lock:
            self._items.append(item)
            batch = self._take() if len(self._items) >= self.batch_size else []
        self._begin(batch)
        return item.result

    def _begin_that_of(self, file: _File) -> None:
        with self._lock:
            batch = self._take() if any(item.result is file for item in self._items) else []
        self._begin(batch)

    def _take(self) -> List[_Item]:
        batch, self._items = self._items, []
        return batch

    def _begin(self, batch: List[_Item]) -> None:
        if not batch:
            return
        check_process(self._process)
        self._room.acquire()
        try:
            self._threads.submit(self._do, batch)
        except BaseException:
            self._room.release()
            raise

    def _do(self, batch: List[_Item]) -> None:
        try:
            wanted = [item for item in batch if item.result.set_running_or_notify_cancel()]
            pictures = [item for item in wanted if isinstance(item.picture, Picture)]
            arrays = [item for item in wanted if not isinstance(item.picture, Picture)]
            self._make(pictures, write, self._of_pictures)
            self._make(arrays, encode, self._options)
        finally:
            self._room.release()

    def _make(self, items: List[_Item], make: Any, options: Any) -> None:
        """Files of pictures in one call; one by one if a picture is the reason of an error."""
        if not items:
            return
        try:
            files = make([item.picture for item in items], **options)
        except Exception as error:
            if len(items) == 1:
                self._fail(items[0], error)
                return
            for item in items:
                self._make([item], make, options)
            return
        for item, data in zip(items, files):
            try:
                if item.target is None:
                    item.result.set_result(data)
                else:
                    store(data, item.target)
                    item.result.set_result(None)
            except Exception as error:
                self._fail(item, error)

    def _fail(self, item: _Item, error: BaseException) -> None:
        with self._lock:
            self._error = self._error or error
        item.result.set_exception(error)

    def flush(self) -> None:
        """Begins the files of all pictures that wait for their batch to be full."""
        with self._lock:
            batch = self._take()
        self._begin(batch)

    def close(self) -> None:
        """Waits for all files. Raises the first error of any of them, once, and Unavailable in a
        forked process."""
        check_process(self._process)
        try:
            self.flush()
        finally:
            self._threads.shutdown()
        with self._lock:
            error, self._error = self._error, None
        if error is not None:
            raise error

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.close()
        except Exception:
            if kind is None:  # the error of the block is the caller's first
                raise
