#!/usr/bin/env python3
# A build folder without installation: programs and Python find library and plugin in it.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: uninstalled_test.py MESON BUILD_DIR     CC and CXX: the compilers; exits 77 where something
#                                                is missing. Compiles nothing of the build folder.
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from install_test import (EXAMPLE, PROGRAM, SKIP, TYPELIB_PROGRAM, few_plugins,  # noqa: E402
                          output_of)

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/libgstcoef.md")


class Uninstalled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-uninstalled-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.env = cls.environment()

    @classmethod
    def environment(cls):
        """That of a user with few plugins of GStreamer's installed, and none of ours."""
        own = ("GST_", "GI_", "PKG_CONFIG", "LD_LIBRARY_PATH")
        env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return env | {"GST_PLUGIN_SYSTEM_PATH_1_0": few_plugins(cls.folder),
                      "GST_REGISTRY_1_0": os.path.join(cls.folder, "registry.bin")}

    def devenv(self, *command):
        return output_of(*MESON, "devenv", "-C", BUILD, *command, env=self.env)

    def command_line(self, compiler, source, program, *packages):
        """For a shell, so that it asks pkg-config where it is run."""
        return (shlex.join((*compiler, "-Wall", "-Wextra", "-Werror", source, "-o", program)) +
                " $(pkg-config --cflags --libs " + " ".join(packages) + ")")

    def compiled_and_run(self, compiler, *flags, source=PROGRAM):
        """The program's output."""
        program = os.path.join(self.folder, self.id().rsplit(".", maxsplit=1)[-1])
        line = self.command_line((*compiler, *flags), source, program, "gstreamer-coef-1.0")
        return self.devenv("sh", "-ec", f"{line}\n{shlex.quote(program)}")

    def test_nothing_else_is_found(self):
        done = subprocess.run(["gst-inspect-1.0", "cudadct8x8"], capture_output=True, env=self.env,
                              timeout=120)
        self.assertNotEqual(done.returncode, 0)

    def test_c_program_in_devenv(self):
        self.assertIn("result 0", self.compiled_and_run(CC, "-std=c99"))

    def test_cpp_program_in_devenv(self):
        self.assertIn("result 0", self.compiled_and_run(CXX, "-std=c++11", "-xc++"))

    def test_program_of_the_page_in_devenv(self):
        with open(PAGE, encoding="utf-8") as file:
            (program,) = re.findall(r"^```c\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
        source = os.path.join(self.folder, "page.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        # ITU-T T.81, tables K.1 and K.2, begin with 16 and 17; 50 x 38 samples of chroma.
        said = self.compiled_and_run(CC, source=source)
        self.assertIn("component 0: 13 x 10 blocks at byte 0, DC divided by 16\n", said)
        self.assertIn("component 2: 7 x 5 blocks at byte 21120, DC divided by 17\n", said)

    def test_example_with_the_uninstalled_pkg_config_file(self):
        """Without devenv: the folder of the pkg-config file is all that a compiler needs."""
        if subprocess.run(["pkg-config", "--exists", "gstreamer-app-1.0"]).returncode != 0:
            self.skipTest("no gstreamer-app-1.0")
        program = os.path.join(self.folder, "coefficients")
        packages = ("gstreamer-coef-1.0", "gstreamer-app-1.0")
        found = os.path.join(BUILD, "meson-uninstalled")
        output_of("sh", "-ec", self.command_line((*CXX, "-std=c++17"), EXAMPLE, program, *packages),
                  env=self.env | {"PKG_CONFIG_PATH": found})
        libraries = os.path.join(BUILD, "gst-libs/gst/coef")
        done = output_of(program, "16", "8", "50", "cpu", input=chr(0) * 192,
                         env=self.env | {"LD_LIBRARY_PATH": libraries,
                                         "GST_PLUGIN_PATH": os.path.join(BUILD, "gst")})
        self.assertIn("frame 0: 16 x 8, YCbCr-4:2:0, in system memory", done)

    def test_typelib_in_devenv(self):
        if not glob.glob(os.path.join(BUILD, "gst-libs/gst/coef/*.typelib")):
            self.skipTest("built without introspection")
        if subprocess.run([sys.executable, "-c", "import gi"], capture_output=True).returncode != 0:
            self.skipTest("no python3-gi")
        self.devenv(sys.executable, "-c",
                    TYPELIB_PROGRAM + "assert Gst.ElementFactory.find('cudadct8x8')")


if __name__ == "__main__":
    MESON, BUILD = shlex.split(sys.argv[1]), os.path.abspath(sys.argv[2])
    CC = shlex.split(os.environ.get("CC", "cc"))
    CXX = shlex.split(os.environ.get("CXX", "c++"))
    missing = [name for name in (CC[0], CXX[0], "pkg-config", "gst-inspect-1.0")
               if not shutil.which(name)]
    if missing:
        print("SKIP: no " + ", ".join(missing))
        sys.exit(SKIP)
    unittest.main(argv=sys.argv[:1])
