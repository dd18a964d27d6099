"""Arrays of bfloat16 in system memory, a type that numpy lacks."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._device import HOST
from ._dlpack import BFLOAT16, capsule_of


class Bfloat16Array:
    """An array of bfloat16 in system memory, which torch.from_dlpack() takes without a copy.

    bits: the same memory as a numpy array of uint16, the upper halves of float32
    shape, dtype: as of an array of numpy; float32 by numpy.asarray()
    """

    __slots__ = ("bits", "__weakref__")
    dtype = BFLOAT16

    def __init__(self, bits: np.ndarray) -> None:
        self.bits = bits

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.bits.shape

    def parts(self) -> List["Bfloat16Array"]:
        """The arrays that it consists of, along its first axis."""
        return [Bfloat16Array(part) for part in self.bits]

    def __len__(self) -> int:
        return len(self.bits)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("bfloat16 becomes float32 by a copy")
        values = (self.bits.astype(np.uint32) << 16).view(np.float32)
        return values if dtype is None else values.astype(dtype)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return HOST, 0

    def __dlpack__(self, *, stream: Any = None, dl_device: Optional[Tuple] = None,
                   copy: Optional[bool] = None, max_version: Optional[Tuple] = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a Bfloat16Array is neither copied nor moved: make a tensor of it "
                              "first")
        address = self.bits.__array_interface__["data"][0]
        return capsule_of(self, address, self.shape, self.bits.strides, BFLOAT16,
                          self.__dlpack_device__())

    def __repr__(self) -> str:
        return f"<Bfloat16Array {self.shape}>"
