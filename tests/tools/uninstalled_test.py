#!/usr/bin/env python3
# A build folder without installation: programs and Python find library and plugin in it.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: uninstalled_test.py MESON BUILD_DIR     CC and CXX: the compilers; exits 77 where something
#                                                is missing. Compiles nothing of the build folder.
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from install_test import (EXAMPLE, PROGRAM_SAYS, SKIP, TYPELIB_PROGRAM,  # noqa: E402
                          few_plugins, output_of, page_program)


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
        """For a shell, so that it queries pkg-config where it is run."""
        return (shlex.join((*compiler, "-Wall", "-Wextra", "-Werror", source, "-o", program)) +
                " $(pkg-config --cflags --libs " + " ".join(packages) + ")")

    def test_nothing_else_is_found(self):
        done = subprocess.run(["gst-inspect-1.0", "cudadct8x8"], capture_output=True, env=self.env,
                              timeout=120)
        self.assertNotEqual(done.returncode, 0)

    def test_program_in_devenv(self):
        program = os.path.join(self.folder, "page")
        for compiler in ((*CC, "-std=c99"), (*CXX, "-std=c++11", "-xc++")):
            line = self.command_line(compiler, page_program(self.folder), program,
                                     "gstreamer-coef-1.0")
            said = self.devenv("sh", "-ec", f"{line}\n{shlex.quote(program)}")
            self.assertIn(PROGRAM_SAYS, said)

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
