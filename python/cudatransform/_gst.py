"""GStreamer by ctypes: its functions, buffers as memory, and the guard of forks.

ctypes and not PyGObject: a call costs a tenth, and needs nothing but the libraries. Virtual
environments with torch in them rarely have PyGObject.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_uint8, c_uint64,
                    c_void_p)
from functools import partial
from typing import Any, Dict, Optional, Tuple

from ._gone import when_gone
from ._libraries import load, own_plugins, symbol
from .errors import Unavailable

MAP_READ, MAP_WRITE = 1, 2
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


_P, _S, _I, _U = c_void_p, c_char_p, c_int, c_uint
_FUNCTIONS: Dict[str, Dict[str, Tuple]] = {
    "libglib-2.0.so.0": {
        "g_error_free": (None, _P), "g_free": (None, _P),
    },
    "libgstreamer-1.0.so.0": {
        "gst_init_check": (_I, _P, _P, POINTER(POINTER(GError))),
        "gst_plugin_load_file": (_P, _S, POINTER(POINTER(GError))),
        "gst_parse_launch": (_P, _S, POINTER(POINTER(GError))),
        "gst_bin_get_by_name": (_P, _P, _S),
        "gst_element_set_state": (_I, _P, _I), "gst_element_get_bus": (_P, _P),
        "gst_element_get_static_pad": (_P, _P, _S),
        "gst_object_unref": (None, _P), "gst_mini_object_unref": (None, _P),
        "gst_mini_object_replace": (_I, _P, _P),
        "gst_mini_object_make_writable": (_P, _P),
        "gst_util_set_object_arg": (None, _P, _S, _S),
        "gst_pad_new": (_P, _S, _I), "gst_pad_set_active": (_I, _P, _I),
        "gst_pad_link": (_I, _P, _P), "gst_pad_push": (_I, _P, _P),
        "gst_pad_push_event": (_I, _P, _P), "gst_object_ref_sink": (_P, _P),
        "gst_segment_new": (_P,), "gst_segment_init": (None, _P, _I),
        "gst_segment_free": (None, _P),
        "gst_event_new_stream_start": (_P, _S), "gst_event_new_caps": (_P, _P),
        "gst_event_new_segment": (_P, _P),
        "gst_event_new_gap": (_P, c_uint64, c_uint64),
        "gst_event_new_flush_start": (_P,), "gst_event_new_flush_stop": (_P, _I),
        "gst_caps_from_string": (_P, _S),
        "gst_bus_pop_filtered": (_P, _P, _I),
        "gst_message_parse_error": (None, _P, POINTER(POINTER(GError)), POINTER(_P)),
        "gst_message_parse_error_details": (None, _P, POINTER(_P)),
        "gst_structure_get_string": (_S, _P, _S),
        "gst_buffer_new_wrapped_full": (_P, _I, _P, c_size_t, c_size_t, c_size_t, _P, _P),
        "gst_buffer_n_memory": (_U, _P), "gst_buffer_peek_memory": (_P, _P, _U),
        "gst_memory_map": (_I, _P, POINTER(MapInfo), _I),
        "gst_memory_unmap": (None, _P, POINTER(MapInfo)),
        "gst_sample_get_buffer": (_P, _P),
    },
    "libgobject-2.0.so.0": {
        # For "try-pull-sample": the sink, the signal, nanoseconds, the place of the sample.
        "g_signal_emit_by_name": (None, _P, _S, c_uint64, POINTER(_P)),
         # one property
    },
    "libgstvideo-1.0.so.0": {
        "gst_video_format_from_string": (_I, _S),
        "gst_buffer_add_video_meta_full": (_P, _P, _I, _I, _U, _U, _U, POINTER(c_size_t),
                                           POINTER(_I)),
    },
}


class Libraries:
    """The functions above as attributes, and GStreamer initialised. One a process: libraries()."""

    def __init__(self) -> None:
        for library, functions in _FUNCTIONS.items():
            loaded = load(library)
            for name, (result, *arguments) in functions.items():
                function = getattr(loaded, symbol(name))
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
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


class HeldBuffer:
    """The memory of a Sample's buffer, as an array of bytes.

    The memory is not mapped any more: what elements push stays where it is as long as the buffer
    lives. Raises Unavailable for a buffer in several pieces or one that cannot be mapped.
    """

    __slots__ = ("sample", "__array_interface__")

    def __init__(self, gst: Libraries, sample: Sample) -> None:
        self.sample = sample
        if gst.gst_buffer_n_memory(sample.buffer) != 1:
            raise Unavailable("a buffer is in several pieces")
        memory, info = gst.gst_buffer_peek_memory(sample.buffer, 0), MapInfo()
        if not _look(gst, memory, info, MAP_READ):
            raise Unavailable("a buffer cannot be mapped")
        # We avoid a property: numpy drops exceptions of a signal's handler in one.
        self.__array_interface__ = {"shape": (info.size,), "typestr": "|u1", "version": 3,
                                    "data": (info.data, True)}


def _look(gst: Libraries, memory: int, info: MapInfo, flags: int) -> bool:
    """Maps a GstMemory and unmaps it without an instruction of Python between, at which an
    interruption would leave it locked."""
    steps = (partial(gst.gst_memory_map, memory, byref(info), flags),
             partial(gst.gst_memory_unmap, memory, byref(info)))
    all(map(partial.__call__, steps))  # to the first that fails
    return bool(info.memory)


def buffer_around(gst: Libraries, address: int, size: int) -> int:
    """A read-only GstBuffer of memory that the caller keeps alive until nothing reads it."""
    return gst.gst_buffer_new_wrapped_full(MEMORY_READONLY, address, size, 0, size, None, None)
