#!/usr/bin/python3
# A program that PyInstaller has bundled decodes a file with the libraries of the module's wheel.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tools/wheel-test installs what it needs.
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import cudatransform as ct
import pictures

SKIPPED = 77
PROGRAM = """
import json, sys
import cudatransform
pixels = cudatransform.decode(sys.argv[1])
with open("/proc/self/maps", encoding="utf-8") as file:
    libraries = sorted({line.split()[-1] for line in file if "libcudatransform" in line})
print(json.dumps([sys._MEIPASS, cudatransform.__file__, libraries, pixels.tolist()]))
"""


def bundled(folder):
    """The path of PROGRAM's bundle."""
    source = os.path.join(folder, "program.py")
    with open(source, "w", encoding="ascii") as file:
        file.write(PROGRAM)
    subprocess.run([sys.executable, "-m", "PyInstaller", "--onedir", "--log-level", "WARN",
                    source], cwd=folder, check=True, timeout=300)
    return os.path.join(folder, "dist", "program", "program")


def main():
    if not importlib.util.find_spec("PyInstaller"):
        print("SKIP: not installed: PyInstaller")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        photo = os.path.join(folder, "photo.jpg")
        ct.encode(pictures.pixels(150, 97, 3, 1), photo)
        said = subprocess.run([bundled(folder), photo], cwd="/", env={}, check=True, timeout=60,
                              stdout=subprocess.PIPE).stdout
        inside, module, libraries, pixels = json.loads(said)
        print(module, *libraries, sep="\n")
        own = [path for path in libraries if path.startswith(f"{inside}/cudatransform/_lib/")]
        if not module.startswith(f"{inside}/") or not own or own != libraries:
            print(f"FAIL: module and libraries must be below {inside}")
            return 1
        if pixels != ct.decode(photo).tolist():
            print("FAIL: the program has decoded other pixels")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
