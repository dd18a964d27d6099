"""Stages that are kept from call to call, and those of the calling thread."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Optional

from . import _gst
from ._stage import Stage, StageError


class Stages:
    """Stages that are kept from call to call, each for one line of elements.

    A call takes a stage out, and puts it back when nothing is left in it. A stage that an
    interruption finds at work is not used again: it ends with the call, and the next call makes
    another.
    """

    def __init__(self) -> None:
        self._idle: Dict[str, Stage] = {}

    def run(self, elements: str, prepare: Callable[[Stage], int],
            memory: Any) -> Optional[_gst.Sample]:
        """Runs a stage of these elements, which is made where there is none. Raises StageError.

        prepare: sets properties and caps, and returns the GstBuffer to push, around `memory`
        Returns what came out; None: nothing.
        """
        stage = self._idle.pop(elements, None) or Stage(elements)
        try:
            sample = stage.run(prepare(stage), memory)
        except StageError:
            stage.flush()
            stage.memory = None
            self._idle[elements] = stage
            raise
        self._idle[elements] = stage
        return sample

    def close(self) -> None:
        """Frees the elements."""
        while self._idle:
            self._idle.popitem()[1].close()


class _OfThread(threading.local):
    """The Stages of each thread, for the functions of the module."""

    def __init__(self) -> None:
        self.stages = Stages()


_of_thread = _OfThread()


def run(elements: str, prepare: Callable[[Stage], int], memory: Any) -> _gst.Sample:
    """Stages.run() with this thread's Stages. Raises ValueError where nothing comes out."""
    _gst.libraries()
    try:
        made = _of_thread.stages.run(elements, prepare, memory)
    except StageError as error:
        raise ValueError(str(error)) from None
    if made is None:
        raise ValueError("the transform made nothing of it")
    return made
