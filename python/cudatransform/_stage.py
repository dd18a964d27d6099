"""One element or several, kept alive: buffers are pushed from Python and pulled behind them."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from ctypes import POINTER, byref, c_void_p
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, Callable, Dict, List, Optional

from . import _gst
from ._gone import in_turn, into, when_gone
from .errors import Unavailable

_SINK = "appsink name=last sync=false async=false enable-last-sample=false wait-on-eos=false"
_PULL = b"try-pull-sample"
_RUNS_A_LOOK = 32  # at the bus, which would grow otherwise


class StageError(Exception):
    """An element has posted an error; the text is its message. The stage goes on after flush()."""


class Stage:
    """`elements`, a line of gst-launch whose first element has name=first, and an appsink.

    push() runs the elements in the calling thread, so what they make at once is there for pull()
    afterwards. Not for several threads at a time, but for one that pushes and one that pulls.
    `most`: buffers that the appsink keeps before a push waits; 0: any number. `context`: a
    GstContext, such as that of a CUDA device. `queued`: the first element is a queue without limits,
    so that a push waits for nobody.
    """

    def __init__(self, elements: str, most: int = 0, context: Optional[int] = None,
                 queued: bool = False) -> None:
        self._gst = gst = _gst.libraries()
        self._pad_push = gst.gst_pad_push_now if queued else gst.gst_pad_push
        self._caps: Optional[bytes] = None
        self._runs = 0
        self.memory: Any = None  # what buffers are around: it goes after the elements
        owned: List[int] = []
        stops = chain(map(partial, repeat(gst.gst_element_set_state), islice(owned, 1),
                          repeat(_gst.STATE_NULL)),
                      map(partial, repeat(gst.gst_pad_set_active), islice(owned, 1, 2), repeat(0)))
        self._close = in_turn(chain(stops, map(partial, repeat(gst.gst_object_unref), owned)))
        when_gone(self, self._close)
        error = POINTER(_gst.GError)()
        self._pipeline = into(owned, gst.gst_parse_launch,
                              f"{elements} ! {_SINK} max-buffers={most}".encode(), byref(error))
        if error:
            if not self._pipeline:
                owned.clear()
            self.close()
            raise Unavailable(f"{gst.take_error(error)} (GST_PLUGIN_PATH says where a plugin is "
                              "that is not installed)")
        gst.gst_object_ref_sink(self._pipeline)
        self._pad = into(owned, gst.gst_pad_new, b"src", _gst.PAD_SRC)
        gst.gst_object_ref_sink(self._pad)
        if context is not None:
            gst.gst_element_set_context(self._pipeline, context)
        self._first = into(owned, gst.gst_bin_get_by_name, self._pipeline, b"first")
        self._last = into(owned, gst.gst_bin_get_by_name, self._pipeline, b"last")
        self._bus = into(owned, gst.gst_element_get_bus, self._pipeline)
        gst.gst_pad_link(self._pad, into(owned, gst.gst_element_get_static_pad, self._first, b"sink"))
        if gst.gst_element_set_state(self._pipeline, _gst.STATE_PLAYING) == _gst.STATE_FAILURE:
            reason = self._error() or "an element does not start"
            self.close()
            raise Unavailable(reason)
        gst.gst_pad_set_active(self._pad, 1)
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_stream_start(b"python"))

    def set(self, name: str, value: str) -> None:
        """Sets a property of the first element."""
        self._gst.gst_util_set_object_arg(self._first, name.encode(), value.encode())

    def set_caps(self, text: str) -> None:
        """Caps for what is pushed from now on, in the words of gst-launch."""
        encoded = text.encode()
        if encoded != self._caps:
            self._set_caps(self._gst.gst_caps_from_string(encoded))
            self._caps = encoded

    def set_caps_object(self, key: bytes, caps: int) -> None:
        """The same of a GstCaps, which is taken over. `key` says when two are equal."""
        if key != self._caps:
            self._set_caps(self._gst.gst_mini_object_ref(caps))
            self._caps = key
        self._gst.gst_mini_object_unref(caps)

    def _set_caps(self, caps: int) -> None:
        gst = self._gst
        if not caps:
            raise ValueError("impossible caps")
        begun = self._caps is not None
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_caps(caps))
        gst.gst_mini_object_unref(caps)
        if not begun:
            self._push_segment()

    def _push_segment(self) -> None:
        gst = self._gst
        segment = gst.gst_segment_new()
        gst.gst_segment_init(segment, _gst.FORMAT_TIME)
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_segment(segment))
        gst.gst_segment_free(segment)

    def push(self, buffer: int) -> None:
        """Pushes a GstBuffer, whose reference is taken over. Raises StageError."""
        flow = self._pad_push(self._pad, buffer)
        if flow != _gst.FLOW_OK:
            raise StageError(self._error() or f"the elements refuse what is pushed ({flow})")

    def push_end(self) -> None:
        """The end of the stream: all that is on its way comes out."""
        self._gst.gst_pad_push_event(self._pad, self._gst.gst_event_new_eos())

    def finish_all(self) -> None:
        """Has a decoder push all that it has, as it does before a gap in a stream."""
        self._gst.gst_pad_push_event(self._pad, self._gst.gst_event_new_gap(0, 1))

    def has_ended(self) -> bool:
        """Whether push_end() was called and everything has been pulled."""
        return bool(self._gst.gst_app_sink_is_eos(self._last))

    def pull(self, patience: int = 0) -> Optional[_gst.Sample]:
        """The next buffer that came out; None where there is none.

        patience: nanoseconds to wait for one
        """
        gst = self._gst
        sample = _gst.Sample(gst)
        gst.g_signal_emit_by_name_now(self._last, _PULL, 0, byref(sample.slot))
        if not sample.slot and patience:
            gst.g_signal_emit_by_name(self._last, _PULL, patience, byref(sample.slot))
        return sample if sample.has_come(gst) else None

    def run(self, buffer: int, memory: Any) -> Optional[_gst.Sample]:
        """What the elements make of a GstBuffer, whose reference is taken over, while it is pushed;
        None: nothing. Raises StageError.

        memory: what the buffer is around. It stays until it has been read, or the elements are gone.
        """
        self.memory = memory
        self._runs += 1
        # By its time a buffer is known for what was made of this one.
        _gst.BufferHead.from_address(buffer).pts = self._runs
        self.push(buffer)
        sample = self._made_of_run()
        if sample is None:
            # Nothing comes of it, or not yet: behind this everything has.
            self.finish_all()
            sample, error = self._made_of_run(), self.forget_messages()
            if error:
                raise StageError(error)
        elif self._runs % _RUNS_A_LOOK == 0:
            self.forget_messages()
        self.memory = None
        return sample

    def _made_of_run(self) -> Optional[_gst.Sample]:
        while True:
            sample = self.pull()
            if sample is None or _gst.BufferHead.from_address(sample.buffer).pts == self._runs:
                return sample

    def forget_messages(self) -> Optional[str]:
        """Empties the bus, which would grow otherwise. The text of an error that was in it."""
        return self._error()

    def flush(self) -> None:
        """After a StageError: drops what is on its way, and goes on."""
        gst = self._gst
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_flush_start())
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_flush_stop(1))
        self._push_segment()
        self._error()

    def _error(self) -> Optional[str]:
        gst = self._gst
        message = gst.gst_bus_pop_filtered(self._bus, _gst.MESSAGE_ERROR)
        if not message:
            return None
        error, debug = POINTER(_gst.GError)(), c_void_p()
        gst.gst_message_parse_error(message, byref(error), byref(debug))
        gst.g_free(debug)
        gst.gst_mini_object_unref(message)
        self._error()
        return gst.take_error(error)

    def stop(self) -> None:
        """Ends waits in push() and pull(), of any thread. The stage is of no use afterwards."""
        if self._pipeline:
            self._gst.gst_element_set_state(self._pipeline, _gst.STATE_NULL)

    def close(self) -> None:
        """Stops and frees everything but buffers that are still held. It is done when nothing refers
        to a stage, too."""
        self._close(None)
        self._pad = self._first = self._last = self._bus = self._pipeline = self.memory = None


class Stages:
    """Stages that are kept from call to call, each for one line of elements.

    A call takes one out and puts it back when what it pushed has come out, or has been dropped. So one
    that an interruption finds on its way, wherever that is, is not used again: it goes with the call,
    and the next one makes another.
    """

    def __init__(self) -> None:
        self._idle: Dict[str, Stage] = {}

    def run(self, elements: str, prepare: Callable[[Stage], int], memory: Any,
            context: Optional[int] = None) -> Optional[_gst.Sample]:
        """Runs a stage of these elements, made where there is none. Raises StageError.

        prepare: sets properties and caps, and returns the GstBuffer to push, around `memory`
        """
        stage = self._idle.pop(elements, None) or Stage(elements, context=context)
        try:
            sample = stage.run(prepare(stage), memory)
        except StageError:
            stage.flush()
            stage.memory = None
            self._idle[elements] = stage
            raise
        self._idle[elements] = stage
        return sample

    def close(self) -> None:
        """Frees the elements."""
        while self._idle:
            self._idle.popitem()[1].close()
