#!/usr/bin/python3
# cudatransform.corpus without Ray: owners of folders, obstacles, damage.
# SPDX-License-Identifier: LGPL-2.1-or-later
import errno
import json
import os
import shutil
import signal
import unittest
from unittest import mock

from cudatransform.corpus import actions, folder, job, names, on_ray
from corpus_test import WithCorpus
import pictures


class Folders(WithCorpus):
    def test_others_are_refused(self):
        os.makedirs(self.output.path)
        with open(os.path.join(self.output.path, "thesis.txt"), "w", encoding="utf-8"):
            pass
        with self.assertRaisesRegex(folder.FolderError, "holds other files"):
            self.do("stats")
        self.assertEqual(os.listdir(self.output.path), ["thesis.txt"])

    def test_another_job_is_refused(self):
        self.do("stats")
        for action, options, words in (("repack", {}, "action differs"),
                                       ("requantize", {"quality": 9}, "action, options differ")):
            with self.assertRaisesRegex(folder.FolderError, f"holds another job: {words}$"):
                self.do(action, **options)

    def test_a_folder_inside_of_the_input_is_refused(self):
        self.output = folder.Output(os.path.join(self.input, "f 0", "out"))
        with self.assertRaisesRegex(folder.FolderError, "inside"):
            self.do("stats")
        self.assertFalse(os.path.exists(self.output.path))

    def test_a_link_into_the_input_is_refused(self):
        real, link = os.path.join(self.input, "f 0", "out"), os.path.join(self.top, "link")
        os.mkdir(real)
        os.symlink(real, link)
        for path in (link, os.path.join(link, "deeper")):
            self.output = folder.Output(path)
            with self.assertRaisesRegex(folder.FolderError, "inside of the input") as raised:
                self.do("repack")
            self.assertIn(os.path.realpath(path), str(raised.exception))
        self.assertEqual(os.listdir(real), [])
        again = os.path.join(self.top, "input again")
        os.symlink(self.input, again)
        with self.assertRaisesRegex(folder.FolderError, "inside"):
            self.claim(folder.Output(real), "stats", source=again)

    def test_what_is_no_folder_or_cannot_be_made_is_refused(self):
        path = os.path.join(self.top, "a file")
        pictures.write_all(self.top, {"a file": b"thesis"})
        self.output = folder.Output(path)
        with self.assertRaisesRegex(folder.FolderError, "no folder"):
            self.do("stats")
        os.symlink(os.path.join(self.top, "nowhere"), os.path.join(self.top, "dangling"))
        self.output = folder.Output(os.path.join(self.top, "dangling"))
        with self.assertRaisesRegex(folder.FolderError, "no folder"):
            self.do("stats")
        self.output = folder.Output(os.path.join(path, "below"))
        with self.assertRaisesRegex(folder.OutputError, "Not a directory"):
            self.do("stats")
        closed = os.path.join(self.top, "closed")
        os.mkdir(closed, 0o555)
        os.chmod(self.top, 0o755)
        self.output = folder.Output(os.path.join(closed, "out"))
        with pictures.as_nobody(self.input), self.assertRaisesRegex(
                folder.OutputError, "Permission denied"):
            self.do("stats")

    def test_a_run_that_ended_before_it_began_goes_on(self):
        """At each of its first steps: the disk is full there, or the process is killed."""
        for broken in ("os.makedirs", "os.listdir", "tempfile.mkstemp", "os.replace", "os.chmod",
                       "builtins.open", "fcntl.flock"):
            with self.subTest(broken):
                self.output = folder.Output(os.path.join(self.top, broken))
                full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                with mock.patch(broken, side_effect=full):
                    with self.assertRaisesRegex(folder.OutputError, "No space left on device"):
                        self.do("stats")
                self.output.release()
                self.assertEqual(self.do("stats"), (7, 1))
        own = os.path.join(self.top, "begun", folder.OWN)
        os.makedirs(own)  # the job is killed here
        self.output = folder.Output(os.path.dirname(own))
        self.assertEqual(self.do("stats"), (7, 1))
        os.unlink(os.path.join(own, "job.json"))  # by hand: whose results are these?
        with self.assertRaisesRegex(folder.FolderError, "holds other files"):
            self.do("stats")

    def test_a_job_that_cannot_be_read_is_refused(self):
        self.do("stats")
        for text in ("", "[]", '{"action": '):
            pictures.write_all(self.output.own, {"job.json": text.encode()})
            with self.assertRaisesRegex(folder.FolderError, "job.json does not name"):
                self.do("stats")

    def test_a_full_disk_is_named(self):
        self.do("repack")
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch("os.chmod", side_effect=full):
            with self.assertRaisesRegex(folder.OutputError, "'.*new.jpg'.*No space left"):
                self.output.write(b"new.jpg", b"data")
        self.assertEqual(os.listdir(os.path.join(self.output.own, "parts")), [])

    def test_what_ray_says_of_a_workers_error(self):
        said = f"""\x1b[36mray::MapWorker(MapBatches(Worker)).submit()\x1b[39m
          File "job.py", line 46, in __call__
        OSError: [Errno 28] No space left on device
        The above exception was the direct cause of the following exception:
        cudatransform.corpus.folder.OutputError: '/full/a.jpg' cannot be written: No space
        ray.exceptions.RayTaskError(UserCodeException): something of Ray's
        To change retry attempts set `DataContext.actor_task_retry_on_errors`."""
        self.assertEqual(on_ray._reason_of(said),
                         "'/full/a.jpg' cannot be written: No space")
        self.assertEqual(on_ray._reason_of("a\nMemoryError: no room\nTo change it: do this"),
                         "MemoryError: no room")
        self.assertEqual(on_ray._reason_of("The actor died.\n"), "The actor died.")

    def test_damaged_notes_are_done_again(self):
        self.do("stats")
        note, wanted = self.output._note_of(0), self.rows()
        with open(note, encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines(keepends=True)
        for harm in ("", "".join(lines[:-1]), text[:-5], "{}\n" * len(lines),
                     "".join(lines[::-1]), "nothing\n" * len(lines)):
            pictures.write_all(os.path.dirname(note), {os.path.basename(note): harm.encode()})
            with self.assertRaisesRegex(folder.OutputError, "000000.jsonl is damaged"):
                job._conclude("stats", self.output, [self.names])
            self.assertEqual(self.output.forget_damaged([self.names]), [0])
            self.assertEqual(self.output.done(), set())
            self.do("stats")
            self.assertEqual(self.rows(), wanted)
        self.assertEqual(self.output.forget_damaged([self.names]), [])

    def test_outputs_in_the_input_are_left_out(self):
        self.do("repack")
        os.rename(self.output.path, os.path.join(self.input, "earlier"))
        said = []
        self.assertEqual(folder.list_files(self.input, said.append), self.names)
        self.assertEqual(len(said), 1)
        self.assertIn("earlier", said[0])
        # Its name is that of an input.
        self.assertEqual(len(folder.list_files(os.path.join(self.input, "earlier"))), 6)

    def test_folders_that_cannot_be_read_are_told(self):
        os.chmod(os.path.join(self.input, "f 1"), 0)
        os.chmod(self.top, 0o755)
        said = []
        with pictures.as_nobody(self.input):
            found = folder.list_files(self.input, said.append)
        os.chmod(os.path.join(self.input, "f 1"), 0o755)
        self.assertEqual(found, [name for name in self.names if name.startswith(b"f 0")])
        self.assertEqual(len(said), 1)
        self.assertIn("Permission denied", said[0])

    def test_a_soft_limit_is_no_bad_file(self):
        class Limit(ValueError):
            pass

        def handler(*_):
            raise Limit("time is up")
        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        with mock.patch.object(actions, "process_of",
                               lambda _: signal.raise_signal(signal.SIGALRM)):
            with self.assertRaises(Limit):
                self.do("stats")
        self.assertFalse(self.output.is_done(0))

    def test_names_that_the_job_needs_are_refused(self):
        """Each name that a run writes next to the tree, as that of a folder in the input."""
        self.do("repack")
        job._conclude("repack", self.output, [self.names])
        own = set(os.listdir(self.output.path)) - {"f 0", "f 1"}
        self.assertEqual(own, {folder.OWN, "failures.jsonl", "summary.json", "warnings.jsonl"})
        tree = [name for name in self.names if b"bad" not in name]
        for action, options in (("repack", {}), ("requantize", {"quality": 40}), ("shrink", {}),
                                ("transpose", {}), ("crop", {"crop": [0, 0, 8, 8]})):
            for name in own:
                self.names = sorted([*tree, f"{name}/a.jpg".encode()])
                self.output = folder.Output(os.path.join(self.top, f"{action} {name}"))
                with self.assertRaisesRegex(folder.FolderError, f"'{name}' in the input.*rename"):
                    self.do(action, **options)
                self.assertFalse(os.path.exists(self.output.path))
        # Deeper, and with another ending, they are names as others are.
        fine = {f"{where}/a.jpg": pictures.tiny() for where in (
            "a/summary.json", "summary.json.jpg", "stats.parquet", "Failures.JSONL")}
        pictures.write_all(self.input, {**fine, "summary.json/a.jpg": pictures.tiny()})
        self.names = sorted(map(str.encode, fine))
        self.assertEqual(self.do("repack"), (4, 0))
        for name in fine:
            self.assertTrue(os.path.isfile(self.path(self.output.path, name.encode())))
        self.names = [b"summary.json/a.jpg"]
        self.output = folder.Output(os.path.join(self.top, "stats"))
        self.assertEqual(self.do("stats"), (1, 0))  # which writes no tree

    def test_names_that_a_file_system_takes_for_one_are_refused(self):
        decomposed = "e\u0301/a.jpg".encode()
        case, letters = names.Sameness(case=True), names.Sameness(unicode=True)
        for same, some, words in (
                (case, [b"A.JPG", b"b.jpg", b"a.jpg"], "'A.JPG' and 'a.jpg'"),
                (case, [b"x/A.jpg", b"X/a.JPG"], "'X/a.JPG' and 'x/A.jpg'"),
                (case, [b"a.jpg", b"A.JPG/y/b.jpg"], "'a.jpg' and 'A.JPG'"),
                (case, [b"FAILURES.jsonl/a.jpg"], "'FAILURES.jsonl' in the input"),
                (case, [b".CudaTransform-Corpus/a.jpg"], "in the input"),
                (letters, [decomposed, "\u00e9/a.jpg".encode()], "are one name")):
            with mock.patch.object(folder, "sameness_in", return_value=same):
                self.names = sorted(some)
                with self.assertRaisesRegex(folder.FolderError, words):
                    self.claim(self.output, "transpose")
                self.assertFalse(os.path.exists(self.output.own))
                self.claim(self.output, "stats")
                self.output.release()
                shutil.rmtree(self.output.path)
        with mock.patch.object(folder, "sameness_in", return_value=case):
            self.names = [b"A/a.jpg", b"\xff/\xfe.jpg", b"a/b.jpg"]  # folders may merge
            self.claim(self.output, "transpose")

    def test_how_a_file_system_compares_names(self):
        self.assertEqual(names.sameness_in(self.top), (False, False))
        there = os.path.exists

        def without_case(path):
            return there(path) or os.path.basename(path).lower() in os.listdir(self.top)
        with mock.patch("os.path.exists", without_case):
            self.assertEqual(names.sameness_in(self.top), (True, False))
        self.assertEqual(os.listdir(self.top), ["in put"])

    def test_two_runs_at_a_time_are_refused(self):
        self.do("stats")
        with self.assertRaisesRegex(folder.FolderError, "another run"):
            self.claim(folder.Output(self.output.path), "stats")

    def test_what_cannot_be_written_is_no_bad_file(self):
        self.claim(self.output, "repack")
        with open(os.path.join(self.output.path, "f 0"), "w", encoding="utf-8"):
            pass  # where a folder is to be
        with self.assertRaises(folder.OutputError):
            self.do_claimed("repack", self.output, 0, self.names)
        self.assertFalse(self.output.is_done(0))

    def test_another_job_is_refused(self):
        self.do("requantize", quality=40)
        self.do("requantize", quality=40)
        with self.assertRaisesRegex(folder.FolderError, "options"):
            self.do("requantize", quality=50)
        self.names = self.names[1:]
        with self.assertRaisesRegex(folder.FolderError, "files, list"):
            self.do("requantize", quality=40)

    def test_what_is_left_of_a_killed_run_goes(self):
        self.do("repack")
        part = os.path.join(self.output.own, "parts", "left")
        with open(part, "w", encoding="utf-8"):
            pass
        self.do("repack")
        self.assertFalse(os.path.exists(part))
        with open(os.path.join(self.output.own, "job.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["action"], "repack")


if __name__ == "__main__":
    unittest.main(verbosity=2)
