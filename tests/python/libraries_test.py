#!/usr/bin/python3
# Where cudatransform's libraries come from: a wheel's own or the system's, and who else is there.
# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from importlib import metadata

import cudatransform as ct
from cudatransform import _libraries
import pictures

PACKAGE = os.path.dirname(ct.__file__)
READ = "import cudatransform as ct, sys\nprint(ct.read(sys.argv[1])[0].sum())\n"
SYSTEMS = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst
Gst.init(None)
def play():
    pipeline = Gst.parse_launch("videotestsrc num-buffers=5 ! queue ! appsink name=last sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    count = 0
    while pipeline.get_by_name("last").emit("pull-sample"):
        count += 1
    pipeline.set_state(Gst.State.NULL)
    return count
"""
OURS = "import cudatransform as ct, sys\ndef read():\n    return ct.read(sys.argv[1])[0].sum()\n"


def python(*arguments, path="", **variables):
    """What a new Python says, and its status."""
    env = {**os.environ, **variables}
    if path:
        env["PYTHONPATH"] = path
    return subprocess.run([sys.executable, *arguments], env=env, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=120, check=False)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.picture = os.path.join(self.folder, "picture.jpg")
        ct.write(ct.Picture.from_pixels(pictures.pixels(90, 70)), self.picture)
        self.sum = str(ct.read(self.picture)[0].sum())

    def reads(self, said, text=None):
        self.assertEqual((said.stdout.strip(), said.returncode), (text or self.sum, 0))


class Report(WithFolder):
    def test_what_is_there(self):
        said = python("-m", "cudatransform")
        self.assertEqual(said.returncode, 0, said.stdout)
        lines = [line.split(maxsplit=1) for line in said.stdout.splitlines()]
        self.assertIn(["cudatransform", f"{ct.__version__}, {PACKAGE}/__main__.py"], lines)
        self.assertRegex(said.stdout, r"(?m)^CPU engine +yes$")
        self.assertRegex(said.stdout, r"(?m)^CUDA engine +(yes|no: .*)$")
        self.assertRegex(said.stdout, r"(?m)^GPU +(cuda:0, .*compute capability|no CUDA: )")
        if _libraries.ARE_OWN:
            self.assertIn(["libraries", f"the wheel's own, {_libraries.FOLDER}"], lines)
            self.assertNotRegex(said.stdout, "(?m)^file ")
            return
        self.assertRegex(said.stdout, r"(?m)^file +/.*/libcudatransform\.so")

    @unittest.skipIf(_libraries.ARE_OWN, "a wheel's libraries are always there")
    def test_what_is_missing(self):
        said = python("-m", "cudatransform", LD_LIBRARY_PATH=self.folder)
        self.assertRegex(said.stdout, r"(?m)^CPU engine +no: libcudatransform\.so.*LD_LIBRARY_PATH")


class Places(WithFolder):
    def test_a_folder_that_cannot_be_written(self):
        place = os.path.join(self.folder, "ein Ort, größer als Ω")
        shutil.copytree(PACKAGE, os.path.join(place, "cudatransform"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        before = list(os.walk(place))
        folders = [name for name, _, _ in before]
        for name in folders:
            os.chmod(name, 0o555)
        try:
            self.reads(python("-B", "-c", READ + "assert sys.argv[2] in ct.__file__", self.picture,
                              place, path=place))
            self.assertEqual(list(os.walk(place)), before)
        finally:
            for name in folders:
                os.chmod(name, 0o755)

    def test_an_archive(self):
        archive = os.path.join(self.folder, "application.pyz")
        with zipfile.ZipFile(archive, "w") as file:
            for folder, _, names in os.walk(PACKAGE):
                for name in names:
                    path = os.path.join(folder, name)
                    if name.endswith(".py"):
                        file.write(path, os.path.relpath(path, os.path.dirname(PACKAGE)))
            file.writestr("cudatransform/_lib/NOTICE", "of a wheel")
            file.writestr("__main__.py", READ)
        said = python(archive, self.picture, path=os.path.dirname(pictures.__file__))
        self.assertIn("is inside an archive", said.stdout)
        self.assertIn("install the wheel by pip", said.stdout)
        self.assertNotEqual(said.returncode, 0)
        if not _libraries.ARE_OWN:
            self.reads(python(archive, self.picture, CUDATRANSFORM_SYSTEM_LIBRARY="1"))


@unittest.skipUnless(_libraries.ARE_OWN, "the libraries are the system's, not a wheel's")
class Own(WithFolder):
    def test_nothing_of_the_systems_is_loaded(self):
        code = READ + ("paths = [line.split()[-1] for line in open('/proc/self/maps')]\n"
                       "kinds = '/libjpeg', '/libtbb', '/libhwy', '/libgst', '/libglib'\n"
                       "assert not [path for path in paths if any(map(path.__contains__, kinds)) "
                       f"and not path.startswith({_libraries.FOLDER!r})], paths\n")
        self.reads(python("-B", "-c", code, self.picture, LD_LIBRARY_PATH=_libraries.FOLDER))

    def test_licences(self):
        files = {os.path.basename(path) for path in metadata.files("cudatransform")
                 if "licenses" in path.parts}
        with open(os.path.join(_libraries.FOLDER, "NOTICE"), encoding="utf-8") as file:
            packages = dict(re.findall(r"(?m)^(lib\S+) +(\S+) \S+, source: \S+ \S+$", file.read()))
        ours = {"libcudatransform-cudatransform.so.0", "NOTICE"}
        self.assertEqual(packages.keys(), set(os.listdir(_libraries.FOLDER)) - ours)
        self.assertLessEqual({"cudatransform", "Apache-2.0", *packages.values()}, files)

    def test_a_system_without_the_library(self):
        said = python("-c", READ, self.picture, CUDATRANSFORM_SYSTEM_LIBRARY="1")
        if said.returncode:
            self.assertIn("cudatransform needs libcudatransform", said.stdout)
        else:
            self.reads(said)

    @unittest.skipUnless(importlib.util.find_spec("gi"), "there is no PyGObject")
    def test_beside_pygobject(self):
        both = "print(read() == {0}, play(), read() == {0}, play())"
        for first, second in (SYSTEMS, OURS), (OURS, SYSTEMS):
            for between in "", "read()\n" if first is OURS else "play()\n":
                said = python("-c", first + between + second + both.format(self.sum), self.picture)
                self.reads(said, "True 5 True 5")

    @unittest.skipUnless(importlib.util.find_spec("gi"), "there is no PyGObject")
    def test_at_the_same_time_as_pygobject(self):
        code = SYSTEMS + OURS + """
import threading
failed = []
def repeat(function, wanted):
    for _ in range(40):
        if function() != wanted:
            failed.append(function)
threads = [threading.Thread(target=repeat, args=pair)
           for pair in ((play, 5), (read, int(sys.argv[2]))) * 2]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(failed))
"""
        self.reads(python("-c", code, self.picture, self.sum), "0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
