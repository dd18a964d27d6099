"""Quantization tables as arguments: their shapes, types and values are checked here."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import Any

import numpy as np


def check_tables(values: Any) -> np.ndarray:
    """uint16 (n, 8, 8) of one table or several. Raises ValueError."""
    tables = np.asarray(values)
    if tables.ndim == 2:
        tables = tables[None]
    if tables.shape[1:] != (8, 8) or not 1 <= len(tables) <= 4:
        raise ValueError(f"tables must be (8, 8) or (1 to 4, 8, 8), not {np.shape(values)}")
    if tables.dtype.kind not in "iu" or tables.min() < 1 or tables.max() > 65535:
        raise ValueError("entries of tables must be whole numbers from 1 to 65535")
    return np.ascontiguousarray(tables, np.uint16)


def one_table(table: Any) -> np.ndarray:
    """uint16 (8, 8) of the only table of a plane. Raises ValueError."""
    tables = check_tables(table)
    if len(tables) != 1:
        raise ValueError("table must be (8, 8)")
    return tables[0]
