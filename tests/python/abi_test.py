#!/usr/bin/python3
# The ABI of libcudatransform: its header, its exports, and the structures as the module has them.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The module's ctypes are the record of the layouts, which a C compiler finds in the header.
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from cudatransform import _native

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core",
                      "cudatransform.h")
COMPILER, NM = shutil.which("cc"), shutil.which("nm")
# Constants whose numbers the module has as the places of words.
ENUMS = {"CtType": _native.TYPES, "CtPreset": _native.PRESETS, "CtColor": _native.COLORS}


def structures():
    """{name in C: class}; names are in the first words of docstrings."""
    found = {}
    for kind in vars(_native).values():
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
            name = re.match(r"Ct\w+", kind.__doc__ or "")
            if name:
                found[name[0]] = kind
    return found


def declared():
    with open(HEADER, encoding="utf-8") as file:
        return re.sub(r"//.*", "", file.read())


@unittest.skipUnless(os.path.exists(HEADER), "no clone")
class Abi(unittest.TestCase):
    @unittest.skipUnless(COMPILER, "no C compiler")
    def test_layouts(self):
        wanted, lines = [], []
        for name, kind in structures().items():
            wanted.append(ctypes.sizeof(kind))
            lines.append(f"sizeof({name})")
            for field, *_ in kind._fields_:
                wanted.append(getattr(kind, field).offset)
                of = "crop." if name == "CtSource" and field not in ("data", "size", "path") else ""
                lines.append(f"offsetof({name}, {of}{field})")
        self.assertGreater(len(lines), 100)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "layouts")
            with open(program + ".c", "w", encoding="ascii") as file:
                prints = "\n".join(f'printf("%zu\\n", {line});' for line in lines)
                file.write(f'#include <stdio.h>\n#include "{HEADER}"\n'
                           f"int main(void) {{ {prints} return 0; }}\n")
            subprocess.run([COMPILER, "-std=c99", "-Wall", "-Werror", "-pedantic", program + ".c",
                            "-o", program], check=True)
            said = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.split()
        for line, ours, theirs in zip(lines, wanted, map(int, said)):
            self.assertEqual(ours, theirs, line)

    def test_members(self):
        """A structure has no members but those that the module knows."""
        for body, name in re.findall(r"typedef struct \{(.*?)\} (\w+);", declared(), re.DOTALL):
            kind = structures().get(name)
            if kind is None:
                self.assertIn(name, ("CtCrop", "CtBox", "CtBands", "CtPlanes"))
                continue
            members = re.findall(r"(\w+)(?:\)?\[\w+\])*(?=[,;])", body)
            known = [field for field, *_ in kind._fields_]
            if name == "CtSource":
                known[3:] = ["crop"]
            self.assertEqual(members, known, name)

    def test_constants(self):
        for name, words in ENUMS.items():
            body = re.search(rf"typedef enum \{{([^}}]*)\}} {name};", declared())[1]
            self.assertEqual(body.count(",") + 1, len(words), name)

    @unittest.skipUnless(NM, "no nm")
    def test_exports(self):
        _native.library()
        with open("/proc/self/maps", encoding="utf-8") as maps:
            path = re.search(r"(/.*/libcudatransform\.so\S*)$", maps.read(), re.MULTILINE)
        if path is None:
            self.skipTest("the library is a wheel's, whose names are other ones")
        said = subprocess.run([NM, "-D", "--defined-only", path[1]], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        exported = {line.split()[-1].partition("@")[0] for line in said.splitlines()}
        self.assertEqual(exported, set(re.findall(r"\b(ct_\w+)\(", declared())))


if __name__ == "__main__":
    unittest.main()
