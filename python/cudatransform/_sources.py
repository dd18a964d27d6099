"""JPEG files as callers name them, paths, bytes and binary files, in bulk for the library."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import os
from typing import Any, BinaryIO, Dict, List, Optional, Sequence, Union

import numpy as np

from ._native import Source as CtSource
from ._native import address_of, addresses_of, as_array, columns_of
from .errors import check_binary, is_interruption

Path = Union[str, "os.PathLike[str]"]
Source = Union[Path, bytes, bytearray, memoryview, BinaryIO]

_COLUMNS = columns_of(CtSource, "data", "size", "path", "left", "top", "right", "bottom")
_EMPTY = -1  # of a crop that the library refuses: to it, zeros are the whole picture


def reason_of(error: Exception) -> str:
    """The words of an error; of the system's without number and path, which a caller knows."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)


def name_of(source: Any) -> str:
    """What messages call a source."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None) if hasattr(source, "read") else "<bytes>"
    return name if isinstance(name, str) else "<file>"


def buffer_of(source: Any) -> np.ndarray:
    """The bytes of an object, without a copy. Raises TypeError."""
    try:
        return np.frombuffer(source, np.uint8)
    except TypeError:
        raise TypeError("source must be a path, bytes or a binary file, not "
                        f"{type(source).__name__}") from None


class Sources:
    """Files of a batch. They keep what they are read from.

    array: of CtSource
    names: of the files in messages
    paths: of those that have one
    reasons: why a file cannot be given to the library, by its index
    crops: of the files, integers (n, 4), left, top, right and bottom; None: they are whole
    Raises TypeError for what is no source.
    """

    __slots__ = ("array", "names", "paths", "reasons", "crops", "_held")

    def __init__(self, given: Sequence[Any], crops: Any = None) -> None:
        count = len(given)
        self.array = (CtSource * count)()
        self.names: List[str] = []
        self.paths: List[Optional[str]] = []
        self.reasons: Dict[int, str] = {}
        self.crops = crops
        columns = as_array(self.array, _COLUMNS)
        if crops is not None:
            self._give_crops(columns, np.asarray(crops))
        kinds = set(map(type, given))
        if kinds == {str}:
            self.names, self.paths = list(given), list(given)
            self._give_paths(columns, list(map(os.fsencode, given)))
        elif kinds == {bytes}:
            self.names, self.paths, self._held = ["<bytes>"] * count, [None] * count, given
            columns["data"] = addresses_of(given)
            columns["size"] = list(map(len, given))
        else:
            self._held = [self._take(one, row, index)
                          for index, (one, row) in enumerate(zip(given, columns))]

    @staticmethod
    def _give_crops(columns: np.ndarray, crops: np.ndarray) -> None:
        made = np.clip(crops, _EMPTY, 2**31 - 1).astype(np.int32)
        made[~made.any(1)] = _EMPTY
        for index, name in enumerate(("left", "top", "right", "bottom")):
            columns[name] = made[:, index].view(np.uint32)

    def _give_paths(self, columns: np.ndarray, encoded: List[bytes]) -> None:
        if b"\0" in b"/".join(encoded):
            for index, path in enumerate(encoded):
                if b"\0" in path:
                    encoded[index], self.reasons[index] = b"", "embedded null byte"
        self._held = encoded
        columns["path"] = addresses_of(encoded)

    def _take(self, source: Any, row: np.ndarray, index: int) -> Any:
        """Fills in one file of any kind, and returns what holds its bytes."""
        if isinstance(source, (str, os.PathLike)):
            path: Any = os.fspath(source)
            self.names.append(path)
            self.paths.append(path)
            one = [os.fsencode(path)]
            if b"\0" in one[0]:
                self.reasons[index] = "embedded null byte"
            else:
                row["path"] = addresses_of(one)[0]
            return one
        is_file = hasattr(source, "read")
        check_binary("source", source, "rb")
        self.names.append(name_of(source))
        self.paths.append(None)
        try:
            data = buffer_of(source.read() if is_file else source)
        except (OSError, MemoryError, ValueError) as error:
            if is_interruption(error):
                raise
            self.reasons[index] = reason_of(error)
            return None
        row["data"], row["size"] = address_of(data), len(data)
        return data

    def again(self, index: int) -> Any:
        """A source of the same file, for another try."""
        path = self.paths[index]
        return self._held[index] if path is None else path
