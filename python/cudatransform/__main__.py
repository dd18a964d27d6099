"""`python -m cudatransform`: what a bug report must state of this installation."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import platform
import sys
from typing import Iterator, List, Optional, Tuple

import numpy as np

from . import _libraries, _native
from ._device import driver
from .errors import Unavailable
from .version import VERSION

# Names of instructions in /proc/cpuinfo that decide which code the CPU engine runs.
_VECTORS = "sse4_1", "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "asimd", "sve"


def _engine(device: Optional[int]) -> str:
    """Whether the library has an engine, or why not."""
    try:
        _native.Engine(device)
    except Unavailable as error:
        return f"no: {error}"
    return "yes"


def _devices() -> List[str]:
    try:
        return driver().devices()
    except Unavailable as error:
        return [str(error)]


def _processor() -> str:
    """The CPU's name, and the vector instructions of which the CPU engine makes use."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines())
    except (OSError, ValueError):
        return platform.processor()
    said = {name.strip(): value.strip() for name, value in fields.items()}
    vectors = [flag for flag in said.get("flags", said.get("Features", "")).split()
               if flag in _VECTORS]
    return f"{said.get('model name', platform.machine())}: {' '.join(vectors)}"


def _files() -> Iterator[str]:
    """The loaded libraries of the system's that a wheel would bring."""
    kinds = "libcudatransform", "libtbb", "libjpeg", "libhwy"
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if "/" in line}
    return (path for path in sorted(paths) if path.rpartition("/")[2].startswith(kinds)
            and not path.startswith(_libraries.FOLDER))


def _facts() -> Iterator[Tuple[str, str]]:
    yield "cudatransform", f"{VERSION}, {__file__}"
    yield "Python", f"{platform.python_version()}, numpy {np.__version__}"
    yield "system", f"{platform.platform()}, {'-'.join(platform.libc_ver())}"
    yield "libraries", (f"the wheel's own, {_libraries.FOLDER}" if _libraries.ARE_OWN
                        else "the system's")
    yield "CPU engine", _engine(None)
    yield "CUDA engine", _engine(0)
    for path in _files():
        yield "file", path
    yield "CPU", _processor()
    for device in _devices():
        yield "GPU", device


def main() -> int:
    try:
        for name, value in _facts():
            print(f"{name:14} {value}")
    except Unavailable as error:
        print(f"{'unavailable':14} {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
