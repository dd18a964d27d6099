#!/usr/bin/env python3
# Runs a test program under GStreamer's leaks tracer; fails when an object is alive at the end.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess
import sys


def main():
    environment = dict(os.environ,
                       GST_TRACERS="leaks(check-refs=true)",
                       GST_DEBUG="GST_TRACER:7",
                       GST_DEBUG_NO_COLOR="1")
    result = subprocess.run(sys.argv[1:], env=environment, text=True, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = result.stdout.splitlines()
    alive = [line for line in lines if ":: object-alive," in line]
    for line in lines:
        if "GST_TRACER" not in line or line in alive:
            print(line)
    if result.returncode != 0:
        return result.returncode
    # The tracer names its records when it starts; without them it watched nothing.
    if not any("object-alive.class" in line for line in lines):
        print("the leaks tracer did not run")
        return 1
    if alive:
        print(f"{len(alive)} objects are alive at the end")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
