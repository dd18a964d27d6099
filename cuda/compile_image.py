#!/usr/bin/env python3
# Compiles a fat binary and keeps ptxas's report of every kernel's registers, memory and spills.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""compile_image.py REPORT NVCC ARGUMENT..."""
import re
import subprocess
import sys

report, *command = sys.argv[1:]
# nvcc is not told to be verbose for nothing: tests read what ptxas says of each architecture.
result = subprocess.run([*command, "-Xptxas=-v"], stderr=subprocess.PIPE, text=True,
                        errors="replace", check=False)
told = []
for line in result.stderr.splitlines(keepends=True):
    if re.match(r"ptxas info|    \d+ bytes stack frame", line):
        if "Compile time" not in line:  # the report is the same for the same code
            told.append(line)
    else:
        sys.stderr.write(line)
with open(report, "w", encoding="utf-8") as file:
    file.writelines(told)
sys.exit(result.returncode)
