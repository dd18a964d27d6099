"""Coefficients in CUDA memory: arrays that PyTorch, CuPy and others take without a copy."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _gst
from ._device import CUDA, DLPACK_NAME, KINDS, DLTensor, capsule_address, driver
from ._stage import Stage, StageError
from .errors import Unavailable, is_interruption
from .picture import Component, Picture, file_of, layout_of, picture_of_sample

_contexts: Dict[int, Tuple[int, int]] = {}  # by the numbers of devices


class _DLManagedTensor(Structure):
    pass


_Deleter = CFUNCTYPE(None, c_void_p)
_DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", _Deleter)]
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


class CudaArray:
    """An array on a GPU, which torch.from_dlpack() and cupy.asarray() take: int16 levels (blocks_h,
    blocks_w, 8, 8) of a picture, and what dct() and idct() make of arrays there.

    strides: in bytes. It is complete; and it, and every array made of it without a copy, keeps its
    buffer. When the last one goes
    the buffer is filled anew, after the work on the default stream of its device: work on another
    stream has to be finished (synchronised) before that.
    """

    __slots__ = ("shape", "strides", "dtype", "device", "_held", "_address", "__weakref__")

    def __init__(self, held: _gst.HeldBuffer, offset: int, shape: Tuple[int, ...],
                 strides: Tuple[int, ...], device: int, dtype: Any = np.int16) -> None:
        self.shape, self.strides, self.device = shape, strides, device
        self.dtype = np.dtype(dtype)
        self._held, self._address = held, held.address + offset

    @property
    def __cuda_array_interface__(self) -> dict:
        # May be written to: PyTorch refuses arrays that say they may not. No stream: the
        # coefficients are complete.
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self._address, False), "version": 3, "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return CUDA, self.device

    def __dlpack__(self, *, stream: Optional[int] = None, dl_device: Optional[Tuple] = None,
                   copy: Optional[bool] = None, max_version: Optional[Tuple] = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("these arrays are neither copied nor moved; make a tensor first")
        count = len(self.shape)
        numbers = ctypes.c_int64 * count
        shape = numbers(*self.shape)
        size = self.dtype.itemsize
        strides = numbers(*(stride // size for stride in self.strides))
        made = _DLManagedTensor(DLTensor(self._address, CUDA, self.device, count,
                                         KINDS[self.dtype.kind], 8 * size, 1, shape, strides, 0),
                                None, _forget)
        address = ctypes.addressof(made)
        capsule = _capsule_new(address, DLPACK_NAME, ctypes.cast(_capsule_gone, c_void_p))
        _handed_out[address] = made, shape, strides, self
        return capsule

    def __repr__(self) -> str:
        return f"<CudaArray {self.shape} {self.dtype} on cuda:{self.device}>"


class CudaPicture(Picture):
    """A Picture whose levels are CudaArrays. Tables and markers are in system memory.

    cpu() downloads it, and the methods that compute work on what it gives.
    """

    __slots__ = ("_held",)
    _held: _gst.HeldBuffer

    def cpu(self) -> Picture:
        """A Picture with numpy arrays, downloaded."""
        return picture_of_sample(_gst.libraries(), self._held.sample, self.path).copy()

    def copy(self) -> Picture:
        """The same as cpu()."""
        return self.cpu()

    def planes(self) -> Tuple[np.ndarray, ...]:
        return self.cpu().planes()

    def dequantized(self) -> Tuple[np.ndarray, ...]:
        return self.cpu().dequantized()

    def samples(self, method: str = "islow") -> Tuple[np.ndarray, ...]:
        return self.cpu().samples(method)

    def __reduce__(self) -> Tuple:
        return self.cpu().__reduce__()


def picture_on_device(gst: _gst.Libraries, sample: _gst.Sample, path: Optional[str],
                      device: int) -> CudaPicture:
    """A Sample of levels in CUDA memory as a CudaPicture."""
    address = gst.gst_buffer_get_dct_meta(sample.buffer)
    fence = _gst.DctMeta.from_address(address).fence
    if fence and not gst.gst_coef_fence_wait_written(fence, None):
        raise Unavailable("the GPU failed while it took coefficients")
    held, layout = _gst.HeldBuffer(gst, sample, cuda=True), layout_of(address)
    made: List[Any] = [Component(CudaArray(held, offset, shape, strides, device),  # type: ignore
                                 *fields)
                       for shape, offset, strides, fields in layout.parts]
    markers, irregular = file_of(gst, sample.buffer)
    picture = CudaPicture(made, layout.tables.copy(), layout.width, layout.height, layout.sampling,
                          markers, path, irregular)
    picture._held = held
    return picture


class VideoMeta(Structure):
    """GstVideoMeta, as far as it is read; the first two fields are its GstMeta."""

    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("buffer", c_void_p),
                ("flags", c_int), ("format", c_int), ("id", c_int), ("width", c_uint),
                ("height", c_uint), ("n_planes", c_uint), ("offset", c_size_t * 4),
                ("stride", c_int * 4)]


class _Gstcuda:
    """The functions of libgstcuda and libgstvideo that are used here."""

    def __init__(self) -> None:
        try:
            library = ctypes.CDLL("libgstcuda-1.0.so.0")
            video = ctypes.CDLL("libgstvideo-1.0.so.0")
        except OSError as error:
            if is_interruption(error):
                raise
            raise Unavailable(f"no CUDA: {error}") from error

        def function(name: str, result: Any, *arguments: Any, of: Any = library) -> Any:
            found = getattr(of, name)
            found.restype, found.argtypes = result, arguments
            return found

        if not function("gst_cuda_load_library", c_int)():
            raise Unavailable("GStreamer finds no driver of CUDA")
        function("gst_cuda_memory_init_once", None)()
        self.wrap = function("gst_cuda_context_new_wrapped", c_void_p, c_void_p, c_int)
        self.new_context = function("gst_context_new_cuda_context", c_void_p, c_void_p)
        self.new_pool = function("gst_cuda_buffer_pool_new", c_void_p, c_void_p)
        self.video_meta = function("gst_buffer_get_video_meta", POINTER(VideoMeta), c_void_p,
                                   of=video)
        # From 1.24 on frames may come before they are complete.
        self._sync = (function("gst_cuda_memory_sync", None, c_void_p)
                      if hasattr(library, "gst_cuda_memory_sync") else None)

    def synchronize(self, gst: _gst.Libraries, buffer: int) -> None:
        """Waits for the work on a GstBuffer of CUDA memory."""
        if self._sync:
            self._sync(gst.gst_buffer_peek_memory(buffer, 0))


_gstcuda: List[_Gstcuda] = []


def gstcuda() -> _Gstcuda:
    """libgstcuda. Raises Unavailable."""
    if not _gstcuda:
        _gst.libraries()
        _gstcuda.append(_Gstcuda())
    return _gstcuda[0]


def context_of(device: int) -> Tuple[int, int]:
    """A GstContext, and the GstCudaContext in it, of the primary context of a device, which PyTorch
    and CuPy use, too: contexts have address spaces of their own. Kept for good, as that context is.
    """
    if device not in _contexts:
        handle, library = driver().primary(device), gstcuda()
        wrapped = library.wrap(handle, device)
        if not wrapped:
            raise Unavailable(f"GStreamer cannot use CUDA device {device}")
        _contexts[device] = library.new_context(wrapped), wrapped
    return _contexts[device]


def decoder_stage(elements: str, device: int, queued: bool = False) -> Stage:
    """A Stage of `elements`, jpegcoefdec's line, whose coefficients are on a device."""
    context, _ = context_of(device)
    return Stage(f"{elements} backend=cuda cuda-device-id={device} ! "
                 "video/x-dct(memory:CUDAMemory)", context=context, queued=queued)


def read_onto_device(path: str, device: int) -> CudaPicture:
    """Reads one file, on elements of its own. Raises OSError, StageError and Unavailable."""
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
