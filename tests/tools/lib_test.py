#!/usr/bin/env python3
# Tests of tools/lib.sh: the architectures for a machine's GPUs, the demo's packages.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: lib_test.py TOOLS_FOLDER
import os
import subprocess
import sys
import tempfile
import unittest

NVCC = "case $1 in --list-gpu-code) echo sm_75; echo sm_80; echo sm_90;; esac"


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudatransform-lib-")
        self.addCleanup(folder.cleanup)
        self.bin = folder.name

    def command(self, name, script):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)

    def run_bash(self, script, **variables):
        env = {"PATH": self.bin + ":/usr/bin:/bin", "HOME": self.bin, **variables}
        script = f"source {TOOLS}/lib.sh; {script}"
        return subprocess.run(["bash", "-euo", "pipefail", "-c", script],
                              env=env, stdout=subprocess.PIPE, text=True, check=True).stdout.split()

    def archs(self, *lines, status=0, **variables):
        self.command("nvcc", NVCC)
        self.command("nvidia-smi", "\n".join(f"echo '{line}'" for line in lines)
                     + f"\nexit {status}")
        return self.run_bash("common_options", **variables)[0]

    def test_the_cards_in_the_machine(self):
        self.assertEqual(self.archs("9.0"), "-Dcuda-archs=sm_90")
        self.assertEqual(self.archs("9.0", "8.0", "9.0"), "-Dcuda-archs=sm_80,sm_90")

    def test_ptx_where_there_is_none(self):
        ptx = "-Dcuda-archs=compute_75"
        self.assertEqual(self.archs(), ptx)
        self.assertEqual(self.archs("15.0"), ptx)  # newer than this nvcc
        self.assertEqual(self.archs("NVIDIA-SMI has failed because it", status=9), ptx)

    def test_the_demo_leaves_the_kernels_out_without_one(self):
        self.assertEqual(self.archs(), "-Dcuda-archs=compute_75")
        told = self.run_bash("archs_without_card=; common_options")
        self.assertEqual(told[0], "-Dcuda-archs=")

    def test_who_says_otherwise(self):
        self.assertEqual(self.archs("8.0", CI="true"), "-Dcuda-archs=sm_90")
        self.assertEqual(self.archs("8.0", CI="true", CUDATRANSFORM_CUDA_ARCHS="sm_75"),
                         "-Dcuda-archs=sm_75")

    def test_the_demo_installs_what_it_needs(self):
        demo = self.run_bash('printf "%s\\n" "${demo_packages[@]}"')
        heavy = self.run_bash('printf "%s\\n" "${codec_packages[@]}"')
        heavy += ["libgstreamer-plugins-bad1.0-dev", "gobject-introspection", "libgtest-dev"]
        self.assertEqual(set(demo) & set(heavy), set())
        for name in ("meson", "libhwy-dev", "gstreamer1.0-plugins-good", "python3-matplotlib"):
            self.assertIn(name, demo)


if __name__ == "__main__":
    TOOLS = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
