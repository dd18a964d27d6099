"""A corpus job's chunks on Ray Data: actors on one machine or on those of a cluster."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import logging
import math
import re
from typing import Any, Dict, List, Optional

from ..errors import Unavailable
from .folder import OutputError
from .worker import Chunk, Worker, together


class Actor(Worker):
    """An actor of Ray Data. Its rows carry all of their job: an actor's own arguments are lost with
    the machine that keeps them."""

    def __call__(self, batch: Dict[str, Any]) -> Dict[str, Any]:
        # All of them belong to one job.
        self.do(batch["job"][0], [(int(number), bytes(names)) for number, names in
                                  zip(batch["number"], batch["names"])])
        return {"number": batch["number"]}


def spread(job: str, chunks: List[Chunk], workers: Optional[int], device: str,
           address: Optional[str]) -> None:
    """Does chunks on a cluster, or without an address on this machine.

    job: of words_of()
    Raises OutputError, Unavailable, and ImportError without Ray.
    """
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
        actors = min(workers or int(ray.cluster_resources().get("CPU", 1)), len(chunks))
        gpus = float(ray.cluster_resources().get("GPU", 0)) if device != "cpu" else 0.
        if device != "cpu" and not gpus:
            raise Unavailable("Ray knows of no GPU on these machines")
        size = together(len(chunks), actors)
        rows = ray.data.from_items([{"number": number, "names": names, "job": job}
                                    for number, names in chunks],
                                   override_num_blocks=-(-len(chunks) // size))
        made = rows.map_batches(
            Actor, batch_size=size, num_cpus=1, num_gpus=_share(gpus, actors),
            compute=ActorPoolStrategy(size=max(1, actors)), batch_format="numpy")
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
