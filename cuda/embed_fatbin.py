#!/usr/bin/env python3
# Writes an assembler file that embeds a fat binary as one symbol: faster than to compile arrays.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""embed_fatbin.py FATBIN SYMBOL OUTPUT.S"""
import os
import sys

fatbin, symbol, output = sys.argv[1:]
path = os.path.abspath(fatbin).replace("\\", "\\\\").replace('"', '\\"')
with open(output, "w", encoding="utf-8") as file:
    file.write(f"""\
    .section .rodata
    .balign 64
    .globl {symbol}
    .hidden {symbol}
    .type {symbol}, %object
{symbol}:
    .incbin "{path}"
    .size {symbol}, . - {symbol}
    .section .note.GNU-stack, "", %progbits
""")
