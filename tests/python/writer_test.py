#!/usr/bin/python3
# cudatransform.Writer: files equal those of encode() and write(); errors, targets, threads, forks.
# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import io
import os
import signal
import tempfile
import threading
import time
import unittest
import weakref
from concurrent import futures
from unittest import mock

import numpy as np

import cudatransform as ct
import pictures


def arrays(count):
    return [pictures.pixels(20 + 5 * (index % 4), 17 + index % 3, (3, 1)[index % 5 == 4], index)
            for index in range(count)]


class Blocked:
    """A file whose write() waits for an event."""

    def __init__(self, event):
        self.event, self.data = event, b""

    def write(self, data):
        self.event.wait(60)
        self.data += data
        return len(data)


class Files(unittest.TestCase):
    def test_equal_to_encode(self):
        given = arrays(50)
        for options in ({}, {"quality": 40, "subsampling": "4:4:4", "optimize": True},
                        {"quantizer": "dead-zone", "comment": "one"}):
            for batch_size in (1, 7, 64):
                with ct.Writer(batch_size, **options) as writer:
                    made = [writer.add(one) for one in given]
                for one, file in zip(given, made):
                    self.assertEqual(file.result(0), ct.encode(one, **options))

    def test_pictures(self):
        given = [ct.Picture.from_pixels(one, 60) for one in arrays(9)]
        mixed = [item for pair in zip(given, arrays(9)) for item in pair]
        with ct.Writer(4, quality=30, progressive=True) as writer:
            made = [writer.add(one) for one in mixed]
        for one, file in zip(mixed, made):
            is_picture = isinstance(one, ct.Picture)
            self.assertEqual(file.result(0), ct.write(one, progressive=True) if is_picture else
                             ct.encode(one, quality=30, progressive=True))

    def test_strip(self):
        """Of Pictures; of arrays there is nothing to leave out."""
        picture = ct.read(ct.encode(arrays(1)[0], comment="one"))
        for strip in (True, False):
            with ct.Writer(strip=strip, comment="two") as writer:
                of_picture, of_array = writer.add(picture), writer.add(arrays(1)[0])
            self.assertEqual(of_picture.result(0), ct.write(picture, strip=strip))
            self.assertEqual(of_array.result(0), ct.encode(arrays(1)[0], comment="two"))

    def test_targets(self):
        array, target = arrays(1)[0], io.BytesIO()
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{index}.jpg") for index in range(5)]
            with ct.Writer(3) as writer:
                made = [writer.add(array, path) for path in paths] + [writer.add(array, target)]
            for path in paths:
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), ct.encode(array))
        self.assertEqual(target.getvalue(), ct.encode(array))
        self.assertEqual([file.result(0) for file in made], [None] * 6)

    def test_many_threads(self):
        given, made = arrays(64), {}

        def work(first):
            for index in range(first, len(given), 4):
                made[index] = writer.add(given[index])
        with ct.Writer(5) as writer:
            threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for index, one in enumerate(given):
            self.assertEqual(made[index].result(0), ct.encode(one))

    def test_flush(self):
        with ct.Writer(100) as writer:
            file = writer.add(arrays(1)[0])
            self.assertFalse(file.done())
            writer.flush()
            self.assertEqual(file.result(60), ct.encode(arrays(1)[0]))

    def test_waiting_for_a_file(self):
        """Its batch begins without being full, and no other."""
        one, other = arrays(2)
        with ct.Writer(2) as writer:
            files = [writer.add(one) for _ in range(3)]
            self.assertEqual(files[0].result(60), ct.encode(one))
            self.assertFalse(files[2].done())
            self.assertIsNone(files[2].exception(60))
            self.assertEqual(writer.add(other).result(60), ct.encode(other))
        with self.assertRaises(ValueError), ct.Writer() as writer:
            file = writer.add(np.zeros((4, 4, 2), np.uint8))
            self.assertIsInstance(file.exception(60), ValueError)

    def test_waiting_without_room(self):
        event, array = threading.Event(), arrays(1)[0]
        with ct.Writer(2) as writer:
            targets = [Blocked(event) for _ in range(8)]
            for target in targets:
                writer.add(array, target)
            file, begin = writer.add(array), time.monotonic()
            for wait in (file.result, file.exception):
                with self.assertRaises(futures.TimeoutError):
                    wait(.05)
            self.assertLess(time.monotonic() - begin, 30)
            adding = [threading.Thread(target=writer.add, args=(array, Blocked(event)))
                      for _ in range(3)]
            for thread in adding:
                thread.start()
            event.set()
            for thread in adding:
                thread.join()
            self.assertEqual(file.result(60), ct.encode(array))
        self.assertEqual({target.data for target in targets}, {ct.encode(array)})

    def test_an_interrupted_close_writes_all(self):
        writer = ct.Writer(100)
        files = [writer.add(array) for array in arrays(3)]
        with mock.patch.object(writer._changed, "wait_for", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            writer.close()
        self.assertEqual([file.result(0) for file in files], ct.encode(arrays(3)))

    def test_interruptions_lose_nothing(self):
        """By a signal's handler that raises: before a batch begins, after, and without room."""
        event, array = threading.Event(), arrays(1)[0]
        targets = [Blocked(event) for _ in range(10)]
        with ct.Writer(2) as writer:
            submit = writer._threads.submit
            for index, is_after in enumerate((False, True)):
                def interrupted(*arguments, is_after=is_after):
                    if is_after:
                        submit(*arguments)
                    raise KeyboardInterrupt
                writer.add(array, targets[2 * index])
                with mock.patch.object(writer._threads, "submit", interrupted), \
                        self.assertRaises(KeyboardInterrupt):
                    writer.add(array, targets[2 * index + 1])
            for target in targets[4:9]:
                writer.add(array, target)
            before = signal.signal(signal.SIGALRM, signal.default_int_handler)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            signal.setitimer(signal.ITIMER_REAL, .3)
            with self.assertRaises(KeyboardInterrupt):
                writer.add(array, targets[9])
                event.wait(60)
            event.set()
        self.assertEqual({target.data for target in targets}, {ct.encode(array)})

    def test_a_kept_file_keeps_no_writer(self):
        with ct.Writer() as writer:
            file = writer.add(arrays(1)[0])
        known = weakref.ref(writer)
        del writer
        gc.collect()
        self.assertIsNone(known())
        self.assertEqual(file.result(0), ct.encode(arrays(1)[0]))


class Errors(unittest.TestCase):
    def test_one_of_a_batch(self):
        given = arrays(6)
        given[2] = np.zeros((4, 4, 2), np.uint8)
        given[4] = "no array"
        writer = ct.Writer(6)
        made = [writer.add(one) for one in given]
        with self.assertRaisesRegex(ValueError, r"uint8 \(4, 4, 2\)"):
            writer.close()
        writer.close()  # the error has been raised
        for index, file in enumerate(made):
            if index in (2, 4):
                self.assertIsInstance(file.exception(0), (ValueError, TypeError))
            else:
                self.assertEqual(file.result(0), ct.encode(given[index]))
        with self.assertRaises(RuntimeError):
            writer.add(given[0])

    def test_targets(self):
        array = arrays(1)[0]
        with tempfile.TemporaryDirectory() as folder:
            good, bad = os.path.join(folder, "a.jpg"), os.path.join(folder, "none", "a.jpg")
            with self.assertRaises(FileNotFoundError):
                with ct.Writer() as writer:
                    failed, done = writer.add(array, bad), writer.add(array, good)
            self.assertIsInstance(failed.exception(0), FileNotFoundError)
            self.assertIsNone(done.result(0))
            self.assertTrue(os.path.exists(good))
        for target in (5, io.StringIO()):
            with ct.Writer() as writer, self.assertRaises(TypeError):
                writer.add(array, target)

    def test_the_block_raises_first(self):
        with self.assertRaisesRegex(KeyError, "first"):
            with ct.Writer() as writer:
                writer.add(np.zeros(3, np.uint8))
                raise KeyError("first")

    def test_arguments(self):
        for options, kind, words in (
                ({"batch_size": 0}, ValueError, "batch_size"),
                ({"batch_size": 1.5}, TypeError, "batch_size"),
                ({"quality": 101}, ValueError, "quality"),
                ({"target": "a.jpg"}, TypeError, "target"), ({"size": 1}, TypeError, "size"),
                ({"method": "none"}, ValueError, "method"),
                ({"restart": -1}, ct.WriteError, "restart"),
                ({"optimize": 2}, TypeError, "optimize"), ({"strip": 2}, TypeError, "strip")):
            with self.assertRaisesRegex(kind, words):
                ct.Writer(**options)

    def test_canceled(self):
        with ct.Writer(2) as writer:
            canceled = writer.add(arrays(1)[0])
            self.assertTrue(canceled.cancel())
            other = writer.add(arrays(1)[0])
        self.assertEqual(other.result(0), ct.encode(arrays(1)[0]))

    def test_fork(self):
        writer = ct.Writer(1)
        writer.add(arrays(1)[0]).result(60)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                writer.add(arrays(1)[0])
            except ct.Unavailable:
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        writer.close()


if __name__ == "__main__":
    unittest.main()
