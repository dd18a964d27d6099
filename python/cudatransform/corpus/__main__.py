"""The command line of a corpus job: its arguments, its summary and its exit status."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import argparse
import json
import re
import sys
from typing import Any, Callable, Dict

from ..errors import Unavailable
from .folder import FolderError, OutputError
from .job import run
from .progress import Terminal

_CROP = "WIDTHxHEIGHT+LEFT+TOP"
_DESCRIPTION = """\
Goes through all JPEG files below INPUT and writes into the folder OUTPUT:

stats       stats.parquet: size, sampling, tables, estimated quality, process, share of zeros, bits
export      coefficients-NNNNNN.parquet: coefficients, tables, markers, attachments and trailer
repack      the same tree of files, each progressive if that is smaller; no coefficient changes
requantize  the same tree, with coarser tables: --quality
transpose   the same tree, each picture upright by its Exif data, without loss
crop        the same tree, a part of each picture, without loss: --crop
shrink      the same tree, quantized anew for fewer bits, by each file's own tables, or by
            those that make files of --target-size

and failures.jsonl, the files that could not be read, with reasons; warnings.jsonl, warnings about
results; and summary.json. A second run does what is missing. The results do not depend on the
number of workers, nor on Ray, which runs them where it is installed."""


def _whole(largest: int) -> Callable[[str], int]:
    """What makes a number from 1 to `largest` of an argument."""
    def number_of(text: str) -> int:
        if not re.fullmatch("[0-9]{1,10}", text) or not 1 <= int(text) <= largest:
            raise argparse.ArgumentTypeError(f"must be 1 to {largest}, not {text!r}")
        return int(text)
    return number_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cudatransform.corpus",
                                     description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("stats", "export", "repack", "requantize", "shrink",
                                           "transpose", "crop"))
    parser.add_argument("input", help="a folder")
    parser.add_argument("output", help="a folder that is new, empty, or this very job's")
    parser.add_argument("--quality", type=_whole(100), help="1 to 100, of requantize")
    parser.add_argument("--trim", action="store_true",
                        help="of transpose: drop partial MCUs at an edge, which cannot move")
    parser.add_argument("--crop", metavar=_CROP,
                        help="of crop, in samples; it begins at a whole MCU")
    parser.add_argument("--target-size", type=_whole((1 << 32) - 1),
                        help="the most bytes of a file, of shrink")
    parser.add_argument("--address", help="of a Ray cluster whose machines see both folders; "
                                          "without it this machine alone, with or without Ray")
    parser.add_argument("--workers", type=int, help="processes at a time; one for each core")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu",
                        help="cuda: the workers share GPUs, which decode the files")
    given = parser.parse_args()
    for action, option, value, needed in (
            ("requantize", "--quality", given.quality, "--quality, 1 to 100"),
            ("crop", "--crop", given.crop, f"--crop {_CROP}"),
            ("shrink", "--target-size", given.target_size, ""),
            ("transpose", "--trim", given.trim or None, "")):
        if given.action != action and value is not None:
            parser.error(f"{option} belongs to {action}")
        if given.action == action and value is None and needed:
            parser.error(f"{action} needs {needed}")
    if given.workers is not None and given.workers < 1:
        parser.error(f"--workers must be at least 1, not {given.workers}")
    crop = re.fullmatch(r"(\d+)x(\d+)\+(\d+)\+(\d+)", given.crop or "")
    if given.crop is not None and not crop:
        parser.error(f"--crop must be {_CROP}, not {given.crop!r}")
    options: Dict[str, Any] = {
        name: value for name, value in (("quality", given.quality),
                                        ("target_size", given.target_size)) if value is not None}
    if given.trim:
        options["trim"] = True
    if crop:
        width, height, left, top = map(int, crop.groups())
        options["crop"] = [left, top, width, height]
    terminal = Terminal(sys.stderr)
    try:
        summary = run(given.action, given.input, given.output, options, given.address,
                      given.workers, given.device, terminal.say, terminal.show)
    except (FolderError, ImportError, OSError, OutputError, Unavailable) as error:
        terminal.end()
        terminal.say(str(error))
        return 1
    except KeyboardInterrupt:
        terminal.end()
        terminal.say("interrupted: the same command resumes the job")
        return 130
    terminal.end()
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
