"""Where PyInstaller finds the package's hook: the entry point pyinstaller40 of pyproject.toml."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
from typing import List


def get_hook_dirs() -> List[str]:
    """As PyInstaller calls it when it begins."""
    return [os.path.dirname(__file__)]
