"""A file's bytes on their way to a path, whole or not at all, or to a binary file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import errno
import io
import os
import stat
from functools import partial
from itertools import repeat
from typing import Any, Dict, List, Optional

from ._gone import in_turn, into, when_gone
from .errors import check_binary, is_interruption

# Unlike os.unlink() it does not raise if the file no longer exists.
_unlink = ctypes.CDLL(None).unlink
_unlink.argtypes = ctypes.c_char_p,

_MAX_LINKS = 40  # as Linux follows


def check_target(target: Any) -> None:
    """Raises TypeError for what store() does not take."""
    if hasattr(target, "write"):
        check_binary("target", target, "wb")
    elif not isinstance(target, (str, bytes, os.PathLike)):
        raise TypeError("target must be a path or a binary file, not "
                        f"{type(target).__name__}")


def store(data: bytes, target: Any) -> None:
    """Writes all bytes to a path or to an object with write(), after check_target(). Raises OSError
    and what write() raises.

    A path gets its new file when that is complete: until then, and after an error, the old one is
    there. Where no file can take the old one's place (devices, pipes, a folder without permission),
    the bytes go into what is there.
    """
    if hasattr(target, "write"):
        _write_to_object(data, target)
    else:
        _write_to_path(data, os.fspath(target))


def _write_to_object(data: bytes, target: Any) -> None:
    """Calls write() until all is taken: raw files may take less."""
    rest, taken = memoryview(data), target.write(data)
    while True:
        if taken is None and isinstance(target, io.RawIOBase):
            done = len(data) - len(rest)
            raise BlockingIOError(errno.EAGAIN, "the target is non-blocking, and accepted "
                                  f"{done} of {len(data)} bytes", done)
        # Objects that are no files of Python's may return anything.
        if isinstance(taken, bool) or not hasattr(taken, "__index__") or taken >= len(rest):
            return
        if taken <= 0:
            raise OSError(errno.EIO, f"the target's write() accepted {taken} of {len(rest)} bytes")
        rest = rest[taken:]
        taken = target.write(rest)


class _File:
    """A file opened for writing, and closed with this object. Raises OSError and ValueError."""

    __slots__ = ("_descriptors", "_close", "__weakref__")

    def __init__(self, path: Any, flags: int) -> None:
        self._descriptors: List[int] = []
        self._close = in_turn(map(partial, repeat(os.close), self._descriptors))
        when_gone(self, self._close)
        into(self._descriptors, os.open, path, flags | os.O_WRONLY | os.O_CLOEXEC, 0o666)

    @property
    def descriptor(self) -> int:
        return self._descriptors[0]

    def is_regular(self) -> bool:
        return stat.S_ISREG(os.fstat(self.descriptor).st_mode)

    def write(self, data: bytes) -> None:
        """Writes all bytes. Raises OSError."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self.descriptor, rest):]

    def close(self) -> None:
        """Raises OSError: file systems of a network may report a full disk only now."""
        self._close(None)


class _TemporaryName:
    """A name in a folder, whose file is removed with this object."""

    __slots__ = ("path", "remove", "__weakref__")

    def __init__(self, folder: bytes) -> None:
        self.path = os.path.join(folder, b".cudatransform-" + os.urandom(8).hex().encode())
        self.remove = in_turn([partial(_unlink, self.path)])
        when_gone(self, self.remove)


def _write_to_path(data: bytes, path: Any) -> None:
    old = _existing(path)
    try:
        if (old is None or old.is_regular()) and _replace(data, path, old):
            return
        if old is None:
            old = _File(path, os.O_CREAT)
        if old.is_regular():
            os.ftruncate(old.descriptor, 0)
        old.write(data)
    finally:
        if old is not None:
            old.close()


def _existing(path: Any) -> Optional[_File]:
    """The file at a path; None where there is none yet. Raises OSError where it is read-only."""
    try:
        return _File(path, 0)
    except FileNotFoundError as error:
        if is_interruption(error):
            raise
        return None


def _replace(data: bytes, path: Any, old: Optional[_File]) -> bool:
    """Replaces the old file by a new one. False: that cannot be, and nothing is changed.

    Raises OSError where the new file cannot be written whole.
    """
    final = _final_path(os.fsencode(path))
    if final is None:
        return False
    name = _TemporaryName(os.path.dirname(final))
    try:
        new = _try(_File, name.path, os.O_CREAT | os.O_EXCL)
        if new is None:
            return False
        try:
            if old is not None and _try(_take_over, old.descriptor, new.descriptor) is not True:
                return False
            new.write(data)
        finally:
            new.close()
        return _try(_rename, name.path, final) is True
    finally:
        name.remove(None)


def _try(function: Any, *arguments: Any) -> Any:
    """What a function returns; None where it raises OSError."""
    try:
        return function(*arguments)
    except OSError as error:
        if is_interruption(error):
            raise
        return None


def _rename(path: bytes, final: bytes) -> bool:
    os.replace(path, final)
    return True


def _final_path(path: bytes) -> Optional[bytes]:
    """The target of a path's links, which may not exist yet.

    None for a descriptor of a process (/dev/stdout): others write to the same file by it.
    """
    for _ in range(_MAX_LINKS):
        folder = os.path.realpath(os.path.dirname(path) or b".")
        if folder.startswith(b"/proc/"):
            return None
        path = os.path.join(folder, os.path.basename(path))
        if not os.path.islink(path):
            return path
        path = os.path.join(folder, os.readlink(path))
    return None


def _take_over(old: int, new: int) -> bool:
    """Gives a file another's owner, mode and extended attributes, such as access lists. False or
    OSError: it cannot have them."""
    was, now = os.fstat(old), os.fstat(new)
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        os.fchown(new, was.st_uid, was.st_gid)
    os.fchmod(new, stat.S_IMODE(was.st_mode))
    wanted, there = _attributes_of(old), _attributes_of(new)
    for attribute, value in wanted.items():
        if there.get(attribute) != value:
            os.setxattr(new, attribute, value)
    return there.keys() <= wanted.keys()


def _attributes_of(descriptor: int) -> Dict[str, bytes]:
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError as error:
        if is_interruption(error) or error.errno != errno.ENOTSUP:
            raise
        return {}
