# Python's instructions as places: a function is called before each of a package's, in this thread.
# SPDX-License-Identifier: LGPL-2.1-or-later
import dis
import sys
import threading

# After these the interpreter checks for signals (CPython 3.11 and later).
LOOKS = ("CALL", "RESUME", "JUMP_BACKWARD", "PRECALL", "YIELD")
# Python's own way to a handler and back, where an exception would confuse Python and not us; and a
# call's first instruction, which is the call itself.
NO_PLACES = frozenset(("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE", "COPY", "CHECK_EXC_MATCH",
                       "WITH_EXCEPT_START", "RESUME"))
# From 3.12 on. There a trace function misses instructions of code that was traced before.
MONITORING = getattr(sys, "monitoring", None)
TOOL = 4  # a tool id without a name in Python
NAMES = {}  # opcodes(), by the code's id: hashing code takes time in proportion to its length


def opcodes(code):
    """{offset: name} of the instructions of code that is never freed."""
    if id(code) not in NAMES:
        NAMES[id(code)] = {instruction.offset: instruction.opname
                           for instruction in dis.get_instructions(code)}
    return NAMES[id(code)]


class Places:
    """Calls a function, which may raise, at every place of the files whose names begin with
    `folder`: before any instruction, or only where the interpreter looks for signals. From start()
    to stop()."""

    def __init__(self, folder, reached, looks_only=False):
        self.folder, self.reached, self.looks_only = folder, reached, looks_only
        self.thread = threading.get_ident()
        self.last = {}  # names of instructions, by the frames that they are of

    def start(self):
        if MONITORING is None:
            sys.settrace(self._call)
            return
        MONITORING.use_tool_id(TOOL, "places")
        MONITORING.register_callback(TOOL, MONITORING.events.INSTRUCTION, self._instruction)
        MONITORING.set_events(TOOL, MONITORING.events.INSTRUCTION)

    def stop(self):
        """More than once, too."""
        if MONITORING is None:
            sys.settrace(None)
        elif MONITORING.get_tool(TOOL):
            MONITORING.set_events(TOOL, MONITORING.events.NO_EVENTS)
            MONITORING.free_tool_id(TOOL)

    def _call(self, frame, event, _):
        if event != "call" or not frame.f_code.co_filename.startswith(self.folder):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        self._pass(frame, "RESUME")
        return self._opcode

    def _opcode(self, frame, event, _):
        if event == "opcode":
            self._pass(frame, opcodes(frame.f_code).get(frame.f_lasti, ""))
        return self._opcode

    def _instruction(self, code, offset):
        if not code.co_filename.startswith(self.folder):
            return MONITORING.DISABLE
        if threading.get_ident() == self.thread:
            self._pass(sys._getframe(1), opcodes(code).get(offset, ""))
        return None

    def _pass(self, frame, name):
        if self.looks_only:
            before, self.last[id(frame)] = self.last.get(id(frame), ""), name
            if not before.startswith(LOOKS):
                return
        if name not in NO_PLACES:
            self.reached()
