#!/usr/bin/python3
# Corpus jobs without Ray: the same bytes for any number of processes, after deaths and
# interruptions; what is required before the work; and the bar.
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import cudatransform as ct
from cudatransform.corpus import folder, job, local, progress, worker
from cudatransform.corpus.__main__ import main
import pictures

FILES = 800
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/pyproject.toml")
# `python -m cudatransform.corpus` as where Ray is not installed. Shells ignore SIGINT for what runs
# in their background.
WITHOUT_RAY = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.modules["ray"] = None
sys.argv[0] = "corpus"
runpy.run_module("cudatransform.corpus", run_name="__main__", alter_sys=True)
"""


def have_ray():
    try:
        import ray.data  # noqa: F401
    except ImportError:
        return False
    return True


def write_corpus(top):
    """Files of ten kinds, one in fifty damaged, one in seventy with XMP data that are not true."""
    sound = [ct.write(ct.Picture.from_pixels(pictures.pixels(160 + index, 120, seed=index), 75))
             for index in range(10)]
    untrue = pictures.xmp([("MotionPhoto", "video/mp4", 12345)])
    files = {}
    for index in range(FILES):
        data = sound[index % 10]
        data = data[:200] if index % 50 == 49 else data
        if index % 70 == 1:
            data = data[:2] + untrue + data[2:]
        files[f"{index % 7} \udcfe/{index:05d}\n.jpg"] = data
    pictures.write_all(top, files)


def contents(top):
    """{relative path: bytes} of all that a job has written."""
    found = {}
    for where, _, names in os.walk(os.fsencode(top)):
        for name in names:
            with open(os.path.join(where, name), "rb") as file:
                found[os.path.relpath(os.path.join(where, name), os.fsencode(top))] = file.read()
    return found


def dies_once(pipe, words):
    """local._serve of a process that is killed in the first call of all processes."""
    flag = os.path.join(json.loads(words)[3], folder.OWN, "died")
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        local._serve(pipe, words)
        return
    worker.Worker().do(words, pipe.recv()[:1])
    os.kill(os.getpid(), signal.SIGKILL)


def always_dies(pipe, words):
    pipe.recv()
    os._exit(3)


def fails(pipe, words):
    with mock.patch.object(worker.Worker, "do", side_effect=MemoryError):
        local._serve(pipe, words)


class Local(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.top = made.name
        cls.input = os.path.join(cls.top, "input")
        write_corpus(cls.input)
        cls.files = folder.list_files(cls.input)
        cls.wanted = cls.run_job("wanted", "--workers", "1")

    @classmethod
    def target(cls, name):
        return os.path.join(cls.top, name)

    @classmethod
    def start(cls, name, *options):
        return subprocess.Popen(
            [sys.executable, "-c", WITHOUT_RAY, "repack", cls.input, cls.target(name), *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    @classmethod
    def run_job(cls, name, *options):
        running = cls.start(name, *options)
        said = running.communicate(timeout=100)
        if running.returncode:
            raise AssertionError(said)
        return contents(cls.target(name))

    def spread(self, name, workers=2, serve=None, together=2):
        """local.spread of a whole job in this process. Returns its output."""
        output, said = folder.Output(self.target(name)), []
        self.addCleanup(output.release)
        output.claim({"action": "repack", "options": {}, "input": self.input}, self.files)
        parts = [self.files[at:at + folder.CHUNK] for at in range(0, FILES, folder.CHUNK)]
        words = worker.words_of("repack", {}, self.input, output.path, "cpu")
        chunks = [(number, b"\0".join(names)) for number, names in enumerate(parts)]
        with mock.patch.object(local, "_serve", serve or local._serve), \
                mock.patch.object(local, "together", lambda *_: together):
            local.spread(words, chunks, workers, "cpu", said.append)
        output.release()
        return said

    def wait_for_chunks(self, name, least):
        end, done = time.monotonic() + 60, set()
        while len(done) < least:
            self.assertLess(time.monotonic(), end)
            time.sleep(.01)
            try:
                done = folder.Output(self.target(name)).done()
            except FileNotFoundError:
                pass
        return done

    def test_results(self):
        summary = json.loads(self.wanted[b"summary.json"])
        bad, warned = FILES // 50, len(range(1, FILES, 70))
        self.assertEqual((summary["files"], summary["bad"], summary["warned"]),
                         (FILES, bad, warned))
        self.assertEqual(len(self.wanted[b"failures.jsonl"].splitlines()), bad)
        for line in self.wanted[b"warnings.jsonl"].splitlines():
            row = json.loads(line)
            self.assertIn("XMP", " ".join(row["warnings"]))
            self.assertEqual(int(row["path"][-10:-5]) % 70, 1)
        self.assertEqual(self.wanted[b"warnings.jsonl"].count(b"\n"), warned)
        self.assertEqual(sum(name.endswith(b".jpg") for name in self.wanted), FILES - bad)

    def test_workers_make_the_same_bytes(self):
        self.assertEqual(self.run_job("three", "--workers", "3"), self.wanted)
        self.assertEqual(self.run_job("each core"), self.wanted)

    @unittest.skipUnless(have_ray(), "no Ray")
    def test_ray_makes_the_same_bytes(self):
        subprocess.run([sys.executable, "-m", "cudatransform.corpus", "repack", self.input,
                        self.target("ray"), "--workers", "2"], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(contents(self.target("ray")), self.wanted)

    def test_interrupted(self):
        """By Ctrl-C, which goes to all processes: one line, no traceback, no process remains."""
        running = self.start("interrupted", "--workers", "2")
        self.wait_for_chunks("interrupted", 2)
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate(timeout=60)[1]
        self.assertEqual(running.returncode, 130, said)
        self.assertRegex(said, r"(?s)\A800 files; 800 to do\n([\d]+ of [^\n]*\n)?interrupted: the "
                               r"same command resumes the job\n\Z")
        self.assert_no_process_of(running.pid)
        self.goes_on("interrupted")

    def test_killed(self):
        running = self.start("killed", "--workers", "2")
        self.wait_for_chunks("killed", 2)
        running.kill()
        running.communicate(timeout=60)
        self.assert_no_process_of(running.pid)
        self.goes_on("killed")

    def goes_on(self, name):
        output = folder.Output(self.target(name))
        before = {number: output.done_at(number) for number in output.done()}
        self.assertLess(len(before), -(-FILES // folder.CHUNK))
        self.assertEqual(self.run_job(name), self.wanted)
        self.assertEqual({number: output.done_at(number) for number in before}, before)

    def assert_no_process_of(self, session):
        end = time.monotonic() + 30
        while True:
            try:
                os.killpg(session, 0)
            except ProcessLookupError:
                return
            self.assertLess(time.monotonic(), end, "processes are left")
            time.sleep(.05)

    def test_a_worker_dies(self):
        for together, words in ((3, r". It did files from '.*\.jpg' to '.*\.jpg', which another "
                                     r"does again"), (1, "")):
            name = f"dies {together}"
            said = self.spread(name, serve=dies_once, together=together)
            self.assertEqual(len(said), 1)
            self.assertRegex(said[0], r"^a worker was killed by SIGKILL, as by Linux where memory "
                                      rf"runs out \(fewer --workers take less\){words}$")
            self.assertEqual(multiprocessing.active_children(), [])
            os.unlink(os.path.join(self.target(name), folder.OWN, "died"))
            # Nothing is left to do but the end.
            self.assertEqual(self.run_job(name), self.wanted)

    def test_workers_die_of_the_same_files(self):
        first = os.fsdecode(self.files[0])
        with self.assertRaises(folder.OutputError) as raised:
            self.spread("always", workers=1, serve=always_dies)
        self.assertIn(f"ended with status 3. It did files from {first!r}", str(raised.exception))
        self.assertIn("one that died before", str(raised.exception))
        self.assertEqual(multiprocessing.active_children(), [])

    def test_errors_of_workers(self):
        with self.assertRaisesRegex(folder.OutputError, "^MemoryError$"):
            self.spread("fails", serve=fails)
        os.makedirs(self.target("full"))
        self.spread("full")  # makes the notes' folder
        output = folder.Output(self.target("full"))
        os.unlink(output._note_of(0))
        obstacle = os.path.join(output.path, os.fsdecode(self.files[0]))
        os.unlink(obstacle)
        os.mkdir(obstacle)
        with self.assertRaisesRegex(folder.OutputError, "cannot be written.*Is a directory"):
            self.spread("full")
        self.assertEqual(multiprocessing.active_children(), [])

    def test_gpus_by_turns(self):
        self.assertEqual(local._devices_of("cpu"), ["cpu"])
        with mock.patch.object(local, "driver") as driver:
            driver.return_value.devices.return_value = ["a GPU", "another"]
            self.assertEqual(local._devices_of("cuda"), ["cuda:0", "cuda:1"])
            driver.return_value.devices.return_value = []
            with self.assertRaisesRegex(ct.Unavailable, "no GPU"):
                local._devices_of("cuda")


class Which(unittest.TestCase):
    """Whether a job is Ray's, by what can be imported."""

    def spread(self, address=None, **modules):
        said = []
        with mock.patch.dict(sys.modules, modules), \
                mock.patch.object(job.on_ray, "spread") as on_ray, \
                mock.patch.object(job.local, "spread") as here:
            job._spread("job", [(0, b"a")], address, 2, "cpu", said.append)
        self.assertNotEqual(on_ray.called, here.called)
        return on_ray.called, said

    def test_ray_where_it_is(self):
        there = {"ray": mock.MagicMock(), "ray.data": mock.MagicMock()}
        self.assertEqual(self.spread(**there), (True, []))
        self.assertEqual(self.spread("head:6379", **there), (True, []))

    def test_processes_without(self):
        self.assertEqual(self.spread(**{"ray": None}), (False, []))

    def test_a_ray_that_lacks_something(self):
        lacking = {"ray": mock.MagicMock(), "ray.data": None}
        on_ray, said = self.spread(**lacking)
        self.assertFalse(on_ray)
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], "Ray cannot be imported: .*ray.data")


class Arguments(unittest.TestCase):
    def test_errors(self):
        for arguments, words in ((["crop"], "crop needs --crop WIDTHxHEIGHT[+]LEFT[+]TOP"),
                                 (["crop", "--crop", "9x9"], "--crop must be WIDTHx.*, not '9x9'"),
                                 (["repack", "--crop", "9x9+0+0"], "--crop belongs to crop"),
                                 (["requantize"], "requantize needs --quality, 1 to 100"),
                                 (["requantize", "--quality", "0"], "must be 1 to 100, not '0'"),
                                 (["requantize", "--quality", "high"], "1 to 100, not 'high'"),
                                 (["shrink", "--target-size", "-1"], "4294967295, not '-1'"),
                                 (["stats", "--quality", "9"], "--quality belongs to requantize"),
                                 (["repack", "--target-size", "9"], "belongs to shrink"),
                                 (["repack", "--trim"], "--trim belongs to transpose")):
            action, *options = arguments
            with mock.patch("sys.argv", ["corpus", action, "in", "out", *options]), mock.patch(
                    "sys.stderr", io.StringIO()) as said, self.assertRaises(SystemExit):
                main()
            self.assertRegex(said.getvalue(), f"error: .*{words}\n$")


class Needs(unittest.TestCase):
    """Packages that an action takes are asked for before its work, with what pip installs."""

    def refusal(self, action, address=None, **modules):
        with tempfile.TemporaryDirectory() as top, mock.patch.dict(sys.modules, modules):
            target = os.path.join(top, "out")
            with self.assertRaises(ImportError) as raised:
                job.run(action, top, target, {}, address)
            self.assertFalse(os.path.exists(target))
        return str(raised.exception)

    def test_pyarrow(self):
        for action in ("stats", "export"):
            said = self.refusal(action, pyarrow=None)
            self.assertRegex(said, rf"^{action} needs pyarrow \(.*\): pip install 'pyarrow>=\d+'$")

    def test_a_cluster(self):
        said = self.refusal("repack", "head:6379", ray=None)
        self.assertRegex(said, r"^--address needs ray \(.*\): pip install 'ray\[data\]>=")

    def test_the_command_prints_it(self):
        with tempfile.TemporaryDirectory() as top:
            done = subprocess.run(
                [sys.executable, "-c", WITHOUT_RAY, "repack", top, os.path.join(top, "out"),
                 "--address", "head:6379"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("pip install 'ray[data]", done.stderr)

    @unittest.skipUnless(os.path.exists(PROJECT), "no pyproject.toml")
    def test_extras_are_the_same(self):
        with open(PROJECT, encoding="utf-8") as file:
            extras = dict(re.findall(r"^(\w+) = (\[.*\])$", file.read(), re.MULTILINE))
        for name, extra in (("pyarrow", "corpus"), ("ray", "ray")):
            self.assertEqual(tuple(json.loads(extras[extra])), job.REQUIREMENTS[name])
        docs, pages = os.path.join(os.path.dirname(PROJECT), "../docs"), {}
        for name in ("python.md", "tutorial-corpus.md"):
            with open(os.path.join(docs, name), encoding="utf-8") as file:
                pages[name] = file.read()
            named = re.findall(r"(?:/python|`)\[([a-z]+)\]['`]", pages[name])
            self.assertLessEqual({"corpus", "ray"}, set(named))
            self.assertLessEqual(set(named), set(extras))
        for name in job.REQUIREMENTS:
            self.assertIn(job.remedy(name), pages["tutorial-corpus.md"])


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


class Bar(unittest.TestCase):
    def drawn(self, is_terminal, columns=80):
        screen = Screen(is_terminal)
        terminal = progress.Terminal(screen)
        with mock.patch("shutil.get_terminal_size", return_value=os.terminal_size((columns, 24))):
            terminal.say("4 files; 4 to do")
            terminal.show(.25, "1 of 4 files")
            terminal.say("a line")
            terminal.show(1., "4 of 4 files")
        terminal.end()
        return screen.getvalue()

    def test_lines_of_a_file(self):
        self.assertEqual(self.drawn(False),
                         "4 files; 4 to do\n1 of 4 files\na line\n4 of 4 files\n")

    def test_a_terminal(self):
        first, last = f"[{'#' * 6}{'.' * 18}] 1 of 4 files", f"[{'#' * 24}] 4 of 4 files"
        clear = "\r\x1b[K"
        self.assertEqual(self.drawn(True), f"4 files; 4 to do\n{first}{clear}a line\n{first}{clear}"
                                           f"{last}{clear}{last}\n")
        self.assertNotIn("1 of 4", self.drawn(True, 25))


if __name__ == "__main__":
    unittest.main(verbosity=2)
