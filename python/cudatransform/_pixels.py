"""Pixels of JPEG pictures by the elements: files to pixels, levels to pixels, pixels to files."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _device, _gst, color
from ._cuda_memory import CudaArray, context_of, gstcuda, meta_of, pools
from ._device_transform import FRAME, copy_in, with_rows
from ._levels import check_sides, described, in_one_piece
from ._stage import Stage
from ._stages import Stages, run
from .errors import WriteError, whole_number
from .transform import check_method, check_quality, check_tables

MODES = ("RGB", "L", "CMYK")
UPSAMPLINGS = ("fancy", "nearest")
SCALES = (1, 2, 4, 8)
QUANTIZERS = ("round", "dead-zone", "rd")
PRESETS = ("annex-k", "perceptual")
# What makes the smallest file smaller.
SMALLER = ("Files are smaller with fewer pixels, sampling='4:2:0', quantizer='rd' and "
           "optimize=True")
# Frames whose first plane is luma, or of RGB files green. GStreamer's CUDA memory holds no grey
# ones: there, grey files become three equal planes, and files of other samplings have none.
_PLANES, _CUDA_PLANES = "I420,Y42B,Y444,Y41B,GRAY8,GBR", "I420,Y42B,Y444,RGBP"
_CUDA_SAMPLINGS = ("YCbCr-4:2:0,YCbCr-4:2:2,YCbCr-4:4:4,YCbCr-4:4:0,YCbCr-4:4:1,"
                   "GRAYSCALE")
_STRING_TYPE = 16 << 2  # G_TYPE_STRING
_LONGEST_ROW = 2**31 - 1  # bytes from row to row in a GstVideoMeta


def check_upsampling(upsampling: Any) -> None:
    """Raises ValueError."""
    if upsampling not in UPSAMPLINGS:
        raise ValueError(f"an upsampling is {' or '.join(UPSAMPLINGS)}, not {upsampling!r}")


class Wanted(NamedTuple):
    """The pixels that are made of files, as decode() takes them; `device` is None for the CPU."""

    mode: str
    scale: int
    upsampling: str
    device: Optional[int]

    def check(self) -> "Wanted":
        """Raises ValueError and TypeError."""
        if self.mode not in MODES:
            raise ValueError(f"a mode is {', '.join(MODES)}, not {self.mode!r}")
        if whole_number("a scale", self.scale) not in SCALES:
            raise ValueError(f"a scale is {', '.join(map(str, SCALES))}, not {self.scale}")
        check_upsampling(self.upsampling)
        if self.mode == "CMYK" and (self.scale != 1 or self.device is not None):
            raise ValueError("CMYK is made at full size, in system memory")
        return self._replace(scale=int(self.scale))  # True is 1, and no text of a property

    def line(self, ahead: bool = False) -> str:
        """The rest of a line that begins with jpegcoefdec and its properties.

        ahead: on a device, a thread decodes while another makes pixels of what is decoded
        """
        at, memory, only = "backend=cpu", "", ""
        formats = "RGB" if self.mode == "RGB" else _PLANES
        if self.device is not None:
            at, memory = _on(self.device), "(memory:CUDAMemory)"
        if self.device is not None and self.mode == "L":
            formats = _CUDA_PLANES
            only = f"! video/x-dct{memory},sampling=(string){{{_CUDA_SAMPLINGS}}} "
        between = "! queue silent=true " if ahead and self.device is not None else ""
        return (f"{at} keep-metadata=false {only}{between}! cudaidct8x8 {at} qos=false "
                f"scale={self.scale} "
                f"chroma-upsampling={self.upsampling} ! "
                f"video/x-raw{memory},format=(string){{{formats}}}")

    def why_not(self, sampling: str, depth: int) -> Optional[str]:
        """Why there are no such pixels of sound files of that kind; None: there are."""
        if depth != 8:
            return f"its samples have {depth} bits: read() and pixels() make pixels of them"
        if self.mode != "CMYK" and sampling.startswith(("CMYK", "YCCK")):
            return f"it is of {sampling}: its mode is CMYK"
        if self.mode == "L" and self.device is not None and sampling in ("RGB", "YCbCr-4:1:1"):
            return f"luma of {sampling} is not made on a GPU"
        return None

    def pixels_of(self, gst: _gst.Libraries, sample: _gst.Sample) -> Any:
        """A Sample of those elements as an array of its own memory."""
        if self.device is not None:
            return _on_device(gst, sample, self.device, self.mode == "RGB")
        if self.mode == "RGB":
            return _rgb_of(gst, sample)
        planes = _rows_of(gst, sample)
        height, width = _size_of(gst, sample)
        if _text_of(gst, sample, b"format") != b"GBR":
            return planes[:height, :width].copy()
        green, blue, red = (planes[index * height:(index + 1) * height, :width]
                            for index in range(3))
        return color.luma(np.dstack([red, green, blue]))


def _on(device: int) -> str:
    return f"backend=cuda cuda-device-id={device}"


def _text_of(gst: _gst.Libraries, sample: _gst.Sample, field: bytes) -> bytes:
    structure = gst.gst_caps_get_structure(gst.gst_sample_get_caps(sample.slot), 0)
    return gst.gst_structure_get_string(structure, field)


def _size_of(gst: _gst.Libraries, sample: _gst.Sample) -> Tuple[int, int]:
    return sample.number(gst, b"height"), sample.number(gst, b"width")


def _rows_of(gst: _gst.Libraries, sample: _gst.Sample) -> np.ndarray:
    """The bytes of a frame in rows of the first plane's length; others follow it."""
    data = np.asarray(_gst.HeldBuffer(gst, sample))
    width = sample.number(gst, b"width")
    row = -(-width // 4) * 4
    return data[:len(data) // row * row].reshape(-1, row)


def _rgb_of(gst: _gst.Libraries, sample: _gst.Sample) -> np.ndarray:
    height, width = _size_of(gst, sample)
    rows = np.asarray(_gst.HeldBuffer(gst, sample)).reshape(height, -1)
    return np.ascontiguousarray(rows[:, :3 * width]).reshape(height, width, 3)


def _on_device(gst: _gst.Libraries, sample: _gst.Sample, device: int, is_rgb: bool) -> CudaArray:
    gstcuda().synchronize(gst, sample.buffer)
    meta = meta_of(sample.buffer)
    held = _gst.HeldBuffer(gst, sample, cuda=True)
    if is_rgb:
        return CudaArray(held, meta.offset[0], (meta.height, meta.width, 3),
                         (meta.stride[0], 3, 1), device, np.uint8)
    return CudaArray(held, meta.offset[0], (meta.height, meta.width), (meta.stride[0], 1), device,
                     np.uint8)


def rgb_of_levels(picture: Any, upsampling: str) -> np.ndarray:
    """uint8 (height, width, 3) of a Picture of 8 bits with one or three components."""
    gst = _gst.libraries()
    memory, info = in_one_piece(gst, picture)

    def prepare(stage: Stage) -> int:
        stage.set("chroma-upsampling", upsampling)
        caps = gst.gst_dct_info_to_caps(info)
        gst.gst_caps_set_simple(caps, b"colorimetry", _STRING_TYPE, color.COLORIMETRY, None)
        key = f"{picture.width}x{picture.height} {picture.sampling} rgb".encode()
        stage.set_caps_object(key, caps)
        return described(gst, memory, info, picture)
    return _rgb_of(gst, run("cudaidct8x8 name=first backend=cpu ! video/x-raw,format=RGB", prepare,
                            memory))


# Frames whose planes are the components of a sampling, and whose coefficients have it again.
_FRAMES = {"YCbCr-4:2:0": "I420", "YCbCr-4:2:2": "Y42B", "YCbCr-4:4:4": "Y444",
           "YCbCr-4:1:1": "Y41B", "GRAYSCALE": "GRAY8", "RGB": "GBR"}


def relevelled(picture: Any, levelling: "Levelling") -> Optional[bytes]:
    """The JPEG file of a Picture's samples, with levels made anew and optimised Huffman tables.

    None: the elements make no samples of pictures of its sampling or depth.
    """
    frames = _FRAMES.get(color.sampling_of(picture.sampling))
    if frames is None or picture.depth != 8:
        return None
    gst = _gst.libraries()
    memory, info = in_one_piece(gst, picture)
    levelling = levelling.checked()

    def prepare(stage: Stage) -> int:
        levelling.set(stage, second=True)
        key = f"{picture.width}x{picture.height} {picture.sampling}".encode()
        stage.set_caps_object(key, gst.gst_dct_info_to_caps(info))
        return described(gst, memory, info, picture)
    made = run(f"cudaidct8x8 name=first backend=cpu ! video/x-raw,format={frames} ! cudadct8x8 "
               "name=second backend=cpu ! jpegcoefenc optimize=true backend=cpu n-threads=1",
               prepare, memory)
    return np.asarray(_gst.HeldBuffer(gst, made)).tobytes()


class Options(NamedTuple):
    """How a file is coded, as write() takes it."""

    progressive: bool
    arithmetic: bool
    optimize: bool
    restart: int

    def set(self, stage: Stage, second: bool = False) -> None:
        """Sets the properties of a stage's jpegcoefenc."""
        for name in ("progressive", "arithmetic", "optimize"):
            stage.set(name, "true" if getattr(self, name) else "false", second)
        stage.set("restart-interval", str(int(self.restart)), second)


def _checked_size(name: str, size: Any) -> Optional[int]:
    """Raises ValueError and TypeError."""
    if size is None:
        return None
    number = whole_number(f"a {name}", size)
    if not 1 <= number < 1 << 32:
        raise ValueError(f"a {name} is 1 to 4294967295 bytes, not {size}")
    return number


class Levelling(NamedTuple):
    """How encode() makes levels of coefficients."""

    quality: int = 85
    tables: Any = "annex-k"  # a preset, or one or two tables as of check_tables()
    quantizer: str = "round"
    target_size: Optional[int] = None
    max_size: Optional[int] = None

    def checked(self) -> "Levelling":
        """Raises ValueError and TypeError."""
        check_quality(self.quality)
        if self.quantizer not in QUANTIZERS:
            raise ValueError(f"a quantizer is {', '.join(QUANTIZERS)}, not {self.quantizer!r}")
        # True and numpy's numbers are whole numbers, too, whose texts no property takes.
        return self._replace(
            quality=int(self.quality), target_size=_checked_size("target_size", self.target_size),
            max_size=_checked_size("max_size", self.max_size))._with_checked_tables()

    def _with_checked_tables(self) -> "Levelling":
        if isinstance(self.tables, str):
            if self.tables not in PRESETS:
                raise ValueError(f"tables are {' or '.join(PRESETS)} or arrays, "
                                 f"not {self.tables!r}")
            return self
        if self.has_sizes():
            raise ValueError("a size is for annex-k and perceptual, which are scaled, not for "
                             "tables of your own")
        return self._replace(tables=check_tables(self.tables))

    def has_sizes(self) -> bool:
        return self.target_size is not None or self.max_size is not None

    def is_plain(self) -> bool:
        """Whether Picture.from_pixels() makes such levels, too."""
        return (self.quantizer == "round" and not self.has_sizes()
                and (not isinstance(self.tables, str) or self.tables == "annex-k"))

    def own_tables(self) -> Optional[np.ndarray]:
        return None if isinstance(self.tables, str) else self.tables

    def set(self, stage: Stage, second: bool = False) -> None:
        """Sets the properties of a stage's cudadct8x8."""
        tables = self.own_tables()
        for name, value in (("quality", self.quality), ("quantizer", self.quantizer),
                            ("quant-preset", self.tables if tables is None else "annex-k"),
                            ("target-size", self.target_size or 0),
                            ("max-size", self.max_size or 0)):
            stage.set(name, str(value), second)
        for name, index in (("luma-qtable", 0), ("chroma-qtable", -1)):
            table = [] if tables is None else tables[index].ravel().tolist()
            stage.set(name, f"<{','.join(map(str, table))}>", second)


class Coding(NamedTuple):
    """How encode() makes levels of pixels, and a file of those."""

    sampling: str
    levelling: Levelling
    method: str
    options: Options

    def elements(self, device: Optional[int]) -> str:
        at, memory = ("backend=cpu", "") if device is None else (_on(device), "(memory:CUDAMemory)")
        return (f"cudadct8x8 name=first {at} ! video/x-dct{memory},sampling=(string)"
                f"{self.sampling} ! jpegcoefenc name=second {at} n-threads=1")

    def prepare(self, stage: Stage) -> None:
        """Sets the elements' properties."""
        stage.set("method", self.method)
        self.levelling.set(stage)
        self.options.set(stage, second=True)


def coded(stages: Stages, array: Any, sampling: Optional[str], levelling: Levelling,
          method: str, options: Options) -> Optional[bytes]:
    """The JPEG file of pixels. None: no element takes them, but Picture.from_pixels() does.

    Raises ValueError, TypeError, WriteError and StageError.
    """
    check_method(method)
    levelling = levelling.checked()
    pixels: Any = None
    on_device = _device.is_on_device(array)
    if on_device:
        pixels = _device.view(array)
        color.check_shape(pixels.dtype, pixels.shape, pixels.words)
        sampling = color.sampling_for(sampling, pixels.shape)
    else:
        pixels, sampling = color.checked(array, sampling)
    check_sides(*pixels.shape[:2])
    channels = color.channels_of(pixels.shape)
    tables = levelling.own_tables()
    count = 2 if tables is None else len(tables)
    if on_device and (channels == 4 or count > 2):
        raise ValueError("CMYK, and more than two tables, are for arrays in system memory")
    if not on_device and (channels == 4 or count != 2):
        if not levelling.is_plain():
            raise ValueError("CMYK, and another number of tables than two, are for round, and for "
                             "annex-k without a size")
        return None
    coding = Coding(sampling, levelling, method, options)
    made = _code_view(stages, pixels, coding) if on_device else _code(stages, pixels, coding)
    if made is None:
        return None
    data = np.asarray(_gst.HeldBuffer(_gst.libraries(), made)).tobytes()
    if levelling.max_size is not None and len(data) > levelling.max_size:
        raise WriteError(f"no quality makes a file of {levelling.max_size} bytes: the smallest has "
                         f"{len(data)}. {SMALLER}")
    return data


def _code(stages: Stages, pixels: np.ndarray, coding: Coding) -> Optional[_gst.Sample]:
    gst = _gst.libraries()
    if pixels.ndim == 2 and coding.sampling != "GRAYSCALE":
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    height, width = pixels.shape[:2]
    name, size = ("GRAY8", 1) if pixels.ndim == 2 else ("RGB", 3)
    if (pixels.strides[1:] != (size, 1)[-pixels.ndim + 1:] or
            not size * width <= pixels.strides[0] <= _LONGEST_ROW):
        pixels = np.ascontiguousarray(pixels)
    row = pixels.strides[0] if height > 1 else size * width

    def prepare(stage: Stage) -> int:
        coding.prepare(stage)
        stage.set_caps(f"video/x-raw,format={name},width={width},height={height},framerate=0/1")
        buffer = _gst.buffer_around(gst, _gst.address_of(pixels), row * (height - 1) + size * width)
        gst.gst_buffer_add_video_meta_full(
            buffer, 0, gst.gst_video_format_from_string(name.encode()), width, height, 1,
            (ctypes.c_size_t * 4)(), (ctypes.c_int * 4)(row))
        return buffer
    return stages.run(coding.elements(None), prepare, pixels)


def _code_view(stages: Stages, pixels: _device.View, coding: Coding) -> Optional[_gst.Sample]:
    gst = _gst.libraries()
    is_grey = len(pixels.shape) == 2
    height, width = with_rows(pixels, (1,) if is_grey else (3, 1)).shape[:2]
    # CUDA memory holds no grey frames. The luma of three equal colours is their value.
    caps = FRAME.format("RGBP" if is_grey else "RGB", width, height)

    def fill(buffer: int) -> None:
        meta = gstcuda().video_meta(buffer).contents
        for plane in range(meta.n_planes):
            copy_in(gst, pixels, width if is_grey else 3 * width, buffer, meta.stride[plane],
                    meta.offset[plane], height, 0)

    def prepare(stage: Stage) -> int:
        coding.prepare(stage)
        stage.set_caps(caps)
        return pools.buffer(pixels.device, caps, fill)
    return stages.run(coding.elements(pixels.device), prepare, pixels,
                      context_of(pixels.device)[0])
