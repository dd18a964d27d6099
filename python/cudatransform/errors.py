"""The module's exceptions, and the value of a picture that cannot be read."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import errno
import io
import operator
import os
import signal
import sys
import warnings
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np


class ReadError(ValueError):
    """A picture cannot be read. The message is `path: reason`.

    path: of the file, or a word such as `<bytes>` for a source without one
    reason: what was found there, one sentence
    """

    def __init__(self, path: str, reason: Optional[str] = None) -> None:
        # One message alone is what programs make of another process's error.
        if reason is None:
            super().__init__(path)
            before, _, behind = path.partition(": ")
            self.path, self.reason = (before, behind) if behind else ("", path)
        else:
            super().__init__(path, reason)
            self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class MissingFileError(ReadError, FileNotFoundError):
    """A picture cannot be read since there is no such file."""

    def __init__(self, path: str, reason: Optional[str] = None) -> None:
        super().__init__(path, reason)
        self.errno, self.strerror, self.filename = errno.ENOENT, self.reason, self.path

    def __reduce__(self) -> Tuple[Any, ...]:  # OSError's adds the name of the file to the arguments
        return type(self), self.args


# The library reports a file that it cannot open in the system's words.
_NO_FILE = os.strerror(errno.ENOENT)
NO_DESCRIPTORS = {os.strerror(number): number for number in (errno.EMFILE, errno.ENFILE)}


def read_error(path: str, reason: str) -> ReadError:
    """A ReadError of the kind that a reason requires."""
    return (MissingFileError if reason == _NO_FILE else ReadError)(path, reason)


class WriteError(ValueError):
    """A picture cannot be written: JPEG cannot hold a coefficient or a table of it."""


class Unavailable(RuntimeError):
    """A part of GStreamer, the plugin or a GPU is missing, or the process was forked."""


class Failure(NamedTuple):
    """A Reader's item in place of a picture that cannot be read. It is False."""

    path: str
    reason: str

    def __bool__(self) -> bool:
        return False


def is_interruption(error: BaseException) -> bool:
    """Whether an exception was thrown into the code from outside, and is no error of a call.

    A signal's handler runs between any two instructions. So its exception arrives where errors of
    files are caught, and may have their type: TimeoutError is an OSError. The same holds for
    exceptions of PyThreadState_SetAsyncExc(), which have no arguments.
    """
    if not error.args:
        return not isinstance(error, MemoryError)
    frames, trace = set(), error.__traceback__
    while trace is not None:
        frames.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    return any(code in frames for code in map(_code_of, map(signal.getsignal,
                                                            signal.valid_signals())))


def _code_of(handler: Any) -> Any:
    """The code of a signal's handler; None for a handler that is not Python's."""
    while hasattr(handler, "func"):  # functools.partial
        handler = handler.func
    if callable(handler) and not hasattr(handler, "__code__"):
        handler = getattr(handler, "__func__", getattr(type(handler), "__call__", None))
    return getattr(handler, "__code__", None)


def warn(message: str) -> None:
    """A UserWarning at the line that has called the package."""
    package, level = __name__.partition(".")[0], 1
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def whole_number(name: str, value: Any) -> int:
    """`value` as an int. Raises TypeError for anything but a whole number, and for bools."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return int(operator.index(value))
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None


def one_of(name: str, value: Any, words: Sequence[Any]) -> None:
    """Raises ValueError for a value that is none of some words or numbers."""
    if value not in words:
        listed = ", ".join(map(repr, words[:-1]))
        raise ValueError(f"{name} must be {listed} or {words[-1]!r}, not {value!r}")


def true_or_false(name: str, value: Any, or_number: bool = False) -> None:
    """or_number: 1 and 0 are such, too. Raises TypeError for a value of another type than bool and
    numpy's."""
    is_number = or_number and isinstance(value, int) and value in (0, 1)
    if not is_number and not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, not {value!r}")


def check_binary(name: str, file: Any, mode: str) -> None:
    """Raises TypeError for a file that is open in text mode."""
    if isinstance(getattr(file, "file", file), io.TextIOBase):  # tempfile's are in a wrapper
        raise TypeError(f"{name} must be a binary file: open it with {mode!r}")
