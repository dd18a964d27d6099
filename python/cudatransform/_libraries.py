"""Where shared libraries come from: a wheel brings its own, without them they are the system's.

tools/wheel names the wheel's files and their symbols like no others, so that other versions of them
may be in the same process.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import os
from typing import Any

from .errors import Unavailable, is_interruption

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib")
OF_SYSTEM = "CUDATRANSFORM_SYSTEM_LIBRARY"


def _are_packed() -> bool:
    """Whether there are own libraries, but in an archive such as a zipapp."""
    get_data = getattr(__spec__.loader, "get_data", None)  # type: ignore
    try:
        return get_data is not None and bool(get_data(os.path.join(FOLDER, "NOTICE")))
    except OSError as error:
        if is_interruption(error):
            raise
        return False


# Decided once: libraries of both kinds do not fit together.
_ARE_WANTED = os.environ.get(OF_SYSTEM) != "1"
ARE_OWN = _ARE_WANTED and os.path.isdir(FOLDER)
_ARE_OUT_OF_REACH = _ARE_WANTED and not ARE_OWN and _are_packed()


def load(name: str, kind: Any = ctypes.CDLL) -> Any:
    """A library by its name in the system. Raises Unavailable.

    kind: ctypes.PyDLL for functions that keep Python's lock
    """
    if _ARE_OUT_OF_REACH:
        raise Unavailable(f"{os.path.dirname(FOLDER)} is inside an archive, from which no library "
                          "can be loaded: install the wheel by pip")
    path = os.path.join(FOLDER, f"libcudatransform-{name[3:]}") if ARE_OWN else name
    try:
        return kind(path)
    except OSError as error:
        if is_interruption(error):
            raise
        remedy = ("" if ARE_OWN else ". cudatransform needs libcudatransform; where it is not "
                  "installed, LD_LIBRARY_PATH names its folder")
        raise Unavailable(f"{error}{remedy}") from error


def symbol(name: str) -> str:
    """How a loaded library calls a function."""
    return f"ct_{name}" if ARE_OWN else name
