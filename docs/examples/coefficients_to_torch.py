#!/usr/bin/env python3
"""The coefficients of a JPEG file as PyTorch or CuPy arrays on the GPU, without a copy.

usage: coefficients_to_torch.py FILE.jpg [torch|cupy]

Prints the share of zeros and the mean DC of every component, both computed on the GPU. Needs
libgstcoef-1.0 and the plugin: `meson devenv -C build` has them.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import sys

import dct_on_device

PIPELINE = ("filesrc location=\"{}\" ! jpegcoefdec backend=cuda ! video/x-dct(memory:CUDAMemory),"
            "format=S16LE,layout=block,quantized=true ! appsink name=sink sync=false max-buffers=2")


def with_torch():
    import torch
    torch.cuda.init()
    return lambda coefs: torch.as_tensor(coefs, device="cuda:0")


def with_cupy():
    import cupy
    cupy.cuda.Device(0).use()
    return cupy.asarray


def summarize(coefficients, as_array):
    """Each component's blocks in a row and in a column, share of zeros, and mean DC."""
    rows = []
    for index in range(len(coefficients)):
        # The array has the address of the buffer's memory.
        coefs = as_array(coefficients.component(index))
        height, width, _ = coefs.shape
        zeros = float((coefs == 0).sum()) / (height * width * 64)
        dc = float(coefs[:, :, 0].sum()) / (height * width) * coefficients.table(index)[0]
        rows.append((width, height, zeros, dc))
    return rows


def main(path, library="torch"):
    as_array = {"torch": with_torch, "cupy": with_cupy}[library]()
    pipeline = dct_on_device.Pipeline(PIPELINE.format(path))
    dct_on_device.share_primary_context(pipeline.address)
    for coefficients in pipeline.buffers():
        for index, (width, height, zeros, dc) in enumerate(summarize(coefficients, as_array)):
            print(f"component {index + 1}, {width} x {height} blocks: "
                  f"{100 * zeros:.2f} % of the coefficients are 0, mean DC {dc:.2f}")
    pipeline.close()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["torch"], ["cupy"]):
        sys.exit(__doc__)
    main(*sys.argv[1:])
