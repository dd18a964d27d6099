#!/usr/bin/env python3
"""Drops small wavelet coefficients of a film on the GPU, in PyTorch or CuPy, without a copy.

usage: smooth_on_device.py FILE OUT.png [THRESHOLD [torch|cupy]]

Every frame's brightness goes through cudadwt and cudaidwt in CUDA memory. Between them this program
takes the coefficients where they are, makes those below THRESHOLD (default: 20) zero, and hands the
buffer on. Prints how many they were; OUT.png is the first frame. Needs libgstcoef-1.0 and the
plugin: `meson devenv -C build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
import sys

import coefficients_to_torch
import dct_on_device as on_device
from dct_on_device import declare, gst, gstcoef

LEVELS = 4
PIPELINE = ("filesrc location=\"{}\" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! "
            "cudadwt name=forward backend=cuda wavelet=daub97 levels={} ! "
            "video/x-dwt(memory:CUDAMemory) ! cudaidwt backend=cuda ! videoconvert ! "
            "pngenc snapshot=true ! filesink location=\"{}\"")
MAP_CUDA_READ_WRITE = 3 | on_device.MAP_CUDA
PROBE_BUFFER, PROBE_OK = 1 << 4, 1
MESSAGE_EOS, MESSAGE_ERROR, FOR_EVER = 1 << 0, 1 << 1, ctypes.c_uint64(-1)


class DwtComponent(Structure):
    _fields_ = [(name, c_uint) for name in
                ("id", "h_samp", "v_samp", "width", "height", "padded_width", "padded_height")] + [
        ("offset", c_size_t), ("stride", c_size_t), ("_reserved", c_void_p * 2)]


class DwtMeta(Structure):
    """GstDwtMeta of gst/coef/dwt.h; the first two fields are its GstMeta."""
    _fields_ = [("meta_flags", c_int), ("meta_info", c_void_p), ("n_components", c_uint),
                ("components", DwtComponent * 4), ("quantizers", (ctypes.c_uint8 * 23) * 4),
                ("fence", c_void_p)]


class Pyramid:
    """The first component of a mapped buffer: what torch.as_tensor() and cupy.asarray() take."""

    def __init__(self, address, component):
        self.__cuda_array_interface__ = {
            "shape": (component.padded_height, component.padded_width), "typestr": "<i2",
            "strides": (component.stride, 2), "data": (address + component.offset, False),
            "version": 3}


def drop_small(pyramid, threshold):
    """Makes small coefficients of all levels zero, but for the picture made small. How many?"""
    height, width = pyramid.shape
    corner = pyramid[:height >> LEVELS, :width >> LEVELS]
    kept = corner * 1
    small = abs(pyramid) < threshold
    pyramid[small] = 0
    corner[:] = kept
    return int(small.sum())


def change(buffer, use):
    """Waits for a buffer's coefficients and lets `use` change them, in device memory."""
    get_meta = declare(gstcoef, "gst_buffer_get_dwt_meta", POINTER(DwtMeta), c_void_p)
    meta, mapped = get_meta(buffer).contents, on_device.MapInfo()
    if meta.fence and not on_device.wait_written(meta.fence, None):
        raise RuntimeError("the work that makes the coefficients has failed")
    if not on_device.buffer_map(buffer, byref(mapped), MAP_CUDA_READ_WRITE):
        raise RuntimeError("the buffer cannot be mapped")
    try:
        return use(Pyramid(mapped.data, meta.components[0]))
    finally:
        on_device.buffer_unmap(buffer, byref(mapped))


def with_torch():
    import torch
    return coefficients_to_torch.with_torch(), torch.cuda.synchronize


def with_cupy():
    import cupy
    return coefficients_to_torch.with_cupy(), cupy.cuda.Device(0).synchronize


def watch(pipeline, element, probe):
    """Calls `probe` with every buffer that an element pushes."""
    find = declare(gst, "gst_bin_get_by_name", c_void_p, c_void_p, c_char_p)
    get_pad = declare(gst, "gst_element_get_static_pad", c_void_p, c_void_p, c_char_p)
    add_probe = declare(gst, "gst_pad_add_probe", ctypes.c_ulong, c_void_p, c_int, c_void_p,
                        c_void_p, c_void_p)
    found = find(pipeline.address, element)
    pad = get_pad(found, b"src")
    add_probe(pad, PROBE_BUFFER, probe, None, None)
    for held in (pad, found):
        pipeline.object_unref(held)


def play(pipeline):
    """To its end. False where an error came first."""
    get_bus = declare(gst, "gst_element_get_bus", c_void_p, c_void_p)
    pop = declare(gst, "gst_bus_timed_pop_filtered", c_void_p, c_void_p, ctypes.c_uint64, c_int)
    bus = get_bus(pipeline.address)
    ended = False
    if pipeline.set_state(pipeline.address, 4):  # PLAYING
        message = pop(bus, FOR_EVER, MESSAGE_EOS | MESSAGE_ERROR)
        # GstMessage begins with a GstMiniObject of 64 bytes; its type follows.
        ended = ctypes.cast(message + 64, POINTER(c_int))[0] == MESSAGE_EOS
        on_device.mini_object_unref(message)
    pipeline.object_unref(bus)
    return ended


def smooth(path, out, threshold, library):
    """Plays a file. Returns how many coefficients of each frame were dropped."""
    as_array, finish = library
    pipeline = on_device.Pipeline(PIPELINE.format(path, LEVELS, out))
    on_device.share_primary_context(pipeline.address)
    get_buffer = declare(gst, "gst_pad_probe_info_get_buffer", c_void_p, c_void_p)
    dropped = []

    def use(pyramid):
        dropped.append(drop_small(as_array(pyramid), threshold))
        finish()  # before other code reads them

    @CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
    def probe(_pad, info, _data):
        change(get_buffer(info), use)
        return PROBE_OK

    watch(pipeline, b"forward", probe)
    ended = play(pipeline)
    pipeline.close()
    if not ended:
        raise RuntimeError(f"{path} cannot be played")
    return dropped


def main(path, out, threshold="20", library="torch"):
    dropped = smooth(path, out, int(threshold), {"torch": with_torch, "cupy": with_cupy}[library]())
    print(f"{len(dropped)} frames, {sum(dropped) // max(len(dropped), 1)} coefficients of each "
          "dropped")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
