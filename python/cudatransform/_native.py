"""libcudatransform by ctypes: its structures, its engines, and what holds its memory.

An engine is made for each device when it is first needed, and kept to the end of the process. The
child of a fork begins without engines, as what its parent has made belongs to the parent.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import collections
import ctypes
import itertools
import os
import sys
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_ubyte, c_uint16, c_uint32, c_uint64, c_void_p)
from functools import partial
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._gone import when_gone, when_gone_lightly
from ._libraries import load, symbol
from .errors import Unavailable

(OK, INVALID_ARGUMENT, UNREADABLE, DAMAGED, UNSUPPORTED, LIMIT, OUT_OF_MEMORY, NOT_FOUND,
 DEVICE_LOST, FORKED, FAILED) = range(11)  # CtCode
RGB, GRAY, COEFFICIENTS = range(3)         # CtOutput
PRESETS = "annex-k", "perceptual"           # CtPreset
TYPES = "uint8", "uint16", "int16", "int32", "float16", "float32", "bfloat16"  # CtType
COLORS = "GRAYSCALE", "YCbCr", "RGB", "CMYK", "YCCK", "2CLR"  # CtColor, as samplings begin
FORK_REMEDY = ("start it by spawn or forkserver (torch: DataLoader(..., "
               "multiprocessing_context='spawn'))")


class Error(Structure):
    """CtError."""

    _fields_ = [("code", c_int), ("text", c_char * 508)]

    @property
    def words(self) -> str:
        return self.text.decode("utf-8", "replace")


class EngineOptions(Structure):
    """CtEngineOptions."""

    _fields_ = [("struct_size", c_size_t), ("device", c_int32), ("threads", c_int32),
                ("max_device_memory", c_uint64), ("stream", c_void_p)]


class DecodeOptions(Structure):
    """CtDecodeOptions."""

    _fields_ = [("struct_size", c_size_t), ("output", c_int), ("upsampling", c_int),
                ("scale", c_int32), ("conceal", c_int32), ("keep_metadata", c_int32),
                ("stack", c_int32), ("max_pixels", c_uint64), ("max_memory", c_uint64),
                ("batches", c_int32), ("draft_width", c_int32), ("draft_height", c_int32),
                ("upright", c_int32)]


class EncodeOptions(Structure):
    """CtEncodeOptions."""

    _fields_ = [("struct_size", c_size_t), ("quality", c_int32), ("sampling", c_int),
                ("preset", c_int), ("quantizer", c_int), ("method", c_int),
                ("target_size", c_int64), ("max_size", c_int64), ("tables", c_void_p),
                ("n_tables", c_int32), ("progressive", c_int32), ("arithmetic", c_int32),
                ("optimize", c_int32), ("restart", c_int32), ("markers", c_char_p),
                ("markers_size", c_size_t), ("leave_metadata", c_int32)]


class Source(Structure):
    """CtSource, with the members of its CtCrop."""

    _fields_ = [("data", c_void_p), ("size", c_size_t), ("path", c_char_p), ("left", c_int32),
                ("top", c_int32), ("right", c_int32), ("bottom", c_int32)]


class HeldSource(Structure):
    """Source, which keeps the bytes that it is given."""

    _fields_ = [("data", c_char_p), ("size", c_size_t), ("path", c_char_p), ("left", c_int32),
                ("top", c_int32), ("right", c_int32), ("bottom", c_int32)]


class Info(Structure):
    """CtInfo."""

    _fields_ = [("size", c_uint64), ("marker", c_int32), ("width", c_int32), ("height", c_int32),
                ("depth", c_int32), ("components", c_int32), ("color", c_int), ("id", c_int32 * 4),
                ("h_samp", c_int32 * 4), ("v_samp", c_int32 * 4), ("table", c_int32 * 4),
                ("n_tables", c_int32), ("tables", (c_uint16 * 64) * 4), ("orientation", c_int32),
                ("pictures", c_int32)]


class Component(Structure):
    """CtComponent."""

    _fields_ = [("id", c_int32), ("h_samp", c_int32), ("v_samp", c_int32), ("width", c_int32),
                ("height", c_int32), ("blocks_w", c_int32), ("blocks_h", c_int32),
                ("table", c_int32), ("data", c_void_p), ("pitch", c_int64)]


class Place(Structure):
    """CtPlace."""

    _fields_ = [("offset", c_uint64), ("size", c_uint64)]


class Picture(Structure):
    """CtPicture."""

    _fields_ = [("error", Error), ("width", c_int32), ("height", c_int32), ("depth", c_int32),
                ("color", c_int), ("irregular", c_uint32), ("by_device", c_int32),
                ("channels", c_int32), ("data", c_void_p), ("pitch", c_int64),
                ("components", c_int32), ("n_tables", c_int32), ("component", Component * 4),
                ("tables", (c_uint16 * 64) * 4), ("markers", c_void_p), ("markers_size", c_size_t),
                ("trailing", c_void_p), ("trailing_size", c_size_t),
                ("attachments", POINTER(Place)),
                ("n_attachments", c_int32), ("block", c_void_p), ("rest", c_void_p)]


class Image(Structure):
    """CtImage."""

    _fields_ = [("data", c_void_p), ("pitch", c_int64), ("width", c_int32), ("height", c_int32),
                ("channels", c_int32), ("on_device", c_int32)]


class File(Structure):
    """CtFile."""

    _fields_ = [("error", Error), ("data", c_void_p), ("size", c_size_t), ("by_device", c_int32),
                ("block", c_void_p)]


class DctOptions(Structure):
    """CtDctOptions."""

    _fields_ = [("struct_size", c_size_t), ("method", c_int), ("depth", c_int32),
                ("table", c_void_p)]


class Samples(Structure):
    """CtSamples."""

    _fields_ = [("data", c_void_p), ("pitch", c_int64), ("width", c_int32), ("height", c_int32)]


class Coefficients(Structure):
    """CtCoefficients and CtBands."""

    _fields_ = [("data", c_void_p), ("pitch", c_int64), ("blocks_w", c_int32),
                ("blocks_h", c_int32)]


class FlipOptions(Structure):
    """CtFlipOptions."""

    _fields_ = [("struct_size", c_size_t), ("direction", c_int), ("trim", c_int32),
                ("perfect", c_int32), ("left", c_int32), ("top", c_int32), ("width", c_int32),
                ("height", c_int32)]


class Planes(Structure):
    """CtPlanes."""

    _fields_ = [("components", c_int32), ("bands", Coefficients * 4), ("block", c_void_p)]


class ResizeOptions(Structure):
    """CtResizeOptions."""

    _fields_ = [("struct_size", c_size_t), ("width", c_int32), ("height", c_int32),
                ("filter", c_int), ("order", c_int), ("reducing_gap", c_double),
                ("has_alpha", c_int32), ("type", c_int), ("planar", c_int32), ("recipe", c_int),
                ("mean", POINTER(c_double)), ("std", POINTER(c_double))]


class Box(Structure):
    """CtBox."""

    _fields_ = [("left", c_double), ("top", c_double), ("right", c_double), ("bottom", c_double)]


class Array(Structure):
    """CtArray."""

    _fields_ = [("data", c_void_p), ("pitch", c_int64)]


def columns_of(kind: Any, *names: str) -> np.dtype:
    """Members of a structure as the columns of a numpy array over an array of structures."""
    words = {4: "u4", 8: "u8"}
    members = [getattr(kind, name) for name in names]
    return np.dtype({"names": names, "formats": [words[member.size] for member in members],
                     "offsets": [member.offset for member in members],
                     "itemsize": ctypes.sizeof(kind)})


def as_array(array: Any, kind: Any) -> np.ndarray:
    """An array of ctypes as one of numpy, over the same memory."""
    return np.frombuffer(array, kind, len(array))


def address_of(array: np.ndarray) -> int:
    """The address of a numpy array. array.ctypes.data takes three times as long."""
    return array.__array_interface__["data"][0]


def addresses_of(data: Sequence[bytes]) -> np.ndarray:
    """The addresses of bytes, each followed by a zero byte."""
    return as_array((c_char_p * len(data))(*data), np.uintp)


_UINT8 = np.dtype(np.uint8)
FIRST = 1  # address of a Block's buffer: numpy takes 0 for no buffer
_P, _E = c_void_p, POINTER(Error)
_FUNCTIONS: Dict[str, Tuple] = {
    "ct_version": (c_char_p,),
    "ct_engine_new": (c_int, POINTER(EngineOptions), POINTER(_P), _E),
    "ct_engine_free": (None, _P),
    "ct_engine_set_max_device_memory": (c_int, _P, c_uint64, _E),
    "ct_copy_to_host": (c_int, _P, _P, c_int64, _P, c_int64, c_size_t, c_size_t, _E),
    "ct_info": (c_int, _P, POINTER(Info), _E),
    "ct_decode": (c_int, _P, POINTER(DecodeOptions), _P, c_size_t, _P, _E),
    # Without types of arguments: they are ctypes' own objects, which need no conversion.
    "ct_decode_image": (c_int,),
    "ct_decoder_new": (c_int, _P, POINTER(DecodeOptions), POINTER(_P), _E),
    "ct_decoder_free": (None, _P),
    "ct_decoder_push": (c_int, _P, _P, c_size_t, _E),
    "ct_decoder_pull": (c_int, _P, _P, c_size_t, c_int32, POINTER(c_int32), _E),
    "ct_encode": (c_int, _P, POINTER(EncodeOptions), POINTER(Image), c_size_t, _P, _E),
    "ct_write": (c_int, _P, POINTER(EncodeOptions), POINTER(Picture), c_size_t, _P, _E),
    "ct_reencode": (c_int, _P, POINTER(EncodeOptions), POINTER(Picture), c_size_t, _P, _E),
    "ct_dct": (c_int, _P, POINTER(DctOptions), POINTER(Samples), POINTER(Coefficients), _E),
    "ct_idct": (c_int, _P, POINTER(DctOptions), POINTER(Coefficients), POINTER(Samples), _E),
    "ct_quality_tables": (c_int, c_int, c_int32, c_int32, c_int32, _P, _P, _E),
    "ct_flip": (c_int, _P, POINTER(FlipOptions), POINTER(Picture), POINTER(Picture), _E),
    "ct_requantize": (c_int, _P, c_int32, POINTER(Picture), POINTER(Picture), _E),
    "ct_pixels": (c_int, _P, POINTER(DecodeOptions), POINTER(Picture), POINTER(Picture), _E),
    "ct_planes": (c_int, _P, c_int, POINTER(Picture), POINTER(Planes), _E),
    "ct_resize": (c_int, _P, POINTER(ResizeOptions), POINTER(Image), POINTER(Box), c_size_t,
                  POINTER(_P), POINTER(_P), _E),
    "ct_squared_error": (c_int, _P, c_int, POINTER(Array), POINTER(Array), c_size_t, c_size_t,
                         POINTER(c_double), _E),
    "ct_block_new": (c_int, _P, c_size_t, POINTER(_P), POINTER(_P), _E),
    "ct_block_unref": (None,),  # likewise
    "ct_planes_clear": (None, _P),
    "ct_pictures_clear": (None, _P, c_size_t),
    "ct_files_clear": (None, _P, c_size_t),
}
# They never wait, so they keep Python's lock: giving it away costs more than the call.
_BRIEF = {"ct_block_unref", "ct_pictures_clear", "ct_files_clear", "ct_planes_clear",
          "ct_version"}


class Library:
    """The functions above as attributes. One a process: library()."""

    def __init__(self) -> None:
        name = "libcudatransform.so.0"
        patient, brief = load(name), load(name, ctypes.PyDLL)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(brief if name in _BRIEF else patient, symbol(name))
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers: set in __init__
        raise AttributeError(name)


_loaded: List[Library] = []


def library() -> Library:
    """The library, loaded at the first call. Raises Unavailable."""
    if not _loaded:
        _loaded.append(Library())  # two threads may both do it
    return _loaded[0]


def check(code: int, error: Error) -> None:
    """Raises the exception of a whole call's CtCode: Unavailable, MemoryError or ValueError."""
    if code == OK:
        return
    if code == FORKED:
        raise Unavailable(f"this was made before the process was forked: {FORK_REMEDY}")
    if code == NOT_FOUND and "fork" in error.words:
        raise Unavailable(f"{error.words}: {FORK_REMEDY}")
    if code == OUT_OF_MEMORY:
        raise MemoryError(error.words)
    raise (ValueError if code == INVALID_ARGUMENT else Unavailable)(error.words)


def check_device(error: Error) -> None:
    """Raises Unavailable where the device, and not a file, is why there is no result."""
    if error.code in (NOT_FOUND, DEVICE_LOST, FORKED):
        check(error.code, error)


def check_process(process: int) -> None:
    """Raises Unavailable in another process than that of a number."""
    if os.getpid() != process:
        check(FORKED, Error())


class Engine:
    """CPU threads and, if `device` is not None, a GPU. Functions of C take it.

    threads: 0: as many as the process may use cores
    Raises Unavailable.
    """

    __slots__ = ("_as_parameter_", "_freed", "device", "__weakref__")

    def __init__(self, device: Optional[int], threads: int = 0) -> None:
        self._freed, self.device = c_void_p(), device
        when_gone(self, partial(library().ct_engine_free, self._freed))
        options = EngineOptions(ctypes.sizeof(EngineOptions), -1 if device is None else device,
                                threads)
        error = Error()
        check(library().ct_engine_new(options, byref(self._freed), error), error)
        self._as_parameter_ = c_void_p(self._freed.value)

    def keep(self) -> None:
        """Frees it only with the process: daemon threads may use it until then."""
        self._freed.value = None


_engines: Dict[Optional[int], Engine] = {}
_limits: Dict[int, int] = {}  # of engines of GPUs, in bytes
os.register_at_fork(after_in_child=_engines.clear)


def engine(device: Optional[int]) -> Engine:
    """The process's engine of a device, or None of the CPU. Raises Unavailable."""
    found = _engines.get(device)
    if found is None:
        found = _engines.setdefault(device, Engine(device))  # another thread may have made it, too
        found.keep()
        if device in _limits:
            _apply_limit(found)
    return found


def limit_memory(device: int, size: int) -> None:
    """Limits the blocks on a GPU of the process's engine to this many bytes; 0: no limit."""
    _limits[device] = size
    if device in _engines:
        _apply_limit(_engines[device])


def _apply_limit(found: Engine) -> None:
    error = Error()
    check(library().ct_engine_set_max_device_memory(found, _limits[found.device or 0], error),
          error)


class Block(c_ubyte * sys.maxsize):  # type: ignore
    """A block of the library's memory, which this object returns when destroyed.

    address: of what is in it; of a GPU's memory one of the device

    It is a buffer of all addresses, of which an array is a part: numpy makes that sooner than an
    array of an __array_interface__, and needs no property, in which it drops exceptions of a
    signal's handler.
    """

    __slots__ = ("address",)
    __hash__ = object.__hash__  # type: ignore # ctypes has none
    __getitem__ = __setitem__ = __iter__ = None  # type: ignore # most addresses are nobody's
    address: int

    def __new__(cls, *_: Any) -> "Block":
        return cls.from_address(FIRST)

    def array(self, shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]] = None,
              dtype: np.dtype = _UINT8) -> np.ndarray:
        """An array of the host's memory, which holds this object."""
        return np.ndarray(shape, dtype, self, self.address - FIRST, strides)


class NewBlock(Block):
    """A block of an engine's memory with room for this many bytes. Raises MemoryError."""

    __slots__ = ()

    def __init__(self, of: Engine, size: int) -> None:
        block, data = when_gone_lightly(self, library().ct_block_unref), c_void_p()
        error = Error()
        check(library().ct_block_new(of, size, byref(block), byref(data), error), error)
        self.address = data.value or 0


class MadePlanes(Block):
    """A CtPlanes for a call to fill, which is released with this object."""

    __slots__ = ("planes",)

    def __init__(self) -> None:
        self.planes = Planes()
        when_gone(self, partial(library().ct_planes_clear, byref(self.planes)))


_BLOCKS = columns_of(Picture, "block")


class Pictures:
    """An array of CtPicture for a call to fill. What is in it is released with this object."""

    __slots__ = ("array", "__weakref__")

    def __init__(self, count: int) -> None:
        self.array = (Picture * count)()
        when_gone(self, partial(library().ct_pictures_clear, self.array, count))

    def __len__(self) -> int:
        return len(self.array)

    def columns(self, kind: np.dtype) -> np.ndarray:
        return as_array(self.array, kind)

    def take_blocks(self) -> List[Block]:
        """Each picture's block, which the array has no more."""
        unref, column = library().ct_block_unref, self.columns(_BLOCKS)["block"]
        blocks: List[Block] = list(map(Block.from_address, itertools.repeat(FIRST, len(column))))
        places = [when_gone_lightly(block, unref) for block in blocks]
        # In one call of C, which no signal interrupts: each block has one owner.
        moves = itertools.chain(map(setattr, places, itertools.repeat("value"), column.tolist()),
                                map(column.fill, (0,)))
        collections.deque(moves, maxlen=0)
        return blocks

    def take_block(self) -> Block:
        """The same of the only picture."""
        block, = self.take_blocks()
        return block


class MadeFiles:
    """CtFiles for a call to fill, which are released with this object."""

    __slots__ = ("files", "__weakref__")

    def __init__(self, count: int = 1) -> None:
        self.files = (File * count)()
        when_gone(self, partial(library().ct_files_clear, self.files, count))

    def data(self, index: int = 0) -> bytes:
        """A copy of a file."""
        return ctypes.string_at(self.files[index].data, self.files[index].size)
