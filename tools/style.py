#!/usr/bin/env python3
"""Checks rules of CONTRIBUTING.md: lengths, openings, words, properties' docs, subjects, binaries.

style.py [FOLDER]    checks FOLDER (the repository), prints what breaks a rule

It checks commits that descend from the one that added this file, except merges.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import re
import subprocess
import sys

from arrows import SOURCES, files_of_git, files_of_tree

MOST_LINES = 800
MOST_COLUMNS = 100
MOST_OF_A_SUBJECT = 70
TABLES = {"cuda/device/driver_entries.h"}  # of any number of lines and columns
LICENCE = re.compile(r"^(?://|#|/\*) SPDX-License-Identifier: LGPL-2.1-or-later", re.MULTILINE)
MARKS = re.compile(r'^(//+|#+|/\*+|\*+/?|r?""")?\s*|\s*("""|\*/)$')
PYTHON_TOO = SOURCES + (".py",)
PICTURES = (".png", ".jpg")
TEXTS = PYTHON_TOO + (".md", "meson.build", "meson_options.txt")
# Brackets keep this line from breaking its own rule.
BRITISH = re.compile(r"\w*(?:quanti[s]|colo[u]r|\bgre[y]|neighbo[u]r|behavio[u]r|hono[u]r|favo[u]r|"
                     r"ormali[s]|ynchroni[s]|ptimi[s]|nitiali[s]|ecogni[s]|eriali[s]|aniti[s])\w*",
                     re.IGNORECASE)
LIMIT = re.compile(r"\bk(?:Mos[t]|Leas[t])(?:[A-Z]\w*)?\b")
# Names and messages of the product have the field's words, not these.
PRODUCT = ("gst/", "gst-libs/", "transform/", "jpeg/", "dirac/", "cuda/", "core/")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
IN_NAMES = re.compile(r"(?:\b|_|(?<=[a-z]))"
                      r"(?:[Tt]old|[Oo]ddity|[Pp]atience|[Vv]erbs?|[Uu]ntrue|[Nn]obody)(?![a-z])")
IN_MESSAGES = re.compile(r"\b(?:page-locked|nobody|so many|by turns|answers for|in work)\b")
# A row of an element's properties, and a doc comment of one.
ROW = re.compile(r'\.row\(\s*(?:g_param_spec_\w+\(\s*)?"([a-z0-9-]+)"')
DOC = re.compile(r"^ \* Gst\w+:([a-z0-9-]+):$", re.MULTILINE)
SUBJECT = re.compile(r"([^:]+): [A-Z].*[^.]")


def opens_well(text):
    """Whether a sentence in a comment comes first, and the licence behind it."""
    lines = LICENCE.split(text, maxsplit=1)[0].rstrip().split("\n")
    if lines[0].startswith("#!"):
        del lines[0]
    if not LICENCE.search(text) or not lines or not lines[0].startswith(("//", "#", "/*", '"""')):
        return False
    if not lines[0].startswith(('"""', "/*")) and not all(
            line.startswith(("//", "#")) for line in lines):
        return False
    words = [MARKS.sub("", line) for line in lines] + [""]
    first = " ".join(words[:words.index("")])
    return bool(re.fullmatch(r"\S.{8,}[.:)]", first))


def in_file(path, text):
    """The broken rules of a file: line and rule."""
    lines = text.split("\n")
    count = len(lines) - 1
    if count > MOST_LINES and path.endswith(PYTHON_TOO) and path not in TABLES:
        yield MOST_LINES + 1, f"the file has {count} lines, {MOST_LINES} are the most"
    if text and path.endswith(PYTHON_TOO) and not opens_well(text):
        yield 1, "a file opens with a sentence in a comment, then its licence"
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS and path not in TABLES and not path.endswith(".md"):
            yield number, f"{len(line)} columns, {MOST_COLUMNS} are the most"
        for word in BRITISH.findall(line):
            yield number, f"{word}: American spelling"
        for word in LIMIT.findall(line):
            yield number, f"{word}: limits are kMax and kMin"
        if path.startswith(PRODUCT) and path.endswith(SOURCES):
            for word in wrong_words(line):
                yield number, f"{word}: not a word of the field"


def wrong_words(line):
    """Words of a line of code that are not the field's."""
    if line.lstrip().startswith(("//", "*", "/*", "#include")):
        return []
    code = line.split(" // ")[0]
    messages = " ".join(STRING.findall(code))
    return IN_MESSAGES.findall(messages) + [
        name for name in re.findall(r"\w+", STRING.sub("", code)) if IN_NAMES.search(name)]


def undocumented(texts):
    """The properties of `texts`, files of the elements, that no doc comment is about."""
    rows, docs = (set(pattern.findall("\n".join(texts))) for pattern in (ROW, DOC))
    return sorted(rows - docs)


def git(root, *arguments):
    """git's output; None where there is no git or no repository."""
    try:
        return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE,
                              encoding="utf-8", errors="replace", stderr=subprocess.DEVNULL,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def names_in(paths):
    """The folders and files that an area may name, files with and without their endings."""
    parts = {part for path in paths for part in path.split("/")}
    return parts | {piece for part in parts for piece in part.split(".")}


def in_subject(subject, names):
    """The broken rule of a commit's subject, or None."""
    if len(subject) > MOST_OF_A_SUBJECT:
        return f"{len(subject)} characters, {MOST_OF_A_SUBJECT} are the most"
    match = SUBJECT.fullmatch(subject)
    if not match:
        return "a subject is `area: Verb ...`, without a full stop"
    for area in re.split(r", | and ", match[1]):
        if any(part not in names for part in area.strip().partition(" ")[0].split("/")):
            return f"there is no folder, file or element {area!r}"
    return None


def in_commits(root, files):
    """The commits that break a rule, with the rule; and why none are looked at, or None."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false\n":
        return [], "there is no whole repository of git"
    added = git(root, "log", "--diff-filter=A", "--format=%h", "--", "tools/style.py")
    if not added:
        return [], "none has added tools/style.py"
    text = git(root, "log", "--no-merges", "--no-renames", "--name-only", "--format=%x00%h %s",
               "--ancestry-path", f"{added.split()[-1]}..HEAD")
    commits = [commit.strip().split("\n") for commit in text.split("\0")[1:]]
    # The name of a file that a later commit has removed or renamed was right.
    names = names_in(files) | names_in(path for commit in commits for path in commit[2:])
    return [f"commit {number}: {rule}" for number, subject in (c[0].split(" ", 1) for c in commits)
            if (rule := in_subject(subject, names))], None


def is_binary(path):
    with open(path, "rb") as file:
        return b"\0" in file.read(8192)


def main(root):
    listed = files_of_git(root) or files_of_tree(root)
    files = sorted(path for path in listed if os.path.isfile(os.path.join(root, path)))
    found, elements = [], []
    for path in files:
        if path.endswith(TEXTS):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
            found += [f"{path}:{line}: {rule}" for line, rule in in_file(path, text)]
            elements += [text] * path.startswith("gst/")
        elif not path.endswith(PICTURES) and is_binary(os.path.join(root, path)):
            found.append(f"{path}:1: a binary file that is no picture")
    found += [f"gst: {name}: a property has a doc comment" for name in undocumented(elements)]
    wrong, why_not = in_commits(root, files)
    print("\n".join(found + wrong + [f"commits are not looked at: {why_not}"] * bool(why_not))
          or "the style is held")
    return 1 if found or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else
                  os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
