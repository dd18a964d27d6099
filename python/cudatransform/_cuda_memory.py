"""Arrays in CUDA memory that others take without a copy."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, Structure, c_char_p, c_int, c_void_p
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _native
from ._device import CUDA, DLPACK_NAME, KINDS, DLTensor, View, capsule_address


class _DLManagedTensor(Structure):
    pass


_Deleter = CFUNCTYPE(None, c_void_p)
_DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", _Deleter)]
# Those of a kind of arrays differ in their data: the bytes of one, and what they point to. To make
# one out of numbers takes as long as torch takes for a tensor.
_of_kind: Dict[Tuple[Any, ...], Tuple[bytes, Any]] = {}
_MOST_KINDS = 64
_handed_out: Dict[int, Any] = {}  # what tensors of others refer to, by the address of theirs
_forget = _Deleter(_handed_out.pop)  # no instruction of Python, which a signal might interrupt

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = c_int, (c_void_p, c_char_p)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _capsule_gone(capsule: int) -> None:
    if _capsule_is(capsule, DLPACK_NAME):
        _handed_out.pop(capsule_address(capsule, DLPACK_NAME), None)


_CAPSULE_GONE = ctypes.cast(_capsule_gone, c_void_p)


def _managed(shape: Tuple[int, ...], strides: Tuple[int, ...], dtype: Any,
             device: int) -> Tuple[bytes, Any]:
    """The bytes of a DLManagedTensor without data, and what they point to; strides in bytes."""
    numbers = ctypes.c_int64 * len(shape)
    lengths, steps = numbers(*shape), numbers(*(stride // dtype.itemsize for stride in strides))
    made = _DLManagedTensor(DLTensor(None, CUDA, device, len(shape), KINDS[dtype.kind],
                                     8 * dtype.itemsize, 1, lengths, steps, 0), None, _forget)
    return bytes(made), (lengths, steps)


class CudaArray:
    """An array on a GPU, which torch.from_dlpack() and cupy.asarray() take without a copy.

    Quantized coefficients (blocks_h, blocks_w, 8, 8), or what dct() and idct() make of arrays
    there. It is complete. It keeps its buffer, and so does every array made of it without a copy.
    When the last one goes, the buffer is filled anew, after the work on the default stream of its
    device: work on another stream must be finished (synchronized) before that.

    shape, dtype: as numpy's
    strides: in bytes
    device: the number of the GPU
    """

    __slots__ = ("shape", "strides", "dtype", "device", "_held", "_address", "__weakref__")

    def __init__(self, held: Any, offset: int, shape: Tuple[int, ...],
                 strides: Tuple[int, ...], device: int, dtype: Any = np.int16) -> None:
        self.shape, self.strides, self.device = shape, strides, device
        self.dtype = np.dtype(dtype)
        self._held, self._address = held, held.address + offset

    def parts(self) -> List["CudaArray"]:
        """The arrays that a contiguous one consists of, along its first axis."""
        return [CudaArray(self._held, self._address - self._held.address + index * self.strides[0],
                          self.shape[1:], self.strides[1:], self.device, self.dtype)
                for index in range(self.shape[0])]

    def as_view(self) -> View:
        """The array as those of other libraries are seen. It is complete, so nothing is awaited."""
        return View(self._address, self.shape, self.strides, self.dtype, self.device, self)

    @property
    def address(self) -> int:
        """Of the first element, in the device's memory."""
        return self._address

    @property
    def __cuda_array_interface__(self) -> dict:
        # Writable, because PyTorch refuses other arrays. No stream: the array is complete.
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self._address, False), "version": 3, "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return CUDA, self.device

    def __dlpack__(self, *, stream: Optional[int] = None, dl_device: Optional[Tuple] = None,
                   copy: Optional[bool] = None, max_version: Optional[Tuple] = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a CudaArray is neither copied nor moved: make a tensor of it first")
        kind = self.shape, self.strides, self.dtype, self.device
        found = _of_kind.get(kind)
        if found is None:
            if len(_of_kind) >= _MOST_KINDS:
                _of_kind.clear()
            found = _of_kind[kind] = _managed(*kind)
        made = _DLManagedTensor.from_buffer_copy(found[0])
        made.tensor.data = self._address
        address = ctypes.addressof(made)
        capsule = _capsule_new(address, DLPACK_NAME, _CAPSULE_GONE)
        _handed_out[address] = made, found, self
        return capsule

    def __repr__(self) -> str:
        return f"<CudaArray {self.shape} {self.dtype} on cuda:{self.device}>"


def downloaded(array: Any) -> np.ndarray:
    """An array on a GPU, a CudaArray or a View, whose rows may have gaps between them, as a numpy
    array. Raises Unavailable."""
    made, error = np.empty(array.shape, array.dtype), _native.Error()
    rows, row = array.shape[0], made.nbytes // array.shape[0]
    _native.check(_native.library().ct_copy_to_host(
        _native.engine(array.device), made.ctypes.data, row, array.address,
        max(row, array.strides[0]), row, rows, error), error)
    return made
