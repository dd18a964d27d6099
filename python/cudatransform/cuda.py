"""Coefficients in CUDA memory: arrays that PyTorch, CuPy and others take without a copy."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_void_p
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _gst
from ._stage import Stage, StageError
from .errors import Unavailable
from .picture import Component, Layout, Picture, picture_of_buffer

_CUDA = 2  # DLDeviceType
_contexts: Dict[int, int] = {}  # GstContexts by the numbers of devices, for good


class _DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", POINTER(ctypes.c_int64)),
                ("strides", POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(Structure):
    pass


_Deleter = CFUNCTYPE(None, POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("context", c_void_p), ("deleter", _Deleter)]
_handed_out: Dict[int, Any] = {}  # what tensors of others refer to, by the address of theirs


@_Deleter
def _forget(tensor: Any) -> None:
    _handed_out.pop(ctypes.addressof(tensor.contents), None)


_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, (c_void_p, c_char_p, c_void_p)
_capsule_is = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = c_int, (c_void_p, c_char_p)
_capsule_get = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_get.restype, _capsule_get.argtypes = c_void_p, (c_void_p, c_char_p)
_NAME = b"dltensor"  # who takes it renames it


@ctypes.PYFUNCTYPE(None, c_void_p)
def _capsule_gone(capsule: int) -> None:
    if _capsule_is(capsule, _NAME):
        _handed_out.pop(_capsule_get(capsule, _NAME), None)


class CudaArray:
    """int16 (blocks_h, blocks_w, 8, 8) on a GPU: what torch.from_dlpack() and cupy.asarray() take.

    It, and every array made of it without a copy, keeps the decoder's buffer. When the last one goes
    the buffer is filled anew, after the work on the default stream of its device: work on another
    stream has to be finished (synchronised) before that.
    """

    __slots__ = ("shape", "strides", "dtype", "device", "_held", "_address", "__weakref__")

    def __init__(self, held: _gst.HeldBuffer, offset: int, shape: Tuple[int, ...],
                 strides: Tuple[int, ...], device: int) -> None:
        self.shape, self.strides, self.device = shape, strides, device
        self.dtype = np.dtype(np.int16)
        self._held, self._address = held, held.address + offset

    @property
    def __cuda_array_interface__(self) -> dict:
        # May be written to: PyTorch refuses arrays that say they may not. No stream: the
        # coefficients are complete.
        return {"shape": self.shape, "strides": self.strides, "typestr": "<i2",
                "data": (self._address, False), "version": 3, "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _CUDA, self.device

    def __dlpack__(self, *, stream: Optional[int] = None, dl_device: Optional[Tuple] = None,
                   copy: Optional[bool] = None, max_version: Optional[Tuple] = None) -> Any:
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("these arrays are neither copied nor moved; make a tensor first")
        count = len(self.shape)
        numbers = ctypes.c_int64 * count
        shape = numbers(*self.shape)
        strides = numbers(*(stride // 2 for stride in self.strides))
        made = _DLManagedTensor(_DLTensor(self._address, _CUDA, self.device, count, 0, 16, 1, shape,
                                          strides, 0), None, _forget)
        address = ctypes.addressof(made)
        _handed_out[address] = made, shape, strides, self
        return _capsule_new(address, _NAME, ctypes.cast(_capsule_gone, c_void_p))

    def __repr__(self) -> str:
        return f"<CudaArray {self.shape} int16 on cuda:{self.device}>"


class CudaPicture(Picture):
    """A Picture whose levels are CudaArrays. Tables and markers are in system memory.

    cpu() downloads it, and the methods that compute work on what it gives.
    """

    __slots__ = ("_held",)
    _held: _gst.HeldBuffer

    def cpu(self) -> Picture:
        """A Picture with numpy arrays, downloaded."""
        gst = _gst.libraries()
        buffer = gst.gst_mini_object_ref(self._held._buffer)
        return picture_of_buffer(gst, buffer, self.path).copy()

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


def picture_on_device(gst: _gst.Libraries, buffer: int, path: Optional[str],
                      device: int) -> CudaPicture:
    """A GstBuffer of levels in CUDA memory, whose reference is taken over, as a CudaPicture."""
    address = gst.gst_buffer_get_dct_meta(buffer)
    fence = _gst.DctMeta.from_address(address).fence
    if fence and not gst.gst_coef_fence_wait_written(fence, None):
        gst.gst_mini_object_unref(buffer)
        raise Unavailable("the GPU failed while it took coefficients")
    held, layout = _gst.HeldBuffer(gst, buffer, cuda=True), Layout(gst, buffer, address)
    made: List[Component] = []
    for id, h_samp, v_samp, width, height, blocks_w, blocks_h, offset, stride, table in \
            layout.components:
        levels = CudaArray(held, offset, (blocks_h, blocks_w, 8, 8), (stride, 128, 16, 2), device)
        made.append(Component(levels, id, h_samp, v_samp, width, height, table))  # type: ignore
    picture = CudaPicture(made, layout.tables, made[0].width, made[0].height, layout.sampling,
                          layout.markers, path)
    picture._held = held
    return picture


def _context_of(device: int) -> int:
    """A GstContext of the primary context of a device, which PyTorch and CuPy use, too.

    Contexts have address spaces of their own, so memory of another one is not theirs to read. It is
    retained for good: a process that computes on a device keeps its primary context.
    """
    if device in _contexts:
        return _contexts[device]
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        gstcuda = ctypes.CDLL("libgstcuda-1.0.so.0")
    except OSError as error:
        raise Unavailable(f"no CUDA: {error}") from error

    def function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
        found = getattr(library, name)
        found.restype, found.argtypes = result, arguments
        return found

    retain = function(driver, "cuDevicePrimaryCtxRetain", c_int, POINTER(c_void_p), c_int)
    load = function(gstcuda, "gst_cuda_load_library", c_int)
    wrap = function(gstcuda, "gst_cuda_context_new_wrapped", c_void_p, c_void_p, c_int)
    new_context = function(gstcuda, "gst_context_new_cuda_context", c_void_p, c_void_p)
    handle = c_void_p()
    if driver.cuInit(0) != 0 or not load() or retain(byref(handle), device) != 0:
        raise Unavailable(f"there is no CUDA device {device}, or no driver for it")
    function(gstcuda, "gst_cuda_memory_init_once", None)()
    wrapped = wrap(handle, device)
    _contexts[device] = new_context(wrapped)
    _gst.libraries().gst_object_unref(wrapped)
    return _contexts[device]


def decoder_stage(elements: str, device: int) -> Stage:
    """A Stage of `elements`, jpegcoefdec's line, whose coefficients are on a device."""
    _gst.libraries()
    context = _context_of(device)
    return Stage(f"{elements} backend=cuda cuda-device-id={device} ! "
                 "video/x-dct(memory:CUDAMemory)", context=context)


def read_onto_device(path: str, device: int) -> CudaPicture:
    """Reads one file, on elements of its own. Raises OSError, StageError and Unavailable."""
    gst = _gst.libraries()
    with open(path, "rb") as file:
        data = np.frombuffer(file.read(), np.uint8)
    stage = decoder_stage("jpegcoefdec name=first n-threads=1 on-error=fail qos=false", device)
    try:
        stage.set_caps("image/jpeg,parsed=true")
        stage.push(_gst.buffer_around(gst, _gst.address_of(data), len(data)))
        buffer = stage.pull()
        if not buffer:
            raise StageError("the decoder gave no picture")
        return picture_on_device(gst, buffer, path, device)
    finally:
        stage.close()
