#!/usr/bin/env python3
# Runs every gst-launch line in the blocks of the README and of the documentation unchanged.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: readme.py FILE.md...
#
# Blocks run one after the other in a separate folder, where docs/ is the clone's: a block may read
# an earlier block's output. Blocks without gst-launch-1.0 (installing, building) do not run. The
# camera and the window that a test machine lacks have stand-ins. Blocks about barbara.pgm and
# clip.mp4 need CUDATRANSFORM_TEST_DATA, those about both engines need a GPU.
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "docs")
# Regular expression: its replacement.
STAND_INS = {
    # A camera that writes JPEG, and is unplugged after a second.
    r"\bv4l2src( device=\S+)?":
        "videotestsrc is-live=true num-buffers=30 ! video/x-raw,format=Y42B ! jpegenc",
    # The RTP stream of such a camera.
    r'\budpsrc port=\d+ caps="[^"]*"':
        "videotestsrc is-live=true num-buffers=30 ! video/x-raw,format=Y42B,width=640,height=480 ! "
        "jpegenc ! rtpjpegpay",
    r"\bautovideosink\b": "fakesink sync=true",
}
if os.environ.get("CUDATRANSFORM_SANITIZED"):
    STAND_INS[r"\bnum-buffers=100\b"] = "num-buffers=10"  # sanitizers make them slow
# Files that blocks read: where the test data has them.
FILES = {"barbara.pgm": "images/barbara.pgm", "clip.mp4": "apv/*.mp4"}


def blocks_of(path):
    with open(path, encoding="utf-8") as page:
        text = page.read()
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        line = text.count("\n", 0, match.start()) + 2
        if match.group(1) in ("", "sh"):
            yield line, match.group(2)


def with_stand_ins(block):
    for pattern, stand_in in STAND_INS.items():
        block = re.sub(pattern, stand_in, block)
    return block


def reason_to_skip(block, folder):
    for name in FILES:
        if name in block and not os.path.exists(os.path.join(folder, name)):
            return f"no {name}"
    needs_gpu = "cpu cuda" in block or "memory:CUDAMemory" in block
    if needs_gpu and not os.path.exists("/dev/nvidiactl"):
        return "no GPU"
    missing = missing_elements(block)
    return "no element " + ", ".join(missing) if missing else ""


def missing_elements(block):
    """Elements that the block names and this machine has not."""
    missing = []
    for command in re.findall(r"gst-launch-1\.0(.*)", block.replace("\\\n", " ")):
        for part in re.split(r"\s!\s|\st\.\s*!\s|\s\w+\.\s+!\s", command):
            words = [w for w in part.split() if not w.startswith("-")]
            # A caps filter and a reference to a pad are no elements.
            if words and re.fullmatch(r"[a-z][a-z0-9_]*", words[0]) and not is_there(words[0]):
                missing.append(words[0])
    return missing


@functools.cache
def is_there(element):
    return subprocess.run(["gst-inspect-1.0", element], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


def main():
    failed, ran, skipped = 0, 0, 0
    folder = tempfile.mkdtemp(prefix="cudatransform-readme-")
    for name, pattern in FILES.items():
        data = os.environ.get("CUDATRANSFORM_TEST_DATA", "")
        for path in glob.glob(os.path.join(data, pattern))[:1]:
            shutil.copy(path, os.path.join(folder, name))
    os.symlink(DOCS, os.path.join(folder, "docs"))
    for path in sys.argv[1:]:
        for line, block in blocks_of(path):
            if "gst-launch-1.0" not in block:
                continue
            block = with_stand_ins(block)
            name = f"{os.path.basename(path)}:{line}"
            reason = reason_to_skip(block, folder)
            if reason:
                print(f"SKIP {name}: {reason}")
                skipped += 1
                continue
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    errors="replace", timeout=120, check=False)
            ran += 1
            # gst-launch-1.0 exits 0 after some failures, but always prints ERROR.
            bad = result.returncode != 0 or re.search(r"ERROR|CRITICAL|WARNING:", result.stdout)
            print(f"{'FAIL' if bad else 'ok  '} {name}")
            if bad:
                print(block + result.stdout)
                failed += 1
    shutil.rmtree(folder)
    print(f"{ran} ran, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return 0 if ran else SKIP


if __name__ == "__main__":
    sys.exit(main())
