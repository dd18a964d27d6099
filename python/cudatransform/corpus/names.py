"""Names of results: what a job writes next to the input's tree, and which names would clash."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import os
import tempfile
import unicodedata
from functools import partial
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..errors import is_interruption

OWN = ".cudatransform-corpus"  # the folder with a job's notes
FAILURES, WARNINGS, SUMMARY = b"failures.jsonl", b"warnings.jsonl", b"summary.json"
STATS = b"stats.parquet"
# Actions that write the input's tree, and with it any name. The others choose all their names.
TREE = frozenset(("repack", "requantize", "shrink", "transpose", "crop"))


def shard_name(number: int) -> bytes:
    """The name of a chunk's results of `export`."""
    return f"coefficients-{number:06d}.parquet".encode()


class Sameness(NamedTuple):
    """Which names that differ are one name to a file system."""

    case: bool = False     # a.jpg and A.JPG, as on FAT, NTFS and SMB
    unicode: bool = False  # composed and decomposed letters, as on HFS+ and APFS

    def fold(self, name: bytes) -> bytes:
        """The same bytes for the same names."""
        if name.isascii():
            return name.lower() if self.case else name
        text = os.fsdecode(name)
        if self.case:
            text = unicodedata.normalize("NFC", text).casefold()
        return os.fsencode(unicodedata.normalize("NFC", text) if self.case or self.unicode
                           else text)


def sameness_in(folder: str) -> Sameness:
    """How a folder's file system compares names, by files that are created there and removed.

    Raises OSError.
    """
    return Sameness(_is_one(folder, "a", str.upper),
                    _is_one(folder, "\u00e9", partial(unicodedata.normalize, "NFD")))


def _is_one(folder: str, prefix: str, other: Callable[[str], str]) -> bool:
    """Whether a file whose name has that prefix is there by its other name, too."""
    try:
        handle, path = tempfile.mkstemp(prefix=prefix, dir=folder)
    except OSError as error:
        if prefix.isascii() or is_interruption(error):
            raise
        return False  # a file system that does not take such letters
    os.close(handle)
    try:
        return os.path.exists(os.path.join(folder, other(os.path.basename(path))))
    finally:
        os.unlink(path)


def clash_of(action: str, files: List[bytes], sameness: Sameness) -> Optional[str]:
    """What is wrong with the names of an action's files, with the cure; None: nothing.

    files: as of list_files()
    """
    if action not in TREE:
        return None
    fold = sameness.fold
    reserved = {fold(name) for name in (FAILURES, WARNINGS, SUMMARY, os.fsencode(OWN))}
    for top in sorted({name.partition(b"/")[0] for name in files}):
        if fold(top) in reserved:
            return f"{os.fsdecode(top)!r} in the input has a name that the job needs: rename it"
    if not any(sameness):
        return None
    pair = _pair_in(files, fold)
    return None if pair is None else (
        f"{os.fsdecode(pair[0])!r} and {os.fsdecode(pair[1])!r} are one name in the output's "
        "file system: rename one, or choose an output in another")


def _pair_in(files: List[bytes], fold: Callable[[bytes], bytes]) -> Optional[Tuple[bytes, bytes]]:
    """Two files, or a file and a folder, with the same name once folded. Folders may merge."""
    seen: Dict[bytes, bytes] = {}
    for name in files:
        other = seen.setdefault(fold(name), name)
        if other is not name:
            return other, name
    for folder in sorted(_folders_of(files)):
        if fold(folder) in seen:
            return seen[fold(folder)], folder
    return None


def _folders_of(files: List[bytes]) -> Set[bytes]:
    def above(name: bytes) -> Iterator[bytes]:
        while name := os.path.dirname(name):
            yield name
    return {folder for parent in {os.path.dirname(name) for name in files}
            for folder in (parent, *above(parent)) if folder}
