"""PyInstaller's hook: the libraries of a wheel, which the package loads by their paths."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import glob
import importlib.util
import os

_SPEC = importlib.util.find_spec("cudatransform")
_FILES = os.path.join(os.path.dirname(_SPEC.origin or ""), "_lib", "*") if _SPEC else ""
# Without them the program loads the system's libcudatransform, as the package does.
binaries = [(path, os.path.join("cudatransform", "_lib")) for path in glob.glob(_FILES)]
