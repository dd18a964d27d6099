#!/usr/bin/env python3
"""cudadiracdec on the fake driver: a GPU that does its work as late as it may gives the same bytes.

deferred_test.py FOLDER NAME...    FOLDER has NAME.drc

What kernels write depends on all that they read, so that a wait that is missing shows; the driver
counts what was not ordered, besides (tests/check/fakecuda/deferred.h).
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import ctypes
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import vectors_test  # noqa: E402

DECODERS = ("cudadiracdec backend=cuda n-threads=1 ! video/x-raw",
            "cudadiracdec backend=cuda n-threads=3 ! video/x-raw",
            "cudadiracdec backend=cuda n-threads=3 ! "
            "capsfilter caps=video/x-raw(memory:CUDAMemory);video/x-raw")


class Order(ctypes.Structure):
    """FakecudaOrder."""
    _fields_ = [("violations", ctypes.c_int), ("first", ctypes.c_char * 256),
                ("waits", ctypes.c_int), ("pending", ctypes.c_int), ("has_ignored", ctypes.c_int),
                ("ignored", ctypes.c_char * 256), ("made_good", ctypes.c_int)]


def child(path):
    vectors_test.Gst.init(None)
    for decoder in DECODERS:
        found, _, ended = vectors_test.decode(path, decoder)
        print(len(found), ended, *found)
    order = Order()
    ctypes.CDLL("libcuda.so.1").fakecuda_get_order(ctypes.byref(order))
    print("violations", order.violations, order.first.decode())


def run(path, deferred):
    done = subprocess.run([sys.executable, __file__, "--child", path], stdout=subprocess.PIPE,
                          text=True, check=True, env={**os.environ, "FAKECUDA_DEFERRED": deferred})
    return done.stdout.splitlines()


def judge(path):
    at_once, late = run(path, "0"), run(path, "1")
    good = at_once == late and len(set(at_once[:2])) == 1 and late[-1].strip() == "violations 0"
    good = good and not late[0].startswith("0 ")
    print("ok  " if good else "FAIL", os.path.basename(path), late[-1], flush=True)
    if not good:
        print(*at_once, *late, sep="\n")
    return good


def main():
    if sys.argv[1] == "--child":
        return child(sys.argv[2])
    folder, *names = sys.argv[1:]
    results = [judge(os.path.join(folder, name + ".drc")) for name in names]
    print(sum(results), "of", len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
