#!/usr/bin/env python3
# Compiles a fat binary and keeps ptxas's report of every kernel's registers, memory and spills.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""compile_image.py REPORT NVCC ARGUMENT...

Without an architecture (-gencode) the image is of zeros, which the driver refuses.

Several build directories of one clone need the same images. With CUDATRANSFORM_IMAGE_CACHE, a
folder, an image of this folder is taken from there if it has been compiled before by the same nvcc,
with the same flags, from the same sources.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys


def compile_image(report, command):
    """Returns nvcc's status, and whether it printed only its report."""
    # nvcc is verbose because tests read ptxas's report on each architecture.
    result = subprocess.run([*command, "-Xptxas=-v"], stderr=subprocess.PIPE, text=True,
                            errors="replace", check=False)
    kept, said = [], []
    for line in result.stderr.splitlines(keepends=True):
        if re.match(r"ptxas info|    \d+ bytes stack frame", line):
            if "Compile time" not in line:  # the report is the same for the same code
                kept.append(line)
        else:
            said.append(line)
    sys.stderr.writelines(said)
    with open(report, "w", encoding="utf-8") as file:
        file.writelines(kept)
    return result.returncode, not said


def headers_of(root, room):
    """Every header that an image of cuda/`room` may include: more than it does."""
    return sorted(path for pattern in ("cuda/**/*.cuh", "cuda/**/*.h", "transform/**/*.h",
                                          f"{room}/*.h")
                  for path in root.glob(pattern))


def cache_key(command, source, headers):
    changing = {"-o", "-MF"}  # the rest names outputs
    # Not nvcc's path: its version identifies it.
    flags = [argument for before, argument in zip(command, command[1:])
             if before not in changing and not argument.startswith("-I")
             and argument != str(source)]
    key = hashlib.sha256(repr(flags).encode())
    key.update(subprocess.run([command[0], "--version"], stdout=subprocess.PIPE, check=True).stdout)
    for path in [source, *headers]:
        key.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return key.hexdigest()


def main(report, *command):
    command = list(command)
    if not any(argument.startswith("-gencode") for argument in command):
        pathlib.Path(command[command.index("-o") + 1]).write_bytes(bytes(64))
        for path in report, command[command.index("-MF") + 1]:
            pathlib.Path(path).write_bytes(b"")
        return 0
    cache = os.environ.get("CUDATRANSFORM_IMAGE_CACHE")
    source = pathlib.Path(command[-1])
    here = pathlib.Path(__file__).resolve().parent
    if not cache or here not in source.resolve().parents or "-MF" not in command:
        return compile_image(report, command)[0]

    image, depfile = (command[command.index(option) + 1] for option in ("-o", "-MF"))
    headers = headers_of(here.parent, source.parent.name)
    stored = pathlib.Path(cache) / cache_key(command, source, headers)
    if not stored.with_suffix(".ptxas").exists():
        status, quiet = compile_image(report, command)
        if status == 0 and quiet:
            os.makedirs(cache, exist_ok=True)
            for path, suffix in (image, ".fatbin"), (report, ".ptxas"):  # in this order
                shutil.copyfile(path, f"{stored}.{os.getpid()}")
                os.replace(f"{stored}.{os.getpid()}", stored.with_suffix(suffix))
        return status
    shutil.copyfile(stored.with_suffix(".fatbin"), image)
    shutil.copyfile(stored.with_suffix(".ptxas"), report)
    needed = " ".join(str(path).replace(" ", "\\ ") for path in [source, *headers])
    pathlib.Path(depfile).write_text(f"{command[command.index('-MT') + 1]}: {needed}\n",
                                     encoding="utf-8")
    return 0


sys.exit(main(*sys.argv[1:]))
