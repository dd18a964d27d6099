"""Pictures whose coefficients are in CUDA memory, and the decoder that puts them there."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from . import _gst, _verbs
from ._cuda_memory import CudaArray, context_of
from ._parts import layout_of, rest_of
from ._stage import Stage, StageError
from .errors import Unavailable
from .picture import Component, Picture, picture_of_sample
from .planes import Planes, planes_on_device


class CudaPicture(Picture):
    """A Picture whose levels are CudaArrays. Tables and markers are in system memory.

    planes(), turned(), cropped() and requantised() work on the GPU, and the latter three make
    CudaPictures, which share memory with this one where nothing is to be done. Other methods that
    compute work on a download, cpu().
    """

    __slots__ = ("_held",)
    _held: _gst.HeldBuffer

    def cpu(self) -> Picture:
        """A download: a Picture with numpy arrays in memory of its own."""
        return picture_of_sample(_gst.libraries(), self._held.sample, self.path).copy()

    def copy(self) -> Picture:
        """The same as cpu()."""
        return self.cpu()

    def planes(self, dtype: Any = np.int16) -> Planes:
        """As Picture.planes(), on the GPU: CudaArrays. Raises ValueError and Unavailable."""
        return planes_on_device(self, self._held.sample, self[0].device,  # type: ignore
                                dtype)

    def _by(self, verb: _verbs.Verb) -> Picture:
        device = self[0].device  # type: ignore
        sample = _verbs.by_cuda(verb, self, self._held.sample, device)
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
    picture = CudaPicture(made, layout.tables.copy(), layout.width, layout.height, layout.sampling,
                          rest.markers, path, *rest[1:], sample.number(gst, b"depth"))
    picture._held = held
    return picture


def decoder_stage(elements: str, device: int, queued: bool = False, rest: str = "") -> Stage:
    """A Stage of `elements`, jpegcoefdec's line, whose coefficients are on a device, and `rest`."""
    context, _ = context_of(device)
    return Stage(f"{elements} backend=cuda cuda-device-id={device} ! "
                 f"video/x-dct(memory:CUDAMemory){rest}", context=context, queued=queued)


def read_onto_device(path: str, device: int) -> CudaPicture:
    """Reads one file with elements of its own. Raises OSError, StageError and Unavailable."""
    gst = _gst.libraries()
    with open(path, "rb") as file:
        data = np.frombuffer(file.read(), np.uint8)
    stage = decoder_stage("jpegcoefdec name=first n-threads=1 on-error=fail qos=false", device)
    try:
        stage.set_caps("image/jpeg,parsed=true")
        sample = stage.run(_gst.buffer_around(gst, _gst.address_of(data), len(data)), data)
        if sample is None:
            raise StageError("the decoder gave no picture")
        return picture_on_device(gst, sample, path, device)
    finally:
        stage.close()
