"""CUDA memory: arrays that others take without a copy, GStreamer's contexts and pools."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import ctypes
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint,
                    c_void_p)
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import _gst
from ._device import CUDA, DLPACK_NAME, KINDS, DLTensor, capsule_address, driver
from ._gone import in_turn, when_gone
from ._libraries import load, symbol
from .errors import Unavailable

_contexts: Dict[int, Tuple[int, int]] = {}  # by the numbers of devices

_MOST_POOLS = 4  # for inputs of different sizes


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

    A picture's int16 levels (blocks_h, blocks_w, 8, 8), or what dct() and idct() make of arrays
    there. It is complete. It keeps its buffer, and so does every array made of it without a copy.
    When the last one goes, the buffer is filled anew, after the work on the default stream of its
    device: work on another stream must be finished (synchronised) before that.

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


class VideoMeta(Structure):
    """GstVideoMeta, as far as it is read; the first two fields are its GstMeta."""

    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("buffer", c_void_p),
                ("flags", c_int), ("format", c_int), ("id", c_int), ("width", c_uint),
                ("height", c_uint), ("n_planes", c_uint), ("offset", c_size_t * 4),
                ("stride", c_int * 4)]


class _Gstcuda:
    """The functions of libgstcuda and libgstvideo."""

    def __init__(self) -> None:
        try:
            library, video = load("libgstcuda-1.0.so.0"), load("libgstvideo-1.0.so.0")
        except Unavailable as error:
            raise Unavailable(f"no CUDA: {error}") from error

        def function(name: str, result: Any, *arguments: Any, of: Any = library) -> Any:
            found = getattr(of, symbol(name))
            found.restype, found.argtypes = result, arguments
            return found

        if not function("gst_cuda_load_library", c_int)():
            raise Unavailable("GStreamer finds no CUDA driver")
        function("gst_cuda_memory_init_once", None)()
        self.wrap = function("gst_cuda_context_new_wrapped", c_void_p, c_void_p, c_int)
        self.new_context = function("gst_context_new_cuda_context", c_void_p, c_void_p)
        self.new_pool = function("gst_cuda_buffer_pool_new", c_void_p, c_void_p)
        self.video_meta = function("gst_buffer_get_video_meta", POINTER(VideoMeta), c_void_p,
                                   of=video)
        # Since GStreamer 1.24 a frame may come before it is complete.
        self._sync = (function("gst_cuda_memory_sync", None, c_void_p)
                      if hasattr(library, symbol("gst_cuda_memory_sync")) else None)

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


def meta_of(buffer: int) -> VideoMeta:
    """Of a video buffer, as long as that lives."""
    return gstcuda().video_meta(buffer).contents


def frame_of(buffer: int) -> Tuple[int, int, bool]:
    """A video buffer's bytes from row to row, its first byte, and whether its planes follow each
    other without gaps."""
    meta = meta_of(buffer)
    pitch, begin = meta.stride[0], meta.offset[0]
    together = all(meta.stride[plane] == pitch and
                   meta.offset[plane] == begin + plane * pitch * meta.height
                   for plane in range(meta.n_planes))
    return pitch, begin, together


def context_of(device: int) -> Tuple[int, int]:
    """A GstContext and its GstCudaContext, kept to the end of the process. Raises Unavailable.

    They are of the device's primary context, as PyTorch's and CuPy's arrays are: each context has
    an address space of its own.
    """
    if device not in _contexts:
        handle, library = driver().primary(device), gstcuda()
        wrapped = library.wrap(handle, device)
        if not wrapped:
            raise Unavailable(f"GStreamer cannot use CUDA device {device}")
        _contexts[device] = library.new_context(wrapped), wrapped
    return _contexts[device]


class _Pools(threading.local):
    """Each thread's own GStreamer pools for arrays that are copied in, one for each size."""

    def __init__(self) -> None:
        self._pools: "collections.OrderedDict[Tuple, _Pool]" = collections.OrderedDict()

    def buffer(self, device: int, caps: str, fill: Callable[[int], None]) -> int:
        """A GstBuffer of a frame of `caps`, filled by `fill`. Raises MemoryError."""
        gst = _gst.libraries()
        key = device, caps
        if key not in self._pools:
            self._pools[key] = _Pool(_new_pool(gst, device, caps))
            if len(self._pools) > _MOST_POOLS:
                self._pools.popitem(last=False)
        self._pools.move_to_end(key)
        pool, buffer = self._pools[key].pointer, c_void_p()
        if gst.gst_buffer_pool_acquire_buffer(pool, byref(buffer), None) != _gst.FLOW_OK:
            raise MemoryError(f"no memory on cuda:{device} for a frame of {caps}")
        try:
            fill(buffer.value or 0)
        except BaseException:
            gst.gst_mini_object_unref(buffer)
            raise
        return buffer.value or 0


class _Pool:
    """A GstBufferPool, active as long as this object lives."""

    def __init__(self, pointer: int) -> None:
        gst, self.pointer = _gst.libraries(), pointer
        when_gone(self, in_turn([partial(gst.gst_buffer_pool_set_active, pointer, 0),
                                 partial(gst.gst_object_unref, pointer)]))


def _new_pool(gst: _gst.Libraries, device: int, caps: str) -> int:
    made = gst.gst_caps_from_string(caps.encode())
    pool = gstcuda().new_pool(context_of(device)[1])
    config = gst.gst_buffer_pool_get_config(pool)
    gst.gst_buffer_pool_config_set_params(config, made, 0, 0, 0)
    gst.gst_buffer_pool_config_add_option(config, b"GstBufferPoolOptionVideoMeta")
    gst.gst_mini_object_unref(made)
    if not (gst.gst_buffer_pool_set_config(pool, config) and
            gst.gst_buffer_pool_set_active(pool, 1)):
        gst.gst_object_unref(pool)
        raise MemoryError(f"cuda:{device} cannot have a pool of frames of {caps}")
    return pool


pools = _Pools()
