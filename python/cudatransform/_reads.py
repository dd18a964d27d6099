"""Files' sizes and bytes by the C library and its threads, with little of Python's lock."""
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A Python thread that has read a file waits for Python's lock, and each further thread makes all
# wait longer. POSIX AIO copies while one Python thread goes on.
from __future__ import annotations

import ctypes
import errno
import itertools
import os
import time
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint8, c_void_p
from functools import partial
from typing import List, Union

from ._gone import in_turn, into, when_gone
from .errors import is_interruption

Path = Union[str, "os.PathLike[str]"]
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # not to wait for the writer of a pipe
_SIGEV_NONE = 1
_HAS_64_BITS = ctypes.sizeof(c_void_p) == 8
_QUICK, _SLOW = 20_000, 200_000  # nanoseconds


class PatientFiles:
    """Opens and closes files to read from. Other threads may have Python's lock meanwhile."""

    __slots__ = ()

    def open(self, path: Path) -> int:
        """A descriptor. Raises OSError and ValueError."""
        return os.open(path, _FLAGS)

    def size_of(self, descriptor: int) -> int:
        """The size of an open file in bytes; for a pipe or a device any number, or OSError."""
        return os.lseek(descriptor, 0, os.SEEK_END)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)


class OneFile(PatientFiles):
    """The same for one file, which is closed when this object goes, too."""

    __slots__ = ("_descriptors", "_close", "__weakref__")

    def __init__(self) -> None:
        self._descriptors: List[int] = []
        self._close = in_turn(map(partial, itertools.repeat(os.close), self._descriptors))
        when_gone(self, self._close)

    def open(self, path: Path) -> int:
        return into(self._descriptors, os.open, path, _FLAGS)

    def close(self, descriptor: int) -> None:
        self._close(None)


class QuickFiles(PatientFiles):
    """The same for many files: keeps the lock while they open faster than it would come back.

    A file that opens slowly, as in a network, ends that until one opens quickly again. A file that
    a thread of this very process serves needs the lock, so it never opens that quickly.
    """

    __slots__ = ("_now", "_quick")

    def __init__(self) -> None:
        self._now = ctypes.PyDLL(None)
        self._now.open.argtypes = c_char_p, c_int
        if _HAS_64_BITS:
            self._now.lseek.restype, self._now.lseek.argtypes = c_int64, (c_int, c_int64, c_int)
        self._quick = False

    def open(self, path: Path) -> int:
        begin = time.perf_counter_ns()
        if not self._quick:
            descriptor = super().open(path)
            self._quick = time.perf_counter_ns() - begin < _QUICK and _HAS_64_BITS
            return descriptor
        name = os.fsencode(path)
        descriptor = -1 if b"\0" in name else self._now.open(name, _FLAGS)
        self._quick = time.perf_counter_ns() - begin < _SLOW
        return descriptor if descriptor >= 0 else super().open(path)  # which knows what is wrong

    def size_of(self, descriptor: int) -> int:
        if self._quick:
            return self._now.lseek(descriptor, 0, os.SEEK_END)
        return super().size_of(descriptor)

    def close(self, descriptor: int) -> None:
        if self._quick:
            self._now.close(descriptor)
        else:
            super().close(descriptor)


class _Control(Structure):
    """struct aiocb of glibc on 64-bit machines; what is not named is glibc's own."""

    _fields_ = [("descriptor", c_int), ("_operation", c_int), ("_priority", c_int),
                ("address", c_void_p), ("size", c_size_t), ("_value", c_void_p), ("_signal", c_int),
                ("notify", c_int), ("_sigevent", c_uint8 * 48), ("_inner", c_uint8 * 32),
                ("offset", c_int64), ("_reserved", c_uint8 * 32)]


def _library() -> tuple:
    """aio_read, aio_error, aio_return and aio_suspend; nothing where they are not glibc's."""
    if not _HAS_64_BITS or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"):
        return ()
    try:
        try:
            brief, patient = ctypes.PyDLL(None, use_errno=True), ctypes.CDLL(None)
            brief.aio_read  # before 2.34 it was in a library of its own
        except AttributeError:
            brief, patient = ctypes.PyDLL("librt.so.1", use_errno=True), ctypes.CDLL("librt.so.1")
        found = brief.aio_read, brief.aio_error, brief.aio_return, patient.aio_suspend
    except (OSError, AttributeError) as error:
        if is_interruption(error):
            raise
        return ()
    for function in found[:3]:
        function.argtypes = POINTER(_Control),
    found[2].restype = ctypes.c_ssize_t
    found[3].argtypes = POINTER(POINTER(_Control)), c_int, c_void_p
    return found


class FileRead:
    """A read from a file's beginning into memory, which must live at least until it is over."""

    _functions = _library()

    __slots__ = ("_control",)

    def __init__(self, descriptor: int, address: int, size: int) -> None:
        """Raises OSError where it cannot begin, with ENOSYS where the library lacks such reads."""
        if not self._functions:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        self._control = _Control(descriptor=descriptor, address=address, size=size,
                                 notify=_SIGEV_NONE)
        if self._functions[0](self._control):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    def is_over(self) -> bool:
        """Whether done() would not wait."""
        return self._functions[1](self._control) != errno.EINPROGRESS

    def wait(self) -> None:
        """Waits until it is over. Several threads may."""
        while not self.is_over():
            self._functions[3](byref(ctypes.pointer(self._control)), 1, None)

    def done(self) -> int:
        """How many bytes were read. To be called once, when it is over. Raises OSError."""
        error = self._functions[1](self._control)
        got = self._functions[2](self._control)
        if error:
            raise OSError(error, os.strerror(error))
        return got
