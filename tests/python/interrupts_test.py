#!/usr/bin/python3
# Interrupts cudatransform anywhere: a result belongs to its call, and nothing leaks.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A signal's handler may raise between any two instructions of Python. The test tries every place in
# turn, by a function that Python calls there; and real signals, at random times.
import ctypes
import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import cudatransform as ct
from cudatransform import _libraries, _native
import pictures
from places import Places

PACKAGE = os.path.dirname(ct.__file__) + os.sep
QUICK = "CUDATRANSFORM_TEST_QUICK" in os.environ  # a fifth of all
SIGNALS = int(os.environ.get("CUDATRANSFORM_TEST_INTERRUPTS", 200 if QUICK else 1000))


class Soft(Exception):
    """A handler's exception."""


class Interrupt:
    """Has a signal's handler raise an exception at the n-th place of the package: before any
    instruction, or only where the interpreter checks for signals. For `with`; `count` says how many
    places there were."""

    def __init__(self, number, kind=Soft, words=("now",), looks_only=False):
        self.number, self.kind, self.words, self.count = number, kind, words, 0
        self.places = Places(PACKAGE, self.reached, looks_only)

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self.handler)
        self.places.start()
        return self

    def __exit__(self, *_):
        self.places.stop()
        signal.signal(signal.SIGALRM, self.before)

    def handler(self, *_):
        raise self.kind(*self.words)

    def reached(self):
        self.count += 1
        if self.count == self.number + 1:
            signal.raise_signal(signal.SIGALRM)


def places(work, looks_only=False):
    """How many places there are in a piece of work."""
    work()
    with Interrupt(-2, looks_only=looks_only) as counted:
        work()
    return counted.count


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class WithFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        made = [ct.Picture.from_pixels(pictures.pixels(*size, seed=size[0]), 70)
                for size in ((40, 24), (97, 61))]
        cls.files = [ct.write(picture) for picture in made]
        cls.paths = list(pictures.write_all(cls.folder.name, {
            "a.jpg": cls.files[0], "b.jpg": cls.files[1]}).values())
        cls.pictures = [ct.read(data).copy() for data in cls.files]
        cls.planes = [pictures.pixels(40, 24, 1), pictures.pixels(97, 61, 1)]
        cls.coefs = [ct.dct(plane).copy() for plane in cls.planes]
        cls.back = [ct.idct(coefs).copy() for coefs in cls.coefs]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_all(self):
        """Every call gives its own result."""
        for index in (1, 0):
            self.assertTrue(pictures.equal(ct.read(self.paths[index]), self.pictures[index]))
            self.assertEqual(ct.write(self.pictures[index]), self.files[index])
            self.assertTrue(np.array_equal(ct.dct(self.planes[index]), self.coefs[index]))
            self.assertTrue(np.array_equal(ct.idct(self.coefs[index]), self.back[index]))


class Anywhere(WithFiles):
    def everywhere(self, work, check, step=1, kind=Soft, words=("now",),
                   looks_only=False):
        """Interrupts a piece of work at all its places, and checks after each."""
        count, seen = places(work, looks_only), 0
        self.assertGreater(count, 20 if looks_only else 100)
        step *= 5 if QUICK else 1
        for number in range(0, count, step):
            try:
                with Interrupt(number, kind, words, looks_only):
                    work()
            except kind as raised:
                seen += 1
                self.assertEqual(raised.args, words)
            check()
        self.assertGreater(seen, .7 * count / step)  # a call does less with a layout that it knows

    def test_read(self):
        for source in (self.paths[0], self.files[0]):
            self.everywhere(lambda: ct.read(source), lambda: self.assertTrue(
                pictures.equal(ct.read(self.paths[1]), self.pictures[1])))
        self.check_all()

    def test_pixels(self):
        arrays = [ct.decode(data).copy() for data in self.files]
        luma = ct.decode(self.files[1], "L").copy()

        def check():
            self.assertTrue(np.array_equal(ct.decode(self.paths[1]), arrays[1]))
            self.assertTrue(np.array_equal(ct.decode(self.paths[1], exif=False), arrays[1]))
            self.assertTrue(np.array_equal(self.pictures[1].pixels(), arrays[1]))
            self.assertTrue(np.array_equal(ct.decode(self.files[1], "L"), luma))
            self.assertEqual(ct.encode(arrays[1]), written)
        written = ct.encode(arrays[1])
        for work in (lambda: ct.decode(self.paths[0]), lambda: ct.encode(arrays[0]),
                     lambda: ct.decode(memoryview(self.files[0]), crop=(1, 2, 9, 8)),
                     lambda: self.pictures[0].pixels()):
            self.everywhere(work, check, step=3)
        self.check_all()

    def test_read_of_what_is_damaged(self):
        def work():
            try:
                ct.read(self.files[0][:200])
            except ct.ReadError:
                pass
        self.everywhere(work, lambda: self.assertTrue(
            pictures.equal(ct.read(self.paths[1]), self.pictures[1])), looks_only=True)

    def test_an_error_of_files_is_not_made_of_it(self):
        for kind in (TimeoutError, FileNotFoundError, ValueError):
            self.everywhere(lambda: ct.read(self.paths[0]), lambda: None, 3, kind, words=())

    def test_write(self):
        folder = tempfile.TemporaryDirectory(dir=self.folder.name)
        self.addCleanup(folder.cleanup)
        path, there = os.path.join(folder.name, "written.jpg"), set()
        whole = ct.write(self.pictures[0], path, progressive=True)
        files = descriptors()

        def check():
            """The path has the old file or the new one, and nothing else remains."""
            self.assertEqual(ct.write(self.pictures[1]), self.files[1])
            self.assertEqual(os.listdir(folder.name), ["written.jpg"])
            with open(path, "rb") as file:
                there.add(file.read())
            with open(path, "wb") as file:
                file.write(b"the old file")
            ct.write(self.pictures[0])  # so that the next call has as many places, to its end
        self.everywhere(lambda: ct.write(self.pictures[0], path, progressive=True), check, step=2)
        self.assertEqual(there, {whole, b"the old file"})
        self.assertLessEqual(descriptors(), files)

    def test_dct_and_idct(self):
        table = np.full((8, 8), 10)
        wanted = ct.dct(self.planes[1], table=table).copy()
        self.everywhere(lambda: ct.dct(self.planes[0], table=table),
                        lambda: self.assertTrue(np.array_equal(
                            ct.dct(self.planes[1], table=table), wanted)))
        # The same elements with other caps.
        sizes = [self.planes[1], self.planes[0]]
        self.everywhere(lambda: [ct.dct(plane) for plane in sizes], lambda: self.assertTrue(
            np.array_equal(ct.dct(self.planes[1]), self.coefs[1])), step=2)
        self.everywhere(lambda: ct.idct(self.coefs[0]), lambda: self.assertTrue(
            np.array_equal(ct.idct(self.coefs[1]), self.back[1])))

    def test_inside_of_a_call(self):
        """A handler may call the module while it is running."""
        inner = []

        class Calls(Interrupt):
            def handler(self, *_):
                self.places.stop()
                inner.append(pictures.equal(ct.read(self_.paths[1]), self_.pictures[1]))
        self_ = self
        for number in range(0, places(lambda: ct.read(self.paths[0])), 7):
            with Calls(number):
                self.assertTrue(pictures.equal(ct.read(self.paths[0]), self.pictures[0]))
            self.assertTrue(pictures.equal(ct.read(self.paths[0]), self.pictures[0]))
        self.assertTrue(len(inner) > 50 and all(inner))

    def test_nothing_is_left_behind(self):
        ct.read(self.paths[0])
        gc.collect()
        before = threads(), descriptors()
        self.everywhere(lambda: ct.read(self.paths[0]), lambda: None)
        gc.collect()
        self.assertLessEqual(threads(), before[0])
        self.assertLessEqual(descriptors(), before[1])


class Loading(unittest.TestCase):
    def test_libraries(self):
        loaded, words = _native._loaded[:], ("soft time limit",)

        def load():
            _native._loaded.clear()
            _native.library()
        try:
            count = places(load)
            self.assertGreater(count, 500)
            for number in range(0, count, 5):
                with self.assertRaises(TimeoutError) as raised:
                    with Interrupt(number, TimeoutError, words):
                        load()
                self.assertEqual(raised.exception.args, words)
            _native._loaded.clear()
            self.assertIsNotNone(_native.library())
        finally:
            _native._loaded[:] = loaded

    def test_a_handlers_error_while_a_library_is_opened(self):
        def handler(*_):
            raise TimeoutError("soft time limit")
        before = signal.signal(signal.SIGALRM, handler)
        try:
            with self.assertRaisesRegex(TimeoutError, "soft time limit"):
                _libraries.load("libcudatransform.so.0",
                                lambda _: signal.raise_signal(signal.SIGALRM))
        finally:
            signal.signal(signal.SIGALRM, before)
        with self.assertRaisesRegex(ct.Unavailable, "no such library"):
            _libraries.load("libcudatransform.so.0",
                            mock.Mock(side_effect=OSError("no such library")))


class Readers(WithFiles):
    def walk(self):
        for batch in ct.Reader(self.paths * 4, batch_size=3, num_workers=2):
            for picture in batch:
                self.assertTrue(pictures.equal(
                    picture, self.pictures[self.paths.index(picture.path)]))

    def settled(self, python, all_threads):
        """Whether this many threads, or fewer, remain soon."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            # GStreamer keeps some for the next pipeline.
            if threading.active_count() <= python and threads() <= all_threads + 8:
                return True
            time.sleep(.001)
        return False

    def test_wherever_signals_are_looked_for(self):
        self.walk()
        ct.read(self.paths[0])
        gc.collect()
        before, files, ignored = (threading.active_count(), threads()), descriptors(), mock.Mock()
        with mock.patch.object(sys, "unraisablehook", ignored):
            number, more = 0, True
            while more:
                interrupt = Interrupt(number, looks_only=True)
                try:
                    with interrupt:
                        self.walk()
                    more = interrupt.count > number
                except Soft:
                    pass
                self.assertTrue(self.settled(*before), f"at place {number}")
                number += 5 if QUICK else 1
        self.assertGreater(number, 300)
        self.assertEqual(ignored.call_args_list, [])
        self.assertLessEqual(descriptors(), files + 8)
        self.walk()


class Signals(WithFiles):
    def setUp(self):
        def handler(*_):
            raise Soft("now")
        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.random = random.Random(1)

    def interrupted(self, work, most):
        try:
            signal.setitimer(signal.ITIMER_REAL, self.random.random() * most + 2e-5)
            work()
        except Soft:
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False

    def test_calls(self):
        seen = 0
        for work in (lambda: ct.read(self.paths[0]), lambda: ct.write(self.pictures[0]),
                     lambda: ct.dct(self.planes[0]), lambda: ct.idct(self.coefs[0])):
            for _ in range(SIGNALS // 4):
                try:
                    seen += self.interrupted(work, 1e-4)
                except Soft:  # between its return and the end of the timer
                    pass
                self.check_all()
        self.assertGreater(seen, SIGNALS / 10)

    def test_exceptions_in_other_threads(self):
        """As PyThreadState_SetAsyncExc() throws them, in a thread that no signal reaches."""
        throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
        throw.argtypes = ctypes.c_ulong, ctypes.py_object
        wrong, seen, may_throw, ended = [], [], threading.Event(), threading.Event()

        def work():
            for _ in range(SIGNALS // 4):
                try:
                    may_throw.set()
                    while True:
                        ct.read(self.paths[0])
                        ct.dct(self.planes[0])
                except TimeoutError:
                    seen.append(1)
                except Exception as error:  # pylint: disable=broad-except
                    wrong.append(error)
                if not pictures.equal(ct.read(self.paths[1]), self.pictures[1]) or not (
                        np.array_equal(ct.dct(self.planes[1]), self.coefs[1])):
                    wrong.append("a result of another call")

        def work_to_the_end():
            try:
                work()
            finally:
                ended.set()
        thread = threading.Thread(target=work_to_the_end)
        thread.start()
        while not ended.is_set():
            if may_throw.wait(.01):
                may_throw.clear()
                time.sleep(self.random.random() * 1e-3)
                throw(thread.ident, TimeoutError)
        thread.join()
        self.assertEqual((wrong, len(seen)), ([], SIGNALS // 4))

    def test_readers(self):
        def work():
            for _ in ct.Reader(self.paths * 20, batch_size=7, num_workers=2):
                pass
        def duration():
            begin = time.perf_counter()
            work()
            return time.perf_counter() - begin
        work()
        # The shortest of some, whatever else the machine does: half of the signals come before the
        # end.
        most = 2 * min(duration() for _ in range(5))
        ct.read(self.paths[0])
        ignored, seen, sizes = mock.Mock(), 0, []
        with mock.patch.object(sys, "unraisablehook", ignored):
            for number in range(SIGNALS):
                try:
                    seen += self.interrupted(work, most)
                except Soft:
                    pass
                if number in (SIGNALS // 4, SIGNALS - 1):
                    gc.collect()
                    time.sleep(.5)
                    sizes.append((threading.active_count(), threads(), descriptors(), resident()))
        self.assertGreater(seen, SIGNALS / 10)
        before, after = sizes
        for left, right, more in zip(after, before, (0, 8, 16, 8 << 20)):
            self.assertLessEqual(left, right + more, sizes)
        self.assertEqual([str(call) for call in ignored.call_args_list], [])


def resident():
    """Bytes of memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    unittest.main(verbosity=2)
