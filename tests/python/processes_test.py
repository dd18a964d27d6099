#!/usr/bin/python3
# cudatransform and processes: a fork has its own engine, and not its parent's work.
# SPDX-License-Identifier: LGPL-2.1-or-later
import functools
import gc
import itertools
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest

import cudatransform as ct
import pictures


def summary(path):
    picture = ct.read(path)
    return picture.width, picture.height, int(picture[0].sum())


def read_in(queue, path):
    """In a child: puts its summary or its error into a queue."""
    try:
        queue.put(summary(path))
    except ct.Unavailable as error:
        queue.put(str(error))


def walk(reader):
    return [(picture.path, int(picture[0].sum())) for batch in reader for picture in batch.pictures]


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "picture.jpg")
        ct.write(ct.Picture.from_pixels(pictures.pixels(90, 70)), self.path)

    def in_child(self, method):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=read_in, args=(queue, self.path))
        child.start()
        said = queue.get(timeout=60)
        child.join(60)
        self.assertEqual(child.exitcode, 0)
        return said

    def test_a_fork_has_an_engine_of_its_own(self):
        self.assertEqual(self.in_child("fork"), summary(self.path))
        summary(self.path)  # the parent still works

    def exit_code_of(self, child):
        """What a forked child ends with: 0 if its work returns a true value."""
        process = os.fork()
        if process == 0:
            code = 2
            try:
                code = 0 if child() else 1
            except BaseException:  # pylint: disable=broad-except
                traceback.print_exc()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def test_a_fork_may_look_at_pictures_and_drop_them(self):
        wanted, kept = summary(self.path)[2], [ct.read(self.path)]
        walking = iter(ct.Reader([self.path] * 100, batch_size=2))
        next(walking)

        def child():
            total = int(kept[0][0].sum())
            kept.clear()
            walking.close()
            gc.collect()
            return total == wanted
        self.assertEqual(self.exit_code_of(child), 0)
        walking.close()

    def test_what_a_parent_has_begun_is_refused(self):
        walks = [iter(ct.Reader(paths, batch_size=2)) for paths in (
            [self.path] * 100, itertools.repeat(self.path, 100))]
        for walk in walks:
            next(walk)

        def child():
            for call in [functools.partial(next, walk) for walk in walks]:
                try:
                    call()
                    return False
                except ct.Unavailable as error:
                    if "before the process was forked" not in str(error):
                        raise
            return [len(batch) for batch in ct.Reader([self.path] * 3, batch_size=2)] == [2, 1]
        self.assertEqual(self.exit_code_of(child), 0)
        for walk in walks:
            self.assertEqual(sum(len(batch.pictures) for batch in walk), 98)

    def test_a_fork_amid_work(self):
        """Other threads have locks of the library's and of malloc's then."""
        data, ends = ct.write(ct.read(self.path)), []

        def work():
            while not ends:
                ct.encode(ct.decode(data))
                list(ct.Reader([data] * 8, batch_size=4))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                self.assertEqual(self.exit_code_of(lambda: ct.encode(ct.decode(data))), 0)
        finally:
            ends.append(True)
            for thread in threads:
                thread.join()

    def test_fork_before_use_works(self):
        script = ("import os, sys, cudatransform as ct\n"
                  "child = os.fork()\n"
                  "ct.read(sys.argv[1])\n"
                  "sys.exit(0 if child == 0 else os.waitpid(child, 0)[1])\n")
        self.assertEqual(os.spawnv(os.P_WAIT, sys.executable,
                                   [sys.executable, "-c", script, self.path]), 0)

    def test_spawn_works(self):
        self.assertEqual(self.in_child("spawn"), summary(self.path))

    def test_readers_go_to_spawned_processes(self):
        reader = ct.Reader([self.path] * 5, batch_size=2, num_workers=1)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            self.assertEqual(pool.apply(walk, (reader,)), walk(reader))

    def test_daemon_threads_may_work_to_the_end(self):
        script = ("import cudatransform as ct, sys, threading, time\n"
                  "data = open(sys.argv[1], 'rb').read()\n"
                  "def work():\n"
                  "    while True:\n"
                  "        ct.encode(ct.decode(data))\n"
                  "        list(ct.Reader([data] * 20, batch_size=4))\n"
                  "for _ in range(4):\n"
                  "    threading.Thread(target=work, daemon=True).start()\n"
                  "time.sleep(float(sys.argv[2]))\n")
        for index in range(8):
            said = subprocess.run([sys.executable, "-c", script, self.path, str(index * .03)],
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual((said.returncode, said.stderr), (0, b""))

    def test_threads_do_not_disturb_each_other(self):
        wanted, failed = summary(self.path), []

        def work():
            for _ in range(50):
                if summary(self.path) != wanted:
                    failed.append(1)
                try:
                    ct.read(b"no picture")
                except ct.ReadError:
                    pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
