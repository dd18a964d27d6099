"""What the module raises, and what a Reader hands out in place of a picture."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import NamedTuple


class ReadError(ValueError):
    """A picture cannot be read. The message is `path: reason`.

    path: what was to be read; a word such as `<bytes>` for what has no path
    reason: what was found there, one sentence
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class WriteError(ValueError):
    """Coefficients cannot be written as a JPEG file: a level or a table that JPEG cannot hold."""


class Unavailable(RuntimeError):
    """A part of GStreamer, the plugin or a GPU is missing, or the process was forked."""


class Failure(NamedTuple):
    """What a Reader yields in place of a picture that cannot be read. It is False."""

    path: str
    reason: str

    def __bool__(self) -> bool:
        return False
