#!/usr/bin/env python3
# Tests of tools/arrows.py: it finds a planted arrow or word, and nothing else. And the legends of
# kernels lead to existing files.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: arrows_test.py TOOLS_FOLDER
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# A tree in order: each file and its includes.
HOUSE = {
    "gst-libs/gst/coef/fence.h": [],
    "gst-libs/gst/coef/dct.h": ["<gst/coef/fence.h>", "<gst/gst.h>"],
    "transform/device/status.h": [],
    "transform/picture.h": [],
    "transform/dct8x8/dct8x8.h": ['"transform/picture.h"', '"transform/device/status.h"'],
    "cuda/device/queue.h": ['"transform/device/status.h"', '"cuda.h"'],
    "cuda/dct8x8/plan.cu": ['"cuda/device/queue.h"', '"transform/dct8x8/dct8x8.h"'],
    "gst/engine/engine.h": ['"cuda/device/queue.h"', "<gst/coef/fence.h>"],
    "gst/stream/gate.h": ['"gst/engine/engine.h"'],
    "gst/dct8x8/caps.h": ["<gst/coef/dct.h>"],
    "gst/dct8x8/base.h": ['"caps.h"', '"gst/stream/gate.h"'],
    "gst/jpeg/writer.cpp": ['"gst/dct8x8/caps.h"', '"gst/stream/gate.h"'],
    "gst/plugin.cpp": ['"gst/dct8x8/base.h"'],
    "tests/check/base.cpp": ['"gst/dct8x8/base.h"', '"base.h"'],
    "tests/check/base.h": [],
}


class Arrows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-arrows-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, includes in HOUSE.items():
            self.write(path, *(f"#include {name}" for name in includes))

    def write(self, path, *lines):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))

    def run_tool(self):
        # The folder may be in another repository.
        env = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(self.root))
        done = subprocess.run([sys.executable, os.path.join(TOOLS, "arrows.py"), self.root],
                              env=env, stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout

    def assert_found(self, place, rule):
        status, told = self.run_tool()
        self.assertEqual(status, 1, told)
        self.assertEqual(len(told.splitlines()), 1, told)
        self.assertTrue(told.startswith(place + ": "), told)
        self.assertIn(rule, told)

    def test_a_house_in_order(self):
        self.assertEqual(self.run_tool()[0], 0, self.run_tool()[1])

    def test_an_arrow_upward(self):
        self.write("cuda/device/queue.h", "// why", '#include "gst/engine/engine.h"')
        self.assert_found("cuda/device/queue.h:4", "cuda/device may not include gst/engine/")

    def test_an_arrow_to_another_transform(self):
        self.write("gst/stream/gate.h", '#  include "transform/dct8x8/dct8x8.h"')
        self.assert_found("gst/stream/gate.h:2", "gst/stream may not include transform/dct8x8/")

    def test_an_arrow_past_an_interface(self):
        self.write("gst/jpeg/writer.cpp", '#include "gst/dct8x8/base.h"')
        self.assert_found("gst/jpeg/writer.cpp:3", "gst/jpeg may not include gst/dct8x8/base.h")

    def test_an_arrow_by_another_path(self):
        self.write("transform/device/status.h", '#include "../dct8x8/dct8x8.h"')
        self.assert_found("transform/device/status.h:1", "only: nothing of ours")

    def test_an_arrow_from_the_library(self):
        self.write("gst-libs/gst/coef/dct.h", '#include "transform/picture.h"')
        self.assert_found("gst-libs/gst/coef/dct.h:3", "gst-libs may not include transform/")

    def test_tests_are_for_tests(self):
        self.write("gst/plugin.cpp", '#include "tests/check/base.h"')
        self.assert_found("gst/plugin.cpp:2", "gst/plugin.cpp may not include tests/check/base.h")

    def test_a_word(self):
        self.write("gst/stream/gate.h", "struct DctGate;")
        self.assert_found("gst/stream/gate.h:2", "may not say 'Dct'")

    def test_a_word_in_the_fence(self):
        self.write("gst-libs/gst/coef/fence.h", "// JPEG")
        self.assert_found("gst-libs/gst/coef/fence.h:1", "may not say 'JPEG'")

    def test_a_file_in_no_room(self):
        self.write("wavelets/haar.cpp", "int x;")
        self.assert_found("wavelets/haar.cpp:1", "is in no room")

    def test_what_git_does_not_know(self):
        if subprocess.run(["git", "init", "-q", self.root], check=False).returncode != 0:
            self.skipTest("no git")
        subprocess.run(["git", "-C", self.root, "add", "."], check=True)
        self.write("private/try.cpp", "int x;")
        self.assertEqual(self.run_tool()[0], 0, self.run_tool()[1])


class Legends(unittest.TestCase):
    def test_files_exist(self):
        root = pathlib.Path(TOOLS).parent
        lists = sorted(root.glob("cuda/*/*kernels.h"))
        self.assertGreaterEqual(len(lists), 6)
        for path in lists:
            text = path.read_text(encoding="utf-8")
            for word in ("twin", "test", "bench", "page"):
                self.assertIn(f"//     {word} ", text, path)
            for name in re.findall(r"\b[\w-]+(?:/[\w.-]+)+\.(?:cpp|h|md)\b", text):
                self.assertTrue((root / name).exists(), f"{path}: no {name}")


if __name__ == "__main__":
    TOOLS = sys.argv.pop(1)
    unittest.main()
