# Shared by the tests of arrays in device memory: reasons for skips, and the available libraries.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import sys

SKIP = 77


def skip(why):
    """Ends the program: skipped, or failed where a GPU is required."""
    required = os.environ.get("CUDATRANSFORM_REQUIRE_GPU") == "1"
    print(f"{'FAIL' if required else 'SKIP'}: {why}")
    sys.exit(1 if required else SKIP)


def require_numpy():
    """numpy; ends the program where it is missing."""
    try:
        import numpy
    except ImportError as error:
        skip(error)
    return numpy


def libraries():
    """The names of those of torch and cupy that are there with a GPU, and the modules."""
    try:
        import torch
        if torch.cuda.is_available():
            yield "torch", torch
    except ImportError:
        pass
    try:
        import cupy
        if cupy.cuda.runtime.getDeviceCount() > 0:
            yield "cupy", cupy
    except Exception as error:  # cupy has its own for a missing driver
        print(f"no cupy: {error}")
