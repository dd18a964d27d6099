"""Coefficients as networks take them: a plane for each frequency, in a type of their choice."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from ._cuda_memory import CudaArray
from ._filters import check_type, planes
from ._coefficients import device_of

if TYPE_CHECKING:
    import numpy.typing as npt


class Planes(Tuple[Any, ...]):
    """A picture's coefficients: of each component an array (64, blocks_h, blocks_w).

    Plane 0 is DC, the others follow in the zigzag order of JPEG files. int16 arrays are quantized;
    others are dequantized, in the units of JPEG: DC is eight times the mean of the samples less
    128, or less 2048 at 12 bits. Arrays are numpy's or, on a GPU, CudaArrays.

    tables: uint16 (n, 8, 8), quantization tables in natural order; (0, 8, 8) of dequantized ones
    which: a tuple of each component's index in `tables`, which has none if they are dequantized
    width, height, sampling, depth, path, irregular: as of a Picture
    """

    tables: npt.NDArray[np.uint16]
    which: Tuple[int, ...]
    width: int
    height: int
    sampling: str
    depth: int
    path: Optional[str]
    irregular: Tuple[str, ...]

    def __repr__(self) -> str:
        types = ", ".join(str(array.dtype) for array in self[:1])
        return f"<Planes {self.width}x{self.height} {self.sampling} {types}>"


def planes_of(picture: Any, dtype: Any) -> Planes:
    """The Planes of a Picture, on its device. Raises TypeError, ValueError and WriteError."""
    kind, device = check_type(dtype), device_of(picture)
    held = planes(picture, kind)
    bands = held.planes.bands[:held.planes.components]
    held.address = bands[0].data
    last = bands[-1]
    size = last.data - held.address + last.pitch * 64 * last.blocks_h
    memory = held.array((size,)) if device is None else None
    arrays = []
    for band in bands:
        shape = 64, band.blocks_h, band.blocks_w
        strides = band.pitch * band.blocks_h, band.pitch, kind.itemsize
        offset = band.data - held.address
        arrays.append(np.ndarray(shape, kind, memory, offset, strides) if device is None else
                      CudaArray(held, offset, shape, strides, device, kind))
    made = Planes(arrays)
    is_coefficients = kind == np.int16
    made.tables = picture.tables.copy() if is_coefficients else np.empty((0, 8, 8), np.uint16)
    made.which = tuple(component.table for component in picture.components)
    made.width, made.height, made.sampling = picture.width, picture.height, picture.sampling
    made.depth, made.path, made.irregular = picture.depth, picture.path, picture.irregular
    return made
