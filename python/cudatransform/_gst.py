"""GStreamer and libgstcoef by ctypes: their functions, buffers as memory, and the guard of forks.

ctypes and not PyGObject: a call costs a tenth, and needs nothing but the libraries. Virtual
environments with torch in them rarely have PyGObject.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import enum
import os
from ctypes import (POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_uint8, c_uint16,
                    c_uint64, c_void_p)
from functools import partial
from typing import Any, Dict, Optional, Tuple

from ._gone import when_gone
from ._libraries import load, own_plugins, symbol
from .errors import Unavailable

MAP_READ, MAP_WRITE, MAP_CUDA = 1, 2, 1 << 17  # GST_MAP_FLAG_LAST << 1
MEMORY_READONLY = 1 << 1
PAD_SRC, FORMAT_TIME, MESSAGE_ERROR = 1, 3, 1 << 1
STATE_NULL, STATE_PLAYING, STATE_FAILURE = 1, 4, 0
FLOW_OK = 0


class MapInfo(Structure):
    """GstMapInfo."""

    _fields_ = [("memory", c_void_p), ("flags", c_int), ("data", c_void_p), ("size", c_size_t),
                ("maxsize", c_size_t), ("user_data", c_void_p * 4), ("_reserved", c_void_p * 4)]


class GError(Structure):
    """GError."""

    _fields_ = [("domain", ctypes.c_uint32), ("code", c_int), ("message", c_char_p)]


class BufferHead(Structure):
    """The beginning of GstBuffer: a GstMiniObject of 64 bytes, the pool, the times."""

    _fields_ = [("object", c_uint8 * 64), ("pool", c_void_p), ("pts", c_uint64)]


class DctComponent(Structure):
    """GstDctComponent of gst/coef/dct.h."""

    _fields_ = [("id", c_uint), ("h_samp", c_uint), ("v_samp", c_uint), ("width", c_uint),
                ("height", c_uint), ("blocks_w", c_uint), ("blocks_h", c_uint),
                ("offset", c_size_t), ("stride", c_size_t), ("table", c_uint),
                ("_reserved", c_void_p * 2)]


class DctMeta(Structure):
    """GstDctMeta of gst/coef/dct.h; the first two fields are its GstMeta."""

    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("n_components", c_uint),
                ("components", DctComponent * 4), ("n_tables", c_uint),
                ("tables", (c_uint16 * 64) * 4), ("fence", c_void_p)]


class JpegPlace(Structure):
    """GstDctJpegPlace of gst/coef/dct.h."""

    _fields_ = [("offset", c_size_t), ("size", c_size_t)]


class JpegMeta(Structure):
    """GstDctJpegMeta of gst/coef/dct.h."""

    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("segments", c_void_p),
                ("irregular", c_uint), ("behind", c_void_p), ("n_attachments", c_uint),
                ("attachments", POINTER(JpegPlace))]


class DctLayout(enum.IntEnum):
    """GstDctLayout."""

    BLOCK = 0
    PLANE = 1
    BAND = 2


class DctOrder(enum.IntEnum):
    """GstDctOrder."""

    RASTER = 0
    ZIGZAG = 1


class DctJpegIrregularity(enum.IntFlag):
    """GstDctJpegIrregularity."""

    LEFT_OVER_BYTES = 1 << 0
    STRAY_BYTES = 1 << 1
    SCAN_PARAMETERS = 1 << 2
    MISSING_END = 1 << 3
    USELESS_MARKER = 1 << 4
    UNKNOWN_HEADER = 1 << 5


_P, _S, _I, _U = c_void_p, c_char_p, c_int, c_uint
_FUNCTIONS: Dict[str, Dict[str, Tuple]] = {
    "libglib-2.0.so.0": {
        "g_error_free": (None, _P), "g_free": (None, _P),
        "g_bytes_new": (_P, _P, c_size_t), "g_bytes_unref": (None, _P),
        "g_bytes_get_data": (_P, _P, POINTER(c_size_t)),
    },
    "libgstreamer-1.0.so.0": {
        "gst_init_check": (_I, _P, _P, POINTER(POINTER(GError))),
        "gst_plugin_load_file": (_P, _S, POINTER(POINTER(GError))),
        "gst_parse_launch": (_P, _S, POINTER(POINTER(GError))),
        "gst_bin_get_by_name": (_P, _P, _S),
        "gst_element_set_state": (_I, _P, _I), "gst_element_get_bus": (_P, _P),
        "gst_element_get_static_pad": (_P, _P, _S), "gst_element_set_context": (None, _P, _P),
        "gst_object_unref": (None, _P), "gst_mini_object_unref": (None, _P),
        "gst_mini_object_ref": (_P, _P), "gst_mini_object_replace": (_I, _P, _P),
        "gst_mini_object_make_writable": (_P, _P), "gst_mini_object_copy": (_P, _P),
        "gst_util_set_object_arg": (None, _P, _S, _S),
        "gst_pad_new": (_P, _S, _I), "gst_pad_set_active": (_I, _P, _I),
        "gst_pad_link": (_I, _P, _P), "gst_pad_push": (_I, _P, _P),
        "gst_pad_push_event": (_I, _P, _P), "gst_object_ref_sink": (_P, _P),
        "gst_segment_new": (_P,), "gst_segment_init": (None, _P, _I),
        "gst_segment_free": (None, _P),
        "gst_event_new_stream_start": (_P, _S), "gst_event_new_caps": (_P, _P),
        "gst_event_new_segment": (_P, _P), "gst_event_new_eos": (_P,),
        "gst_event_new_gap": (_P, c_uint64, c_uint64),
        "gst_event_new_flush_start": (_P,), "gst_event_new_flush_stop": (_P, _I),
        "gst_caps_from_string": (_P, _S), "gst_caps_get_structure": (_P, _P, _U),
        "gst_bus_pop_filtered": (_P, _P, _I),
        "gst_message_parse_error": (None, _P, POINTER(POINTER(GError)), POINTER(_P)),
        "gst_message_parse_error_details": (None, _P, POINTER(_P)),
        "gst_structure_get_string": (_S, _P, _S),
        "gst_structure_get_int": (_I, _P, _S, POINTER(_I)),
        "gst_structure_get_uint64": (_I, _P, _S, POINTER(c_uint64)),
        "gst_structure_free": (None, _P),
        "gst_buffer_remove_meta": (_I, _P, _P),
        "gst_buffer_new_wrapped_full": (_P, _I, _P, c_size_t, c_size_t, c_size_t, _P, _P),
        "gst_buffer_new_allocate": (_P, _P, c_size_t, _P),
        "gst_buffer_map": (_I, _P, POINTER(MapInfo), _I),
        "gst_buffer_unmap": (None, _P, POINTER(MapInfo)),
        "gst_buffer_n_memory": (_U, _P), "gst_buffer_peek_memory": (_P, _P, _U),
        "gst_memory_map": (_I, _P, POINTER(MapInfo), _I),
        "gst_memory_unmap": (None, _P, POINTER(MapInfo)),
        "gst_sample_get_buffer": (_P, _P), "gst_sample_get_caps": (_P, _P),
        "gst_buffer_pool_get_config": (_P, _P), "gst_buffer_pool_set_config": (_I, _P, _P),
        "gst_buffer_pool_set_active": (_I, _P, _I),
        "gst_buffer_pool_acquire_buffer": (_I, _P, POINTER(_P), _P),
        "gst_buffer_pool_config_set_params": (None, _P, _P, _U, _U, _U),
        "gst_buffer_pool_config_add_option": (None, _P, _S),
        "gst_caps_features_from_string": (_P, _S), "gst_caps_set_features_simple": (None, _P, _P),
        # One field: its name, type and value.
        "gst_caps_set_simple": (None, _P, _S, c_size_t, _S, _P),
    },
    "libgobject-2.0.so.0": {
        # For "try-pull-sample": the sink, the signal, nanoseconds, the place of the sample.
        "g_signal_emit_by_name": (None, _P, _S, c_uint64, POINTER(_P)),
        "g_object_get": (None, _P, _S, POINTER(_P), _P),  # one property
    },
    "libgstapp-1.0.so.0": {"gst_app_sink_is_eos": (_I, _P)},
    "libgstvideo-1.0.so.0": {
        "gst_video_format_from_string": (_I, _S),
        "gst_buffer_add_video_meta_full": (_P, _P, _I, _I, _U, _U, _U, POINTER(c_size_t),
                                           POINTER(_I)),
    },
    "libgstcoef-1.0.so.0": {
        "gst_coef_format_from_string": (_I, _S), "gst_coef_sampling_from_string": (_I, _S),
        "gst_dct_info_new": (_P,), "gst_dct_info_free": (None, _P),
        "gst_dct_info_set": (_I, _P, _I, _I, _I, _I, _U, _I, _I, _I, POINTER(_S)),
        "gst_dct_info_to_caps": (_P, _P),
        "gst_buffer_add_dct_meta": (POINTER(DctMeta), _P, _P),
        "gst_buffer_get_dct_meta": (_P, _P),
        "gst_buffer_add_dct_jpeg_meta": (_P, _P, _P),
        "gst_buffer_get_dct_jpeg_meta": (_P, _P),
        "gst_dct_jpeg_meta_set_behind": (_I, _P, _P, POINTER(JpegPlace), _U),
        "gst_coef_fence_wait_written": (_I, _P, _P),
    },
}

# Functions that never wait keep Python's lock: if another thread wants it, as in a Reader, letting
# go of it costs more than the call.
_BRIEF = {"gst_mini_object_ref", "gst_mini_object_unref", "gst_mini_object_replace",
          "gst_mini_object_make_writable",
          "gst_sample_get_buffer", "gst_sample_get_caps", "gst_caps_get_structure",
          "gst_structure_get_int", "gst_buffer_new_wrapped_full", "gst_buffer_n_memory",
          "gst_buffer_peek_memory",
          "gst_memory_map", "gst_memory_unmap", "gst_buffer_map", "gst_buffer_unmap",
          "gst_buffer_get_dct_meta", "gst_buffer_get_dct_jpeg_meta", "g_bytes_get_data",
          "gst_bus_pop_filtered", "gst_app_sink_is_eos",
          # An appsink promises no fence, so its buffers are complete, and this returns at once.
          "gst_coef_fence_wait_written"}
# Functions that may wait. If a caller knows that one will not, it uses the name with _now.
_AT_TIMES = {"gst_pad_push", "g_signal_emit_by_name"}


class Libraries:
    """The functions above as attributes, and GStreamer initialised. One a process: libraries()."""

    def __init__(self) -> None:
        for library, functions in _FUNCTIONS.items():
            patient, brief = load(library), load(library, ctypes.PyDLL)
            for name, (result, *arguments) in functions.items():
                function = getattr(brief if name in _BRIEF else patient, symbol(name))
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
                if name in _AT_TIMES:
                    now = getattr(brief, symbol(name))
                    now.restype, now.argtypes = result, arguments
                    setattr(self, f"{name}_now", now)
        error = POINTER(GError)()
        if not self.gst_init_check(None, None, byref(error)):
            raise Unavailable(f"GStreamer does not start: {self.take_error(error)}")
        for path in own_plugins():
            if not self.gst_plugin_load_file(os.fsencode(path), byref(error)):
                raise Unavailable(self.take_error(error))

    def __getattr__(self, name: str) -> Any:  # for type checkers: set in __init__
        raise AttributeError(name)

    def take_error(self, error: Any) -> str:
        """The text of a GError, which is freed."""
        if not error:
            return "unknown error"
        text = (error.contents.message or b"").decode("utf-8", "replace")
        self.g_error_free(error)
        return text


_loaded: Optional[Libraries] = None
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = _loaded is not None


os.register_at_fork(after_in_child=_after_fork)


def libraries() -> Libraries:
    """GStreamer, initialised at the first call.

    Raises Unavailable in the child of a fork whose parent had called this: GStreamer's threads and
    locks do not survive a fork.
    """
    global _loaded
    if _forked:
        raise Unavailable("this process was forked from one that had used cudatransform already; "
                          "start it by spawn or forkserver (torch: DataLoader(..., "
                          "multiprocessing_context='spawn'))")
    if _loaded is None:
        # Two threads may both do it: the second does nothing. With a lock, one might wait for a
        # thread that a signal has taken out of here.
        _loaded = Libraries()
    return _loaded


class DctInfo:
    """A GstDctInfo of blocks in raster order, which functions of C take; freed with this object.

    coef_format, sampling: by GStreamer's names
    width, height: of the picture, in samples
    Raises ValueError for a size that no picture has.
    """

    __slots__ = ("_as_parameter_", "__weakref__")

    def __init__(self, gst: Libraries, coef_format: str, quantised: bool, depth: int, sampling: str,
                 width: int, height: int) -> None:
        self._as_parameter_ = gst.gst_dct_info_new()
        when_gone(self, partial(gst.gst_dct_info_free, self._as_parameter_))
        reason = c_char_p()
        if not gst.gst_dct_info_set(self, gst.gst_coef_format_from_string(coef_format.encode()),
                                    DctLayout.BLOCK, DctOrder.RASTER, quantised, depth,
                                    gst.gst_coef_sampling_from_string(sampling.encode()), width,
                                    height, byref(reason)):
            words = (reason.value or b"").decode()
            gst.g_free(reason)
            raise ValueError(words)


class Sample:
    """A buffer of an appsink, which lives as long as this object.

    The object is there before the buffer comes, so that an interruption does not lose the buffer.
    """

    __slots__ = ("slot", "buffer", "__weakref__")

    def __init__(self, gst: Libraries) -> None:
        self.slot, self.buffer = c_void_p(), 0
        when_gone(self, partial(gst.gst_mini_object_replace, byref(self.slot), None))

    def has_come(self, gst: Libraries) -> bool:
        """Whether there is one; from then on `buffer` is the GstBuffer."""
        if self.slot.value:
            # A copy of the GstSample: an appsink that is flushed while somebody has its own one
            # loses the caps on their way to it. No signal may come before the old one is forgotten.
            next(map(partial(setattr, self.slot, "value"),
                     map(gst.gst_mini_object_make_writable, (self.slot,))))
            self.buffer = gst.gst_sample_get_buffer(self.slot)
        return self.buffer != 0

    def number(self, gst: Libraries, field: bytes) -> int:
        """A field of its caps. `depth`: bits of the samples that coefficients stand for."""
        number = c_int()
        structure = gst.gst_caps_get_structure(gst.gst_sample_get_caps(self.slot), 0)
        gst.gst_structure_get_int(structure, field, byref(number))
        return number.value


class HeldBuffer:
    """The memory of a Sample's buffer, as an array of bytes.

    address, size: of its memory, in bytes; with `cuda` an address of the device
    writable: whether it may be changed
    The memory is not mapped any more: what elements push stays where it is as long as the buffer
    lives. Raises Unavailable for a buffer in several pieces or one that cannot be mapped.
    """

    __slots__ = ("sample", "address", "size", "writable", "__array_interface__")

    def __init__(self, gst: Libraries, sample: Sample, cuda: bool = False) -> None:
        self.sample = sample
        if gst.gst_buffer_n_memory(sample.buffer) != 1:
            raise Unavailable("a buffer is in several pieces")
        # We map the memory, not the buffer: an appsink keeps a reference to the buffer until the
        # next one comes, so the buffer never counts as writable.
        memory, info = gst.gst_buffer_peek_memory(sample.buffer, 0), MapInfo()
        self.writable = not cuda and _look(gst, memory, info, MAP_READ | MAP_WRITE)
        if not self.writable and not _look(gst, memory, info, MAP_READ | (MAP_CUDA if cuda else 0)):
            raise Unavailable("a buffer cannot be mapped")
        self.address, self.size = info.data, info.size
        if cuda:
            return  # numpy must not take it for memory of the host
        # We avoid a property: numpy drops exceptions of a signal's handler in one.
        self.__array_interface__ = {"shape": (self.size,), "typestr": "|u1", "version": 3,
                                    "data": (self.address, not self.writable)}


def _look(gst: Libraries, memory: int, info: MapInfo, flags: int) -> bool:
    """Maps a GstMemory and unmaps it without an instruction of Python between, at which an
    interruption would leave it locked."""
    steps = (partial(gst.gst_memory_map, memory, byref(info), flags),
             partial(gst.gst_memory_unmap, memory, byref(info)))
    all(map(partial.__call__, steps))  # to the first that fails
    return bool(info.memory)


def give_memory_back() -> None:
    """Gives freed memory back to the system. glibc keeps it for each thread that has allocated,
    even an ended one: each walk of a Reader might leave hundreds of MiB behind."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(c_size_t(0))


def address_of(array: Any) -> int:
    """Where a numpy array lies. array.ctypes.data takes three times as long."""
    return array.__array_interface__["data"][0]


def buffer_around(gst: Libraries, address: int, size: int) -> int:
    """A read-only GstBuffer of memory that the caller keeps alive until nothing reads it."""
    return gst.gst_buffer_new_wrapped_full(MEMORY_READONLY, address, size, 0, size, None, None)


def buffer_of_size(gst: Libraries, size: int, fill: Any) -> int:
    """A new GstBuffer of `size` bytes; `fill` is called with a memoryview of them."""
    buffer = gst.gst_buffer_new_allocate(None, size, None)
    info = MapInfo()
    if not buffer or not gst.gst_buffer_map(buffer, byref(info), MAP_WRITE):
        if buffer:
            gst.gst_mini_object_unref(buffer)
        raise MemoryError(f"no memory for {size} bytes")
    try:
        fill(memoryview((c_uint8 * size).from_address(info.data)).cast("B"))
    except BaseException:
        gst.gst_buffer_unmap(buffer, byref(info))
        gst.gst_mini_object_unref(buffer)
        raise
    gst.gst_buffer_unmap(buffer, byref(info))
    return buffer
