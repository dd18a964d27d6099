"""How far a corpus job is: a line now and then, or a bar on a terminal."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import shutil
import threading
import time
from typing import Any, Callable, Optional, Set, TextIO

from .folder import Output

_BETWEEN = 2  # seconds
_BAR = 24     # columns

# Called with the share of the job that is done, 0 to 1, and with a line about it.
Show = Callable[[float, str], Any]


class Progress:
    """For `with`: shows every few seconds how far a job is, by its folder's notes, which every
    worker on every machine writes chunk by chunk."""

    def __init__(self, output: Output, done: Set[int], files: int, show: Show) -> None:
        self._output, self._seen, self._files, self._show = output, set(done), files, show
        self._done = self._bad = self._first = 0
        self._begin: Optional[float] = None  # when the first chunks had been done, so many files
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            ended = self._ended.wait(_BETWEEN)
            try:
                self.look()
            except OSError:  # a folder in a network comes back
                pass

    def look(self) -> None:
        """Shows what is new, if anything is. Raises OSError."""
        now, new = time.monotonic(), self._output.done() - self._seen
        if not new:
            return
        for number in new:
            files, bad = self._output.counts(number)
            self._seen.add(number)
            self._done, self._bad = self._done + files, self._bad + bad
        if self._begin is None:
            self._begin, self._first = now, self._done
        rate = (self._done - self._first) / max(now - self._begin, 1e-3)
        text = f"{self._done} of {self._files} files, {self._bad} bad"
        if rate:
            text += f", {rate:.0f} files/s, {(self._files - self._done) / rate:.0f} s left"
        self._show(self._done / self._files, text)


class Terminal:
    """Lines on standard error or a file like it, and below them a bar if it is a terminal.

    Its methods may be called from any thread.
    """

    def __init__(self, file: TextIO) -> None:
        self._file, self._bar = file, ""
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        """Writes a line, above the bar."""
        with self._lock:
            self._write(f"{line}\n", self._bar)

    def show(self, share: float, text: str) -> None:
        """Redraws the bar; without a terminal, writes `text` as a line."""
        if not self._file.isatty():
            self.say(text)
            return
        filled = int(share * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {text}"
        with self._lock:
            # The last column stays free: after it some terminals begin a line.
            self._write("", bar[:shutil.get_terminal_size().columns - 1])

    def end(self) -> None:
        """Leaves the bar where it is: what follows is below it."""
        with self._lock:
            self._write(f"{self._bar}\n" if self._bar else "", "")

    def _write(self, lines: str, bar: str) -> None:
        clear = "\r\x1b[K" if self._bar else ""
        self._bar = bar
        self._file.write(clear + lines + bar)
        self._file.flush()
