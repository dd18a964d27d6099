"""Quantization tables: those of a quality, the quality of some, and tables as arguments."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native, color
from ._filters import check_quality
from .errors import one_of

if TYPE_CHECKING:
    import numpy.typing as npt


def check_tables(values: Any, least: int = 1) -> npt.NDArray[np.uint16]:
    """uint16 (n, 8, 8) of one table or several, as Picture.from_pixels() takes them. Raises
    ValueError and TypeError.

    least: 0 for tables that multiply, 1 for those that divide
    """
    if isinstance(values, str):
        raise TypeError(f"tables must be arrays, not {values!r}: quality_tables() makes them of "
                        "presets")
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    tables = given = np.asarray(values)
    if tables.ndim in (1, 2) and tables.shape[-1] == 64:
        tables = tables.reshape(-1, 8, 8)
    if tables.ndim == 2:
        tables = tables[None]
    if tables.shape[1:] != (8, 8) or not 1 <= len(tables) <= 4:
        raise ValueError("tables must be (8, 8), (64,), (1 to 4, 8, 8) or (1 to 4, 64), not "
                         f"{given.shape}")
    if tables.dtype.kind not in "iu" or tables.min() < least or tables.max() > 65535:
        raise ValueError(f"entries of tables must be whole numbers from {least} to 65535")
    return np.ascontiguousarray(tables, np.uint16)


def one_table(table: Any, least: int) -> npt.NDArray[np.uint16]:
    """uint16 (8, 8) of the only table of a plane, as of check_tables(). Raises ValueError."""
    tables = check_tables(table, least)
    if len(tables) != 1:
        raise ValueError("table must be (8, 8)")
    return tables[0]


def quality_tables(quality: int, preset: str = "annex-k",
                   subsampling: Any = "4:2:0") -> npt.NDArray[np.uint16]:
    """The tables of luma and chroma for a quality: uint16 (2, 8, 8), in natural order.

    quality: 1 to 100.
    preset: `annex-k`, libjpeg's tables, or `perceptual`.
    subsampling: of the picture; only `perceptual` has a table of chroma for each.
    Raises ValueError and TypeError.
    """
    check_quality(quality)
    if not isinstance(preset, str):
        raise TypeError(f"preset must be a str, not {type(preset).__name__}")
    one_of("preset", preset, _native.PRESETS)
    across, down = color.ratio_of(color.subsampling_of(subsampling), 1)
    made, error = np.empty((2, 8, 8), np.uint16), _native.Error()
    _native.check(_native.library().ct_quality_tables(
        _native.PRESETS.index(preset), int(quality), across, down, made[0].ctypes.data,
        made[1].ctypes.data, error), error)
    return made


@functools.lru_cache(maxsize=1)
def _all_tables() -> np.ndarray:
    return np.stack([quality_tables(quality) for quality in range(1, 101)]).astype(np.int32)


@functools.lru_cache(maxsize=256)
def _estimated_quality(table: bytes, kind: int) -> int:
    differences = _all_tables()[:, kind] - np.frombuffer(table, np.uint16).reshape(8, 8)
    return int(np.abs(differences).sum(axis=(1, 2)).argmin()) + 1


def estimated_quality(table: npt.NDArray[Any], kind: int = 0) -> int:
    """libjpeg's quality with the nearest table of luma (`kind` 0) or chroma (1)."""
    return _estimated_quality(table.astype(np.uint16).tobytes(), kind)
