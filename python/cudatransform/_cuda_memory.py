"""Arrays in CUDA memory that others take without a copy."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _native
from ._device import CUDA, View, driver
from ._dlpack import BFLOAT16, capsule_of, type_of


class CudaArray:
    """An array on a GPU, which torch.from_dlpack() and cupy.asarray() take without a copy.

    Quantized coefficients (blocks_h, blocks_w, 8, 8), or what dct() and idct() make of arrays
    there. It is complete. It keeps its buffer, and so does every array that shares it.
    When the last one is freed, the buffer is reused, after the work on the default stream of its
    device: work on another stream must be finished (synchronized) before that.

    shape, dtype: as numpy's; `bfloat16`, which numpy lacks, goes by DLPack alone
    strides: in bytes
    device: the number of the GPU
    """

    __slots__ = ("shape", "strides", "dtype", "device", "_held", "_address", "__weakref__")

    def __init__(self, held: Any, offset: int, shape: Tuple[int, ...],
                 strides: Tuple[int, ...], device: int, dtype: Any = np.int16) -> None:
        self.shape, self.strides, self.device = shape, strides, device
        self.dtype: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else type_of(dtype)
        self._held, self._address = held, held.address + offset

    def parts(self) -> List["CudaArray"]:
        """The arrays that a contiguous one consists of, along its first axis."""
        (count, *shape), (step, *strides) = self.shape, self.strides
        first, form = self._address - self._held.address, (tuple(shape), tuple(strides))
        return [CudaArray(self._held, offset, *form, self.device, self.dtype)
                for offset in range(first, first + count * step, step)]

    def part(self, left: int, top: int, right: int, bottom: int) -> "CudaArray":
        """Pixels of an array (height, width, ...), without a copy."""
        offset = self._address - self._held.address + top * self.strides[0] + left * self.strides[1]
        return CudaArray(self._held, offset, (bottom - top, right - left, *self.shape[2:]),
                         self.strides, self.device, self.dtype)

    def as_view(self) -> View:
        """The array as those of other libraries are seen. It is complete, so no wait is needed."""
        return View(self._address, self.shape, self.strides, self.dtype, self.device, self)

    @property
    def address(self) -> int:
        """Of the first element, in the device's memory."""
        return self._address

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self.dtype is BFLOAT16:
            raise AttributeError("bfloat16 has no __cuda_array_interface__: use from_dlpack()")
        # Writable, because PyTorch refuses other arrays. No stream: the array is complete.
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self._address, False), "version": 3, "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return CUDA, self.device

    def __dlpack__(self, *, stream: Optional[int] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None,
                   max_version: Optional[Tuple[int, int]] = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a CudaArray is neither copied nor moved: make a tensor of it first")
        return capsule_of(self, self._address, self.shape, self.strides, self.dtype,
                          self.__dlpack_device__())

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


def uploaded(array: np.ndarray, device: Optional[int]) -> Any:
    """A numpy array as a CudaArray on a GPU; None: itself. Raises MemoryError and Unavailable."""
    if device is None:
        return array
    array = np.array(array, order="C")  # a copy has the strides of its shape
    block, row = _native.NewBlock(_native.engine(device), array.nbytes), array.strides[0]
    source = _native.address_of(array)
    with driver().on(device):
        driver().copy_rows(source, row, block.address, row, row, len(array), of_host=True)
    driver().synchronize(device, 0)
    return CudaArray(block, 0, array.shape, array.strides, device, array.dtype)
