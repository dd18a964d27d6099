"""A worker of a corpus job, on Ray or in a local process: it does a call's chunks in order."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import itertools
import json
import os
from typing import Any, Callable, Dict, Iterable, List, Tuple

from .actions import do_chunk, read_files
from .folder import Output

# A chunk's number, and its files' names with zero bytes between them.
Chunk = Tuple[int, bytes]

_MAX_TOGETHER = 32  # chunks of a call
_MIN_CALLS = 8      # of each worker, so that all end at about the same time


def words_of(action: str, options: Dict[str, Any], source: str, target: str, device: str) -> str:
    """A job as one word, which goes to workers."""
    return json.dumps([action, options, source, target, device])


def together(chunks: int, workers: int) -> int:
    """Chunks of a call: at a call's end a worker's Reader has nothing to prefetch, and Ray takes
    some 8 ms for a call, where a chunk of small pictures takes 15."""
    return max(1, min(_MAX_TOGETHER, chunks // (max(1, workers) * _MIN_CALLS)))


class Worker:
    """Does some chunks a call, and notes each when it is done."""

    def do(self, job: str, chunks: Iterable[Chunk],
           before_each: Callable[[], Any] = lambda: None) -> None:
        """Does those chunks of a job that are not done.

        job: of words_of(); the same in all calls
        before_each: called before each chunk
        """
        action, options, source, target, device = json.loads(job)
        root, output = os.fsencode(source), Output(target)
        # A call is repeated whose worker was lost, which may have done part of it.
        missing: Dict[int, List[bytes]] = {number: names.split(b"\0") for number, names in chunks
                                           if not output.is_done(number)}
        items = read_files(root, itertools.chain(*missing.values()), device)
        for number, names in missing.items():
            before_each()
            do_chunk(action, options, root, number, names, output, items)
