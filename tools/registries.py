"""Lets GStreamer scan its plugins once for all tests of a build directory.

registries.py BUILD_DIR [PRELOAD]

Each test has a registry of its own, so that tests may run side by side; scanning anew for each of
them costs seconds every time, and minutes in an instrumented build. PRELOAD is a library that the
scanning process needs first (a sanitizer's run-time).
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import os
import shutil
import subprocess
import sys

VARIABLE = "GST_REGISTRY_1_0"


def main(build, preload=""):
    listed = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                            capture_output=True, text=True)
    environments = [test["env"] for test in json.loads(listed.stdout) if VARIABLE in test["env"]]
    missing = sorted({env[VARIABLE] for env in environments if not os.path.exists(env[VARIABLE])})
    if not missing:
        return
    scan = {**os.environ, **environments[0], VARIABLE: missing[0]}
    if preload:
        # We only look at the tests.
        scan.update(LD_PRELOAD=preload, GST_REGISTRY_FORK="no", ASAN_OPTIONS="detect_leaks=0",
                    TSAN_OPTIONS="report_bugs=0")
    os.makedirs(os.path.dirname(missing[0]), exist_ok=True)
    subprocess.run(["gst-inspect-1.0", "--exists", "identity"], env=scan, check=True)
    for path in missing[1:]:
        shutil.copyfile(missing[0], path)


if __name__ == "__main__":
    main(*sys.argv[1:])
