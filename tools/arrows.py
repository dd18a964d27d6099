#!/usr/bin/env python3
"""Checks the modules of docs/architecture.md: which may include which, and which name no transform.

arrows.py [FOLDER]    checks the sources in FOLDER (the repository), prints what breaks a rule
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import fnmatch
import os
import re
import subprocess
import sys

# A room is a folder or a file, and the longest that fits contains a file. Each may include itself
# and the folders and files listed for it.
PICTURES = "transform/device transform/picture.h transform/picture_check.h transform/samples.h"
KERNELS = PICTURES + " cuda/device cuda/common"
ENGINE = PICTURES + " cuda/device gst-libs"
STREAM = ENGINE + " gst/engine"
ELEMENTS = STREAM + " gst/stream gst/elements.h"
ROOMS = {
    "gst-libs": "",
    "transform/device": "",
    "transform/picture.h": "",
    "transform/picture_check.h": "transform/device transform/picture.h",
    "transform/picture_check.cpp": "transform/device transform/picture.h transform/picture_check.h",
    "transform/samples.h": "transform/device transform/picture.h",
    "transform/apv": PICTURES,
    "transform/dct8x8": PICTURES,
    "transform/dwt": PICTURES,
    "transform/obmc": PICTURES,
    "transform/ratecontrol": "transform/device",
    "transform/coeffilter": PICTURES + " transform/dct8x8",
    "transform/range": PICTURES,
    "transform/resize": PICTURES,
    "transform/rgb": PICTURES,
    "transform/transpose": PICTURES,
    "cuda/device": PICTURES,
    "cuda/common": PICTURES + " cuda/device",
    "cuda/apv": KERNELS + " apv transform/apv",
    "cuda/dct8x8": KERNELS + " transform/dct8x8",
    "cuda/dwt": KERNELS + " transform/dwt",
    "cuda/dirac": KERNELS + " dirac transform/dwt",
    "cuda/obmc": KERNELS + " transform/obmc",
    "cuda/range": KERNELS + " transform/range",
    "cuda/resize": KERNELS + " transform/resize",
    "cuda/rgb": KERNELS + " transform/rgb",
    "cuda/transpose": KERNELS + " transform/transpose",
    # Symbols of JPEG's, of coefficients that no memory holds.
    "cuda/ratecontrol": KERNELS + " jpeg transform/dct8x8 cuda/dct8x8",
    "cuda/coeffilter": KERNELS + " transform/dct8x8 transform/coeffilter",
    "cuda/jpeg": KERNELS + " jpeg transform/dct8x8",
    "jpeg": "transform/device transform/dct8x8 transform/ratecontrol transform/coeffilter",
    # The engines as a C library, for files and pixels.
    "core": PICTURES + " jpeg transform/dct8x8 transform/resize transform/rgb transform/coeffilter"
            " transform/transpose cuda/device cuda/dct8x8 cuda/jpeg cuda/resize cuda/rgb"
            " cuda/coeffilter cuda/transpose",
    "apv": PICTURES + " transform/apv",
    "dirac": PICTURES + " transform/dwt transform/obmc",
    "gst/engine": ENGINE,
    "gst/stream": STREAM,
    "gst/dct8x8": ELEMENTS + " transform/dct8x8 cuda/dct8x8 transform/rgb cuda/rgb"
                  " transform/range cuda/range gst/rate jpeg",
    "gst/apv": ELEMENTS + " apv transform/apv cuda/apv transform/ratecontrol"
               " gst/rate/frame_budget.h",
    "gst/dirac": ELEMENTS + " dirac transform/dwt transform/obmc cuda/dirac cuda/dwt cuda/obmc",
    "gst/dwt": ELEMENTS + " transform/dwt cuda/dwt",
    # JPEG's coefficients are the DCT's: they have its caps, tables and metas.
    "gst/jpeg": ELEMENTS + " transform/dct8x8 jpeg cuda/jpeg gst/dct8x8/caps.h"
                " gst/dct8x8/coefficients.h gst/dct8x8/file_query.h",
    # Rate control counts the bytes of JPEG files.
    "gst/rate": ELEMENTS + " transform/dct8x8 transform/ratecontrol jpeg cuda/jpeg cuda/ratecontrol"
                " gst/dct8x8/quant_settings.h gst/dct8x8/file_query.h",
    "gst/resize": ELEMENTS + " transform/resize cuda/resize",
    # The other contents of a JPEG file follow its picture.
    "gst/coeffilter": ELEMENTS + " transform/dct8x8 transform/coeffilter cuda/coeffilter jpeg"
                      " gst/dct8x8/caps.h gst/dct8x8/coefficients.h gst/dct8x8/quant_settings.h"
                      " gst/dct8x8/file_query.h gst/rate",
    "transform/pch": "",  # the standard library's headers, compiled once
    "gst/pch": "",  # GStreamer's headers, compiled once
    "gst/plugin.cpp": "gst",  # the list of elements
    "gst/elements.h": "",
    "examples": "gst-libs core",
    "docs": "gst-libs",
    "packaging": "",
    "tests": "apv core cuda dirac examples gst gst-libs jpeg transform",
}

# Neutral files name no transform.
NEUTRAL = ["transform/device/*", "transform/picture*", "transform/samples.h", "cuda/device/*",
           "cuda/common/*", "gst/engine/*", "gst/stream/*", "gst-libs/gst/coef/*fence*"]
WORDS = re.compile("apv|dct|dwt|obmc|dirac|jpeg|zigzag|quanttable", re.IGNORECASE)

SOURCES = (".c", ".cpp", ".cu", ".cuh", ".h")
INCLUDE = re.compile(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")
# The compiler's folders, other than that of the file.
INCLUDE_FOLDERS = ("", "gst-libs")


def files_of_git(root):
    """None where there is no repository, or no git."""
    try:
        text = subprocess.run(["git", "-C", root, "ls-files", "-z"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in os.fsdecode(text).split("\0") if name]


def files_of_tree(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "build"))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def is_in(path, room):
    return path == room or path.startswith(room + "/")


def room_of(path):
    return max((room for room in ROOMS if is_in(path, room)), key=len, default=None)


def included(path, quote, name, files):
    """The file of ours that an include in `path` means, or None."""
    folders = INCLUDE_FOLDERS
    if quote == '"':
        folders = (os.path.dirname(path),) + folders
    candidates = [os.path.normpath(os.path.join(folder, name)) for folder in folders]
    return next((candidate for candidate in candidates if candidate in files), None)


def wrong_arrow(path, line, files):
    match = INCLUDE.match(line)
    target = match and included(path, match[1], match[2], files)
    if not target:
        return None
    room = room_of(path)
    allowed = ROOMS[room].split()
    if is_in(target, room) or any(is_in(target, other) for other in allowed):
        return None
    return f"{room} may not include {target}, only: {', '.join(allowed) or 'nothing of ours'}"


def wrong_word(path, line):
    match = WORDS.search(line)
    if not match or not any(fnmatch.fnmatchcase(path, pattern) for pattern in NEUTRAL):
        return None
    return f"{room_of(path)} is neutral and may not say {match[0]!r}"


def findings(root):
    listed = files_of_git(root) or files_of_tree(root)
    files = {path for path in listed if os.path.isfile(os.path.join(root, path))}
    for path in sorted(files):
        is_source = path.endswith(SOURCES)
        if is_source and not room_of(path):
            yield f"{path}:1: is in no room: tools/arrows.py lists them"
            continue
        if not room_of(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                arrow = wrong_arrow(path, line, files) if is_source else None
                if finding := arrow or wrong_word(path, line):
                    yield f"{path}:{number}: {finding}"


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = list(findings(sys.argv[1] if len(sys.argv) > 1 else here))
    print("\n".join(found) if found else "all arrows point down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
