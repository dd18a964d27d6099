"""Elements that are kept alive: Python pushes buffers into the first and pulls behind the last."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from ctypes import POINTER, byref, c_void_p
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, List, Optional

from . import _gst
from ._gone import in_turn, into, when_gone
from .errors import Unavailable

_SINK = "appsink name=last sync=false async=false enable-last-sample=false wait-on-eos=false"
_PULL = b"try-pull-sample"
_RUNS_A_LOOK = 32  # at the bus: without it messages would pile up


class StageError(Exception):
    """An element has posted an error. The text is the reason in its details, or else its message.

    The stage goes on after flush().
    """


class Stage:
    """`elements`, a line of gst-launch whose first element has name=first, and an appsink.

    push() runs the elements in the calling thread, so what they make at once is there for pull().
    Raises Unavailable where elements are missing or do not start.
    """

    def __init__(self, elements: str) -> None:
        self._gst = gst = _gst.libraries()
        self._caps: Optional[bytes] = None
        self._runs = 0
        self.memory: Any = None  # of the buffers: freed after the elements
        owned: List[int] = []
        stops = chain(map(partial, repeat(gst.gst_element_set_state), islice(owned, 1),
                          repeat(_gst.STATE_NULL)),
                      map(partial, repeat(gst.gst_pad_set_active), islice(owned, 1, 2), repeat(0)))
        self._close = in_turn(chain(stops, map(partial, repeat(gst.gst_object_unref), owned)))
        when_gone(self, self._close)
        error = POINTER(_gst.GError)()
        self._pipeline = into(owned, gst.gst_parse_launch,
                              f"{elements} ! {_SINK}".encode(), byref(error))
        if error:
            if not self._pipeline:
                owned.clear()
            self.close()
            raise Unavailable(f"{gst.take_error(error)} (where the plugin is not installed, "
                              "GST_PLUGIN_PATH names its folder)")
        gst.gst_object_ref_sink(self._pipeline)
        self._pad = into(owned, gst.gst_pad_new, b"src", _gst.PAD_SRC)
        gst.gst_object_ref_sink(self._pad)
        self._first = into(owned, gst.gst_bin_get_by_name, self._pipeline, b"first")
        self._last = into(owned, gst.gst_bin_get_by_name, self._pipeline, b"last")
        self._second: Optional[int] = None
        if "name=second" in elements:
            self._second = into(owned, gst.gst_bin_get_by_name, self._pipeline, b"second")
        self._bus = into(owned, gst.gst_element_get_bus, self._pipeline)
        gst.gst_pad_link(self._pad,
                         into(owned, gst.gst_element_get_static_pad, self._first, b"sink"))
        if gst.gst_element_set_state(self._pipeline, _gst.STATE_PLAYING) == _gst.STATE_FAILURE:
            reason = self.forget_messages() or "an element does not start"
            self.close()
            raise Unavailable(reason)
        gst.gst_pad_set_active(self._pad, 1)
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_stream_start(b"python"))

    def set(self, name: str, value: str, second: bool = False) -> None:
        """Sets a property of the first element, or of the one with name=second."""
        element = self._second if second else self._first
        self._gst.gst_util_set_object_arg(element, name.encode(), value.encode())

    def set_caps(self, text: str) -> None:
        """Sets the caps of buffers to come, in gst-launch's syntax. Raises ValueError."""
        encoded = text.encode()
        if encoded != self._caps:
            self._set_caps(self._gst.gst_caps_from_string(encoded))
            self._caps = encoded

    def _set_caps(self, caps: int) -> None:
        gst = self._gst
        if not caps:
            raise ValueError("GStreamer has no caps for this: a size or a format is out of range")
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
        flow = self._gst.gst_pad_push(self._pad, buffer)
        if flow != _gst.FLOW_OK:
            raise StageError(self.forget_messages()
                             or f"the elements refuse a buffer (GstFlowReturn {flow})")

    def finish_all(self) -> None:
        """Pushes a gap, before which a decoder pushes all that it has."""
        self._gst.gst_pad_push_event(self._pad, self._gst.gst_event_new_gap(0, 1))

    def pull(self) -> Optional[_gst.Sample]:
        """The next buffer that came out; None where there is none."""
        gst = self._gst
        sample = _gst.Sample(gst)
        gst.g_signal_emit_by_name(self._last, _PULL, 0, byref(sample.slot))
        return sample if sample.has_come(gst) else None

    def run(self, buffer: int, memory: Any) -> Optional[_gst.Sample]:
        """Pushes a GstBuffer, and returns what the elements make of it; None: nothing.

        The buffer's reference is taken over. `memory`, which it is around, is kept until it has
        been read or the elements are gone. Raises StageError.
        """
        self.memory = memory
        self._runs += 1
        # The result has the same time, which tells it from the remains of an interrupted run.
        _gst.BufferHead.from_address(buffer).pts = self._runs
        self.push(buffer)
        sample = self._made_of_run()
        if sample is None:
            # It was dropped, or has not come yet: the gap drives it out.
            self.finish_all()
            sample, error = self._made_of_run(), self.forget_messages()
            if error:
                raise StageError(error)
            if sample is None:
                self.flush()  # elements forget what earlier buffers had to do with this one
        elif self._runs % _RUNS_A_LOOK == 0:
            self.forget_messages()
        self.memory = None
        return sample

    def _made_of_run(self) -> Optional[_gst.Sample]:
        while True:
            sample = self.pull()
            if sample is None or _gst.BufferHead.from_address(sample.buffer).pts == self._runs:
                return sample

    def flush(self) -> None:
        """Drops what is on its way, and makes the stage ready again after a StageError."""
        gst = self._gst
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_flush_start())
        gst.gst_pad_push_event(self._pad, gst.gst_event_new_flush_stop(1))
        self._push_segment()
        self.forget_messages()

    def forget_messages(self) -> Optional[str]:
        """Empties the bus. Returns the text of the first error in it, or None."""
        gst = self._gst
        message = gst.gst_bus_pop_filtered(self._bus, _gst.MESSAGE_ERROR)
        if not message:
            return None
        error, debug, details = POINTER(_gst.GError)(), c_void_p(), c_void_p()
        gst.gst_message_parse_error(message, byref(error), byref(debug))
        gst.g_free(debug)
        text = gst.take_error(error)
        gst.gst_message_parse_error_details(message, byref(details))
        reason = gst.gst_structure_get_string(details, b"reason") if details else None
        gst.gst_mini_object_unref(message)
        self.forget_messages()
        return reason.decode("utf-8", "replace") if reason else text

    def close(self) -> None:
        """Stops and frees everything but buffers that are still held.

        The same happens when nothing refers to a stage any more.
        """
        self._close(None)
        self._pad = self._first = self._second = self._last = self._bus = self._pipeline = None
        self.memory = None
