"""A corpus job on Ray Data or on local processes: what it needs, and what is written at the end."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from . import local, on_ray
from .actions import parquet
from .folder import CHUNK, Output, list_files
from .names import FAILURES, STATS, SUMMARY, WARNINGS
from .progress import Progress, Show
from .worker import Chunk, words_of

# What pip installs: the extras of python/pyproject.toml, by names that also work without a clone.
REQUIREMENTS = {"pyarrow": ("pyarrow>=14",),
                "ray": ("ray[data]>=2.30", "pyarrow>=14", "typing_extensions")}
_MODULES = {"pyarrow": ("pyarrow", "pyarrow.parquet"), "ray": ("ray", "ray.data")}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def run(action: str, source: str, target: str, options: Dict[str, Any],
        address: Optional[str] = None, workers: Optional[int] = None, device: str = "cpu",
        say: Callable[[str], Any] = _say, show: Optional[Show] = None) -> Dict[str, float]:
    """Does the missing chunks of a job, and writes its results. Returns summary.json's data.

    address: of a Ray cluster, whose machines all see both folders; None: this machine alone, on Ray
        if it is installed, else on processes, which gives the same results
    workers: processes at a time; None: one for each core
    device: `cpu`, or `cuda`: the workers of a machine share its GPUs, which decode the files
    say: called with a line now and then, also from another thread
    show: called instead with the share that is done and a line about it, as of Progress
    Raises FolderError and ImportError before anything is written, the latter without pyarrow for
    `stats` and `export` or without Ray for an address; OutputError, Unavailable, OSError.
    """
    _check_modules(action, address)
    files, output = list_files(source, say), Output(target)
    source = os.path.abspath(source)
    chunks = [files[at:at + CHUNK] for at in range(0, len(files), CHUNK)]
    try:
        output.claim({"action": action, "options": options, "input": source}, files)
        done, missing = _what_is_missing(output, chunks, say)
        if missing:
            count = sum(len(chunks[number]) for number, _ in missing)
            say(f"{len(files)} files; {count} to do")
            job = words_of(action, options, source, output.path, device)
            with Progress(output, done, count, show or (lambda share, text: say(text))):
                _spread(job, missing, address, workers, device, say)
        return _conclude(action, output, chunks)
    finally:
        output.release()


def _check_modules(action: str, address: Optional[str]) -> None:
    """Raises ImportError, with the cure, where a module is missing that a job needs."""
    needs = {"pyarrow": action} if action in ("stats", "export") else {}
    if address is not None:
        needs["ray"] = "--address"
    for name, what in needs.items():
        error = _missing(name)
        if error is not None:
            raise ImportError(f"{what} needs {name} ({error}): {remedy(name)}")


def remedy(name: str) -> str:
    """The command that installs a package of REQUIREMENTS."""
    return "pip install " + " ".join(f"'{requirement}'" for requirement in REQUIREMENTS[name])


def _missing(name: str) -> Optional[ImportError]:
    """Why a package of REQUIREMENTS cannot be imported; None: it can."""
    try:
        for module in _MODULES[name]:
            importlib.import_module(module)
    except ImportError as error:
        return error
    return None


def _what_is_missing(output: Output, chunks: List[List[bytes]],
                     say: Callable[[str], Any]) -> Tuple[Set[int], List[Chunk]]:
    """The numbers of the chunks that are done, and the other chunks."""
    damaged = output.forget_damaged(chunks)
    if damaged:
        say(f"{len(damaged)} chunks are done again: their notes are damaged")
    done = output.done()
    return done, [(number, b"\0".join(names)) for number, names in enumerate(chunks)
                  if number not in done]


def _spread(job: str, chunks: List[Chunk], address: Optional[str], workers: Optional[int],
            device: str, say: Callable[[str], Any]) -> None:
    error = _missing("ray") if address is None else None
    if error is None:
        on_ray.spread(job, chunks, workers, device, address)
        return
    if error.name != "ray":  # it is installed
        say(f"Ray cannot be imported: {error}. Processes without it do the work")
    local.spread(job, chunks, workers, device, say)


def _conclude(action: str, output: Output, chunks: List[List[bytes]]) -> Dict[str, float]:
    """Writes the files next to the input's tree: the same bytes for any number of workers."""
    good: List[Dict[str, Any]] = []
    bad: List[Dict[str, Any]] = []
    warned: List[Dict[str, Any]] = []
    for number, names in enumerate(chunks):
        for row in output.rows_of(number, names):
            if "warnings" in row:
                warned.append({"path": row["path"], "warnings": row.pop("warnings")})
            (bad if "reason" in row else good).append(row)
    for name, rows in ((FAILURES, bad), (WARNINGS, warned)):
        output.write(name, "".join(json.dumps(row, sort_keys=True) + "\n"
                                   for row in rows).encode())
    if action == "stats" and good:
        output.write(STATS, parquet([dict(row, path=os.fsencode(row["path"])) for row in good]))
    summary: Dict[str, float] = {"files": len(good) + len(bad), "bad": len(bad),
                                 "warned": len(warned)}
    for key in ("bytes", "bytes_after"):
        if good and key in good[0]:
            summary[key] = sum(row[key] for row in good)
    changes = [row["psnr"] for row in good if "psnr" in row]
    if changes:
        summary.update(changed=len(changes), least_psnr=min(changes),
                       mean_psnr=round(sum(changes) / len(changes), 2))
    output.write(SUMMARY, (json.dumps(summary, indent=1) + "\n").encode())
    output.finish()
    return summary
