"""Pictures whose coefficients are in CUDA memory."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Tuple

import numpy as np

from ._cuda_memory import CudaArray, downloaded
from ._device import number_of
from ._native import limit_memory
from .errors import whole_number
from .picture import Component, Picture

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CudaArray", "CudaPicture", "set_memory_limit"]


def set_memory_limit(max_device_memory: int, device: str = "cuda") -> None:
    """Limits a GPU's memory for this process's results, from now on. Results in use stay.

    A picture without room is a ReadError or a Failure that names `max_device_memory`, and what is
    not read from a file raises MemoryError. Not counted: the CUDA context, and working memory, some
    72 MiB for each of up to six groups of pictures under way.

    max_device_memory: bytes of pixels and coefficients, in use or kept for later ones; 0: no limit
    device: `cuda`, or `cuda:1` and so on
    Raises TypeError and ValueError.
    """
    limit, number = whole_number("max_device_memory", max_device_memory), number_of(device)
    if number is None:
        raise ValueError("device must be 'cuda' or 'cuda:NUMBER', not 'cpu'")
    if not 0 <= limit < 1 << 64:
        raise ValueError(f"max_device_memory must be 0 or more bytes, below 2**64, not {limit}")
    limit_memory(number, limit)


class CudaPicture(Picture):
    """A Picture whose coefficients are CudaArrays. Tables and markers are in system memory.

    planes(), transpose(), crop() and requantize() work on the GPU, and the latter three make
    CudaPictures. Other methods that compute work on a download, cpu().
    """

    __slots__ = ()

    def cpu(self) -> Picture:
        """A download: a Picture with separate numpy arrays. Raises Unavailable."""
        components = [Component(downloaded(c.coefficients), c.id, c.h_samp, c.v_samp, c.width,
                                c.height,
                                c.table) for c in self.components]
        return Picture(components, self.tables.copy(), self.width, self.height, self.sampling,
                       self.markers, self.path, self.irregular, self.attachments, self.trailer,
                       self.gaps, self.depth)

    def copy(self) -> Picture:
        """The same as cpu()."""
        return self.cpu()

    def dequantize(self) -> Tuple[npt.NDArray[np.int32], ...]:
        return self.cpu().dequantize()

    def samples(self, method: str = "islow") -> Tuple[npt.NDArray[Any], ...]:
        return self.cpu().samples(method)

    def pixels(self, upsampling: str = "fancy") -> npt.NDArray[Any]:
        return self.cpu().pixels(upsampling)

    def __reduce__(self) -> Tuple[Any, ...]:
        return self.cpu().__reduce__()
