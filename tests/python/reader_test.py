#!/usr/bin/python3
# cudatransform.Reader: order, damaged files among sound ones, abandoned walks, memory.
# SPDX-License-Identifier: LGPL-2.1-or-later
import errno
import gc
import itertools
import os
import pickle
import queue
import resource
import shutil
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import cudatransform as ct
from cudatransform import _feed, _reads, reader
import pictures


class WithFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        files = {}
        for index in range(40):
            width, height = 30 + 13 * (index % 7), 20 + 9 * (index % 5)
            sampling = ("4:2:0", "4:4:4", "gray", "cmyk", "YCCK-4:2:0")[index % 5]
            array = pictures.pixels(width, height, pictures.channels_of(sampling), index)
            made = ct.Picture.from_pixels(array, 60, sampling)
            files[f"folder {index % 4}/{index:02d} \u00e9\udcff.jpg"] = ct.write(
                made, progressive=index % 2 == 1)
        cls.sound = sorted(pictures.write_all(cls.folder.name, files).values())
        bad = {f"bad/{name}": data for name, (data, _) in pictures.bad_files().items()}
        cls.bad = list(pictures.write_all(cls.folder.name, bad).values())
        cls.bad += [cls.folder.name, os.path.join(cls.folder.name, "none.jpg")]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


class Batches(WithFiles):
    def check(self, paths, **options):
        """Reads them, and compares each with what read() says of it."""
        items = [item for batch in ct.Reader(paths, **options) for item in batch]
        self.assertEqual(len(items), len(paths))
        for path, item in zip(paths, items):
            self.assertEqual(item.path, path)
            try:
                wanted = ct.read(path)
            except ct.ReadError as error:
                self.assertIsInstance(item, ct.Failure)
                # An unsupported file after a sound one counts as damage, with the same words.
                self.assertEqual(item.reason, error.reason)
            else:
                self.assertTrue(pictures.equal(item, wanted), path)

    def test_in_order(self):
        for workers in (1, 2, 5):
            for batch in (1, 7, 40, 100):
                with self.subTest(workers=workers, batch=batch):
                    self.check(self.sound, workers=workers, batch=batch)

    def test_damaged_files_among_them(self):
        mixed = []
        for index, path in enumerate(self.sound):
            mixed += [path, self.bad[index % len(self.bad)]]
        for paths in (mixed, self.bad, self.bad + self.sound[:1], self.sound[:1] + self.bad * 3,
                      self.bad[::-1] + mixed):
            for workers in (1, 3):
                with self.subTest(len(paths), workers=workers):
                    self.check(paths, workers=workers, batch=8)

    def test_irregular_files_among_them(self):
        with open(self.sound[0], "rb") as file:
            data = file.read()
        odd = os.path.join(self.folder.name, "odd.jpg")
        pictures.write_all(self.folder.name, {"odd.jpg": data[:-2] + b"\x12\x34\xff\xd9"})
        batch, = ct.Reader([self.sound[0], odd, self.bad[0], odd])
        self.assertEqual([picture.path for picture in batch.irregular], [odd, odd])
        self.assertEqual(batch.irregular[0].irregular, ("left-over-bytes",))
        self.assertTrue(pictures.equal(batch[1], batch[0]))
        self.assertEqual([failure.path for failure in batch.failures], [self.bad[0]])

    def test_bad_input(self):
        reasons = {f"{os.sep}{name}": word for name, (_, word) in pictures.bad_files().items()}
        reasons |= {"none.jpg": "No such file", os.path.basename(self.folder.name): "directory"}
        secret = os.path.join(self.folder.name, "secret.jpg")
        shutil.copy(self.sound[0], secret)
        os.chmod(secret, 0)
        paths = [self.sound[0]]
        for path in self.bad + [secret]:
            paths += [path, self.sound[0]]
        with pictures.as_nobody(self.folder.name):
            items = [item for batch in ct.Reader(paths, batch=4, workers=2) for item in batch]
        os.unlink(secret)
        self.assertEqual([item.path for item in items], paths)
        for item in items[::2]:  # no neighbour is lost
            self.assertTrue(pictures.equal(item, ct.read(self.sound[0])))
        seen = 0
        for item in items[1::2]:
            word = "Permission denied" if item.path == secret else next(
                word for end, word in reasons.items() if item.path.endswith(end))
            self.assertIsInstance(item, ct.Failure)
            self.assertIn(word, item.reason)
            seen += 1
        self.assertEqual(seen, len(pictures.bad_files()) + 3)

    def test_an_error_of_the_stream_loses_no_neighbour(self):
        # Without an earlier picture, a file that the decoder cannot hold is such an error.
        odd = next(path for path in self.bad if "factors" in path)
        marker, _feed.MARKER = _feed.MARKER, pictures.bad_files()["factors.jpg"][0]
        try:
            for workers in (1, 3):
                for paths in ([odd] * 3 + self.sound[:9], [odd], [odd] * 20):
                    with self.subTest(len(paths), workers=workers):
                        self.check(paths, workers=workers, batch=2)
        finally:
            _feed.MARKER = marker

    def test_what_cannot_be_opened_is_not_tried_again(self):
        paths = self.sound[:3] + [self.folder.name, os.path.join(self.folder.name, "none.jpg")]
        with mock.patch.object(reader.jpeg.Context, "read", side_effect=AssertionError):
            items = [item for batch in ct.Reader(paths, batch=2) for item in batch]
        self.assertEqual([isinstance(item, ct.Failure) for item in items], [False] * 3 + [True] * 2)

    def test_names_that_cannot_be_opened_quickly(self):
        files = _reads.QuickFiles()
        files._quick = True
        for end, error in (("\0", ValueError), (".none", FileNotFoundError)):
            with self.assertRaises(error):
                files.open(self.sound[0] + end)

    def test_sizes_of_batches(self):
        batches = list(ct.Reader(self.sound[:10] + self.bad[:1], batch=4))
        self.assertEqual([len(batch) for batch in batches], [4, 4, 3])
        self.assertEqual([len(batch.pictures) for batch in batches], [4, 4, 2])
        self.assertEqual([len(batch.failures) for batch in batches], [0, 0, 1])
        self.assertFalse(batches[2].failures[0])
        self.assertEqual(list(ct.Reader([])), [])

    def test_again_and_pickled(self):
        given = ct.Reader(self.sound[:5], batch=2, workers=1)
        for walk in (given, given, pickle.loads(pickle.dumps(given))):
            self.assertEqual([len(batch) for batch in walk], [2, 2, 1])

    def test_two_at_once(self):
        for one, other in zip(ct.Reader(self.sound, batch=3), ct.Reader(self.sound, batch=3)):
            self.assertTrue(all(map(pictures.equal, one, other)))

    def test_pictures_outlive_it(self):
        kept = [item for batch in ct.Reader(self.sound, batch=4) for item in batch]
        gc.collect()
        self.assertTrue(all(pictures.equal(item, ct.read(item.path)) for item in kept))


class Ends(WithFiles):
    def test_abandoned(self):
        before = threading.active_count()
        for _ in range(5):
            for _ in ct.Reader(itertools.cycle(self.sound + self.bad), batch=2):
                break
        gc.collect()
        self.assertEqual(threading.active_count(), before)

    def test_errors_of_the_iterable_are_the_callers(self):
        def paths():
            yield from self.sound[:5]
            raise KeyError("mine")
        seen = []
        with self.assertRaisesRegex(KeyError, "mine"):
            for batch in ct.Reader(paths(), batch=2):
                seen += batch
        self.assertEqual(len(seen), 4)

    def test_an_iterable_that_waits_for_results(self):
        for workers in (1, 4):
            came = queue.SimpleQueue()

            def paths():
                for path in self.sound[:6] + self.bad[:3] + self.sound[:2]:
                    yield path
                    came.get(timeout=20)
            for batch in ct.Reader(paths(), batch=1, workers=workers):
                came.put(batch)

    def test_an_iterable_that_waits_for_ever(self):
        asked = queue.SimpleQueue()
        for path in self.sound[:3]:
            asked.put(path)
        for batch in ct.Reader(iter(asked.get, None), batch=1, workers=3):
            self.assertEqual(batch.failures, [])
            break
        asked.put(None)

    def test_arguments(self):
        for options in ({"batch": 0}, {"workers": 0}, {"device": "tpu"}, {"device": "cpu:1"},
                        {"device": "cuda:x"}):
            with self.subTest(options), self.assertRaises(ValueError):
                ct.Reader([], **options)
        with self.assertRaises(ValueError):
            ct.Reader(self.sound[0])
        for options in ({"batch": 1.5}, {"batch": "8"}, {"workers": 2.5}, {"device": None},
                        {"device": 0}):
            with self.subTest(options), self.assertRaises(TypeError):
                ct.Reader([], **options)
        for paths in (5, None):
            with self.assertRaises(TypeError):
                ct.Reader(paths)

    def test_it_does_not_run_ahead_without_bounds(self):
        taken = []

        def paths():
            for path in itertools.cycle(self.sound):
                taken.append(path)
                yield path
        walk = iter(ct.Reader(paths(), batch=2, workers=2))
        for count in range(1, 20):
            next(walk)
            self.assertLessEqual(len(taken), 2 * count + 2 + 2 * 2 + 1)
        walk.close()

    def test_memory_is_flat(self):
        files = self.sound + self.bad
        self.walk(files * 4)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wanted = int(os.environ.get("CUDATRANSFORM_TEST_FILES", 10000))
        self.walk(files * (wanted // len(files)))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 16 << 10, "KiB")

    def test_what_nobody_expects_is_raised(self):
        seen = []
        with mock.patch.object(_feed.jpeg, "fill_from", side_effect=RuntimeError("unheard of")):
            with self.assertRaisesRegex(RuntimeError, "unheard of"):
                for batch in ct.Reader(self.sound, batch=2):
                    seen += batch

    def walk(self, paths):
        read = sum(len(batch) for batch in ct.Reader(paths, batch=16, workers=2))
        self.assertEqual(read, len(paths))


class Owner:
    """In place of a Walk."""


class SeveralReads:
    """The same with several files that are read at once, as large ones are for a GPU."""

    def setUp(self):
        super().setUp()
        for where, name, value in ((_feed, "_LARGE", 0), (reader, "reads_for", lambda on_cuda: 4)):
            self.patch(where, name, value)

    def patch(self, where, name, value):
        patch = mock.patch.object(where, name, value)
        patch.start()
        self.addCleanup(patch.stop)


class BatchesOfReads(SeveralReads, Batches):
    pass


class EndsOfReads(SeveralReads, Ends):
    def test_several_at_once(self):
        """They are read at once, in whatever time each takes, and the order stays."""
        begun, most = [], []

        class Slow(_feed.FileRead):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                begun.append(self)
                self.number = len(begun)

            def is_over(self):  # not before three are on their way
                most.append(len(begun) - self.number + 1)
                return len(begun) >= 3 and super().is_over()
        self.patch(_feed, "FileRead", Slow)
        self.assertEqual(self.paths_of(self.sound), self.sound)
        self.assertEqual(len(begun), len(self.sound))
        self.assertTrue(3 <= max(most) <= 5, max(most))

    def test_what_nobody_expects_is_raised(self):
        self.patch(_feed.FileRead, "done", mock.Mock(side_effect=RuntimeError("unheard of")))
        with self.assertRaisesRegex(RuntimeError, "unheard of"):
            self.paths_of(self.sound)

    def test_where_none_can_be_begun(self):
        self.patch(_feed, "FileRead", mock.Mock(side_effect=BlockingIOError(11, "too many")))
        self.assertEqual(self.paths_of(self.sound), self.sound)

    def test_reads_that_fail(self):
        """A file that became shorter, and a descriptor that cannot be read from."""
        opened, shorter, unreadable = _feed.jpeg.open_picture, self.sound[2], self.sound[5]

        def open_picture(path, files):
            descriptor, size = opened(path, files)
            if path == unreadable:
                os.close(descriptor)
                return os.open(os.devnull, os.O_WRONLY), size
            return descriptor, size + (path == shorter)
        self.patch(_feed.jpeg, "open_picture", open_picture)
        items = [item for batch in ct.Reader(self.sound, batch=7) for item in batch]
        failures = {item.path: item.reason for item in items if isinstance(item, ct.Failure)}
        self.assertEqual(failures, {shorter: "it became shorter while it was read",
                                    unreadable: os.strerror(errno.EBADF)})
        self.assertEqual([item.path for item in items], self.sound)

    def test_abandoned_while_they_are_on_their_way(self):
        descriptors = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            for _ in ct.Reader(itertools.cycle(self.sound), batch=1):
                break
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), descriptors)

    def test_closed_by_its_own_thread(self):
        """The garbage collector may find it there: nothing is left, and nothing raised."""
        walks, opened = [], _feed.jpeg.open_picture

        def open_picture(path, files):
            if path == self.sound[4]:
                walks.clear()
            return opened(path, files)
        self.patch(_feed.jpeg, "open_picture", open_picture)
        raised = mock.Mock()
        self.patch(sys, "unraisablehook", raised)
        descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(5):
            has_batch = threading.Event()
            paths = itertools.chain(self.sound[:4], self.later(has_batch))
            walks.append(iter(ct.Reader(paths, batch=1)))
            next(walks[0])
            has_batch.set()
            for _ in range(500):
                if not walks and threading.active_count() == threads:
                    break
                time.sleep(.01)
        self.assertEqual((walks, raised.call_count), ([], 0))
        self.assertEqual(threading.active_count(), threads)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), descriptors)

    def test_interrupted_while_it_closes(self):
        """Its thread waits for the reads on their way, whose memory goes with it."""
        begun, may_end = [], threading.Event()

        class Watched(_feed.FileRead):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                self.waited_for = False
                begun.append(self)

            def is_over(self):
                return self.waited_for

            def wait(self):
                may_end.wait()
                while not super().is_over():
                    time.sleep(.001)
                self.waited_for = True
        self.patch(_feed, "FileRead", Watched)
        stage = mock.Mock(stop=mock.Mock(side_effect=KeyboardInterrupt))
        owner = Owner()
        feed = _feed.Feed(owner, stage, iter(self.sound), 20, 4)
        while len(begun) < 5:  # the thread waits for the first
            time.sleep(.001)
        with self.assertRaises(KeyboardInterrupt):
            feed.stop()
        may_end.set()
        feed._gone.get(timeout=20)
        self.assertEqual([read.waited_for for read in begun], [True] * 5)

    def later(self, event):
        event.wait()
        yield from self.sound[4:]

    def test_a_batch_does_not_wait_for_later_files(self):
        self.take_a_batch(self.sound)

    def test_not_for_want_of_patience(self):
        """Nor where the decoder is slow, nor for a picture that will not come."""
        self.patch(reader, "_PATIENCE", 1000)
        self.take_a_batch(self.sound)
        self.take_a_batch(self.sound[:7] + self.bad)

    def take_a_batch(self, paths):
        begun, has_batch = [], threading.Event()

        class Late(_feed.FileRead):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                begun.append(self)
                self.is_late = len(begun) > 16

            def is_over(self):
                return (not self.is_late or has_batch.is_set()) and super().is_over()

            def wait(self):
                if self.is_late:
                    has_batch.wait()
                super().wait()
        self.patch(_feed, "FileRead", Late)
        walk = iter(ct.Reader(itertools.cycle(paths), batch=16, workers=64))
        self.assertEqual(len(next(walk)), 16)
        has_batch.set()
        walk.close()

    def paths_of(self, paths):
        return [item.path for batch in ct.Reader(paths, batch=7) for item in batch.pictures]


if __name__ == "__main__":
    unittest.main(verbosity=2)
