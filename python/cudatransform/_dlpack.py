"""Arrays that others take without a copy by DLPack, of numpy's types and bfloat16."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, Structure, c_char_p, c_int, c_void_p
from typing import Any, Dict, Tuple

import numpy as np

from ._device import BFLOAT, DLPACK_NAME, KINDS, DLTensor, capsule_address


class Bfloat16:
    """What we use of a numpy.dtype, of a type that numpy lacks. Equal to its name, as those are."""

    name, str, itemsize = "bfloat16", "bfloat16", 2

    def __eq__(self, other: Any) -> bool:
        return other is self or isinstance(other, str) and other == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> Any:
        return self.name


BFLOAT16 = Bfloat16()


def type_of(dtype: Any) -> Any:
    """A numpy.dtype or BFLOAT16. Raises TypeError."""
    return BFLOAT16 if BFLOAT16 == dtype else np.dtype(dtype)


class DLManagedTensor(Structure):
    pass


_Deleter = CFUNCTYPE(None, c_void_p)
DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", _Deleter)]
# Those of a kind of arrays differ in their data: the bytes of one, and what they point to. To make
# one out of numbers takes as long as torch takes for a tensor.
_of_kind: Dict[Tuple[Any, ...], Tuple[bytes, Any]] = {}
_MAX_KINDS = 64
handed_out: Dict[int, Any] = {}  # what tensors of others refer to, by the address of theirs
_forget = _Deleter(handed_out.pop)  # no instruction of Python, which a signal might interrupt

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = c_int, (c_void_p, c_char_p)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _capsule_gone(capsule: int) -> None:
    if _capsule_is(capsule, DLPACK_NAME):
        handed_out.pop(capsule_address(capsule, DLPACK_NAME), None)


_CAPSULE_GONE = ctypes.cast(_capsule_gone, c_void_p)


def _managed(shape: Tuple[int, ...], strides: Tuple[int, ...], dtype: Any,
             device: Tuple[int, int]) -> Tuple[bytes, Any]:
    """The bytes of a DLManagedTensor without data, and what they point to; strides in bytes."""
    numbers = ctypes.c_int64 * len(shape)
    lengths, steps = numbers(*shape), numbers(*(stride // dtype.itemsize for stride in strides))
    code = BFLOAT if dtype is BFLOAT16 else KINDS[dtype.kind]
    made = DLManagedTensor(DLTensor(None, *device, len(shape), code, 8 * dtype.itemsize, 1,
                                    lengths, steps, 0), None, _forget)
    return bytes(made), (lengths, steps)


def capsule_of(array: Any, address: int, shape: Tuple[int, ...], strides: Tuple[int, ...],
               dtype: Any, device: Tuple[int, int]) -> Any:
    """The DLPack of memory that an array keeps. strides: in bytes; device: its type and number"""
    kind = shape, strides, dtype, device
    found = _of_kind.get(kind)
    if found is None:
        if len(_of_kind) >= _MAX_KINDS:
            _of_kind.clear()
        found = _of_kind[kind] = _managed(*kind)
    made = DLManagedTensor.from_buffer_copy(found[0])
    made.tensor.data = address
    place = ctypes.addressof(made)
    capsule = _capsule_new(place, DLPACK_NAME, _CAPSULE_GONE)
    handed_out[place] = made, found, array
    return capsule
