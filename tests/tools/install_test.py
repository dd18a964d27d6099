#!/usr/bin/env python3
# An installed tree: every file is in its place, and programs outside of the source tree use it.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: install_test.py MESON BUILD_DIR         CC and CXX: the compilers; exits 77 where something
#                                                is missing. Compiles nothing of the build folder.
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SKIP = 77
SOURCES = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCES, "../../gst"))
import say_where  # noqa: E402

EXAMPLE = os.path.join(SOURCES, "../../examples/coefficients.cpp")
PAGE = os.path.join(SOURCES, "../../docs/libgstcoef.md")
# ITU-T T.81, tables K.1 and K.2, begin with 16 and 17; 50 x 38 samples of chroma.
PROGRAM_SAYS = ("component 0: 13 x 10 blocks at byte 0, DC divided by 16\n"
                "component 1: 7 x 5 blocks at byte 16640, DC divided by 17\n"
                "component 2: 7 x 5 blocks at byte 21120, DC divided by 17\n")
LIBRARY = "libgstcoef-1.0.so"
HEADERS = ("coef.h", "dct-info.h", "dct-meta.h", "dct.h", "dwt-info.h", "dwt-meta.h", "dwt.h",
           "fence.h", "format.h", "prelude.h", "reference.h")
# GStreamer's plugins for the pipelines here: scanning all of them takes seconds.
PLUGINS = ("coreelements", "videotestsrc", "app")
TYPELIB_PROGRAM = """
import gi
gi.require_version("GstCoef", "1.0")
from gi.repository import Gst, GstCoef
Gst.init(None)
assert GstCoef.Format.size(GstCoef.Format.F32LE) == 4
"""


def output_of(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)} exits {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


def pkg_config(*arguments, **options):
    return output_of("pkg-config", *arguments, **options).split()


def page_program(folder):
    """The C program of the library's page, as a new file."""
    with open(PAGE, encoding="utf-8") as file:
        (program,) = re.findall(r"^```c\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
    path = os.path.join(folder, "page.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    return path


def few_plugins(folder):
    """A new folder with those of GStreamer's plugins that are needed here."""
    plugins = os.path.join(folder, "plugins")
    os.mkdir(plugins)
    (system_plugins,) = pkg_config("--variable=pluginsdir", "gstreamer-1.0")
    for name in PLUGINS:
        file = f"libgst{name}.so"
        os.symlink(os.path.join(system_plugins, file), os.path.join(plugins, file))
    return plugins


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        introspected = json.loads(output_of(*MESON, "introspect", "--buildoptions", BUILD))
        option = {entry["name"]: entry["value"] for entry in introspected}
        cls.prefix, cls.libdir = option["prefix"], option["libdir"]
        destdir = os.path.join(cls.folder, "root")
        cls.said = output_of(
            *MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", destdir,
            env={name: value for name, value in os.environ.items() if name != "DESTDIR"})
        cls.destdir = destdir
        cls.root = destdir + cls.prefix
        cls.lib = os.path.join(cls.root, cls.libdir)
        cls.include = os.path.join(cls.root, option["includedir"])
        cls.data = os.path.join(cls.root, option["datadir"])
        cls.plugin = os.path.join(cls.lib, "gstreamer-1.0/libgstcudatransform.so")
        cls.env = cls.environment()

    @classmethod
    def environment(cls):
        """That of a system with this tree and few plugins of GStreamer's installed."""
        plugins = few_plugins(cls.folder)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("GST_") and name != "LD_LIBRARY_PATH"}
        return env | {
            "GST_PLUGIN_SYSTEM_PATH_1_0": "",
            "GST_PLUGIN_PATH_1_0": os.pathsep.join((os.path.dirname(cls.plugin), plugins)),
            "GST_REGISTRY_1_0": os.path.join(cls.folder, "registry.bin"),
            "PKG_CONFIG_PATH": cls.relocated(),
        }

    @classmethod
    def relocated(cls):
        """The folder of a pkg-config file that says not where the tree will be but where it is."""
        folder = os.path.join(cls.folder, "pkgconfig")
        os.mkdir(folder)
        name = "gstreamer-coef-1.0.pc"
        with open(os.path.join(cls.lib, "pkgconfig", name), encoding="utf-8") as file:
            text = file.read()
        assert text.startswith(f"prefix={cls.prefix}\n"), text
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text.replace(f"prefix={cls.prefix}\n", f"prefix={cls.root}\n", 1))
        return folder

    def loader_env(self):
        return self.env | {"LD_LIBRARY_PATH": self.lib}

    def plugin_env(self):
        """Under /usr the loader looks by itself; elsewhere the plugin knows its library's place."""
        return self.loader_env() if self.prefix == "/usr" else self.env

    def test_files(self):
        version = pkg_config("--modversion", "gstreamer-coef-1.0", env=self.env)[0]
        expected = {self.plugin}
        expected |= {os.path.join(self.include, "gstreamer-1.0/gst/coef", name) for name in HEADERS}
        expected |= {os.path.join(self.lib, name)
                     for name in (LIBRARY, f"{LIBRARY}.0", f"{LIBRARY}.{version}",
                                  "pkgconfig/gstreamer-coef-1.0.pc")}
        expected.add(os.path.join(self.include, "cudatransform/cudatransform.h"))
        expected |= {os.path.join(self.lib, name)
                     for name in ("libcudatransform.so", "libcudatransform.so.0",
                                  "libcudatransform.so.0.0.0", "pkgconfig/cudatransform.pc")}
        if TYPELIB:
            expected |= {os.path.join(self.lib, "girepository-1.0/GstCoef-1.0.typelib"),
                         os.path.join(self.data, "gir-1.0/GstCoef-1.0.gir")}
        found = {os.path.join(folder, name)
                 for folder, _folders, names in os.walk(self.destdir) for name in names}
        self.assertEqual(found, expected)

    def test_says_where_gstreamer_has_to_look(self):
        folder = os.path.join(self.prefix, self.libdir, "gstreamer-1.0")
        self.assertIn(f"The plugin is in {folder}.", self.said)
        (gstreamers,) = pkg_config("--variable=pluginsdir", "gstreamer-1.0")
        exported = f"export GST_PLUGIN_PATH={folder}"
        if os.path.realpath(folder) == os.path.realpath(gstreamers):
            self.assertNotIn(exported, self.said)
        else:
            self.assertIn(exported, self.said)

    def said_of(self, prefix, plugins="lib/gstreamer-1.0", home="/nowhere"):
        with mock.patch.dict(os.environ, {"HOME": home, "XDG_DATA_HOME": ""}):
            return "\n".join(say_where.sentences(prefix, plugins, "lib", "/usr/lib/gstreamer-1.0",
                                                 True))

    def test_what_is_said_of_other_prefixes(self):
        self.assertIn("by default: try", self.said_of("/usr"))
        self.assertNotIn("export", self.said_of("/usr"))
        # GStreamer looks there for a user's own plugins.
        self.assertNotIn("GST_PLUGIN_PATH", self.said_of("/home/a/.local", home="/home/a",
                                                         plugins="share/gstreamer-1.0/plugins"))
        self.assertIn("GST_PLUGIN_PATH", self.said_of("/home/a/.local", home="/home/a"))
        self.assertIn("export GI_TYPELIB_PATH=/opt/x/lib/girepository-1.0", self.said_of("/opt/x"))

    def test_the_line_that_is_said_works(self):
        said = self.said_of(self.root, os.path.dirname(self.plugin))
        line = re.search("export GST_PLUGIN_PATH.*", said)
        self.assertTrue(line, said)
        env = {name: value for name, value in self.plugin_env().items()
               if name != "GST_PLUGIN_PATH_1_0"}
        for before in ({}, {"GST_PLUGIN_PATH": os.path.join(self.folder, "plugins")}):
            output_of("sh", "-c", line[0] + "\ngst-inspect-1.0 cudadct8x8", env=env | before)

    def test_plugin_finds_the_installed_library(self):
        libraries = output_of("ldd", self.plugin, env=self.plugin_env())
        path = re.search(rf"{re.escape(LIBRARY)}\.0 => (\S+)", libraries)
        self.assertTrue(path, libraries)
        installed = os.path.join(self.lib, f"{LIBRARY}.0")
        self.assertTrue(os.path.samefile(path[1], installed), libraries)
        self.assertNotIn("not found", libraries)

    def test_no_search_path_leads_elsewhere(self):
        for file in (self.plugin, os.path.join(self.lib, LIBRARY)):
            dynamic = output_of("readelf", "-dW", file)
            allowed = [] if self.prefix == "/usr" or file != self.plugin else ["$ORIGIN/.."]
            self.assertEqual(re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic), allowed, file)

    def test_elements(self):
        for element in ("cudadct8x8", "cudaidct8x8", "cudadctflip", "cudadctquant",
                        "cudaresize", "cudadwt", "cudaidwt"):
            page = output_of("gst-inspect-1.0", element, env=self.plugin_env())
            self.assertIn(self.plugin, page)
            # Without a version the tool wants GStreamer's own.
            output_of("gst-inspect-1.0", "--exists", "--atleast-version=1.0", element,
                      env=self.plugin_env())

    def test_what_is_said_of_the_package(self):
        page = output_of("gst-inspect-1.0", "cudadct8x8", env=self.plugin_env())
        for field, value in (("Author", r"\S.*"), ("Version", r"\d+\.\d+\.\d+"),
                             ("Source release date", r"\d{4}-\d\d-\d\d"),
                             ("Binary package", r"\S.*"), ("Origin URL", r"\S.*")):
            self.assertRegex(page, rf"(?m)^  {field} +{value}$")

    def test_pipeline(self):
        line = ("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=40,height=24 ! "
                "cudadct8x8 backend=cpu ! cudaidct8x8 backend=cpu ! fakesink")
        output_of("gst-launch-1.0", "-q", *shlex.split(line), env=self.plugin_env())

    def compiled(self, compiler, source, *flags, packages=("gstreamer-coef-1.0",)):
        found = pkg_config("--cflags", "--libs", *packages, env=self.env)
        for flag in (f"-I{self.include}/gstreamer-1.0", f"-L{self.lib}", "-lgstcoef-1.0"):
            self.assertIn(flag, found)
        program = os.path.join(self.folder, self.id().rsplit(".", maxsplit=1)[-1])
        output_of(*compiler, *flags, "-Wall", "-Wextra", "-Werror", source, "-o", program, *found)
        return program

    def test_program(self):
        for compiler, flags in ((CC, ("-std=c99",)), (CXX, ("-std=c++11", "-xc++"))):
            program = self.compiled(compiler, page_program(self.folder), *flags)
            self.assertEqual(output_of(program, env=self.loader_env()), PROGRAM_SAYS)

    def test_each_header_alone(self):
        for name in HEADERS:
            source = os.path.join(self.folder, "header.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(f"#include <gst/coef/{name}>\nint main(void) {{ return 0; }}\n")
            self.compiled(CC, source, "-std=c99")

    def test_example(self):
        if subprocess.run(["pkg-config", "--exists", "gstreamer-app-1.0"]).returncode != 0:
            self.skipTest("no gstreamer-app-1.0")
        program = self.compiled(CXX, EXAMPLE, "-std=c++17",
                                packages=("gstreamer-coef-1.0", "gstreamer-app-1.0"))
        said = output_of(program, "16", "8", "50", "cpu", input=chr(0) * 192,
                         env=self.loader_env())
        self.assertIn("frame 0: 16 x 8, YCbCr-4:2:0, in system memory", said)

    def test_typelib(self):
        if not TYPELIB:
            self.skipTest("built without introspection")
        if subprocess.run([sys.executable, "-c", "import gi"], capture_output=True).returncode != 0:
            self.skipTest("no python3-gi")
        folder = os.path.join(self.lib, "girepository-1.0")
        output_of(sys.executable, "-c", TYPELIB_PROGRAM,
                  env=self.loader_env() | {"GI_TYPELIB_PATH": folder})


if __name__ == "__main__":
    MESON, BUILD = shlex.split(sys.argv[1]), os.path.abspath(sys.argv[2])
    CC = shlex.split(os.environ.get("CC", "cc"))
    CXX = shlex.split(os.environ.get("CXX", "c++"))
    TYPELIB = glob.glob(os.path.join(BUILD, "gst-libs/gst/coef/*.typelib"))
    missing = [name for name in (CC[0], CXX[0], "pkg-config", "readelf", "gst-inspect-1.0",
                                 "gst-launch-1.0") if not shutil.which(name)]
    if missing:
        print("SKIP: no " + ", ".join(missing))
        sys.exit(SKIP)
    unittest.main(argv=sys.argv[:1])
