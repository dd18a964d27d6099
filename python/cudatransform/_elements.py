"""Files of a size, and by other methods than islow, which GStreamer's elements make."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from typing import Any, Optional

import numpy as np

from . import _gst, color
from ._encoding import Levelling, Options, written
from ._native import address_of
from ._stage import Stage
from ._stages import Stages, run

_LONGEST_ROW = 2**31 - 1  # bytes from row to row in a GstVideoMeta
# Frames whose planes are the components of a sampling, and whose coefficients have it again.
_FRAMES = {"YCbCr-4:2:0": "I420", "YCbCr-4:2:2": "Y42B", "YCbCr-4:4:4": "Y444",
           "YCbCr-4:1:1": "Y41B", "GRAYSCALE": "GRAY8", "RGB": "GBR"}


def relevelled(picture: Any, levelling: Levelling) -> Optional[bytes]:
    """The JPEG file of a Picture's samples, with levels made anew and optimised Huffman tables.

    None: the elements make no samples of pictures of its sampling or depth.
    """
    frames = _FRAMES.get(color.sampling_of(picture.sampling))
    if frames is None or picture.depth != 8:
        return None
    gst, levelling = _gst.libraries(), levelling.checked()
    data = np.frombuffer(written(picture, Options()), np.uint8)

    def prepare(stage: Stage) -> int:
        _set_levelling(stage, levelling, second=True)
        stage.set_caps("image/jpeg,parsed=true")
        return _gst.buffer_around(gst, address_of(data), len(data))
    made = run("jpegcoefdec name=first backend=cpu n-threads=1 on-error=fail keep-metadata=false ! "
               f"cudaidct8x8 backend=cpu ! video/x-raw,format={frames} ! cudadct8x8 name=second "
               "backend=cpu ! jpegcoefenc optimize=true backend=cpu n-threads=1", prepare, data)
    return np.asarray(_gst.HeldBuffer(gst, made)).tobytes()


def coded(stages: Stages, pixels: np.ndarray, sampling: str, levelling: Levelling, method: str,
          options: Options) -> Optional[bytes]:
    """The JPEG file of grey or RGB pixels. Raises StageError and ValueError."""
    gst = _gst.libraries()
    if pixels.ndim == 2 and sampling != "GRAYSCALE":
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    height, width = pixels.shape[:2]
    name, size = ("GRAY8", 1) if pixels.ndim == 2 else ("RGB", 3)
    if (pixels.strides[1:] != (size, 1)[-pixels.ndim + 1:] or
            not size * width <= pixels.strides[0] <= _LONGEST_ROW):
        pixels = np.ascontiguousarray(pixels)
    row = pixels.strides[0] if height > 1 else size * width

    def prepare(stage: Stage) -> int:
        stage.set("method", method)
        _set_levelling(stage, levelling)
        for option in ("progressive", "arithmetic", "optimize"):
            stage.set(option, "true" if getattr(options, option) else "false", second=True)
        stage.set("restart-interval", str(int(options.restart)), second=True)
        stage.set_caps(f"video/x-raw,format={name},width={width},height={height},framerate=0/1")
        buffer = _gst.buffer_around(gst, address_of(pixels), row * (height - 1) + size * width)
        gst.gst_buffer_add_video_meta_full(
            buffer, 0, gst.gst_video_format_from_string(name.encode()), width, height, 1,
            (ctypes.c_size_t * 4)(), (ctypes.c_int * 4)(row))
        return buffer
    made = stages.run("cudadct8x8 name=first backend=cpu ! video/x-dct,sampling=(string)"
                      f"{sampling} ! jpegcoefenc name=second backend=cpu n-threads=1", prepare,
                      pixels)
    return None if made is None else np.asarray(_gst.HeldBuffer(gst, made)).tobytes()


def _set_levelling(stage: Stage, levelling: Levelling, second: bool = False) -> None:
    """Sets the properties of a stage's cudadct8x8."""
    tables = levelling.own_tables()
    for name, value in (("quality", levelling.quality), ("quantizer", levelling.quantizer),
                        ("quant-preset", levelling.tables if tables is None else "annex-k"),
                        ("target-size", levelling.target_size or 0),
                        ("max-size", levelling.max_size or 0)):
        stage.set(name, str(value), second)
    for name, index in (("luma-qtable", 0), ("chroma-qtable", -1)):
        table = [] if tables is None else tables[index].ravel().tolist()
        stage.set(name, f"<{','.join(map(str, table))}>", second)
