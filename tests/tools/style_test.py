#!/usr/bin/env python3
# Tests of tools/style.py: it reports a planted fault of each kind, and nothing else.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: style_test.py TOOLS_FOLDER
import os
import subprocess
import sys
import tempfile
import unittest

LICENCE = "SPDX-License-Identifier: LGPL-2.1-or-later"
# A tree in order: each file, and its first lines.
HOUSE = {
    "cuda/dct8x8/plan.cu": ["// What a launch needs, by the frame's format.", f"// {LICENCE}"],
    "docs/elements/cudadct8x8.md": ["# cudadct8x8"],
    "gst/plugin.h": ["/* The list of elements,", " * in no order. */", f"/* {LICENCE} */"],
    "tools/style.py": ["#!/usr/bin/env python3", '"""Holds the style.', "", "And more.", '"""',
                       f"# {LICENCE}"],
    "meson.build": ["project('house')"],
}


class Style(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-style-")
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "house")
        # The folder may be in a repository, and the user may have git settings.
        self.env = dict(os.environ, GIT_CEILING_DIRECTORIES=folder.name, HOME=folder.name,
                        **{f"GIT_{who}_{what}": "house" for who in ("AUTHOR", "COMMITTER")
                           for what in ("NAME", "EMAIL")})
        for path, lines in HOUSE.items():
            self.write(path, lines)

    def write(self, path, lines):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "protocol.file.allow=always", *arguments],
                       env=self.env, check=True, stdout=subprocess.DEVNULL)

    def run_tool(self, root=None):
        done = subprocess.run([sys.executable, os.path.join(TOOLS, "style.py"), root or self.root],
                              env=self.env, stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def assert_found(self, place, rule):
        status, told = self.run_tool()
        self.assertEqual((status, len(told)), (1, 2), told)  # the other is about git
        self.assertTrue(told[0].startswith(f"{place}: "), told)
        self.assertIn(rule, told[0])

    def test_a_house_in_order(self):
        self.assertEqual(self.run_tool(), (
            0, ["commits are not looked at: there is no whole repository of git"]))

    def test_lengths(self):
        self.write("gst/plugin.h", ["x"] * 797)  # with three that are there
        self.assertEqual(self.run_tool()[0], 0)
        self.write("gst/plugin.h", ["x"])
        self.assert_found("gst/plugin.h:801", "801 lines, 800")

    def test_binaries(self):
        self.write("docs/view.png", ["\0"])
        self.write("tool.whl", ["PK\0"])
        self.assert_found("tool.whl:1", "binary")

    def test_columns(self):
        self.write("meson.build", ["\u00e9" * 100])  # characters, not bytes
        self.assertEqual(self.run_tool()[0], 0)
        self.write("meson.build", ["x" * 101])
        self.assert_found("meson.build:3", "101 columns, 100")

    def test_spelling(self):
        for word in "Quanti" + "ser", "colo" + "urs", "deseriali" + "se", "kMos" + "tBytes":
            with self.subTest(word):
                self.write("docs/elements/cudadct8x8.md", [f"A {word}."])
                self.assert_found("docs/elements/cudadct8x8.md:2", f"{word}: ")
                self.setUp()

    def test_words(self):
        for line in "int has_told = 0;", "enum class Oddity {};", 'fail("nobody answers");':
            with self.subTest(line):
                self.write("gst/plugin.h", [line])
                self.assert_found("gst/plugin.h:4", "not a word of the field")
                self.setUp()
        self.write("gst/plugin.h", ["// Nobody was told.", 'fail("no answer");  // told'])
        self.assertEqual(self.run_tool()[0], 0)

    def test_properties(self):
        self.write("gst/plugin.h", ['dct.row("quality", "Quality")'])
        self.assert_found("gst: quality", "doc comment")
        self.write("gst/plugin.h", ["/**", " * GstCudaDct8x8:quality:", " */"])
        self.assertEqual(self.run_tool()[0], 0)

    def test_openings(self):
        for lines in ([f"// {LICENCE}"], ["// No licence follows."],
                      ["#pragma once", f"// {LICENCE}"], ["// No sentence", f"// {LICENCE}"],
                      [f"// Not alone. {LICENCE}"],
                      ["// Late.", "int x;", f"// {LICENCE}"],
                      ["// ", "// Later than the first line.", f"// {LICENCE}"]):
            with self.subTest(lines):
                self.write("jpeg/huffman.cpp", lines)
                self.assert_found("jpeg/huffman.cpp:1", "opens with a sentence")
                os.unlink(os.path.join(self.root, "jpeg/huffman.cpp"))

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def test_subjects(self):
        self.git("init", "-q", "-b", "main")
        self.git("add", "meson.build")
        self.commit("before there were rules.")
        self.git("add", ".")
        self.assertEqual(self.run_tool(), (
            0, ["commits are not looked at: none has added tools/style.py"]))
        self.commit("tools: The first of them is not looked at either.")
        self.git("checkout", "-q", "-b", "beside", "HEAD~1")
        self.commit("beside the rules.")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "beside", "-m", "merge what knew no rules.")
        self.git("mv", "gst/plugin.h", "gst/elements.h")
        right = ["gst/plugin, cudadct8x8: Rename the list of elements", "meson.build: Say more",
                 "cuda/dct8x8: " + "X" * 57]
        for subject in right:
            self.commit(subject)
        self.git("checkout", "-q", "-b", "other", "HEAD~1")
        self.commit("docs/elements: Say less")
        self.git("merge", "-q", "main", "-m", "merge what is there.")
        self.assertEqual(self.run_tool(), (0, ["the style is held"]))
        wrong = {"cuda/dct8x8: " + "X" * 58: "71 characters, 70", "Do this": "area: Verb",
                 "gst: do this": "area: Verb", "gst: Do this.": "area: Verb",
                 " : Do this": "' '", "gst, dwt: Do this": "'dwt'", "gst/dct: Do this": "'gst/dct'"}
        for subject in wrong:
            self.commit(subject)
        status, told = self.run_tool()
        self.assertEqual((status, len(told)), (1, len(wrong)), told)
        for line, (subject, rule) in zip(told, reversed(wrong.items())):
            self.assertIn(rule, line, subject)
        self.git("clone", "-q", "--depth", "1", f"file://{self.root}", f"{self.root}/../shallow")
        self.assertEqual(self.run_tool(f"{self.root}/../shallow"), (
            0, ["commits are not looked at: there is no whole repository of git"]))


if __name__ == "__main__":
    TOOLS = sys.argv.pop(1)
    unittest.main()
