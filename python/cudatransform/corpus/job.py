"""A corpus job on Ray Data: chunks of files to actors, progress, and what is written at the end."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import itertools
import json
import logging
import math
import os
import sys
import time
from typing import Any, Dict, List, Optional

from ..errors import Unavailable
from .actions import do_chunk, parquet, read_all
from .folder import CHUNK, Output, OutputError, list_files


_MOST_TOGETHER = 8  # chunks of a call
_LEAST_CALLS = 8    # of each worker, so that all end at about the same time


class Worker:
    """What an actor of Ray Data does: some chunks a call, each of which is noted when it is done.

    Rows say all of their job: what an actor is made with is lost with the machine that keeps it.
    """

    def __call__(self, batch: Dict[str, Any]) -> Dict[str, List[int]]:
        done, bad = [], []
        # All are of one job.
        action, options, source, target, device = json.loads(batch["job"][0])
        root, output = os.fsencode(source), Output(target)
        chunks = [bytes(names).split(b"\0") for names in batch["names"]]
        items = read_all(root, itertools.chain(*chunks), device)
        for number, names in zip(batch["number"], chunks):
            files, failed = do_chunk(action, options, root, int(number), names, output, items)
            done.append(files)
            bad.append(failed)
        return {"files": done, "bad": bad}


def run(action: str, source: str, target: str, options: Dict[str, Any],
        address: Optional[str] = None, workers: Optional[int] = None, device: str = "cpu",
        say: Any = lambda line: print(line, file=sys.stderr, flush=True)) -> Dict[str, int]:
    """Does what is missing of a job, and writes its results. Returns counts of files and bad ones.

    address: of a Ray cluster, whose machines all see both folders; None: this machine alone
    workers: actors at a time; None: one for each core
    device: `cpu`, or `cuda`: the actors of a machine share its GPUs, which decode the larger files
    Raises FolderError before anything is written.
    """
    files, output = list_files(source), Output(target)
    source = os.path.abspath(source)
    output.claim({"action": action, "options": options, "input": source}, files)
    try:
        return _run_claimed(action, source, output, options, files, address, workers, device, say)
    finally:
        output.release()


def _run_claimed(action: str, source: str, output: Output, options: Dict[str, Any],
                 files: List[bytes], address: Optional[str], workers: Optional[int],
                 device: str, say: Any) -> Dict[str, int]:
    chunks = [files[at:at + CHUNK] for at in range(0, len(files), CHUNK)]
    missing = [number for number in range(len(chunks)) if not output.is_done(number)]
    if missing:
        say(f"{len(files)} files; {sum(len(chunks[number]) for number in missing)} to do")
        job = json.dumps([action, options, source, output.path, device])
        items = [{"number": number, "names": b"\0".join(chunks[number]), "job": job}
                 for number in missing]
        _spread(items, address, workers, device, sum(len(chunks[number]) for number in missing), say)
    return _conclude(action, output, len(chunks))


def _spread(items: List[Dict[str, Any]], address: Optional[str], workers: Optional[int],
            device: str, files: int, say: Any) -> None:
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
        # A call takes Ray some 20 ms of the machine, a chunk of small pictures 80.
        together = max(1, min(_MOST_TOGETHER, len(items) // (max(1, actors) * _LEAST_CALLS)))
        made = ray.data.from_items(items, override_num_blocks=-(-len(items) // together)).map_batches(
            Worker, batch_size=together, num_cpus=1, num_gpus=_share(gpus, actors),
            compute=ActorPoolStrategy(size=max(1, actors)), batch_format="numpy")
        _watch(made.iter_rows(), files, say)
    except ray.exceptions.RayError as error:
        # The last line of what a worker says is what went wrong.
        raise OutputError(str(error).strip().splitlines()[-1]) from error
    finally:
        ray.shutdown()


def _share(gpus: float, actors: int) -> Optional[float]:
    """Of a GPU for each actor, in Ray's ten thousandths; an actor uses one GPU at most."""
    return min(1., math.floor(1e4 * gpus / max(1, actors)) / 1e4) or None


def _watch(rows: Any, files: int, say: Any) -> None:
    begin, told, done, bad = time.monotonic(), 0.0, 0, 0
    for row in rows:
        done, bad = done + int(row["files"]), bad + int(row["bad"])
        passed = time.monotonic() - begin
        if passed - told >= 2 or done == files:
            told, rate = passed, done / max(passed, 1e-3)
            say(f"{done} of {files} files, {bad} bad, {rate:.0f} files/s, "
                f"{(files - done) / rate:.0f} s left")


def _conclude(action: str, output: Output, chunks: int) -> Dict[str, int]:
    """Writes failures.jsonl, of stats stats.parquet, and summary.json: the same for any number of
    workers."""
    good: List[Dict[str, Any]] = []
    bad: List[Dict[str, Any]] = []
    for row in output.rows(chunks):
        (bad if "reason" in row else good).append(row)
    output.write(b"failures.jsonl", "".join(json.dumps(row, sort_keys=True) + "\n"
                                            for row in bad).encode())
    if action == "stats" and good:
        output.write(b"stats.parquet",
                     parquet([dict(row, path=os.fsencode(row["path"])) for row in good]))
    summary = {"files": len(good) + len(bad), "bad": len(bad)}
    for key in ("bytes", "bytes_after"):
        if good and key in good[0]:
            summary[key] = sum(row[key] for row in good)
    output.write(b"summary.json", (json.dumps(summary, indent=1) + "\n").encode())
    output.finish()
    return summary
