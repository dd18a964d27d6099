#!/usr/bin/python3
# docs/examples' loaders make the tensors of torchvision and of Hugging Face's image processors.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: loaders_test.py [EXAMPLE]    without a name, of those whose packages are installed
#
# Skipped where they are not installed; tools/python-peers installs them.
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

import cudatransform as ct
import pictures

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples")
SKIPPED = 77
NEEDS = {"imagenet_for_torch.py": ("torch", "torchvision", "PIL"),
         "images_for_transformers.py": ("torch", "transformers", "PIL")}
COUNT = 70  # more than a batch


def write_pictures(folder):
    """Upright and lying ones of many sizes and samplings, some smaller than the result."""
    for index in range(COUNT):
        width, height = 150 + 97 * index % 501, 120 + 61 * index % 433
        is_gray = index % 10 == 9
        ct.encode(pictures.pixels(width, height, 1 if is_gray else 3, index),
                  os.path.join(folder, f"{index:02d}.jpg"), quality=60 + index % 35,
                  subsampling=None if is_gray else ("4:2:0", "4:2:2", "4:4:4")[index % 3])
    with open(os.path.join(folder, "none.jpg"), "w", encoding="ascii") as file:
        file.write("no picture")


def main(examples):
    missing = {name: [package for package in NEEDS[name] if not importlib.util.find_spec(package)]
               for name in examples or NEEDS}
    there = [name for name, packages in missing.items() if not packages]
    if not there:
        packages = sorted(set().union(*missing.values()))
        print(f"SKIP: not installed: {', '.join(packages)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        write_pictures(folder)
        for name in there:
            said = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), folder],
                                  stdout=subprocess.PIPE, text=True, check=True,
                                  timeout=300).stdout
            print(name, said, sep="\n")
            lines = re.findall(rf"^\w+: {COUNT} pictures, 0 of [1-9]\d+ values differ", said,
                               re.MULTILINE)
            if len(lines) != 2:
                print("FAIL: two lines without a difference are expected")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
