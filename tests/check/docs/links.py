#!/usr/bin/env python3
# Checks the links of all pages: the files that they name exist, and so do the headings in them.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: links.py SOURCE_ROOT
import os
import re
import sys

FOLDERS = ("", "docs", "docs/elements", "docs/results", "docs/log", "docs/examples", "examples",
           "python", "packaging", "tests", "tools")


def pages_of(root):
    for folder in FOLDERS:
        path = os.path.join(root, folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
            if name.endswith(".md"):
                yield os.path.join(path, name)


def text_of(page):
    """The page without its blocks of code, in which # and brackets mean something else."""
    with open(page, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```$", "", file.read(), flags=re.DOTALL | re.MULTILINE)


def anchors_of(page):
    """Its headings as links name them: small letters, hyphens for spaces, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def fault_of(page, target):
    """What is wrong with a link; empty: nothing."""
    name, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
    if not os.path.exists(path):
        return "there is no such file"
    if anchor and path.endswith(".md") and anchor not in anchors_of(path):
        return "the page has no such heading"
    return ""


def main(root):
    links, failed = 0, 0
    for page in pages_of(root):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text_of(page))):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            if fault := fault_of(page, target):
                print(f"FAIL {os.path.relpath(page, root)}: {target}: {fault}")
                failed += 1
    print(f"{links} links, {failed} failed")
    return 1 if failed or not links else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
