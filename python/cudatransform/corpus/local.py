"""A corpus job's chunks on processes of this machine, without Ray."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import contextlib
import json
import multiprocessing
import os
import signal
from multiprocessing import connection, resource_tracker
from typing import Any, Callable, Counter, Deque, Iterator, List, Optional

from .._device import driver
from ..errors import Unavailable
from .folder import FolderError, Output, OutputError
from .worker import Chunk, Worker, together

_TIMEOUT = 10   # seconds, for a process to end
_MAX_DEATHS = 2  # of workers at the same chunk

# GStreamer's threads do not survive a fork.
_context = multiprocessing.get_context("spawn")


def spread(job: str, chunks: List[Chunk], workers: Optional[int], device: str,
           say: Callable[[str], Any]) -> None:
    """Does chunks on `workers` processes, or on one for each core.

    job: of words_of()
    say: called with a line where a process has died; another does its files again
    Raises OutputError, also where processes die at the same files, Unavailable and OSError.
    """
    devices = _devices_of(device)
    count = min(workers or len(os.sched_getaffinity(0)), len(chunks))
    size = together(len(chunks), count)
    calls = collections.deque(chunks[at:at + size] for at in range(0, len(chunks), size))
    pool = _Pool(job, say)
    try:
        for index in range(count):
            pool.start(devices[index % len(devices)])
        pool.do(calls)
    except BaseException:
        pool.kill()
        raise
    finally:
        pool.end()


def _devices_of(device: str) -> List[str]:
    """Devices that workers take in rotation. Raises Unavailable."""
    if device != "cuda":
        return [device]
    count = len(driver().devices())
    if not count:
        raise Unavailable("the CUDA driver finds no GPU")
    return [f"cuda:{index}" for index in range(count)]


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """What a process inherits that is started inside.

    Ctrl-C goes to all processes of a terminal: the first ends the others, which ignore it from
    their start on. And of a worker, which has one core, BLAS would start a thread for each.
    """
    resource_tracker.ensure_running()  # which unblocks SIGINT where it starts its process
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    added = [name for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


class _Process:
    """A worker's process, and the chunks of its call."""

    def __init__(self, job: str, device: str) -> None:
        self.device = device
        self.chunks: List[Chunk] = []
        job = json.dumps([*json.loads(job)[:-1], device])
        self.pipe, theirs = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(theirs, job), daemon=True)
        with _starting():
            self.process.start()
        theirs.close()

    def give(self, chunks: List[Chunk]) -> None:
        """Has a call done. A process that has died is found by its pipe."""
        self.chunks = chunks
        try:
            self.pipe.send(chunks)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def take(self) -> Optional[List[str]]:
        """The end of a call: the kind and the words of its error, or an empty list. None: the
        process has died."""
        try:
            said: List[str] = self.pipe.recv()
            return said
        except (EOFError, ConnectionResetError):
            return None

    def death(self) -> str:
        """How it has died."""
        self.process.join()
        code = self.process.exitcode or 0
        if code == -signal.SIGKILL:
            return ("was killed by SIGKILL, as by Linux where memory runs out (fewer --workers "
                    "take less)")
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else (
            f"ended with status {code}")


class _Pool:
    """Processes that have a call each, as long as there are any."""

    def __init__(self, job: str, say: Callable[[str], Any]) -> None:
        self._job, self._say = job, say
        self._output = Output(json.loads(job)[3])
        self._processes: List[_Process] = []
        self._deaths: Counter[int] = collections.Counter()  # by chunk

    def start(self, device: str) -> None:
        """Starts one more process."""
        self._processes.append(_Process(self._job, device))

    def _another(self, process: _Process) -> _Process:
        """Starts a process in place of one that has died."""
        process.pipe.close()
        self._processes.remove(process)
        self.start(process.device)
        return self._processes[-1]

    def do(self, calls: Deque[List[Chunk]]) -> None:
        """Does all calls, and empties `calls`. Raises OutputError."""
        for process in self._processes:
            if calls:
                process.give(calls.popleft())
        while busy := {process.pipe: process for process in self._processes if process.chunks}:
            for pipe in connection.wait(list(busy)):
                process = busy[pipe]  # type: ignore[index]
                said = process.take()
                if said:
                    raise OutputError(_reason_of(*said))
                if said is None:
                    calls.extendleft(self._left_by(process))
                    process = self._another(process)
                process.chunks = []
                if calls:
                    process.give(calls.popleft())

    def _left_by(self, process: _Process) -> List[List[Chunk]]:
        """The call that another process must do for one that has died; none if it did all."""
        missing = [chunk for chunk in process.chunks if not self._output.is_done(chunk[0])]
        words = f"a worker {process.death()}"
        if not missing:
            self._say(words)
            return []
        number, names = missing[0]
        self._deaths[number] += 1
        first, *_, last = [os.fsdecode(name) for name in names.split(b"\0") * 2]
        words += f". It did files from {first!r} to {last!r}"
        if self._deaths[number] == _MAX_DEATHS:
            raise OutputError(f"{words}, as did one that died before")
        self._say(f"{words}, which another does again")
        return [missing]

    def kill(self) -> None:
        """Ends the processes in any state: what they write is whole or not there."""
        for process in self._processes:
            process.process.kill()

    def end(self) -> None:
        """Ends the processes, which are idle."""
        for process in self._processes:
            process.pipe.close()
        for process in self._processes:
            process.process.join(_TIMEOUT)
        self.kill()


def _reason_of(kind: str, words: str) -> str:
    if kind in (OutputError.__name__, FolderError.__name__, Unavailable.__name__):
        return words
    return f"{kind}: {words}" if words else kind


def _serve(pipe: "connection.Connection", job: str) -> None:
    """A process: does calls until the pipe's other end is closed, or the process that has it."""
    worker, parent = Worker(), multiprocessing.parent_process()

    def check_parent() -> None:
        if parent is not None and not parent.is_alive():
            raise SystemExit
    try:
        while True:
            chunks, said = pipe.recv(), []
            try:
                worker.do(job, chunks, check_parent)
            except Exception as error:  # pylint: disable=broad-except
                said = [type(error).__name__, str(error)]
            pipe.send(said)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
