"""The input's files in a fixed order, and the output folder: which job's it is, what is done."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Set, Tuple

from ..errors import is_interruption
from .names import OWN, TREE, Sameness, clash_of, sameness_in

ENDINGS = (b".jpg", b".jpeg", b".jpe", b".jfif")
CHUNK = 64  # files that are done or not done together


class FolderError(ValueError):
    """The input or the output folder is not what the job needs."""


def list_files(root: str, say: Callable[[str], Any] = lambda line: None) -> List[bytes]:
    """The JPEG files below a folder by their names, as bytes relative to it, in the order of bytes.

    Names are bytes because file systems take any. Links to folders and outputs of other jobs are
    left out. `say` is called with a line about such outputs and about folders that cannot be read.
    Raises FolderError.
    """
    top = os.fsencode(root)
    if not os.path.isdir(top):
        reason = errno.ENOTDIR if os.path.lexists(top) else errno.ENOENT
        raise FolderError(f"{root}: {os.strerror(reason)}")
    found = []
    for folder, folders, names in os.walk(
            top, onerror=lambda error: say(f"left out, because it cannot be read: {error}")):
        if os.fsencode(OWN) in folders:
            folders.remove(os.fsencode(OWN))
            if folder != top:  # an output that is named as the input is wanted
                say(f"left out, because it is the output of a job: {os.fsdecode(folder)!r}")
                folders.clear()
                continue
        found += [os.path.relpath(os.path.join(folder, name), top) for name in names
                  if name.lower().endswith(ENDINGS)]
    return sorted(found)


def _is_inside(path: str, folder: str) -> bool:
    """Whether a path, which need not exist, is a folder or in it, through any links and mounts."""
    at, before = os.path.realpath(path), ""
    while at != before:
        if os.path.exists(at) and os.path.samefile(at, folder):
            return True
        at, before = os.path.dirname(at), at
    return False


class OutputError(RuntimeError):
    """A result cannot be written: the job ends, because no file of the input is to blame."""


def _note_name(number: int) -> str:
    """The path of a chunk's note, relative to the output folder."""
    return os.path.join(OWN, "done", f"{number:06d}.jsonl")


class Output:
    """The output folder: results, and in a separate folder a note of each chunk that is done.

    Everything is written under another name and then renamed, so every file is whole. Workers get
    it pickled and see the same path.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.own = os.path.join(self.path, OWN)
        self.lock_file: Optional[BinaryIO] = None

    def claim(self, job: Dict[str, Any], files: List[bytes]) -> None:
        """Makes the folder this job's, or finds that it is. Raises FolderError if it is another's
        or cannot have results of such names, and OutputError."""
        job = dict(job, files=len(files),
                   list=hashlib.sha256(b"\0".join(files)).hexdigest())
        if _is_inside(self.path, job["input"]):
            real = os.path.realpath(self.path)
            words = "" if real == self.path else f", which is {real},"
            raise FolderError(f"{self.path}{words} is inside of the input {job['input']}")
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise FolderError(f"{self.path} is no folder")
        clash = clash_of(job["action"], files, Sameness())
        if clash is not None:
            raise FolderError(clash)
        path = os.path.join(self.own, "job.json")
        try:
            before = self._job_before(path)
            if before is not None:
                differ = sorted(key for key in {*job, *before} if job.get(key) != before.get(key))
                if differ:
                    verb = "differs" if len(differ) == 1 else "differ"
                    raise FolderError(f"{self.path} holds another job: {', '.join(differ)} {verb}")
            for name in ("done", "parts"):
                os.makedirs(os.path.join(self.own, name), exist_ok=True)
            self._lock()
            self._clear_parts()
            self._check_names(job["action"], files, before is None)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written to: {error}") from error
        if before is None:
            self.write(os.path.join(OWN, "job.json").encode(), json.dumps(job, indent=1).encode())

    def _check_names(self, action: str, files: List[bytes], is_new: bool) -> None:
        """Raises FolderError where two results have one name, and keeps no notes then."""
        if action not in TREE:
            return
        clash = clash_of(action, files, sameness_in(os.path.join(self.own, "parts")))
        if clash is not None:
            self.release()
            if is_new:
                shutil.rmtree(self.own)
            raise FolderError(clash)

    def _job_before(self, path: str) -> Optional[Dict[str, Any]]:
        """The job that has this folder; None: none yet. Raises FolderError and OSError."""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                try:
                    before = json.load(file)
                except ValueError as error:
                    raise FolderError(f"{path} does not name its job: {error}"
                                      ) from error
            if not isinstance(before, dict):
                raise FolderError(f"{path} does not name its job")
            return before
        # A run that ended before it wrote job.json has left folders, and its lock.
        held = set(os.listdir(self.path)) if os.path.isdir(self.path) else set()
        if held == {OWN}:
            held = {name for name in os.listdir(self.own) if name not in ("done", "parts", "lock")}
            if os.path.isdir(os.path.join(self.own, "done")):
                held.update(map(str, self.done()))
        if held:
            raise FolderError(f"{self.path} holds other files")
        return None

    def _lock(self) -> None:
        """Locks the folder until this process ends. Raises FolderError where another is running."""
        file = open(os.path.join(self.own, "lock"), "ab")  # pylint: disable=consider-using-with
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise FolderError(f"another run is at work in {self.path}") from error
        except OSError:  # a file system without locks, say
            file.close()
            raise
        self.lock_file = file

    def release(self) -> None:
        """Lets another process at it."""
        if self.lock_file is not None:
            self.lock_file.close()
        self.lock_file = None

    def __getstate__(self) -> Dict[str, Any]:
        return {"path": self.path, "own": self.own, "lock_file": None}

    def _clear_parts(self) -> None:
        """Removes unfinished files of a killed run."""
        parts = os.path.join(self.own, "parts")
        for name in os.listdir(parts):
            os.unlink(os.path.join(parts, name))

    def write(self, relative: bytes, data: bytes) -> None:
        """Writes a file below the folder, whole or not at all. Raises OutputError."""
        target = os.path.join(os.fsencode(self.path), relative)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            handle, part = tempfile.mkstemp(dir=os.path.join(self.own, "parts"))
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(part, 0o644)
                os.replace(part, target)
            except OSError:
                os.unlink(part)  # so that a full disk has room again
                raise
        except OSError as error:
            if is_interruption(error):
                raise
            raise OutputError(f"{os.fsdecode(target)!r} cannot be written: {error}") from error

    def copy(self, source: bytes, relative: bytes) -> None:
        """Copies a file to below the folder, whole or not at all."""
        with open(source, "rb") as file:
            self.write(relative, file.read())

    def finish_chunk(self, number: int, rows: List[Dict[str, Any]]) -> None:
        """Notes a chunk as done, with a row for each of its files. Raises OutputError."""
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

    def rows_of(self, number: int, names: List[bytes]) -> List[Dict[str, Any]]:
        """The rows of a chunk's files. Raises OutputError where one is missing."""
        note = self._note_of(number)
        try:
            with open(note, encoding="utf-8") as file:
                rows = list(map(json.loads, file))
            if [os.fsencode(row["path"]) for row in rows] == names:
                return rows
        except OSError as error:
            raise OutputError(f"{note} cannot be read: {error}") from error
        except (ValueError, KeyError, TypeError):
            pass
        raise OutputError(f"{note} is damaged: it lacks the results of {len(names)} files. "
                          "The next run does them again")

    def forget_damaged(self, chunks: List[List[bytes]]) -> List[int]:
        """Removes the notes that are not whole. Returns the numbers of their chunks."""
        damaged = []
        for number in sorted(self.done()):
            try:
                if number < len(chunks):
                    self.rows_of(number, chunks[number])
            except OutputError:
                os.unlink(self._note_of(number))
                damaged.append(number)
        return damaged

    def counts(self, number: int) -> Tuple[int, int]:
        """How many files and how many bad ones a finished chunk has. Its note needs no parsing:
        quotes in values are escaped."""
        with open(self._note_of(number), "rb") as file:
            data = file.read()
        return data.count(b"\n"), data.count(b'"reason": ')

    def finish(self) -> None:
        """Removes unfinished files."""
        shutil.rmtree(os.path.join(self.own, "parts"), ignore_errors=True)
        os.makedirs(os.path.join(self.own, "parts"), exist_ok=True)
