"""A corpus job on Ray Data: chunks of files to actors, progress, and what is written at the end."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import itertools
import json
import logging
import math
import os
import re
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Set

from ..errors import Unavailable
from .actions import WorkerReader, do_chunk, parquet
from .folder import CHUNK, Output, OutputError, list_files
from .names import FAILURES, STATS, SUMMARY, WARNINGS


_MOST_TOGETHER = 32  # chunks of a call
_LEAST_CALLS = 8     # of each worker, so that all end at about the same time
_BETWEEN_LINES = 2   # seconds


class Worker:
    """An actor of Ray Data: it does some chunks a call, and notes each when it is done.

    Rows carry all of their job: an actor's own arguments are lost with the machine that keeps them.
    """

    def __init__(self) -> None:
        self._reader: Optional[WorkerReader] = None

    def __call__(self, batch: Dict[str, Any]) -> Dict[str, Any]:
        # All of them belong to one job.
        action, options, source, target, device = json.loads(batch["job"][0])
        root, output = os.fsencode(source), Output(target)
        # Ray repeats a call whose machine was lost, which may have done part of it.
        missing = {int(number): bytes(names).split(b"\0")
                   for number, names in zip(batch["number"], batch["names"])
                   if not output.is_done(int(number))}
        self._reader = self._reader or WorkerReader(device)
        try:
            items = self._reader.read(root, itertools.chain(*missing.values()))
            for number, names in missing.items():
                do_chunk(action, options, root, number, names, output, items)
        except BaseException:
            self.close()  # it still has files of this call
            raise
        return {"number": batch["number"]}

    def close(self) -> None:
        """Ends the threads of its Reader."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()


def run(action: str, source: str, target: str, options: Dict[str, Any],
        address: Optional[str] = None, workers: Optional[int] = None, device: str = "cpu",
        say: Any = lambda line: print(line, file=sys.stderr, flush=True)) -> Dict[str, float]:
    """Does the missing chunks of a job, and writes its results. Returns what summary.json says.

    address: of a Ray cluster, whose machines all see both folders; None: this machine alone
    workers: actors at a time; None: one for each core
    device: `cpu`, or `cuda`: the actors of a machine share its GPUs, which decode the larger files
    say: called with a line now and then, also from another thread
    Raises FolderError before anything is written, OutputError, Unavailable, OSError, and
    ImportError without Ray or pyarrow.
    """
    files, output = list_files(source, say), Output(target)
    source = os.path.abspath(source)
    try:
        output.claim({"action": action, "options": options, "input": source}, files)
        return _run_claimed(action, source, output, options, files, address, workers, device, say)
    finally:
        output.release()


def _run_claimed(action: str, source: str, output: Output, options: Dict[str, Any],
                 files: List[bytes], address: Optional[str], workers: Optional[int],
                 device: str, say: Any) -> Dict[str, float]:
    chunks = [files[at:at + CHUNK] for at in range(0, len(files), CHUNK)]
    damaged = output.forget_damaged(chunks)
    if damaged:
        say(f"{len(damaged)} chunks are done again: their notes are damaged")
    done = output.done()
    missing = [number for number in range(len(chunks)) if number not in done]
    if missing:
        count = sum(len(chunks[number]) for number in missing)
        say(f"{len(files)} files; {count} to do")
        job = json.dumps([action, options, source, output.path, device])
        items = [{"number": number, "names": b"\0".join(chunks[number]), "job": job}
                 for number in missing]
        _spread(items, address, workers, device, _Progress(output, done, count, say))
    return _conclude(action, output, chunks)


class _Progress:
    """Says every few seconds how far a job is, by its folder's notes: Ray's calls are long."""

    def __init__(self, output: Output, done: Set[int], files: int, say: Any) -> None:
        self._output, self._seen, self._files, self._say = output, set(done), files, say
        self._done = self._bad = self._first = 0
        self._begin: Optional[float] = None  # when the first chunks had been done, so many files
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            ended = self._ended.wait(_BETWEEN_LINES)
            try:
                self._look()
            except OSError:  # a folder in a network comes back
                pass

    def _look(self) -> None:
        now, new = time.monotonic(), self._output.done() - self._seen
        if not new:
            return
        for number in new:
            files, bad = self._output.counts(number)
            self._seen.add(number)
            self._done, self._bad = self._done + files, self._bad + bad
        if self._begin is None:
            self._begin, self._first = now, self._done
        rate = (self._done - self._first) / max(now - self._begin, 1e-3)
        told = f"{self._done} of {self._files} files, {self._bad} bad"
        if rate:
            told += f", {rate:.0f} files/s, {(self._files - self._done) / rate:.0f} s left"
        self._say(told)


def _spread(items: List[Dict[str, Any]], address: Optional[str], workers: Optional[int],
            device: str, progress: _Progress) -> None:
    import ray
    from ray.data import ActorPoolStrategy, DataContext
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    if address is None:
        ray.init(address="local", include_dashboard=False, num_cpus=workers, log_to_driver=False,
                 logging_level=logging.ERROR)
    else:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        context = DataContext.get_current()
        context.enable_progress_bars = False
        actors = min(workers or int(ray.cluster_resources().get("CPU", 1)), len(items))
        gpus = float(ray.cluster_resources().get("GPU", 0)) if device != "cpu" else 0.
        if device != "cpu" and not gpus:
            raise Unavailable("Ray knows of no GPU on these machines")
        # A call takes Ray some 8 ms, and a chunk of small pictures takes 15.
        together = max(1, min(_MOST_TOGETHER, len(items) // (max(1, actors) * _LEAST_CALLS)))
        rows = ray.data.from_items(items, override_num_blocks=-(-len(items) // together))
        made = rows.map_batches(
            Worker, batch_size=together, num_cpus=1, num_gpus=_share(gpus, actors),
            compute=ActorPoolStrategy(size=max(1, actors)), batch_format="numpy")
        with progress:
            for _ in made.iter_rows():
                pass
    except ray.exceptions.RayError as error:
        raise OutputError(_reason_of(str(error))) from error
    finally:
        ray.shutdown()


def _reason_of(words: str) -> str:
    """The reason of a failure, from Ray's tracebacks, the worker's, and advice.

    An error that a worker raised on purpose comes first, then Python's last one.
    """
    lines = [line.strip() for line in words.strip().splitlines() if line.strip()]
    for kinds in ("OutputError|FolderError|Unavailable", r"\w*(?:Error|Exception|Interrupt)"):
        found = [match for match in (re.match(rf"(?:[\w.]+\.)?({kinds})(?:\([^)]*\))?: (.+)", line)
                                     for line in lines) if match]
        if found:
            kind, reason = found[-1].groups()
            return reason if kind in ("OutputError", "FolderError", "Unavailable") else (
                f"{kind}: {reason}")
    return lines[-1] if lines else "Ray has failed"


def _share(gpus: float, actors: int) -> Optional[float]:
    """Each actor's part of a GPU, at most one, in Ray's ten thousandths; None: none."""
    return min(1., math.floor(1e4 * gpus / max(1, actors)) / 1e4) or None


def _conclude(action: str, output: Output, chunks: List[List[bytes]]) -> Dict[str, float]:
    """Writes what stands beside the input's tree: the same bytes for any number of workers."""
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
