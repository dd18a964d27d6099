"""Prints after an installation where the plugin is, and how GStreamer finds it.

say_where.py PLUGIN_FOLDER LIBRARY_FOLDER GSTREAMERS_PLUGIN_FOLDER TYPELIB    (0 or 1)

Folders are absolute or relative to the prefix, which meson has in the environment.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import shlex
import sys

# The folders that ld.so and pkg-config search by themselves.
SYSTEM_PREFIX = "/usr"


def searched_folders(gstreamers):
    """Where GStreamer looks by default."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return [gstreamers, os.path.join(data, "gstreamer-1.0", "plugins")]


def is_one_of(folder, others):
    return os.path.realpath(folder) in [os.path.realpath(other) for other in others]


def export(variable, folder):
    return f"    export {variable}={shlex.quote(folder)}${{{variable}:+:${variable}}}"


def sentences(prefix, plugins, libraries, gstreamers, typelib):
    plugins, libraries = os.path.join(prefix, plugins), os.path.join(prefix, libraries)
    lines = [f"The plugin is in {plugins}."]
    if is_one_of(plugins, searched_folders(gstreamers)):
        lines.append("GStreamer searches there by default: try gst-inspect-1.0 cudadct8x8")
    else:
        lines += ["GStreamer does not search there by default, but in "
                  f"{gstreamers}. Before gst-inspect-1.0 cudadct8x8:",
                  export("GST_PLUGIN_PATH", plugins)]
    if prefix != SYSTEM_PREFIX:
        lines += ["To build programs with libgstcoef-1.0:",
                  export("PKG_CONFIG_PATH", os.path.join(libraries, "pkgconfig")),
                  export("LD_LIBRARY_PATH", libraries)]
        if typelib:
            lines.append(export("GI_TYPELIB_PATH", os.path.join(libraries, "girepository-1.0")))
    return lines


def say(text):
    """To meson's own output: meson hides that of its install scripts."""
    theirs = f"/proc/{os.getppid()}/fd/1"
    try:
        if not os.path.samefile(theirs, sys.stdout.fileno()):
            with open(theirs, "a", encoding="utf-8") as output:
                output.write(text)
            return
    except OSError:  # a socket, another system
        pass
    sys.stdout.write(text)


def main(plugins, libraries, gstreamers, typelib):
    if os.environ.get("MESON_INSTALL_QUIET"):
        return
    prefix = os.environ["MESON_INSTALL_PREFIX"]
    lines = sentences(prefix, plugins, libraries, gstreamers, typelib == "1")
    say("\n".join(["", *lines, ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
