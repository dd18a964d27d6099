#!/usr/bin/python3
# `pip install ./python` into a new environment, and the README's first example there; the hook.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: wheel_test.py SOURCE_ROOT VERSION
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
# What PyInstaller does to find the hook, and what that says of a library.
HOOK = """
import importlib.metadata, os, runpy
folder, = next(point for point in importlib.metadata.distribution("cudatransform").entry_points
               if point.group == "pyinstaller40").load()()
library = os.path.join(os.path.dirname(folder), "_lib", "libone.so.0")
os.mkdir(os.path.dirname(library))
open(library, "w").close()
said = runpy.run_path(os.path.join(folder, "hook-cudatransform.py"))["binaries"]
assert said == [(library, "cudatransform/_lib")], said
"""


def main(root, version):
    for module in ("pip", "venv", "ensurepip", "setuptools"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIP: no {module}")
            return SKIP
    with tempfile.TemporaryDirectory() as folder:
        # pip builds in the folder that it is given.
        shutil.copytree(os.path.join(root, "python"), os.path.join(folder, "python"))
        environment = os.path.join(folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", environment],
                       check=True)
        python = os.path.join(environment, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
                        "--no-build-isolation", os.path.join(folder, "python")], check=True)
        shutil.copy(os.path.join(root, "docs", "images", "triptych.jpg"),
                    os.path.join(folder, "photo.jpg"))
        with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
            example = re.search(r"^```python\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)[1]
        example += "print(cudatransform.__version__, cudatransform.__file__)\n"
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        said = subprocess.run([python, "-c", example], cwd=folder, env=variables, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        if not os.path.exists(os.path.join(folder, "smaller.jpg")):
            print("FAIL: the example has written nothing")
            return 1
        if said.splitlines()[-1].split(maxsplit=1)[0] != version or environment not in said:
            print(f"FAIL: not version {version} of the environment:\n{said}")
            return 1
        subprocess.run([python, "-c", HOOK], cwd=folder, env=variables, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2]))
