#!/usr/bin/python3
# docs/python.md's examples print its output, and those of README.md and python/README.md run.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: docs_test.py SOURCE_ROOT
import doctest
import os
import re
import shutil
import sys
import tempfile


def main(root):
    page = os.path.join(root, "docs", "python.md")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(root, "docs"), os.path.join(folder, "docs"))
        os.chdir(folder)
        failed, tried = doctest.testfile(page, module_relative=False)
        shutil.copy("docs/images/triptych.jpg", "photo.jpg")
        for readme in ("README.md", os.path.join("python", "README.md")):
            with open(os.path.join(root, readme), encoding="utf-8") as file:
                blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", file.read())
            if not blocks:
                print(f"FAIL {readme} has no Python")
                failed += 1
            for block in blocks:
                exec(compile(block, readme, "exec"), {})  # pylint: disable=exec-used
                tried += 1
        os.chdir(root)
    print(f"{tried} examples, {failed} failed")
    return 1 if failed or tried < 20 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
