"""Coefficients in CUDA memory as arrays that CuPy, PyTorch and others take without a copy.

It needs ctypes alone, and works with PyGObject (pass hash(buffer), the buffer's address) and
without it. Two rules make it safe:

- The pipeline allocates in the device's primary context, as CuPy and PyTorch do:
  share_primary_context(). Each context has its own address space, so they cannot read memory of
  another one.
- A buffer stays mapped, and away from its pool, as long as an array refers to it.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_uint16, c_void_p

gst = ctypes.CDLL("libgstreamer-1.0.so.0")
gstcoef = ctypes.CDLL("libgstcoef-1.0.so.0")

MAP_READ = 1
MAP_CUDA = 1 << 17  # GST_MAP_FLAG_LAST << 1


class MapInfo(Structure):
    _fields_ = [("memory", c_void_p), ("flags", c_int), ("data", c_void_p), ("size", c_size_t),
                ("maxsize", c_size_t), ("user_data", c_void_p * 4), ("_reserved", c_void_p * 4)]


class DctComponent(Structure):
    _fields_ = [(name, c_uint) for name in
                ("id", "h_samp", "v_samp", "width", "height", "blocks_w", "blocks_h")] + [
        ("offset", c_size_t), ("stride", c_size_t), ("table", c_uint), ("_reserved", c_void_p * 2)]


class DctMeta(Structure):
    """GstDctMeta of gst/coef/dct.h; the first two fields are its GstMeta."""
    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("n_components", c_uint),
                ("components", DctComponent * 4), ("n_tables", c_uint),
                ("tables", (c_uint16 * 64) * 4), ("fence", c_void_p)]


def declare(library, name, result, *arguments):
    """A function of a library with its types: ctypes would take a pointer of 64 bits for an int."""
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


buffer_map = declare(gst, "gst_buffer_map", c_int, c_void_p, POINTER(MapInfo), c_int)
buffer_unmap = declare(gst, "gst_buffer_unmap", None, c_void_p, POINTER(MapInfo))
mini_object_ref = declare(gst, "gst_mini_object_ref", c_void_p, c_void_p)
mini_object_unref = declare(gst, "gst_mini_object_unref", None, c_void_p)
set_context = declare(gst, "gst_element_set_context", None, c_void_p, c_void_p)
get_dct_meta = declare(gstcoef, "gst_buffer_get_dct_meta", POINTER(DctMeta), c_void_p)
wait_written = declare(gstcoef, "gst_coef_fence_wait_written", c_int, c_void_p, c_void_p)


class Coefficients:
    """A buffer of quantized S16LE coefficients in blocks, mapped until nothing refers to it.

    `buffer` is its address. `cuda`: in CUDA memory, else in system memory. `stream`: the CUstream
    that will read; 0, the default stream, makes the calling thread wait for the coefficients.
    """

    def __init__(self, buffer, cuda=True, stream=0):
        self.buffer, self.info, self.mapped = mini_object_ref(buffer), MapInfo(), False
        self.meta = get_dct_meta(buffer)
        if not self.meta:
            raise ValueError("a buffer without GstDctMeta")
        fence = self.meta.contents.fence
        if fence and not wait_written(fence, stream or None):
            raise RuntimeError("the work that makes the coefficients has failed")
        flags = MAP_READ | (MAP_CUDA if cuda else 0)
        self.mapped = bool(buffer_map(self.buffer, byref(self.info), flags))
        if not self.mapped:
            raise RuntimeError("the buffer cannot be mapped")

    def __del__(self):
        if getattr(self, "mapped", False):
            buffer_unmap(self.buffer, byref(self.info))
        mini_object_unref(self.buffer)

    def __len__(self):
        return self.meta.contents.n_components

    def table(self, index):
        """The 64 divisors of a component, in natural order."""
        return list(self.meta.contents.tables[self.meta.contents.components[index].table])

    def component(self, index):
        """A component's quantized coefficients: what cupy.asarray() and torch.as_tensor() take."""
        return DeviceArray(self, self.meta.contents.components[index])


class DeviceArray:
    """An array [row of blocks, block, coefficient]. It keeps its buffer from being used again.

    The pool's next writer waits for the default stream of the context. Work on another stream has
    to be finished (stream.synchronize()) before the last array of a buffer goes.
    """

    def __init__(self, owner, component):
        self.owner = owner
        self.interface = {
            "shape": (component.blocks_h, component.blocks_w, 64), "typestr": "<i2", "version": 3,
            "strides": (component.stride, 64 * 2, 2),
            # The array is read-only, but PyTorch refuses arrays that say so.
            "data": (owner.info.data + component.offset, False)}

    @property
    def __cuda_array_interface__(self):
        if not self.owner.info.flags & MAP_CUDA:
            raise AttributeError("in system memory")
        return self.interface

    @property
    def __array_interface__(self):
        if self.owner.info.flags & MAP_CUDA:
            raise AttributeError("in CUDA memory")
        return self.interface


def share_primary_context(pipeline, device=0):
    """Makes a pipeline, given by its address, use the primary context of a device.

    Call it while the pipeline is in NULL.
    """
    driver = ctypes.CDLL("libcuda.so.1")
    gstcuda = ctypes.CDLL("libgstcuda-1.0.so.0")
    load = declare(gstcuda, "gst_cuda_load_library", c_int)
    memory_init = declare(gstcuda, "gst_cuda_memory_init_once", None)
    wrap = declare(gstcuda, "gst_cuda_context_new_wrapped", c_void_p, c_void_p, c_int)
    new_context = declare(gstcuda, "gst_context_new_cuda_context", c_void_p, c_void_p)
    retain = declare(driver, "cuDevicePrimaryCtxRetain", c_int, POINTER(c_void_p), c_int)
    handle = c_void_p()
    # Never released: a process that computes on a device needs its primary context to the end.
    if driver.cuInit(0) != 0 or not load() or retain(byref(handle), device) != 0:
        raise RuntimeError(f"no primary context of CUDA device {device}")
    memory_init()
    wrapped = wrap(handle, device)
    context = new_context(wrapped)
    set_context(pipeline, context)
    mini_object_unref(context)
    declare(gst, "gst_object_unref", None, c_void_p)(wrapped)


class Pipeline:
    """The part of GStreamer that the examples need, for Pythons without PyGObject."""

    def __init__(self, line):
        self.app = ctypes.CDLL("libgstapp-1.0.so.0")
        declare(gst, "gst_init", None, c_void_p, c_void_p)(None, None)
        error = c_void_p()
        launch = declare(gst, "gst_parse_launch", c_void_p, c_char_p, POINTER(c_void_p))
        self.address = launch(line.encode(), byref(error))
        if error or not self.address:
            raise ValueError(f"no pipeline: {line}")
        by_name = declare(gst, "gst_bin_get_by_name", c_void_p, c_void_p, c_char_p)
        self.sink = by_name(self.address, b"sink")
        self.set_state = declare(gst, "gst_element_set_state", c_int, c_void_p, c_int)
        self.object_unref = declare(gst, "gst_object_unref", None, c_void_p)

    def buffers(self, **how):
        """Plays, and yields the Coefficients of every buffer that reaches appsink name=sink."""
        pull = declare(self.app, "gst_app_sink_pull_sample", c_void_p, c_void_p)
        if self.set_state(self.address, 4) == 0:  # PLAYING, FAILURE
            raise RuntimeError("the pipeline does not start")
        while True:
            sample = pull(self.sink)
            if not sample:
                return
            # No variable here refers to it, so only the caller holds it.
            yield self._take(sample, how)

    @staticmethod
    def _take(sample, how):
        get_buffer = declare(gst, "gst_sample_get_buffer", c_void_p, c_void_p)
        try:
            return Coefficients(get_buffer(sample), **how)
        finally:
            mini_object_unref(sample)

    def close(self):
        """Goes to NULL. Arrays that are still there stay valid."""
        self.set_state(self.address, 1)
        if self.sink:
            self.object_unref(self.sink)
        self.object_unref(self.address)
