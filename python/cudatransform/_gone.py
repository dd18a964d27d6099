"""What frees something when an object goes: functions of C, called without an instruction of Python.

A __del__ is Python's, and a signal's handler may raise between any two of its instructions. Python
prints that exception and drops it, and what was to be freed stays. A weak reference calls functions
of C by itself.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
import itertools
import os
import weakref
from typing import Any, Callable, Iterable, List, Set


class _Watch(weakref.ref):
    """Calls a function when an object goes, with itself behind the arguments: functions of C ignore an
    argument too many."""

    __slots__ = ("_as_parameter_", "other")


# The watches. They must live until they are called, also where the garbage collector takes an object
# with all that it refers to.
_watches: Set[Any] = set()
os.register_at_fork(after_in_child=_watches.clear)  # all of it is the parent's


def when_gone(owner: Any, free: Callable[..., Any]) -> None:
    """Has `free`, a function of C or in_turn(), called once when nothing refers to `owner` any more."""
    watch: Any = _Watch(owner, free)
    watch._as_parameter_ = 0
    keeper: Any = _Watch(owner, _watches.discard)
    keeper.other = watch
    _watches.add(keeper)


def in_turn(steps: Iterable[functools.partial]) -> Callable[..., Any]:
    """A function of one argument, which it ignores: it calls functions of C one after the other, at its
    first call, and none later. No signal comes between them."""
    calls = map(functools.partial.__call__, steps)
    return functools.partial(next, itertools.filterfalse(id, calls))


def into(owned: List[Any], function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of C, whose result a list is given before a signal can come. Returns it."""
    next(map(owned.append, map(function, *((argument,) for argument in arguments))))
    return owned[-1]
