#!/usr/bin/env python3
# Fails when a kernel of an image uses local memory: a stack frame or spilled registers.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: kernel_resources.py ARCH NVCC COMPILE_IMAGE PLANTED.cu [FATBIN REPORT]...
#
# Local memory is memory: every byte of it competes with the samples and coefficients for the
# bandwidth that limits the fast kernels, and no other test would notice. REPORT is ptxas's output
# for FATBIN. If there is a cuobjdump (not every toolkit has it), the script reads the machine code
# too. First the check has to find the local memory of the kernels in PLANTED.cu, compiled here.
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

SKIP = 77


@dataclass
class Function:
    """ptxas's report on one kernel, or of one function that a kernel calls; bytes."""
    name: str
    is_kernel: bool
    stack: int = -1
    spill_stores: int = -1
    spill_loads: int = -1
    registers: int = -1
    shared: int = 0
    instructions: list = field(default_factory=list)  # those of its SASS that use local memory

    def faults(self):
        found = [f"{value} bytes {what}" for value, what in (
            (self.stack, "stack frame"), (self.spill_stores, "spill stores"),
            (self.spill_loads, "spill loads")) if value != 0]
        if self.is_kernel and self.registers < 0:
            found.append("no register count")
        if self.instructions:
            found.append(f"{len(self.instructions)} instructions, the first {self.instructions[0]}")
        return found


def read_report(text, arch):
    """The functions that ptxas compiled for `arch`, by name."""
    functions, kernel, current, arch_of_line = {}, "", None, None
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(.+?)' for '(\w+)'", line):
            kernel, arch_of_line = match.groups()
            if arch_of_line == arch:
                functions[kernel] = Function(kernel, True)
        elif arch_of_line != arch:
            continue
        elif match := re.search(r"Function properties for (\S+)", line):
            name = match.group(1)
            current = functions.setdefault(name, Function(name, False))
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                r"(\d+) bytes spill loads", line):
            current.stack, current.spill_stores, current.spill_loads = map(int, match.groups())
        elif match := re.search(r"Used (\d+) registers", line):
            functions[kernel].registers = int(match.group(1))
            shared = re.search(r"(\d+) bytes smem", line)
            functions[kernel].shared = int(shared.group(1)) if shared else 0
    return functions


def read_sass(text, arch, functions):
    """Adds to `functions` their instructions that use local memory; returns how many have code."""
    seen, current, arch_of_line = set(), None, None
    for line in text.splitlines():
        if match := re.match(r"\s*arch = (\w+)", line):
            arch_of_line = match.group(1)
        elif match := re.match(r"\s*Function : (\S+)", line):
            current = functions.get(match.group(1)) if arch_of_line == arch else None
        elif current and re.match(r"\s*/\*[0-9a-f]{4,}\*/\s", line):
            seen.add(current.name)
            if match := re.search(r"\b(?:LDL|STL)\b[^;]*", line):
                current.instructions.append(match.group(0).strip())
    return len(seen)


def find_cuobjdump(nvcc):
    beside = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "cuobjdump")
    return beside if os.path.exists(beside) else shutil.which("cuobjdump")


def sass_of(cuobjdump, fatbin):
    """The machine code, or None where this cuobjdump cannot print it (it may lack nvdisasm)."""
    result = subprocess.run([cuobjdump, "-sass", fatbin], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0 or "fatal" in result.stdout:
        print(f"{cuobjdump}: {result.stdout.strip().splitlines()[-1:]}; the SASS is not read")
        return None
    return result.stdout


def read_image(fatbin, report, arch, cuobjdump):
    with open(report, encoding="utf-8") as file:
        functions = read_report(file.read(), arch)
    sass = sass_of(cuobjdump, fatbin) if cuobjdump else None
    if sass is not None and functions:
        seen = read_sass(sass, arch, functions)
        kernels = sum(f.is_kernel for f in functions.values())
        if seen < kernels:
            raise ValueError(f"{fatbin}: SASS of {seen} functions for {kernels} kernels")
    return functions, sass is not None


def self_test(arch, compile_image, nvcc, planted, cuobjdump):
    """What is wrong with the check itself: a list of sentences."""
    with tempfile.TemporaryDirectory() as folder:
        fatbin, report = os.path.join(folder, "planted.fatbin"), os.path.join(folder, "report")
        subprocess.run([sys.executable, compile_image, report, nvcc, "-O3", "-std=c++20", "-fatbin",
                        f"-gencode=arch={arch.replace('sm_', 'compute_')},code={arch}",
                        "-o", fatbin, planted], check=True)
        functions, has_sass = read_image(fatbin, report, arch, cuobjdump)
    if sorted(functions) != ["is_clean", "plants_spill", "plants_stack"]:
        return [f"the planted kernels were not all found, but {sorted(functions)}"]
    clean, spill, stack = (functions[name] for name in sorted(functions))
    wrong = []
    if clean.faults() or clean.shared != 32 * 4:
        wrong.append(f"a kernel without local memory is reported as {clean}")
    if spill.spill_stores <= 0 or spill.spill_loads <= 0 or spill.registers > 24:
        wrong.append(f"planted spills are not found: {spill}")
    if stack.stack <= 0 or not stack.faults():
        wrong.append(f"a planted stack frame is not found: {stack}")
    if has_sass and not (spill.instructions and stack.instructions):
        wrong.append("planted LDL and STL are not found")
    return wrong


def main(arguments):
    arch, nvcc, compile_image, planted, *images = arguments
    known = subprocess.run([nvcc, "--list-gpu-code"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    if arch not in known:
        print(f"SKIP: this nvcc does not know {arch}")
        return SKIP
    cuobjdump = find_cuobjdump(nvcc)
    if not cuobjdump:
        print("no cuobjdump: ptxas's report is read, the SASS is not")
    wrong = self_test(arch, compile_image, nvcc, planted, cuobjdump)
    if not images:
        wrong.append("no image to check")
    read = {}
    for fatbin, report in zip(images[::2], images[1::2], strict=True):
        name = os.path.basename(fatbin)
        read[name], _ = read_image(fatbin, report, arch, cuobjdump)
    if images and not wrong and not any(read.values()):
        print(f"SKIP: the build has no code for {arch}")
        return SKIP
    for name, functions in read.items():
        if not any(f.is_kernel for f in functions.values()):
            wrong.append(f"{name}: no kernel for {arch}")
        print(f"{name}, {arch}:\n  registers  shared  kernel")
        for function in sorted(functions.values(), key=lambda f: f.name):
            if function.is_kernel:
                print(f"  {function.registers:9}  {function.shared:6}  {function.name}")
            if faults := function.faults():
                wrong.append(f"{name}: {function.name}: " + ", ".join(faults))
    for sentence in wrong:
        print("FAIL: " + sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
