"""Pictures turned, cropped and requantised by the elements, in system memory or on a GPU."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _gst
from ._cuda_memory import context_of
from ._device_transform import caps_on_device, levels_in
from ._levels import add_rest, check_rest, described, in_one_piece
from ._stage import Stage
from ._stages import run
from .errors import warn, whole_number
from .transform import check_quality

DIRECTIONS = ("identity", "90r", "180", "90l", "horiz", "vert", "ul-lr", "ur-ll", "auto")
# An element and its properties; all of them are set, because elements are kept from call to call.
Verb = Tuple[str, Dict[str, str]]


def flip(direction: Any = "identity", trim: bool = False, perfect: bool = False,
         crop: Tuple[Any, Any, Any, Any] = (0, 0, 0, 0)) -> Verb:
    """crop: left, top, width and height, of the turned picture. Raises TypeError and ValueError."""
    if direction not in DIRECTIONS:
        raise ValueError(f"a direction is {', '.join(DIRECTIONS)}, not {direction!r}")
    for name, value in (("trim", trim), ("perfect", perfect)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} is True or False, not {value!r}")
    sides = {f"crop-{name}": str(whole_number(f"a crop's {name}", number))
             for name, number in zip(("left", "top", "width", "height"), crop)}
    if max(map(int, sides.values())) >= 1 << 31:
        raise ValueError(f"a crop of {crop[2]} x {crop[3]} samples at ({crop[0]}, {crop[1]})")
    return "cudadctflip", {"video-direction": direction, "trim": str(bool(trim)).lower(),
                           "perfect": str(bool(perfect)).lower(), **sides}


def cropping(left: Any, top: Any, width: Any, height: Any) -> Verb:
    """Raises TypeError and ValueError."""
    verb = flip(crop=(left, top, width, height))
    if min(left, top) < 0 or min(width, height) < 1:
        raise ValueError(f"a crop of {width} x {height} samples at ({left}, {top})")
    return verb


def quant(quality: Any) -> Verb:
    """Raises TypeError and ValueError."""
    check_quality(quality)
    return "cudadctquant", {"quality": str(int(quality))}


def _run(verb: Verb, picture: Any, caps: Any, memory: Any, buffer: Any,
         device: Optional[int] = None) -> _gst.Sample:
    at, features = "backend=cpu n-threads=1", ""
    if device is not None:
        at, features = f"backend=cuda cuda-device-id={device}", "(memory:CUDAMemory)"
    element, properties = verb
    used: List[Stage] = []

    def prepare(stage: Stage) -> int:
        used.append(stage)
        for name, value in properties.items():
            stage.set(name, value)
        stage.set_caps_object(f"{picture.sampling} {picture.width}x{picture.height} "
                              f"{picture.depth}".encode(), caps())
        return buffer()
    made = run(f"{element} name=first {at} qos=false ! video/x-dct{features}", prepare, memory,
               None if device is None else context_of(device)[0])
    if element == "cudadctflip":
        _warn_of_losses(used[0], properties["video-direction"] == "auto")
    return made


def _warn_of_losses(stage: Stage, is_upright: bool) -> None:
    dropped, edges = stage.text_of("dropped-metadata"), stage.text_of("unmirrored-edges")
    if dropped is not None:
        warn(f"dropped what cannot follow the picture without loss: {dropped}")
    if edges is not None and is_upright:
        warn("partial MCUs that cannot be mirrored without loss stay as they are at the "
             f"{edges}; trim=True drops them")


def by_cpu(verb: Verb, picture: Any) -> Tuple[_gst.Sample, np.ndarray]:
    """What an element makes of a Picture in system memory, and the memory that it was given.

    The Sample may be around that memory itself. Raises TypeError, WriteError and ValueError.
    """
    check_rest(picture)
    gst = _gst.libraries()
    memory, info = in_one_piece(gst, picture)

    def buffer() -> int:
        made = described(gst, memory, info, picture)
        add_rest(gst, made, picture)
        return made
    return _run(verb, picture, lambda: gst.gst_dct_info_to_caps(info), memory, buffer), memory


def by_cuda(verb: Verb, picture: Any, device: int) -> _gst.Sample:
    """The same of a CudaPicture, on its device."""
    check_rest(picture)
    gst = _gst.libraries()
    info = _gst.DctInfo(gst, "S16LE", True, picture.depth, picture.sampling, picture.width,
                        picture.height)

    def buffer() -> int:
        made = levels_in(gst, picture, info)
        add_rest(gst, made, picture)
        return made
    return _run(verb, picture, lambda: caps_on_device(gst, info), picture, buffer, device)
