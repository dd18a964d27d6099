"""Pictures rotated, cropped, requantized and as planes or pixels, by the library."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
from typing import Any, Tuple

import numpy as np

from . import _native
from ._coefficients import check_rest, device_of, native_of
from .errors import is_interruption, one_of, true_or_false, warn, whole_number
from .resampling import crop_of

DIRECTIONS = ("identity", "90r", "180", "90l", "horiz", "vert", "ul-lr", "ur-ll", "auto")
# Pillow's Image.Transpose, whose rotations are counterclockwise, by number.
_TRANSPOSES = ("horiz", "vert", "90l", "180", "90r", "ul-lr", "ur-ll")
UPSAMPLINGS = ("fancy", "nearest")  # CtUpsampling
_PLANES = "int16", "int32", "float16", "float32"
_TRIM = "; trim drops them"


def check_upsampling(upsampling: Any) -> None:
    """Raises ValueError."""
    one_of("upsampling", upsampling, UPSAMPLINGS)


def check_quality(quality: Any) -> None:
    """Raises TypeError and ValueError."""
    if not 1 <= whole_number("quality", quality) <= 100:
        raise ValueError(f"quality must be 1 to 100, not {quality}")


def _direction_of(given: Any) -> str:
    """A direction by its name or by Pillow's number. Raises TypeError and ValueError."""
    if isinstance(given, str):
        one_of("method", given, DIRECTIONS)
        return given
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise TypeError(f"method must be a str or a member of Image.Transpose, not {given!r}")
    if not 0 <= given < len(_TRANSPOSES):
        raise ValueError("method must be 0 to 6, as Image.Transpose, not "
                         f"{given}: a rotation by 90 degrees is '90r' or '90l'")
    return _TRANSPOSES[given]


def flip(picture: Any, method: Any = "identity", trim: bool = False, perfect: bool = False,
         part: Tuple[int, int, int, int] = (0, 0, 0, 0)) -> _native.Pictures:
    """part: left, top, width and height, of the rotated picture. Raises TypeError, ValueError and
    WriteError."""
    number = DIRECTIONS.index(_direction_of(method))
    true_or_false("trim", trim)
    true_or_false("perfect", perfect)
    check_rest(picture)
    options = _native.FlipOptions(ctypes.sizeof(_native.FlipOptions), number, trim,
                                  perfect, *part)
    made = _run("ct_flip", picture, options)
    for line in made.array[0].error.words.splitlines():
        warn(line.replace(_TRIM, "; trim=True drops them"))
    return made


def crop(picture: Any, box: Any) -> _native.Pictures:
    """Raises TypeError, ValueError and WriteError."""
    left, top, right, bottom = crop_of(box, "box")
    if right > picture.width or bottom > picture.height:
        raise ValueError(f"box ends at ({right}, {bottom}), the picture is "
                         f"{picture.width}x{picture.height}")
    return flip(picture, part=(left, top, right - left, bottom - top))


def requantize(picture: Any, quality: Any) -> _native.Pictures:
    """Raises TypeError, ValueError and WriteError."""
    check_quality(quality)
    check_rest(picture)
    return _run("ct_requantize", picture, int(quality))


def pixels(picture: Any, upsampling: str = "fancy", scale: int = 1) -> np.ndarray:
    """uint8 (height, width, 3) of a picture of 8 bits with three components, (height, width) of
    one, in system memory and at 1/`scale` of its size."""
    options = _native.DecodeOptions(ctypes.sizeof(_native.DecodeOptions),
                                    _native.RGB if len(picture) > 1 else _native.GRAY,
                                    UPSAMPLINGS.index(upsampling), scale)
    made = _run("ct_pixels", picture, options)
    block, image = made.take_block(), made.array[0]
    block.address = image.data
    return block.array((image.height, image.width, 3)[:2 + (len(picture) > 1)])


def _run(function: str, picture: Any, argument: Any) -> _native.Pictures:
    native, kept = native_of(picture)
    made, error = _native.Pictures(1), _native.Error()
    code = getattr(_native.library(), function)(_native.engine(device_of(picture)), argument,
                                                native, made.array[0], error)
    del kept
    _native.check(code, error)
    return made


def planes(picture: Any, dtype: np.dtype) -> _native.MadePlanes:
    """The CtPlanes of a picture, on its device. Raises TypeError and WriteError."""
    native, kept = native_of(picture)
    made, error = _native.MadePlanes(), _native.Error()
    code = _native.library().ct_planes(_native.engine(device_of(picture)),
                                       _native.TYPES.index(dtype.name), native, made.planes, error)
    del kept
    _native.check(code, error)
    return made


def check_type(dtype: Any) -> np.dtype[Any]:
    """The type of planes. Raises ValueError for other types."""
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        if is_interruption(error):
            raise
        kind = None
    if kind is None or kind.name not in _PLANES or kind.byteorder == ">":
        raise ValueError(f"dtype must be {', '.join(_PLANES)}, not {dtype!r}")
    return kind
