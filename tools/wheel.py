#!/usr/bin/env python3
# Puts the plugin, and every library that it needs, into a wheel of the Python module.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""wheel.py BUILD FOLDER    of a build directory; tools/wheel has the programs that this calls

The libraries are those of this machine. They get names of files and of symbols that nobody else
has: the loader looks for a symbol in the process's global scope first, where PyGObject, for one,
puts the system's GLib and GStreamer.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# These are everywhere where the tag manylinux says, and one a process.
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
# Only copies between CUDA and OpenGL need the first, only traces of leaks the others. They would
# bring a desktop's libraries, so their functions become ones that return 0: none is there.
LEFT_OUT = {"libgstgl-1.0.so.0", "libunwind.so.8", "libdw.so.1"}
ENVIRONMENT, GSTREAMER = "libcudatransform-environment.so", "libgstreamer-1.0.so.0"
PREFIX = "ct_"  # of symbols; python/cudatransform/_libraries.py knows it, and the files' names


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True, **options).stdout


def symbols(path, *options):
    """{(name, version)} of a library's symbols; the version is "" if there is none."""
    lines = run("nm", "--dynamic", *options, path).splitlines()
    return {(*line.split()[-1].replace("@@", "@").split("@"), "")[:2] for line in lines}


def is_found_by_name(symbol):
    """Whether GStreamer looks for a symbol by its name, in a plugin."""
    return re.fullmatch(r"gst_plugin_\w+_(get_desc|register)|gst_plugin_desc", symbol)


class Libraries:
    """The libraries and plugins that go into the wheel."""

    def __init__(self, build):
        system = pathlib.Path(run("pkg-config", "--variable=pluginsdir", "gstreamer-1.0").strip())
        self.plugins = [build / "gst/libgstcudatransform.so", system / "libgstapp.so",
                        system / "libgstcoreelements.so"]
        self.paths = {}  # {name: path}, of libraries that a name finds
        library = build / "core/libcudatransform.so.0"
        self.paths[library.name] = library
        places, waiting = {}, [*self.plugins, library]
        while waiting:
            for name, path in self._needs(waiting.pop()).items():
                if name in SYSTEM | LEFT_OUT:
                    places[name] = path
                elif name not in self.paths:
                    self.paths[name] = path
                    waiting.append(path)
        self.left_out = [places[name] for name in LEFT_OUT & places.keys()]
        of_system = {name for path in map(places.get, SYSTEM & places.keys())
                     for name, _ in symbols(path, "--defined-only")}
        self.names = {name for path in [*self.paths.values(), *self.plugins]
                      for name, _ in symbols(path, "--defined-only")
                      if name not in of_system and not is_found_by_name(name)}

    @staticmethod
    def _needs(path):
        """{name: path} of the libraries that one names itself."""
        found = dict(re.findall(r"^\s(\S+) => (/.*) \(0x", run("ldd", path), re.MULTILINE))
        return {name: pathlib.Path(found.get(name, f"/lib64/{name}"))
                for name in run("patchelf", "--print-needed", path).split()}

    def put_into(self, folder):
        """Copies all of them there, and renames them."""
        self._make_environment(folder)
        for name, path in self.paths.items():
            self._put(path, folder / renamed(name), name)
        for path in self.plugins:
            self._put(path, folder / path.name)

    def _put(self, path, target, name=None):
        shutil.copyfile(path, target)
        target.chmod(0o755)
        run("strip", "--strip-unneeded", target)
        edits = ["--set-rpath", "$ORIGIN"] + (["--set-soname", renamed(name)] if name else [])
        needs, functions = self._needs(path), {symbol: PREFIX + symbol for symbol in self.names}
        for other in needs.keys() & self.paths.keys():
            edits += ["--replace-needed", other, renamed(other)]
        for other in sorted(needs.keys() & LEFT_OUT):
            edits += ["--replace-needed", other, ENVIRONMENT]
        if name == GSTREAMER:
            functions["g_getenv"] = "ct_getenv"
            if not needs.keys() & LEFT_OUT:
                edits += ["--add-needed", ENVIRONMENT]
        with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
            file.writelines(f"{old} {new}\n" for old, new in sorted(functions.items()))
            file.flush()
            run("patchelf", *edits, "--rename-dynamic-symbols", file.name, target)

    def _make_environment(self, folder):
        """The library of packaging/wheel/environment.c and of the functions that are left out."""
        offered = set().union(*(symbols(path, "--defined-only") for path in self.left_out))
        wanted = set().union(*(symbols(path, "--undefined-only") for path in self.paths.values()))
        versions = {}
        for name, version in sorted(offered & wanted):
            versions.setdefault(version, []).append(name)
        source = (ROOT / "packaging/wheel/environment.c").read_text()
        source += "".join(f"void* {name}(void) {{ return NULL; }}\n"
                          for names in versions.values() for name in names)
        script = "".join(f"{version} {{ global: {'; '.join(names)}; }};\n"
                         for version, names in versions.items() if version)
        with tempfile.TemporaryDirectory() as place:
            (pathlib.Path(place) / "versions").write_text(script or "{ global: *; };")
            run("cc", "-O2", "-shared", "-fPIC", "-s", "-xc", "-", "-o", folder / ENVIRONMENT,
                f"-Wl,-soname,{ENVIRONMENT},--version-script={place}/versions,--build-id=none",
                input=source)


def renamed(name):
    """The file of a library in the wheel."""
    return f"libcudatransform-{name[3:]}"


def package_of(path):
    """Of the Debian package of a file: name and version, name and version of its source."""
    for known in path, pathlib.Path("/usr") / path.relative_to("/"), path.resolve():
        said = subprocess.run(["dpkg-query", "-S", known], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, check=False).stdout
        if said:
            fields = "${Package}\t${Version}\t${source:Package}\t${source:Version}"
            return tuple(run("dpkg-query", "-W", "-f", fields, said.split(": ")[0]).split("\t"))
    raise SystemExit(f"wheel.py: no package of Debian's has {path}, so its licence is not known")


def write_licences(libraries, build, notice, folder):
    """Writes the notice, and into a folder the licences of all that is in the wheel."""
    folder.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "cudatransform")
    others = {renamed(name): path for name, path in libraries.paths.items()}
    others.update((path.name, path) for path in libraries.plugins)
    lines, common = [], set()
    for file, path in sorted(others.items()):
        if build in path.parents:
            continue
        package, version, source, source_version = package_of(path)
        lines.append(f"{file:42} {package} {version}, source: {source} {source_version}\n")
        terms = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text()
        (folder / package).write_text(terms)
        common |= set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", terms))
    for name in sorted(common):
        shutil.copyfile(f"/usr/share/common-licenses/{name}", folder / name)
    notice.write_text((ROOT / "packaging/wheel/NOTICE").read_text() + "".join(lines))


def main(build, folder):
    build, folder = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve()
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        shutil.copytree(ROOT / "python", place / "python",
                        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        pip = sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps"
        run(*pip, "--no-build-isolation", "-w", place, place / "python")
        run(sys.executable, "-m", "wheel", "unpack", "-d", place, *place.glob("*.whl"))
        tree = next(path for path in place.glob("cudatransform-*") if path.is_dir())
        inside, about = tree / "cudatransform/_lib", next(tree.glob("*.dist-info"))
        inside.mkdir()
        libraries = Libraries(build)
        libraries.put_into(inside)
        write_licences(libraries, build, inside / "NOTICE", about / "licenses")
        tags = (about / "WHEEL").read_text()
        tags = tags.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        (about / "WHEEL").write_text(tags.replace("py3-none-any", "py3-none-linux_x86_64"))
        run(sys.executable, "-m", "wheel", "pack", "-d", place, tree)
        # auditwheel finds nothing to add: it checks the libraries, and names the oldest system.
        run("auditwheel", "repair", "-w", folder, *place.glob("*-linux_x86_64.whl"),
            stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main(*sys.argv[1:])
