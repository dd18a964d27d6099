#!/usr/bin/python3
# cudatransform.Reader: order, damaged files among sound ones, abandoned walks, memory.
# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import io
import itertools
import os
import pathlib
import pickle
import queue
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import cudatransform as ct
from cudatransform import _walk, picture, reader
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
        """Reads them, and compares each with the result of read()."""
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
                    self.check(self.sound, num_workers=workers, batch_size=batch)

    def test_damaged_files_among_them(self):
        mixed = []
        for index, path in enumerate(self.sound):
            mixed += [path, self.bad[index % len(self.bad)]]
        for paths in (mixed, self.bad, self.bad + self.sound[:1], self.sound[:1] + self.bad * 3,
                      self.bad[::-1] + mixed):
            for workers in (1, 3):
                with self.subTest(len(paths), workers=workers):
                    self.check(paths, num_workers=workers, batch_size=8)

    def test_irregular_files_among_them(self):
        with open(self.sound[0], "rb") as file:
            data = file.read()
        odd = os.path.join(self.folder.name, "odd.jpg")
        pictures.write_all(self.folder.name, {"odd.jpg": data[:-2] + b"\x12\x34\xff\xd9"})
        batch, = ct.Reader([self.sound[0], odd, self.bad[0], odd])
        self.assertEqual([picture.path for picture in batch.irregular], [odd, odd])
        self.assertEqual(batch.irregular[0].irregular, ("trailing-bytes",))
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
            reader = ct.Reader(paths, batch_size=4, num_workers=2)
            items = [item for batch in reader for item in batch]
        os.unlink(secret)
        self.assertEqual([item.path for item in items], paths)
        for item in items[::2]:  # no neighbor is lost
            self.assertTrue(pictures.equal(item, ct.read(self.sound[0])))
        seen = 0
        for item in items[1::2]:
            word = "Permission denied" if item.path == secret else next(
                word for end, word in reasons.items() if item.path.endswith(end))
            self.assertIsInstance(item, ct.Failure)
            self.assertIn(word, item.reason)
            seen += 1
        self.assertEqual(seen, len(pictures.bad_files()) + 3)

    def test_files_of_any_kind(self):
        """Paths, bytes, memoryviews and binary files, each by itself and among others."""
        data = []
        for path in self.sound:
            with open(path, "rb") as file:
                data.append(file.read())
        kinds = (lambda path, one: one, lambda path, one: bytearray(one),
                 lambda path, one: memoryview(one), lambda path, one: io.BytesIO(one),
                 lambda path, one: np.frombuffer(one, np.uint8), lambda path, one: path,
                 lambda path, one: pathlib.Path(path))
        wanted = [ct.read(path) for path in self.sound]
        for which in (*range(len(kinds)), None):
            files = [kinds[index % len(kinds) if which is None else which](path, one)
                     for index, (path, one) in enumerate(zip(self.sound, data))]
            for given in (files, iter(files)):
                batches = list(ct.Reader(given, batch_size=16))
                items = [item for batch in batches for item in batch]
                self.assertTrue(all(map(pictures.equal, items, wanted)))
                if which is None:
                    break  # a file object is read once
                self.assertEqual({batch.paths[0] == batch[0].path for batch in batches},
                                 {which >= 5})
                if which == 3:
                    break
        batch, = ct.Reader([b"", data[0], b"none", io.BytesIO(b""), "a\0b"])
        self.assertEqual([item.path for item in batch.failures],
                         ["<bytes>", "<bytes>", "<file>", "a\0b"])
        self.assertTrue(pictures.equal(batch[1], wanted[0]))

    def test_what_is_no_file(self):
        for what in (5, None, 1.5):
            for files in ([what], self.sound[:3] + [what]):
                with self.assertRaisesRegex(TypeError, "source must be a path, bytes or a binary"):
                    list(ct.Reader(files, batch_size=2))

    def test_limits(self):
        for name in ("max_pixels", "max_memory"):
            batch, = ct.Reader(self.sound[:1], **{name: 10})
            self.assertIn(f"exceeds {name}=10", batch.failures[0].reason)
            for function in (ct.read, ct.decode):
                with self.assertRaisesRegex(ct.ReadError, f"exceeds {name}=10"):
                    function(self.sound[0], **{name: 10})
                with self.assertRaisesRegex(ValueError, f"{name} must be at least 1, not 0"):
                    function(self.sound[0], **{name: 0})
            ct.read(self.sound[0], **{name: 1 << 20})
        with self.assertRaisesRegex(ValueError, "on_error must be"):
            ct.Reader([], on_error="ignore")

    def test_damage_is_concealed_where_it_may_be(self):
        cut = next(path for path in self.bad if path.endswith("cut.jpg"))
        whole = ct.read(pictures.cjpeg_or_tiny())
        for read in (lambda: ct.read(cut, on_error="conceal"),
                     lambda: list(ct.Reader([cut, self.sound[0]], on_error="conceal"))[0][0]):
            with self.assertWarnsRegex(UserWarning, "cut.jpg: .*end") as told:
                picture = read()
            self.assertEqual(told.filename, __file__)
            self.assertEqual((picture.width, picture.height), (whole.width, whole.height))
            self.assertTrue(np.array_equal(picture[0][:5], whole[0][:5]))
        with self.assertWarnsRegex(UserWarning, "cut.jpg: .*end"):
            pixels = ct.decode(cut, on_error="conceal")
        self.assertTrue(np.array_equal(pixels[:40], whole.pixels()[:40]))

    def test_sizes_of_batches(self):
        batches = list(ct.Reader(self.sound[:10] + self.bad[:1], batch_size=4))
        self.assertEqual([len(batch) for batch in batches], [4, 4, 3])
        self.assertEqual([len(batch.pictures) for batch in batches], [4, 4, 2])
        self.assertEqual([len(batch.failures) for batch in batches], [0, 0, 1])
        self.assertFalse(batches[2].failures[0])
        self.assertEqual(list(ct.Reader([])), [])

    def test_again_and_pickled(self):
        given = ct.Reader(self.sound[:5], batch_size=2, num_workers=1)
        for walk in (given, given, pickle.loads(pickle.dumps(given))):
            self.assertEqual([len(batch) for batch in walk], [2, 2, 1])

    def test_two_at_once(self):
        reader = ct.Reader(self.sound, batch_size=3)
        for one, other in zip(reader, reader):
            self.assertTrue(all(map(pictures.equal, one, other)))

    def test_pictures_outlive_it(self):
        kept = [item for batch in ct.Reader(self.sound, batch_size=4) for item in batch]
        gc.collect()
        self.assertTrue(all(pictures.equal(item, ct.read(item.path)) for item in kept))


class Ends(WithFiles):
    def test_abandoned(self):
        before = threading.active_count()
        for _ in range(5):
            for _ in ct.Reader(itertools.cycle(self.sound + self.bad), batch_size=2):
                break
        gc.collect()
        self.assertEqual(threading.active_count(), before)

    def test_errors_of_the_iterable_are_the_callers(self):
        def paths():
            yield from self.sound[:5]
            raise KeyError("mine")
        seen = []
        with self.assertRaisesRegex(KeyError, "mine"):
            for batch in ct.Reader(paths(), batch_size=2):
                seen += batch
        self.assertEqual(len(seen), 4)

    def test_what_is_under_way_comes_before_an_engine_is_unavailable(self):
        push, pushed = reader.Ahead.push, []

        def until_third(ahead, sources):
            pushed.append(sources)
            if len(pushed) == 3:
                raise ct.Unavailable("lost")
            push(ahead, sources)
        seen = []
        with mock.patch.object(reader.Ahead, "push", until_third):
            with self.assertRaisesRegex(ct.Unavailable, "lost"):
                for batch in ct.Reader(self.sound, batch_size=2, num_workers=2):
                    seen += batch
        self.assertEqual(len(seen), 4)

    def test_an_iterable_that_waits_for_results(self):
        for workers in (1, 4):
            came = queue.SimpleQueue()

            def paths():
                for path in self.sound[:6] + self.bad[:3] + self.sound[:2]:
                    yield path
                    came.get(timeout=20)
            for batch in ct.Reader(paths(), batch_size=1, num_workers=workers):
                came.put(batch)

    def test_an_iterable_that_waits_for_ever(self):
        asked = queue.SimpleQueue()
        for path in self.sound[:3]:
            asked.put(path)
        for batch in ct.Reader(iter(asked.get, None), batch_size=1, num_workers=3):
            self.assertEqual(batch.failures, [])
            break
        asked.put(None)

    def test_lengths(self):
        for count, batches in ((0, 0), (1, 1), (3, 1), (4, 2), (40, 14)):
            reader = ct.Reader(self.sound[:count], batch_size=3)
            self.assertEqual((len(reader), len(list(reader))), (batches, batches))
            self.assertTrue(reader)
        for paths in (iter(self.sound), (path for path in self.sound)):
            reader = ct.Reader(paths)
            with self.assertRaisesRegex(TypeError, r"has no len\(\)"):
                len(reader)
            self.assertEqual(len(list(reader)), 2)

    def test_with(self):
        with ct.Reader(iter(self.sound), batch_size=1) as reader:
            walks = [iter(reader)]
            next(walks[0])
            reader.paths = self.sound[:5]
            walks += [iter(reader), iter(reader)]
            next(walks[1])
        self.assertEqual([list(walk) for walk in walks], [[], [], []])
        self.assertEqual(len(list(reader)), 5)  # a new one

    def test_arguments(self):
        for options in ({"batch_size": 0}, {"num_workers": 0}, {"device": "tpu"},
                        {"device": "cpu:1"}, {"device": "cuda:x"}):
            with self.subTest(options), self.assertRaises(ValueError):
                ct.Reader([], **options)
        with self.assertRaisesRegex(ValueError, r"such as \['none.jpg'\], not 'none.jpg'$"):
            ct.Reader("none.jpg")
        for folder in (self.folder.name, os.fsencode(self.folder.name)):
            with self.assertRaisesRegex(ValueError, r"such as glob.glob\('/.*/\*.jpg'\), not"):
                ct.Reader(folder)
        for options in ({"batch_size": 1.5}, {"batch_size": "8"}, {"num_workers": 2.5},
                        {"device": None}, {"device": 0}):
            with self.subTest(options), self.assertRaises(TypeError):
                ct.Reader([], **options)
        for paths in (5, None):
            with self.assertRaises(TypeError):
                ct.Reader(paths)
        for options in ({"reduce": 2}, {"mode": "L"}, {"upsampling": "nearest"}):
            with self.assertRaisesRegex(ValueError, "need output='pixels'"):
                ct.Reader([], **options)
        with self.assertRaisesRegex(ValueError, "^batch_size must be at least 1, not 0$"):
            ct.Reader([], batch_size=0)
        with self.assertRaisesRegex(ValueError, "^num_workers must be 1 to 1024, not 1025$"):
            ct.Reader([], num_workers=1025)

    def test_it_does_not_run_ahead_without_bounds(self):
        taken = []

        def paths():
            for path in itertools.cycle(self.sound):
                taken.append(path)
                yield path
        walk = iter(ct.Reader(paths(), batch_size=2, num_workers=2))
        for count in range(1, 20):
            next(walk)
            self.assertLessEqual(len(taken), 2 * count + 2 * 2 + 2 * 2 + 1)
        walk.close()

    def test_the_next_ones_are_decoded_while_a_batch_is_in_use(self):
        walk = reader.Walk(ct.Reader(self.sound, batch_size=2, num_workers=2))
        for _ in range(5):
            walk.next()
            self.assertEqual(len(walk._under_way), 3)

    def test_memory_is_flat(self):
        files = self.sound + self.bad
        self.walk(files * 4)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        wanted = int(os.environ.get("CUDATRANSFORM_TEST_FILES", 10000))
        self.walk(files * (wanted // len(files)))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 16 << 10, "KiB")

    def test_what_nobody_expects_is_raised(self):
        with mock.patch.object(picture, "layout_of", side_effect=RuntimeError("unheard of")):
            with self.assertRaisesRegex(RuntimeError, "unheard of"):
                self.walk(self.sound)

    def test_a_half_used_one_ends_with_the_interpreter(self):
        script = ("import cudatransform as ct, itertools, sys\n"
                  "kept = []\n"
                  "for files in (sys.argv[1:] * 50, itertools.cycle(sys.argv[1:]), "
                  "iter([open(sys.argv[1], 'rb').read()] * 500)):\n"
                  "    kept.append(iter(ct.Reader(files, batch_size=2)))\n"
                  "    assert len(next(kept[-1])) == 2\n")
        said = subprocess.run([sys.executable, "-c", script, *self.sound[:9]], timeout=60,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual((said.returncode, said.stderr), (0, b""))

    def test_an_abandoned_ones_thread_ends(self):
        """Without an explicit close."""
        over = queue.SimpleQueue()

        def paths():
            try:
                yield from itertools.cycle(self.sound)
            finally:
                over.put(True)
        walked = _walk.Walked(paths())
        walked.give_room(3)
        self.assertEqual(walked.take(3, True), self.sound[:3])
        del walked
        self.assertTrue(over.get(timeout=20))

    def walk(self, paths):
        read = sum(len(batch) for batch in ct.Reader(paths, batch_size=16, num_workers=2))
        self.assertEqual(read, len(paths))


if __name__ == "__main__":
    unittest.main(verbosity=2)
