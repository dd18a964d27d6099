#!/usr/bin/env python3
# Puts libcudatransform, and every library that it needs, into a wheel of the Python module.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""wheel.py BUILD FOLDER [ROOT]    of a build directory; tools/wheel has the programs this calls

The libraries are those of this machine, or of ROOT: a Debian with a cross compiler, which has BUILD
in it. They get unique names of files and of symbols: the loader looks for a symbol in
the process's global scope first, where a preloaded library or one of another module may have put
another libjpeg.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# These are everywhere where the tag manylinux says, and one a process.
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2",
          "ld-linux-aarch64.so.1"}
ARCHITECTURES = {62: "x86_64", 183: "aarch64"}  # by the machines of ELF files
PREFIX = "ct_"  # of symbols; python/cudatransform/_libraries.py knows it, and the files' names


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True, **options).stdout


def symbols(path):
    """The names that a library defines."""
    lines = run("nm", "--dynamic", "--defined-only", path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


class Debian:
    """The system whose libraries go into the wheel."""

    def __init__(self, root, library):
        self.root = root
        machine, = struct.unpack_from("<H", library.read_bytes(), 18)
        self.arch = ARCHITECTURES[machine]
        self.triplet = f"{self.arch}-linux-gnu"

    def library(self, name):
        path = self.root / "usr/lib" / self.triplet / name
        if not path.exists():
            raise SystemExit(f"wheel.py: {path} is missing")
        return path

    def strip(self, path):
        """Of a file in the system, by its own program: another's may not know the architecture."""
        inside = [] if self.root == pathlib.Path("/") else ["chroot", self.root]
        run(*inside, f"{self.triplet}-strip", "--strip-unneeded", "/" / path.relative_to(self.root))

    def package_of(self, path):
        """Of the package of a file: name and version, name and version of its source."""
        query = "dpkg-query", "--admindir", self.root / "var/lib/dpkg"
        inside = "/" / path.relative_to(self.root)
        for known in inside, "/" / inside.relative_to("/usr"), path.resolve():
            said = subprocess.run([*query, "-S", known], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL, check=False).stdout
            if said:
                fields = "${Package}\t${Version}\t${source:Package}\t${source:Version}"
                return tuple(run(*query, "-W", "-f", fields, said.split(": ")[0]).split("\t"))
        raise SystemExit(f"wheel.py: no package of Debian's has {path}: its licence is not known")


class Libraries:
    """The libraries that go into the wheel."""

    def __init__(self, build, root):
        library = build / "core/libcudatransform.so.0"
        self.debian = Debian(root, library)
        self.paths, waiting, system = {library.name: library}, [library], []
        while waiting:
            for name, path in self._needs(waiting.pop()).items():
                if name in SYSTEM:
                    system.append(path)
                elif name not in self.paths:
                    self.paths[name] = path
                    waiting.append(path)
        of_system = set().union(*map(symbols, system))
        self.names = set().union(*map(symbols, self.paths.values())) - of_system

    def _needs(self, path):
        """{name: path} of the libraries that one names itself."""
        names = run("patchelf", "--print-needed", path).split()
        return {name: self.debian.library(name) for name in names}

    def put_into(self, folder):
        """Copies all of them there, and renames them."""
        for name, path in self.paths.items():
            target = folder / renamed(name)
            shutil.copyfile(path, target)
            target.chmod(0o755)
            self.debian.strip(target)
            edits = ["--set-rpath", "$ORIGIN", "--set-soname", renamed(name)]
            for other in self._needs(path).keys() & self.paths.keys():
                edits += ["--replace-needed", other, renamed(other)]
            with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
                file.writelines(f"{symbol} {PREFIX}{symbol}\n" for symbol in sorted(self.names))
                file.flush()
                run("patchelf", *edits, "--rename-dynamic-symbols", file.name, target)


def renamed(name):
    """The file of a library in the wheel."""
    return f"libcudatransform-{name[3:]}"


def write_licences(libraries, build, notice, folder):
    """Writes the notice, and into a folder the licences of all that is in the wheel."""
    folder.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "cudatransform")
    others = {renamed(name): path for name, path in libraries.paths.items()}
    shared, lines, common = libraries.debian.root / "usr/share", [], set()
    for file, path in sorted(others.items()):
        if build in path.parents:
            continue
        package, version, source, source_version = libraries.debian.package_of(path)
        lines.append(f"{file:42} {package} {version}, source: {source} {source_version}\n")
        terms = (shared / "doc" / package / "copyright").read_text()
        (folder / package).write_text(terms)
        common |= set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", terms))
    for name in sorted(common):
        shutil.copyfile(shared / "common-licenses" / name, folder / name)
    notice.write_text((ROOT / "packaging/wheel/NOTICE").read_text() + "".join(lines))


def main(build, folder, root="/"):
    build, folder, root = (pathlib.Path(path).resolve() for path in (build, folder, root))
    # Where the system's strip sees it.
    shared = None if root == pathlib.Path("/") else root / "tmp"
    with tempfile.TemporaryDirectory(dir=shared) as place:
        place = pathlib.Path(place)
        shutil.copytree(ROOT / "python", place / "python",
                        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        pip = sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps"
        run(*pip, "--no-build-isolation", "-w", place, place / "python")
        run(sys.executable, "-m", "wheel", "unpack", "-d", place, *place.glob("*.whl"))
        tree = next(path for path in place.glob("cudatransform-*") if path.is_dir())
        inside, about = tree / "cudatransform/_lib", next(tree.glob("*.dist-info"))
        inside.mkdir()
        libraries = Libraries(build, root)
        libraries.put_into(inside)
        write_licences(libraries, build, inside / "NOTICE", about / "licenses")
        tags = (about / "WHEEL").read_text()
        tags = tags.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        own = f"py3-none-linux_{libraries.debian.arch}"
        (about / "WHEEL").write_text(tags.replace("py3-none-any", own))
        run(sys.executable, "-m", "wheel", "pack", "-d", place, tree)
        # auditwheel finds nothing to add: it checks the libraries, and names the oldest system.
        run("auditwheel", "repair", "-w", folder, *place.glob("*-linux_*.whl"),
            stderr=subprocess.STDOUT)


if __name__ == "__main__":
    main(*sys.argv[1:])
