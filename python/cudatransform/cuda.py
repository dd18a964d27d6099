"""Pictures whose coefficients are in CUDA memory."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Tuple

import numpy as np

from ._cuda_memory import CudaArray, downloaded
from .picture import Component, Picture

__all__ = ["CudaArray", "CudaPicture"]


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

    def dequantize(self) -> Tuple[np.ndarray, ...]:
        return self.cpu().dequantize()

    def samples(self, method: str = "islow") -> Tuple[np.ndarray, ...]:
        return self.cpu().samples(method)

    def pixels(self, upsampling: str = "fancy") -> np.ndarray:
        return self.cpu().pixels(upsampling)

    def __reduce__(self) -> Tuple:
        return self.cpu().__reduce__()
