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


def cache_key(command, source):
    """What an image depends on besides its headers."""
    changing = {"-o", "-MF"}  # the rest names outputs
    # Not nvcc's path: its version identifies it.
    flags = [argument for before, argument in zip(command, command[1:])
             if before not in changing and not argument.startswith("-I")
             and argument != str(source)]
    key = hashlib.sha256(repr(flags).encode())
    key.update(subprocess.run([command[0], "--version"], stdout=subprocess.PIPE, check=True).stdout)
    key.update(source.name.encode() + b"\0" + source.read_bytes())
    return key.hexdigest()


def with_headers(key, headers, root):
    """The key of an image with its headers, paths below root; None if one of them is missing."""
    key = hashlib.sha256(key.encode())
    for header in headers:
        if not (root / header).exists():
            return None
        key.update(header.encode() + b"\0" + (root / header).read_bytes() + b"\0")
    return key.hexdigest()


def headers_in(depfile, root):
    """The headers below root that nvcc's dependency file names; the toolkit's go by its version."""
    words = pathlib.Path(depfile).read_text(encoding="utf-8").replace("\\\n", " ")
    paths = [pathlib.Path(word.replace("\\ ", " ")).resolve()
             for word in re.findall(r"(?:[^\s\\]|\\.)+", words.split(":", 1)[1])]
    return sorted({str(path.relative_to(root)) for path in paths
                   if root in path.parents and path.suffix != ".cu"})


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
    root, folder = here.parent, pathlib.Path(cache)
    # <key>.headers lists what the last compilation of this source read.
    key = cache_key(command, source)
    listed = folder / f"{key}.headers"
    headers = listed.read_text(encoding="utf-8").split("\n") if listed.exists() else None
    whole = headers and with_headers(key, headers, root)
    stored = folder / str(whole)
    if not whole or not stored.with_suffix(".ptxas").exists():
        status, quiet = compile_image(report, command)
        if status == 0 and quiet:
            headers = headers_in(depfile, root)
            stored = folder / with_headers(key, headers, root)
            os.makedirs(cache, exist_ok=True)
            list_text = "\n".join(headers).encode()
            for content, path in ((pathlib.Path(image).read_bytes(), stored.with_suffix(".fatbin")),
                                  (pathlib.Path(report).read_bytes(), stored.with_suffix(".ptxas")),
                                  (list_text, listed)):  # in this order
                new = path.with_suffix(f".{os.getpid()}")
                new.write_bytes(content)
                os.replace(new, path)
        return status
    shutil.copyfile(stored.with_suffix(".fatbin"), image)
    shutil.copyfile(stored.with_suffix(".ptxas"), report)
    needed = " ".join(str(path).replace(" ", "\\ ")
                      for path in [source, *(root / header for header in headers)])
    pathlib.Path(depfile).write_text(f"{command[command.index('-MT') + 1]}: {needed}\n",
                                     encoding="utf-8")
    return 0


sys.exit(main(*sys.argv[1:]))
