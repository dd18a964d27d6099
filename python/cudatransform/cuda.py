"""Pictures whose coefficients are in CUDA memory, and the decoder that puts them there."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from . import _gst, _native, _verbs
from ._cuda_memory import CudaArray
from ._gst_parts import layout_of, rest_of
from .errors import Unavailable
from .picture import Component, Picture, picture_of_sample
from .planes import Planes, planes_on_device


def downloaded(array: Any) -> np.ndarray:
    """A CudaArray whose rows may have gaps between them as a numpy array. Raises Unavailable."""
    made, error = np.empty(array.shape, array.dtype), _native.Error()
    rows, row = array.shape[0], made.nbytes // array.shape[0]
    _native.check(_native.library().ct_copy_to_host(
        _native.engine(array.device), made.ctypes.data, row, array.address, array.strides[0], row,
        rows, error), error)
    return made


class CudaPicture(Picture):
    """A Picture whose levels are CudaArrays. Tables and markers are in system memory.

    planes(), turned(), cropped() and requantised() work on the GPU, and the latter three make
    CudaPictures, which share memory with this one where nothing is to be done. Other methods that
    compute work on a download, cpu().
    """

    __slots__ = ()

    def cpu(self) -> Picture:
        """A download: a Picture with numpy arrays in memory of its own. Raises Unavailable."""
        components = [Component(downloaded(c.levels), c.id, c.h_samp, c.v_samp, c.width, c.height,
                                c.table) for c in self.components]
        return Picture(components, self.tables.copy(), self.width, self.height, self.sampling,
                       self.markers, self.path, self.irregular, self.attachments, self.trailer,
                       self.gaps, self.depth)

    def copy(self) -> Picture:
        """The same as cpu()."""
        return self.cpu()

    def planes(self, dtype: Any = np.int16) -> Planes:
        """As Picture.planes(), on the GPU: CudaArrays. Raises ValueError and Unavailable."""
        return planes_on_device(self, self[0].device, dtype)  # type: ignore

    def _by(self, verb: _verbs.Verb) -> Picture:
        device = self[0].device  # type: ignore
        sample = _verbs.by_cuda(verb, self, device)
        made = picture_on_device(_gst.libraries(), sample, self.path, device)
        made.irregular = self.irregular
        return made

    def dequantized(self) -> Tuple[np.ndarray, ...]:
        return self.cpu().dequantized()

    def samples(self, method: str = "islow") -> Tuple[np.ndarray, ...]:
        return self.cpu().samples(method)

    def pixels(self, upsampling: str = "fancy") -> np.ndarray:
        return self.cpu().pixels(upsampling)

    def __reduce__(self) -> Tuple:
        return self.cpu().__reduce__()


def picture_on_device(gst: _gst.Libraries, sample: _gst.Sample, path: Optional[str],
                      device: int) -> CudaPicture:
    """A Sample of levels in CUDA memory as a CudaPicture. Raises Unavailable if the GPU failed."""
    address = gst.gst_buffer_get_dct_meta(sample.buffer)
    fence = _gst.DctMeta.from_address(address).fence
    if fence and not gst.gst_coef_fence_wait_written(fence, None):
        raise Unavailable("the GPU failed while it took coefficients")
    held, layout = _gst.HeldBuffer(gst, sample, cuda=True), layout_of(address)
    made: List[Any] = [Component(CudaArray(held, offset, shape, strides, device),  # type: ignore
                                 *fields)
                       for shape, offset, strides, fields in layout.parts]
    rest = rest_of(gst, sample.buffer)
    return CudaPicture(made, layout.tables.copy(), layout.width, layout.height, layout.sampling,
                       rest.markers, path, *rest[1:], sample.number(gst, b"depth"))
