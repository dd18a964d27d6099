"""Many pictures as JPEG files, encoded in batches while the caller makes the next ones."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import inspect
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import _device
from ._encoding import Quantization, Options
from ._native import check_process
from ._store import check_target, store
from .errors import true_or_false, whole_number
from .jpeg import encode, write
from .picture import Picture
from .transform import check_method

_WRITES = frozenset(inspect.signature(write).parameters) - {"picture", "target"}
_THREADS = 2  # one batch is encoded while another one is stored


class _File(Future):
    """A file to come. Who waits for it does not wait for its batch to be full.

    begin: its batch, within a time; None: it has begun
    """

    begin: Optional[Callable[["_File", Optional[float]], None]] = None

    def result(self, timeout: Optional[float] = None) -> Optional[bytes]:
        made: Optional[bytes] = super().result(self._begin(timeout))
        return made

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        return super().exception(self._begin(timeout))

    def _begin(self, timeout: Optional[float]) -> Optional[float]:
        """What is left of the time when the batch has begun."""
        begin, before = self.begin, time.monotonic()
        if begin is not None:
            begin(self, timeout)
        return None if timeout is None else max(before + timeout - time.monotonic(), 0)


class _Item(NamedTuple):
    picture: Any
    target: Any
    result: _File


def _check(options: Dict[str, Any]) -> None:
    """Raises ValueError and TypeError as encode() and write() do for their keywords."""
    parameters = inspect.signature(encode).parameters.keys() - {"array", "target"} | _WRITES
    for name in options.keys() - parameters:
        raise TypeError(f"{name} is not a keyword of encode() or write()")
    check_method(options.get("method", "islow"))
    true_or_false("strip", options.get("strip", False), or_number=True)
    Options(**{name: options[name] for name in options.keys() & _WRITES - {"strip"}}).check()
    given = {name: options[name] for name in Quantization._fields if name in options}
    Quantization(**given).checked()


class Writer:
    """Encodes pictures to JPEG files in batches, on other threads.

    batch_size: pictures of a call of encode() or write()
    options: keywords of encode() for arrays, and of write() for Pictures

    `with Writer(quality=90) as writer:` add() pictures there; the block's end waits for all files
    and raises the first error. Any number of threads may add pictures. The constructor raises
    ValueError and TypeError.
    """

    def __init__(self, batch_size: int = 32, **options: Any) -> None:
        if whole_number("batch_size", batch_size) < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        _check(options)
        self.batch_size = int(batch_size)
        self._of_pictures = {name: options[name] for name in options.keys() & _WRITES}
        self._of_arrays = {name: options[name] for name in options.keys() - {"strip"}}
        # For `with`: a signal's handler may raise inside of a Condition's own methods for that.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._items: List[_Item] = []  # of the next batch
        self._under_way = 0  # batches
        self._is_closed = False
        self._error: Optional[BaseException] = None
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
        check_process(self._process)
        if target is not None:
            check_target(target)
        # The work of this thread's stream comes before the encoding, which another thread begins.
        if not isinstance(picture, Picture) and _device.is_on_device(picture):
            picture = _device.view(picture)
        item = _Item(picture, target, _File())
        item.result.begin = self._begin_that_of
        with self._lock:
            self._begin(self._is_full)  # of threads that wait for room
            if self._is_closed:
                raise RuntimeError("the Writer is closed")
            self._items.append(item)
            self._begin(self._is_full)
        return item.result

    def _is_full(self) -> bool:
        return len(self._items) >= self.batch_size

    def _begin_that_of(self, file: _File, timeout: Optional[float]) -> None:
        self._begin(lambda: any(item.result is file for item in self._items), timeout)

    def _begin(self, is_due: Callable[[], bool], timeout: Optional[float] = None) -> None:
        """Begins a batch if it is due, within a time, when there is room for it."""
        def is_settled() -> bool:
            return self._under_way < 2 * _THREADS or not is_due()
        with self._lock:
            if is_due():
                check_process(self._process)
            if self._changed.wait_for(is_settled, timeout) and is_due():
                self._submit()

    def _submit(self) -> None:
        # A signal's handler that raises between these loses nothing: _do() empties lists.
        self._threads.submit(self._do, self._items)
        self._under_way += 1
        self._items = []

    def _do(self, batch: List[_Item]) -> None:
        with self._lock:
            items = batch.copy()
            batch.clear()
        try:
            for item in items:
                item.result.begin = None  # so that a future does not keep the Writer
            wanted = [item for item in items if item.result.set_running_or_notify_cancel()]
            pictures = [item for item in wanted if isinstance(item.picture, Picture)]
            arrays = [item for item in wanted if not isinstance(item.picture, Picture)]
            self._make(pictures, write, self._of_pictures)
            self._make(arrays, encode, self._of_arrays)
        finally:
            with self._lock:
                self._under_way -= 1
                self._changed.notify_all()

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
        self._begin(lambda: bool(self._items))

    def close(self) -> None:
        """Waits for all files. Raises the first error of any of them, once, and Unavailable in a
        forked process."""
        check_process(self._process)
        try:
            self.flush()
        finally:
            with self._lock:
                self._is_closed = True
                if self._items:  # a signal's handler has raised while there was no room
                    self._submit()
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
