#!/usr/bin/env python3
# `python -m cudatransform.corpus` with Ray and without: numbers of workers, a killed run or node.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: corpus_job_test.py       CUDATRANSFORM_TEST_FILES: how many there are (10000)
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pyarrow.parquet

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import cudatransform as ct  # noqa: E402
from cudatransform.corpus import folder  # noqa: E402
from corpus_local_test import WITHOUT_RAY, contents  # noqa: E402
import pictures  # noqa: E402

FILES = int(os.environ.get("CUDATRANSFORM_TEST_FILES", 10000))


def write_corpus(top):
    """Thousands of files in tens of folders with odd names, one in fifty damaged."""
    sound = [ct.write(ct.Picture.from_pixels(pictures.pixels(60 + index, 50, seed=index), 75))
             for index in range(20)]
    files = {}
    for index in range(FILES):
        where = f"{index % 40} \u00fc\udcfe/{'a b' if index % 3 else '-rf'}"
        data = sound[index % 20]
        files[f"{where}/{index:05d}'\n\udcff.jpg"] = data[:200] if index % 50 == 49 else data
    pictures.write_all(top, files)


def command(action, source, target, *options):
    return [sys.executable, "-m", "cudatransform.corpus", action, source, target, *options]


def done_chunks(target):
    try:
        return len(folder.Output(target).done())
    except FileNotFoundError:
        return 0


def times_of_chunks(target):
    """{chunk: nanoseconds} of the chunks that are done."""
    output = folder.Output(target)
    return {number: output.done_at(number) for number in output.done()}


class Job(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.input = os.path.join(cls.folder.name, "input")
        write_corpus(cls.input)
        cls.wanted = cls.run_job("repack", "wanted", "--workers", "1")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def target(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def run_job(cls, action, name, *options):
        subprocess.run(command(action, cls.input, cls.target(name), *options), check=True,
                       timeout=300, stdout=subprocess.DEVNULL)
        return contents(cls.target(name))

    def wait_for_chunks(self, name, least):
        end = time.monotonic() + 120
        while done_chunks(self.target(name)) < least:
            self.assertLess(time.monotonic(), end)
            time.sleep(.01)

    def test_results(self):
        summary = json.loads(self.wanted[b"summary.json"])
        self.assertEqual((summary["files"], summary["bad"]), (FILES, FILES // 50))
        failures = self.wanted[b"failures.jsonl"].splitlines()
        self.assertEqual(len(failures), FILES // 50)
        names = folder.list_files(self.input)
        bad = {os.fsencode(json.loads(line)["path"]) for line in failures}
        for name in names:
            self.assertEqual(name in self.wanted, name not in bad)
        some = names[0]
        self.assertTrue(pictures.equal(
            ct.read(self.wanted[some]), ct.read(os.path.join(self.input, os.fsdecode(some)))))

    def test_two_workers_make_the_same_bytes(self):
        self.assertEqual(self.run_job("repack", "two", "--workers", "2"), self.wanted)

    def test_without_ray(self):
        """On local processes the results of all actions are the same."""
        wanted = {"repack": self.wanted}
        for action, options in (("repack", ()), ("stats", ()), ("export", ()),
                                ("shrink", ("--target-size", "1500"))):
            if action not in wanted:
                wanted[action] = self.run_job(action, f"{action} on Ray", *options)
            name = f"{action} without"
            subprocess.run([sys.executable, "-c", WITHOUT_RAY, action, self.input,
                            self.target(name), "--workers", "3", *options], check=True,
                           timeout=300, stdout=subprocess.DEVNULL)
            self.assertEqual(contents(self.target(name)), wanted[action])

    def test_resumed_after_sigkill(self):
        job = subprocess.Popen(
            command("repack", self.input, self.target("killed"), "--workers", "1"),
            start_new_session=True, stdout=subprocess.DEVNULL)
        self.wait_for_chunks("killed", 2)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        written = times_of_chunks(self.target("killed"))
        print(f"killed with {len(written)} of {-(-FILES // folder.CHUNK)} chunks done")
        self.assertLess(len(written), -(-FILES // folder.CHUNK))
        self.assertEqual(self.run_job("repack", "killed", "--workers", "2"), self.wanted)
        after = times_of_chunks(self.target("killed"))
        self.assertEqual({number: after[number] for number in written}, written)  # not done again

    def test_a_node_dies(self):
        from ray.cluster_utils import Cluster
        cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 1, "include_dashboard": False})
        try:
            second = cluster.add_node(num_cpus=1)
            job = subprocess.Popen(
                command("repack", self.input, self.target("node"), "--workers", "2", "--address",
                        cluster.address), stdout=subprocess.DEVNULL)
            self.wait_for_chunks("node", max(3, FILES // folder.CHUNK // 3))
            cluster.remove_node(second, allow_graceful=False)
            print(f"node killed with {done_chunks(self.target('node'))} chunks done")
            self.assertEqual(job.wait(300), 0)
            self.assertEqual(contents(self.target("node")), self.wanted)
        finally:
            cluster.shutdown()

    def test_stats_and_export(self):
        made = self.run_job("stats", "stats")
        path = os.path.join(self.target("stats"), "stats.parquet")
        table = pyarrow.parquet.read_table(path).to_pydict()
        self.assertEqual(len(table["path"]), FILES - FILES // 50)
        self.assertEqual(set(table["quality"]), {75})
        self.assertNotIn(b"coefficients-000000.parquet", made)
        self.run_job("export", "export")
        shards = sorted(name for name in os.listdir(self.target("export"))
                        if name.endswith(".parquet"))
        self.assertEqual(len(shards), -(-FILES // folder.CHUNK))
        row = pyarrow.parquet.read_table(
            os.path.join(self.target("export"), shards[0])).to_pylist()[0]
        picture = ct.read(os.path.join(self.input, os.fsdecode(row["path"])))
        self.assertEqual(row["coefficients"],
                         [c.coefficients.tobytes() for c in picture.components])
        self.assertEqual(row["tables"], [table.tobytes() for table in picture.tables])
        self.assertEqual((row["attachments"], row["trailer"]), ([], b""))

    def test_what_holds_something_else_is_refused(self):
        said = subprocess.run(command("stats", self.input, self.target("wanted")),
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn("action", said.stderr)
        self.assertEqual(contents(self.target("wanted")), self.wanted)


if __name__ == "__main__":
    unittest.main(verbosity=2)
