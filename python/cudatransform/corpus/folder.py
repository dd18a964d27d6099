"""The input's files in a fixed order, and the output folder: whose it is, what of it is done."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Set, Tuple

ENDINGS = (b".jpg", b".jpeg", b".jpe", b".jfif")
CHUNK = 64  # files that are done or not done together
_OWN = ".cudatransform-corpus"


class FolderError(ValueError):
    """The input or the output folder is not what the job needs."""


def list_files(root: str) -> List[bytes]:
    """The JPEG files below a folder by their names, as bytes relative to it, in the order of bytes.

    Names are bytes because file systems take any. Links to folders are not followed.
    """
    top = os.fsencode(root)
    if not os.path.isdir(top):
        raise FolderError(f"{root} is no folder")
    found = []
    for folder, _, names in os.walk(top):
        found += [os.path.relpath(os.path.join(folder, name), top) for name in names
                  if name.lower().endswith(ENDINGS)]
    return sorted(found)


class OutputError(RuntimeError):
    """A result cannot be written: the job ends, because no file of the input is to blame."""


def _note_name(number: int) -> str:
    """The file that says what is known of a chunk, relative to the output folder."""
    return os.path.join(_OWN, "done", f"{number:06d}.jsonl")


class Output:
    """The output folder. Results are in it, and in a folder of its own what is known of each chunk.

    Everything is written under another name and renamed, so that what is there is whole. Pickled, it
    goes to the workers, which see the same path.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.own = os.path.join(self.path, _OWN)
        self.lock_file: Optional[BinaryIO] = None

    def claim(self, job: Dict[str, Any], files: List[bytes]) -> None:
        """Makes the folder this job's, or finds that it is. Raises FolderError if it is another's."""
        job = dict(job, files=len(files),
                   list=hashlib.sha256(b"\0".join(files)).hexdigest())
        inside = os.path.join(os.path.abspath(job["input"]), "")
        if os.path.join(self.path, "").startswith(inside):
            raise FolderError(f"{self.path} is inside of the input")
        told = os.path.join(self.own, "job.json")
        if os.path.exists(told):
            with open(told, encoding="utf-8") as file:
                before = json.load(file)
            differ = sorted(key for key in {*job, *before} if job.get(key) != before.get(key))
            if differ:
                raise FolderError(f"{self.path} holds another job: {', '.join(differ)} differ")
        elif os.path.isdir(self.path) and os.listdir(self.path):
            raise FolderError(f"{self.path} holds something else")
        for name in ("done", "parts"):
            os.makedirs(os.path.join(self.own, name), exist_ok=True)
        self._lock()
        self._clear_parts()
        if not os.path.exists(told):
            self.write(os.path.join(_OWN, "job.json").encode(), json.dumps(job, indent=1).encode())

    def _lock(self) -> None:
        """For this process, until it ends. Raises FolderError where another one is at work."""
        file = open(os.path.join(self.own, "lock"), "ab")  # pylint: disable=consider-using-with
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise FolderError(f"another run is at work in {self.path}") from error
        self.lock_file = file

    def release(self) -> None:
        """Lets another process at it."""
        if self.lock_file is not None:
            self.lock_file.close()
        self.lock_file = None

    def __getstate__(self) -> Dict[str, Any]:
        return {"path": self.path, "own": self.own, "lock_file": None}

    def _clear_parts(self) -> None:
        """What a run that was killed has left."""
        parts = os.path.join(self.own, "parts")
        for name in os.listdir(parts):
            os.unlink(os.path.join(parts, name))

    def write(self, relative: bytes, data: bytes) -> None:
        """Writes a file below the folder, whole or not at all. Raises OutputError."""
        target = os.path.join(os.fsencode(self.path), relative)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            handle, part = tempfile.mkstemp(dir=os.path.join(self.own, "parts"))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(part, 0o644)
            os.replace(part, target)
        except OSError as error:
            raise OutputError(f"{os.fsdecode(target)!r} cannot be written: {error}") from error

    def copy(self, source: bytes, relative: bytes) -> None:
        """Copies a file to below the folder, whole or not at all."""
        with open(source, "rb") as file:
            self.write(relative, file.read())

    def finish_chunk(self, number: int, rows: List[Dict[str, Any]]) -> None:
        """Notes a chunk as done, with what is known of its files."""
        lines = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)
        self.write(_note_name(number).encode(), lines.encode())

    def _note_of(self, number: int) -> str:
        return os.path.join(self.path, _note_name(number))

    def is_done(self, number: int) -> bool:
        return os.path.exists(self._note_of(number))

    def done_at(self, number: int) -> int:
        """When a chunk was done, in nanoseconds since 1970."""
        return os.stat(self._note_of(number)).st_mtime_ns

    def done(self) -> Set[int]:
        """The chunks that are done."""
        names = (name.partition(".jsonl")[0] for name in os.listdir(os.path.join(self.own, "done")))
        return {int(name) for name in names if name.isdecimal()}

    def rows(self, chunks: int) -> Iterator[Dict[str, Any]]:
        """What is known of all files, in order."""
        for number in range(chunks):
            with open(self._note_of(number), encoding="utf-8") as file:
                yield from map(json.loads, file)

    def counts(self, number: int) -> Tuple[int, int]:
        """How many files and how many bad ones are in a chunk that is done, without parsing it: no
        value of its rows has quotes that are not escaped."""
        with open(self._note_of(number), "rb") as file:
            data = file.read()
        return data.count(b"\n"), data.count(b'"reason": ')

    def finish(self) -> None:
        """Leaves no parts."""
        shutil.rmtree(os.path.join(self.own, "parts"), ignore_errors=True)
        os.makedirs(os.path.join(self.own, "parts"), exist_ok=True)
