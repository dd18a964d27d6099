"""Pixels and coefficients to JPEG files by the library."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _device, _native, color
from ._filters import check_quality
from ._coefficients import check_rest, check_sides, native_of
from .errors import WriteError, one_of, true_or_false, warn, whole_number
from .tables import check_tables
from .transform import METHODS, check_method

QUALITY = 85  # by default
QUANTIZERS = ("round", "dead-zone", "rd")
_SAMPLINGS = ("YCbCr-4:2:0", "YCbCr-4:2:2", "YCbCr-4:4:4", "YCbCr-4:4:0", "YCbCr-4:1:1",
              "YCbCr-4:4:1", "RGB")  # CtSampling
# What makes the smallest file smaller.
_SMALLER = ("Files are smaller with fewer pixels, subsampling='4:2:0', quantizer='rd' and "
            "optimize=True")
_UNTRUE_LENGTHS = ("XMP data among the picture's markers name lengths that are not those of its "
                   "attachments and trailer")


class Options(NamedTuple):
    """How a file is coded, as write() takes it."""

    progressive: bool = False
    arithmetic: bool = False
    optimize: bool = False
    restart: int = 0
    markers: bytes = b""  # of pixels' files; pictures have their own

    def check(self) -> "Options":
        """Raises TypeError and WriteError."""
        for name in ("progressive", "arithmetic", "optimize"):
            true_or_false(name, getattr(self, name), or_number=True)  # as for Pillow
        if not 0 <= whole_number("restart", self.restart) <= 65535:
            raise WriteError(f"restart must be 0 to 65535 MCUs, not {self.restart}")
        return self

    def to_native(self) -> _native.EncodeOptions:
        return _native.EncodeOptions(
            ctypes.sizeof(_native.EncodeOptions), markers=self.markers,
            markers_size=len(self.markers), progressive=bool(self.progressive),
            arithmetic=bool(self.arithmetic), optimize=bool(self.optimize),
            restart=int(self.restart))


def checked_size(name: str, size: Any) -> Optional[int]:
    """Raises ValueError and TypeError."""
    if size is None:
        return None
    number = whole_number(name, size)
    if not 1 <= number < 1 << 32:
        raise ValueError(f"{name} must be 1 to 4294967295 bytes, not {size}")
    return number


class Quantization(NamedTuple):
    """How encode() quantizes."""

    quality: Any = None  # checked() makes QUALITY of None
    qtables: Any = "annex-k"  # a preset, or one or two tables as of check_tables()
    quantizer: str = "round"
    target_size: Optional[int] = None
    max_size: Optional[int] = None

    def checked(self) -> "Quantization":
        """Raises ValueError and TypeError."""
        if self.quality is not None and self.target_size is not None:
            raise ValueError("target_size chooses the quality: pass one of them")
        quality = QUALITY if self.quality is None else self.quality
        check_quality(quality)
        one_of("quantizer", self.quantizer, QUANTIZERS)
        return self._replace(
            quality=int(quality), target_size=checked_size("target_size", self.target_size),
            max_size=checked_size("max_size", self.max_size))._with_checked_tables()

    def _with_checked_tables(self) -> "Quantization":
        if isinstance(self.qtables, str):
            if self.qtables not in _native.PRESETS:
                raise ValueError("qtables must be 'annex-k', 'perceptual' or arrays, not "
                                 f"{self.qtables!r}")
            return self
        if self.has_sizes():
            raise ValueError("target_size and max_size scale qtables='annex-k' or "
                             "'perceptual', not arrays")
        return self._replace(qtables=check_tables(self.qtables))

    def has_sizes(self) -> bool:
        return self.target_size is not None or self.max_size is not None

    def is_plain(self) -> bool:
        """Whether Picture.from_pixels() quantizes so, too."""
        return (self.quantizer == "round" and not self.has_sizes()
                and (not isinstance(self.qtables, str) or self.qtables == "annex-k"))

    def own_tables(self) -> Optional[np.ndarray]:
        return None if isinstance(self.qtables, str) else self.qtables

    def to_native(self, options: Options) -> Tuple[_native.EncodeOptions, Any]:
        """CtEncodeOptions with two tables of one's own at most, and what they refer to."""
        native, own, kept = options.to_native(), self.own_tables(), None
        native.quality = self.quality
        native.quantizer = QUANTIZERS.index(self.quantizer)
        native.target_size, native.max_size = self.target_size or 0, self.max_size or 0
        if own is None:
            native.preset = _native.PRESETS.index(self.qtables)
        else:
            kept = np.ascontiguousarray(own, np.uint16)
            native.tables, native.n_tables = kept.ctypes.data, len(kept)
        return native, kept


def checked(options: Sequence[Any], method: Any, quantization: Sequence[Any]
            ) -> Tuple[Options, Quantization]:
    """The arguments of Options() and Quantization(). Raises ValueError, TypeError and WriteError.
    """
    try:
        if isinstance(quantization[1], str):  # other tables are of arrays, which may change
            return _known(*options, method, *quantization)
    except TypeError:  # also of arguments that have no hash
        pass
    return _checked(*options, method, *quantization)


def _checked(progressive: Any, arithmetic: Any, optimize: Any, restart: Any, method: Any,
             *quantization: Any) -> Tuple[Options, Quantization]:
    options = Options(progressive, arithmetic, optimize, restart).check()
    check_method(method)
    return options, Quantization(*quantization).checked()


_known = lru_cache(64, typed=True)(_checked)


def encoded(images: Sequence[Any], sampling: str, options: Options, quantization: Quantization,
            method: str) -> List[bytes]:
    """The JPEG files of uint8 pixels of gray or RGB: numpy arrays or, on one GPU, Views.

    quantization: with at most two tables of one's own. Raises WriteError, ValueError, Unavailable.
    """
    native, kept = quantization.to_native(options)
    native.sampling = _SAMPLINGS.index(sampling) if sampling in _SAMPLINGS else 0
    native.method = METHODS.index(method)
    in_rows = [_in_rows(pixels) for pixels in images]
    array = (_native.Image * len(images))(*map(_image_of, in_rows))
    made, error = _native.MadeFiles(len(images)), _native.Error()
    engine = _native.engine(images[0].device if isinstance(images[0], _device.View) else None)
    _native.check(_native.library().ct_encode(engine, native, array, len(array), made.files,
                                              error), error)
    del kept, in_rows
    data = [_data_of(made, index, _SMALLER if quantization.has_sizes() else "")
            for index in range(len(array))]
    if quantization.has_sizes():
        for file in made.files:
            if file.error.text:
                warn(f"{file.error.words}. {_SMALLER}")
    return data


def reencoded(picture: Any, quantization: Quantization) -> Optional[bytes]:
    """The JPEG file of a Picture's samples, requantized, with optimized Huffman tables.

    None: the library makes none of such pictures. Raises WriteError, ValueError, Unavailable.
    """
    options, kept = quantization.checked().to_native(Options(optimize=True))
    native, coefficients = native_of(picture)
    made, error = _native.MadeFiles(), _native.Error()
    _native.check(_native.library().ct_reencode(_native.engine(None), options, native, 1,
                                                made.files, error), error)
    del kept, coefficients
    return None if made.files[0].error.code == _native.UNSUPPORTED else _data_of(made)


def _in_rows(pixels: Any) -> Any:
    """The same pixels, without gaps in a row; rows may have gaps between them. Raises ValueError
    for those of a View that have gaps."""
    size = color.channels_of(pixels.shape)
    inner = (size, 1)[-len(pixels.shape) + 1:] if len(pixels.shape) == 3 else (1,)
    if isinstance(pixels, _device.View):
        return _device.with_rows(pixels, inner)
    if pixels.strides[1:] != inner or pixels.strides[0] < size * pixels.shape[1]:
        return np.ascontiguousarray(pixels)
    return pixels


def _image_of(pixels: Any) -> _native.Image:
    """The CtImage of pixels of _in_rows()."""
    on_device = isinstance(pixels, _device.View)
    height, width = pixels.shape[:2]
    channels = color.channels_of(pixels.shape)
    return _native.Image(pixels.address if on_device else _native.address_of(pixels),
                         pixels.strides[0] if height > 1 else width * channels, width, height,
                         channels, on_device)


def _data_of(made: _native.MadeFiles, index: int = 0, advice: str = "") -> bytes:
    error = made.files[index].error
    _native.check_device(error)
    if error.code != _native.OK:
        words = f"{error.words}. {advice}" if advice else error.words
        raise WriteError(f"picture {index}: {words}" if len(made.files) > 1 else words)
    return made.data(index)


def written(pictures: Sequence[Any], options: Options) -> List[bytes]:
    """The JPEG files of Pictures in system memory. Raises WriteError, TypeError and Unavailable."""
    array, kept = (_native.Picture * len(pictures))(), []
    for index, picture in enumerate(pictures):
        check_rest(picture)
        array[index], coefficients = native_of(picture)
        kept.append(coefficients)
        check_sides(picture.width, picture.height)
    made, error = _native.MadeFiles(len(array)), _native.Error()
    _native.check(_native.library().ct_write(_native.engine(None), options.to_native(), array,
                                             len(array), made.files, error), error)
    del kept
    files = [_data_of(made, index) for index in range(len(array))]
    if any(file.error.text for file in made.files):
        warn(_UNTRUE_LENGTHS)
    return files
