"""C functions that free resources when an object is destroyed, called without a Python instruction.

A signal's handler may raise between any two instructions of a __del__. Python prints and drops that
exception, and what was to be freed stays. A weak reference calls functions of C by itself.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
import itertools
import os
import weakref
from ctypes import c_void_p
from typing import Any, Callable, Dict, Iterable, List, Set


class _Watch(weakref.ref):
    """Calls a function when an object is destroyed, with itself as the last argument: a C function
    ignores an argument too many."""

    __slots__ = ("_as_parameter_", "other")


# A watch must live until it is called, even if the garbage collector takes an object together with
# all that it refers to.
_watches: Set[Any] = set()
os.register_at_fork(after_in_child=_watches.clear)  # the objects are the parent's


def when_gone(owner: Any, free: Callable[..., Any]) -> None:
    """Calls `free`, a function of C or in_turn(), once when nothing refers to `owner` any more. Its
    last argument is NULL."""
    watch: Any = _Watch(owner, free)
    watch._as_parameter_ = None
    keeper: Any = _Watch(owner, _watches.discard)
    keeper.other = watch
    _watches.add(keeper)


# Not a set: dead references hash as their objects did, of which many had the same address.
_light: Dict[int, Any] = {}
_most_light = 4096
os.register_at_fork(after_in_child=_light.clear)


def when_gone_lightly(owner: Any, free: Callable[..., Any]) -> c_void_p:
    """The same, at half the cost: a watch is forgotten some time after its call, so `free` must not
    keep anything alive. Its argument is the result, which the caller fills in."""
    global _most_light
    watch: Any = _Watch(owner, free)
    watch._as_parameter_ = place = c_void_p()
    _light[id(watch)] = watch
    if len(_light) > _most_light:
        for number, one in _light.copy().items():
            if one() is None:
                _light.pop(number, None)
        _most_light = 2 * len(_light) + 4096
    return place


def in_turn(steps: Iterable[functools.partial]) -> Callable[..., Any]:
    """A function that calls C functions in order, at its first call only.

    It ignores its one argument. No signal comes between them.
    """
    calls = map(functools.partial.__call__, steps)
    return functools.partial(next, itertools.filterfalse(id, calls))


def into(owned: List[Any], function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of C, appends its result to a list before a signal can come, returns it."""
    next(map(owned.append, map(function, *((argument,) for argument in arguments))))
    return owned[-1]
