"""Arrays of other libraries in CUDA memory: their addresses, and copies of their rows."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from .errors import Unavailable, is_interruption

HOST, CUDA = 1, 2  # DLDeviceType
DLPACK_NAME = b"dltensor"  # a library that takes a capsule renames it
_ON_HOST, _ON_DEVICE = 1, 2  # CUmemorytype
_ORDINAL = 9               # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_CAPABILITY = 75, 76       # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_LIMIT = 2**31 - 1         # rows and bytes of a row
_LEGACY_STREAM = 1         # the name of the default stream in both protocols
_DEVICE = re.compile("cpu|cuda(?::([0-9]{1,9}))?")


class DLTensor(Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", POINTER(ctypes.c_int64)),
                ("strides", POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Copy(Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [("src_x", c_size_t), ("src_y", c_size_t), ("src_type", c_int),
                ("src_host", c_void_p), ("src", ctypes.c_uint64), ("src_array", c_void_p),
                ("src_pitch", c_size_t), ("dst_x", c_size_t), ("dst_y", c_size_t),
                ("dst_type", c_int), ("dst_host", c_void_p), ("dst", ctypes.c_uint64),
                ("dst_array", c_void_p), ("dst_pitch", c_size_t), ("width", c_size_t),
                ("height", c_size_t)]


KINDS = {"i": 0, "u": 1, "f": 2}  # DLDataTypeCode, by numpy's letters
BFLOAT = 4                        # the same
# The same function for a live object and for one whose last reference was dropped.
_capsule_get = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
capsule_address = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


class Driver:
    """libcuda's functions, and the primary contexts of devices.

    A primary context is never released: a process that computes on a device needs it to the end.
    """

    def __init__(self) -> None:
        try:
            library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            if is_interruption(error):
                raise
            raise Unavailable(f"no CUDA: {error}") from error
        functions: Tuple[Tuple[str, List[Any]], ...] = (
            ("cuInit", [c_uint]), ("cuDriverGetVersion", [POINTER(c_int)]),
            ("cuDeviceGetCount", [POINTER(c_int)]), ("cuDeviceGetName", [c_char_p, c_int, c_int]),
            ("cuDeviceGetAttribute", [POINTER(c_int), c_int, c_int]),
            ("cuDevicePrimaryCtxRetain", [POINTER(c_void_p), c_int]),
            ("cuCtxPushCurrent_v2", [c_void_p]), ("cuCtxPopCurrent_v2", [POINTER(c_void_p)]),
            ("cuStreamSynchronize", [c_void_p]),
            ("cuMemcpy2DAsync_v2", [POINTER(_Copy), c_void_p]),
            ("cuPointerGetAttribute", [c_void_p, c_int, ctypes.c_uint64]))
        for name, arguments in functions:
            function = getattr(library, name)
            function.restype, function.argtypes = c_int, arguments
            setattr(self, name, function)
        self._primary: Dict[int, c_void_p] = {}

    def __getattr__(self, name: str) -> Any:  # for type checkers: set in __init__
        raise AttributeError(name)

    def primary(self, device: int) -> c_void_p:
        """The primary context of a device. Raises Unavailable."""
        if device not in self._primary:
            handle = c_void_p()
            if self.cuInit(0) != 0 or self.cuDevicePrimaryCtxRetain(byref(handle), device) != 0:
                raise Unavailable(f"there is no CUDA device {device}, or no driver for it")
            self._primary[device] = handle
        return self._primary[device]

    def devices(self) -> List[str]:
        """A line for each device: its name, its compute capability, the driver's CUDA version."""
        version, count = c_int(), c_int()
        check(self.cuDriverGetVersion(byref(version)), "there is no version of the driver")
        check(self.cuInit(0) or self.cuDeviceGetCount(byref(count)), "the driver does not start")
        return [self._words_of(device, version.value) for device in range(count.value)]

    def _words_of(self, device: int, version: int) -> str:
        name, capability = ctypes.create_string_buffer(256), [c_int(), c_int()]
        self.cuDeviceGetName(name, len(name), device)
        for number, attribute in zip(capability, _CAPABILITY):
            self.cuDeviceGetAttribute(byref(number), attribute, device)
        return (f"cuda:{device}, {name.value.decode()}, compute capability {capability[0].value}."
                f"{capability[1].value}, CUDA {version // 1000}.{version % 1000 // 10}")

    def synchronize(self, device: int, stream: int) -> None:
        """Waits for the work on a stream, a CUstream. Raises Unavailable if that has failed."""
        with self.on(device):
            check(self.cuStreamSynchronize(stream), "the GPU failed before")

    def on(self, device: int) -> "_Current":
        """For `with`: makes a device's primary context the thread's. Raises Unavailable."""
        return _Current(self, self.primary(device))

    def copy_rows(self, source: int, source_pitch: int, target: int, target_pitch: int, width: int,
                  rows: int, of_host: bool = False) -> None:
        """Copies `rows` rows of `width` bytes on the device, on its default stream, inside of on().

        The source must not be the target; addresses are the device's, of_host: except the source's;
        pitches in bytes. Returns before the copy is done. Raises Unavailable.
        """
        wanted = _Copy(src_type=_ON_HOST if of_host else _ON_DEVICE, src_host=source, src=source,
                       src_pitch=max(source_pitch, width), dst_type=_ON_DEVICE, dst=target,
                       dst_pitch=target_pitch, width=width, height=rows)
        check(self.cuMemcpy2DAsync_v2(byref(wanted), None), "the GPU does not copy")

    def device_of(self, address: int) -> int:
        """The number of the device that has an address. Raises ValueError where none has."""
        number = c_int(-1)
        with self.on(0):
            result = self.cuPointerGetAttribute(byref(number), _ORDINAL, address)
        if result != 0 or number.value < 0:
            raise ValueError(f"no CUDA device has memory at {address:#x}, the array's address")
        return number.value


class _Current:
    def __init__(self, driver: Driver, context: c_void_p) -> None:
        self._driver, self._context = driver, context

    def __enter__(self) -> None:
        check(self._driver.cuCtxPushCurrent_v2(self._context), "the GPU's context is lost")

    def __exit__(self, *_: Any) -> None:
        self._driver.cuCtxPopCurrent_v2(byref(c_void_p()))


def check(result: int, what: str) -> None:
    """Raises Unavailable for a CUresult other than success."""
    if result != 0:
        raise Unavailable(f"{what} (CUDA error {result})")


_driver: Optional[Driver] = None


def driver() -> Driver:
    """The driver, loaded at the first call. Raises Unavailable where there is none."""
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


class View(NamedTuple):
    """An array in CUDA memory that somebody else owns: strides in bytes, `owner` keeps it alive."""

    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    owner: Any

    def parts(self) -> List["View"]:
        """Those of the first dimension."""
        return [self._replace(address=self.address + index * self.strides[0],
                              shape=self.shape[1:], strides=self.strides[1:])
                for index in range(self.shape[0])]

    @property
    def words(self) -> str:
        """As messages call it."""
        return f"{self.dtype} {self.shape} on cuda:{self.device}"


def number_of(device: Any) -> Optional[int]:
    """The number of a GPU: 1 for `cuda:1`, 0 for `cuda`; None for `cpu`. Raises TypeError and
    ValueError."""
    if not isinstance(device, str):
        raise TypeError(f"device must be a str, not {type(device).__name__}")
    found = _DEVICE.fullmatch(device)
    if found is None:
        raise ValueError(f"device must be 'cpu', 'cuda' or 'cuda:NUMBER', not {device!r}")
    return None if device == "cpu" else 0 if found[1] is None else int(found[1])


def is_on_device(array: Any) -> bool:
    """Whether an object declares itself an array in CUDA memory, by either protocol."""
    if hasattr(array, "as_view"):  # a CudaArray
        return True
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) == CUDA
    return hasattr(array, "__cuda_array_interface__")


def view(array: Any) -> View:
    """A View of an array of PyTorch, CuPy or another library, ready for the default stream.

    Work of the owner's on the array is awaited by that stream or here. Raises ValueError for types
    other than integers and floating point, and Unavailable without a driver.
    """
    if hasattr(array, "as_view"):
        return array.as_view()
    if hasattr(array, "__dlpack__"):
        return _by_dlpack(array.__dlpack__(stream=_LEGACY_STREAM))
    said = array.__cuda_array_interface__
    shape, dtype = tuple(said["shape"]), np.dtype(said["typestr"])
    strides = said.get("strides")
    address = said["data"][0]
    strides = tuple(strides) if strides else _packed(shape, dtype.itemsize)
    device = driver().device_of(address) if address else 0
    made = View(address, shape, strides, dtype, device, array)
    if said.get("stream"):
        driver().synchronize(made.device, said["stream"])
    return made


def _by_dlpack(capsule: Any) -> View:
    # The capsule keeps its name, so its own destructor returns the array.
    tensor = DLTensor.from_address(_capsule_get(capsule, DLPACK_NAME))
    letters = {code: letter for letter, code in KINDS.items()}
    if tensor.lanes != 1 or tensor.bits % 8 or tensor.code not in letters:
        raise ValueError("an array on a GPU has integers or floating-point numbers")
    dtype = np.dtype(f"{letters[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = (tuple(stride * dtype.itemsize for stride in tensor.strides[:tensor.ndim])
               if tensor.strides else _packed(shape, dtype.itemsize))
    return View((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, tensor.device_id,
                capsule)


def _packed(shape: Tuple[int, ...], itemsize: int) -> Tuple[int, ...]:
    strides = [itemsize]
    for extent in shape[:0:-1]:
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[:len(shape)]))


def with_rows(plane: View, inner: Tuple[int, ...]) -> View:
    """Checks that all dimensions but the first have those strides. Raises ValueError."""
    packed = all(extent == 1 or stride == wanted for extent, stride, wanted in
                 zip(plane.shape[1:], plane.strides[1:], inner))
    row = plane.shape[1] * inner[0]
    if not packed or plane.shape[0] > 1 and plane.strides[0] < row:
        raise ValueError("an array on a GPU must have contiguous rows: "
                         "make a contiguous copy of it")
    if row > _LIMIT or plane.shape[0] > _LIMIT // 8:
        raise ValueError(f"an array of {plane.words} is too large")
    return plane
