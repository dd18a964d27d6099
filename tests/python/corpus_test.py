#!/usr/bin/python3
# cudatransform.corpus without Ray: the actions on a picture, and their workers.
# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.util
import os
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np

import cudatransform as ct
from cudatransform.corpus import actions, folder, on_ray, progress, worker
import pictures


def lacks_pyarrow():
    return importlib.util.find_spec("pyarrow") is None


class WithCorpus(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.top = made.name
        self.input = os.path.join(self.top, "in put")
        self.output = folder.Output(os.path.join(self.top, "out"))
        self.addCleanup(lambda: self.output.release())
        files = {}
        for index in range(6):
            sampling = ("4:2:0", "gray", "rgb", "cmyk", "4:2:0", "YCCK-4:2:2")[index]
            array = pictures.pixels(90 + index, 70, pictures.channels_of(sampling), index)
            picture = ct.Picture.from_pixels(array, 30 + 10 * index, sampling)
            files[f"f {index % 2}/\udcff{index}\n.JPG"] = ct.write(picture)
        files["f 0/bad.jpeg"] = b"no picture"
        files["f 0/notes.txt"] = b"not looked at"
        pictures.write_all(self.input, files)
        self.names = folder.list_files(self.input)

    def do(self, action, **options):
        self.output.release()
        self.claim(self.output, action, **options)
        return self.do_claimed(action, self.output, 0, self.names, **options)

    def do_claimed(self, action, output, number, names, **options):
        root = os.fsencode(self.input)
        items = actions.read_files(root, names)
        actions.do_chunk(action, options, root, number, names, output, items)
        return output.counts(number)

    def claim(self, output, action, source=None, **options):
        job = {"action": action, "options": options, "input": source or self.input}
        output.claim(job, self.names)

    def claimed(self, name):
        output = folder.Output(os.path.join(self.top, name))
        self.addCleanup(output.release)
        self.claim(output, "stats")
        return output

    def rows(self, *parts, output=None):
        return [row for number, names in enumerate(parts or (self.names,))
                for row in (output or self.output).rows_of(number, names)]

    def path(self, root, name):
        return os.path.join(root, os.fsdecode(name))


class Actions(WithCorpus):
    def test_list(self):
        self.assertEqual(len(self.names), 7)
        self.assertEqual(self.names, sorted(self.names))
        for name, words in (("none", "No such file or directory"), ("file", "Not a directory")):
            pictures.write_all(self.top, {"file": b""})
            with self.assertRaisesRegex(folder.FolderError, f"{name}: {words}$"):
                folder.list_files(os.path.join(self.top, name))

    def test_stats(self):
        self.assertEqual(self.do("stats"), (7, 1))
        for name, row in zip(self.names, self.rows()):
            self.assertEqual(os.fsencode(row["path"]), name)
            if b"bad" in name:
                self.assertIn("JPEG", row["reason"])
                continue
            index = int(chr(name[5]))
            picture = ct.read(self.path(self.input, name))
            self.assertEqual(row["quality"], 30 + 10 * index)
            self.assertEqual((row["width"], row["height"], row["sampling"], row["process"]),
                             (90 + index, 70, picture.sampling, "baseline"))
            self.assertAlmostEqual(row["zero_share"], float(np.concatenate(
                [c.coefficients.ravel() == 0 for c in picture.components]).mean()))
            self.assertEqual(row["bytes"], os.path.getsize(self.path(self.input, name)))
            self.assertEqual(row["irregular"], "")

    def test_stats_of_an_irregular_file(self):
        path = self.path(self.input, self.names[-1])
        with open(path, "ab") as file:
            file.truncate(os.path.getsize(path) - 2)
        self.do("stats")
        self.assertEqual([row["irregular"] for row in self.rows() if "irregular" in row],
                         [""] * 5 + ["missing-eoi"])

    def test_twelve_bits(self):
        coefs = np.arange(-64, 64, dtype=np.int16).reshape(1, 2, 8, 8)
        deep = pictures.twelve_bits([coefs], 16, 8, np.full((8, 8), 500, np.uint16))
        pictures.write_all(self.input, {"deep.jpg": deep})
        self.names = [b"deep.jpg"]
        self.do("stats")
        self.assertEqual([(row["depth"], row["process"]) for row in self.rows()],
                         [(12, "extended")])
        for action, options in (("repack", {}), ("requantize", {"quality": 40})):
            self.output.release()
            self.output = folder.Output(os.path.join(self.top, action))
            os.makedirs(self.output.path)
            self.assertEqual(self.do(action, **options), (1, 0))
            written = self.path(self.output.path, b"deep.jpg")
            self.assertLess(os.path.getsize(written), len(deep))
            picture = ct.read(written)
            self.assertEqual(picture.depth, 12)
            np.testing.assert_array_equal(picture[0], coefs)

    def test_bad_input(self):
        bad = dict(pictures.bad_files())
        pictures.write_all(self.input, {f"f 1/{name}": data for name, (data, _) in bad.items()})
        secret = os.path.join(self.input, "f 1", "secret.jpg")
        pictures.write_all(self.input, {"f 1/secret.jpg": pictures.tiny()})
        os.chmod(secret, 0)
        self.names = folder.list_files(self.input)
        # One has become a folder since the listing, and one was removed.
        self.names += [b"f 1", b"f 1/gone.jpg"]
        bad.update({"secret.jpg": (b"", "Permission denied"), "f 1": (b"", "directory"),
                    "gone.jpg": (b"", "No such file"), "bad.jpeg": (b"", "JPEG")})
        for action, options in (("stats", {}), ("repack", {}), ("requantize", {"quality": 40}),
                                ("export", {})):
            if action == "export" and lacks_pyarrow():
                continue
            self.output.release()
            self.output = folder.Output(os.path.join(self.top, action))
            os.makedirs(self.output.path)
            os.chmod(self.output.path, 0o777)
            os.chmod(self.top, 0o755)
            with pictures.as_nobody(self.input):
                self.assertEqual(self.do(action, **options), (len(self.names), len(bad)))
            rows = self.rows()
            self.assertEqual([os.fsencode(row["path"]) for row in rows], self.names)
            for row in rows:
                name = os.path.basename(row["path"]) if "/" in row["path"] else row["path"]
                if name in bad:
                    self.assertIn(bad[name][1], row["reason"])
                else:
                    self.assertNotIn("reason", row)  # no neighbor is lost

    def test_repack(self):
        self.assertEqual(self.do("repack"), (7, 1))
        for name, row in zip(self.names, self.rows()):
            before, after = (self.path(root, name) for root in (self.input, self.output.path))
            if "reason" in row:
                self.assertFalse(os.path.exists(after))
                continue
            self.assertTrue(pictures.equal(ct.read(after), ct.read(before)))
            self.assertEqual(os.path.getsize(after), row["bytes_after"])
            self.assertLessEqual(row["bytes_after"], row["bytes"])

    def test_requantize(self):
        self.do("requantize", quality=40)
        for name, row in zip(self.names, self.rows()):
            if "reason" in row:
                continue
            before = ct.read(self.path(self.input, name))
            after = ct.read(self.path(self.output.path, name))
            for index in range(len(before)):
                # Cb and Cr have a separate table.
                is_chroma = index in (1, 2) and before.sampling[0] == "Y"
                wanted = np.maximum(before.table(index), ct.quality_tables(40)[int(is_chroma)])
                self.assertTrue(np.array_equal(after.table(index), wanted))
                exact = before[index] * before.table(index).astype(float) / wanted
                self.assertLessEqual(abs(after[index] - exact).max(), .5)
                self.assertTrue((after[index][before[index] == 0] == 0).all())


    def test_turn(self):
        # The first is on its side, by its Exif data; the others are copied.
        first = self.path(self.input, self.names[1])
        exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
        picture = ct.read(first)
        picture.markers += pictures.segment(0xE1, exif)
        ct.write(picture, first)
        self.do("transpose", trim=True)
        for name, row in zip(self.names, self.rows()):
            if "reason" in row:
                continue
            with open(self.path(self.input, name), "rb") as before:
                with open(self.path(self.output.path, name), "rb") as after:
                    self.assertEqual(before.read() == after.read(), name != self.names[1])
        expected = picture.transpose("90r", trim=True)
        made = ct.read(self.path(self.output.path, self.names[1]))
        self.assertEqual((made.width, made.height), (expected.width, expected.height))
        self.assertTrue(np.array_equal(made[0], expected[0]))

    def test_crop(self):
        self.do("crop", crop=[16, 8, 75, 30])
        for name, row in zip(self.names, self.rows()):
            before = row.get("reason") or ct.read(self.path(self.input, name))
            if isinstance(before, str):
                continue
            expected = before.crop(pictures.box(16, 8, 75, 30))
            made = ct.read(self.path(self.output.path, name))
            self.assertTrue(pictures.equal(made, expected))
        # A part that is not there is a reason, and no file.
        self.assertIn("box ends at", " ".join(row.get("reason", "") for row in self.rows()))

    def test_shrink(self):
        self.do("shrink")
        for name, row in zip(self.names, self.rows()):
            before, after = (self.path(root, name) for root in (self.input, self.output.path))
            if "reason" in row:
                self.assertFalse(os.path.exists(after))
                continue
            self.assertEqual(os.path.getsize(after), row["bytes_after"])
            old, new = ct.read(before), ct.read(after)
            self.assertEqual(new.sampling, old.sampling)
            if "psnr" not in row:  # CMYK and YCCK
                self.assertEqual(row["bytes_after"], row["bytes"])
                self.assertTrue(pictures.equal(new, old))
                continue
            self.assertNotIn(old.sampling[:3], ("CMY", "YCC"))
            self.assertLess(row["bytes_after"], row["bytes"])
            self.assertGreater(row["psnr"], 25)
            self.assertAlmostEqual(row["psnr"], ct.psnr(old.pixels(), new.pixels()), delta=.01)
            for index in range(len(old)):
                self.assertTrue(np.array_equal(new.table(index), old.table(index)))
                self.assertGreaterEqual((new[index] == 0).sum(), (old[index] == 0).sum())

    def test_shrink_keeps_the_rest(self):
        whole = ct.read(self.path(self.input, self.names[1]))
        whole.markers, whole.trailer = b"\xff\xfe\x00\x06note", b"behind"
        pictures.write_all(self.input, {"whole.jpg": ct.write(whole)})
        self.names = [b"whole.jpg"]
        self.do("shrink")
        after = ct.read(self.path(self.output.path, b"whole.jpg"))
        self.assertTrue(after.markers.endswith(whole.markers))
        self.assertEqual(after.trailer, whole.trailer)
        self.assertIn("psnr", self.rows()[0])

    def test_shrink_leaves_zeros_in_tables(self):
        picture = ct.read(self.path(self.input, self.names[1]))
        picture.tables[0, 5, 5] = 0
        pictures.write_all(self.input, {"zero.jpg": ct.write(picture)})
        self.names = [b"zero.jpg"]
        self.do("shrink")
        self.assertNotIn("reason", self.rows()[0])
        self.assertTrue(pictures.equal(ct.read(self.path(self.output.path, b"zero.jpg")), picture))

    def test_shrink_takes_any_sampling_that_has_pixels(self):
        samplings = ("YCbCr-1x2,1x1,1x2", "RGB-2x2,2x2,1x1", "YCbCr-4x4,1x1,1x1",
                     "YCbCr-3x1,2x1,2x1", "2CLR-2x1,1x1")
        files = {f"{number}.jpg": ct.write(pictures.made_of(sampling, 75, 41, number))
                 for number, sampling in enumerate(samplings)}
        pictures.write_all(self.input, files)
        self.names = [name.encode() for name in files]
        self.do("shrink")
        for number, (sampling, row) in enumerate(zip(samplings, self.rows())):
            self.assertNotIn("reason", row)
            self.assertEqual("psnr" in row, number < 3, sampling)
            made = ct.read(self.path(self.output.path, self.names[number]))
            self.assertEqual(made.sampling, sampling)

    def test_shrink_to_a_size(self):
        sizes = {name: os.path.getsize(self.path(self.input, name)) for name in self.names}
        most = sorted(sizes.values())[-2]
        self.do("shrink", target_size=most)
        for name, row in zip(self.names, self.rows()):
            if "reason" in row:
                continue
            after = os.path.getsize(self.path(self.output.path, name))
            self.assertLessEqual(after, most)
            self.assertEqual(after == sizes[name], "psnr" not in row)
        self.output.release()
        self.output = folder.Output(os.path.join(self.top, "tiny"))
        os.makedirs(self.output.path)
        self.do("shrink", target_size=30)
        for row in self.rows():
            self.assertRegex(row["reason"], "^cannot be reduced to 30 bytes$|JPEG|"
                             "^shrink does not support (CMYK-4:4:4|YCCK-4:2:2) with 8 bits$")

    def test_shrink_to_a_size_by_own_tables(self):
        path = self.path(self.input, self.names[1])
        own = actions.shrunk(ct.read(path))
        self.names = self.names[1:2]
        self.do("shrink", target_size=len(ct.write(own, optimize=True)) + 10)
        self.assertTrue(pictures.equal(ct.read(self.path(self.output.path, self.names[0])), own))


class Warnings(WithCorpus):
    """Of each file: UserWarnings about a result, once each; none of a file without a result."""

    def warned(self, warn):
        def crop(picture, box):
            warn(picture)
            return picture.copy()
        with mock.patch.object(ct.Picture, "crop", crop):
            self.do("crop", crop=[0, 0, 8, 8])
        return [row.get("warnings") for row in self.rows() if "bad.jpeg" not in row["path"]]

    def test_texts(self):
        def warn(picture):
            for _ in range(2):
                warnings.warn(f"width {picture.width}")
            warnings.warn("another")
            warnings.warn("of a program", DeprecationWarning)
            warnings.warn("of a file that was not closed", ResourceWarning)
            if picture.width == 92:
                raise ValueError("no result")
        self.assertEqual(self.warned(warn), [
            None if width == 92 else [f"width {width}", "another"]
            for width in (90, 92, 94, 91, 93, 95)])
        self.assertIn("no result", [row.get("reason") for row in self.rows()])

    def test_a_caller_that_makes_them_errors(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(self.warned(lambda _: warnings.warn("text")), [["text"]] * 6)
            self.assertEqual(self.warned(lambda _: None), [None] * 6)

    def test_of_write(self):
        path = self.path(self.input, self.names[1])
        with open(path, "rb") as file:
            data = file.read()
        untrue = pictures.xmp([("MotionPhoto", "video/mp4", 12345)])
        pictures.write_all(self.input, {"a.jpg": data, "b.jpg": data[:2] + untrue + data[2:]})
        self.names = [b"a.jpg", b"b.jpg"]
        for action, options in (("repack", {}), ("requantize", {"quality": 20}), ("shrink", {})):
            self.output.release()
            self.output = folder.Output(os.path.join(self.top, action))
            self.do(action, **options)
            first, second = self.rows()
            self.assertNotIn("warnings", first)
            self.assertEqual(len(second["warnings"]), 1)
            self.assertIn("lengths", second["warnings"][0])


class OneReader(WithCorpus):
    def test_several_chunks_a_call_and_several_calls(self):
        self.do("stats")
        whole = self.claimed("whole")
        root, parts = os.fsencode(self.input), (self.names[:3], self.names[3:])
        items = actions.read_files(root, self.names)
        for number, part in enumerate(parts):
            actions.do_chunk("stats", {}, root, number, part, whole, items)
        self.assertEqual([whole.counts(number) for number in range(2)], [(3, 1), (4, 0)])
        self.assertEqual(list(items), [])
        self.assertEqual(self.rows(*parts, output=whole), self.rows())
        self.assertEqual([self.do_claimed("stats", whole, number, part)
                          for number, part in enumerate(parts)], [(3, 1), (4, 0)])
        self.assertEqual(self.rows(*parts, output=whole), self.rows())
        self.assertEqual(list(actions.read_files(root, [])), [])

    def test_shares_of_gpus(self):
        self.assertEqual([on_ray._share(*gpus) for gpus in ((0., 4), (1., 16), (8., 4), (1., 3))],
                         [None, .0625, 1., .3333])


class Worker(WithCorpus):
    def setUp(self):
        super().setUp()
        # More than a Reader decodes ahead.
        pictures.write_all(self.input, {f"more/{index:02d}.jpg": ct.write(ct.Picture.from_pixels(
            pictures.pixels(60 + index, 50, seed=index), 75)) for index in range(20)})
        self.names = folder.list_files(self.input)
        self.do("stats")
        self.wanted = self.rows()
        self.output.release()
        self.output = self.claimed("out of a worker")
        self.worker = on_ray.Actor()
        job = worker.words_of("stats", {}, self.input, self.output.path, "cpu")
        parts = self.parts = self.names[:3], self.names[3:17], self.names[17:]
        self.batch = {"number": np.arange(3), "job": np.array([job] * 3),
                      "names": np.array([b"\0".join(part) for part in parts], object)}

    def part(self, *numbers):
        return {name: column[list(numbers)] for name, column in self.batch.items()}

    def test_does_what_is_missing(self):
        self.worker(self.part(1))
        self.assertEqual(self.output.done(), {1})
        before = self.output.done_at(1)
        self.worker(self.batch)
        self.assertEqual(self.output.done(), {0, 1, 2})
        self.assertEqual(self.output.done_at(1), before)
        self.assertEqual(self.rows(*self.parts), self.wanted)

    def test_goes_on_after_what_cannot_be_written(self):
        parts = os.path.join(self.output.own, "parts")
        os.rmdir(parts)
        with self.assertRaises(folder.OutputError):
            self.worker(self.batch)
        os.mkdir(parts)
        self.worker(self.batch)
        self.assertEqual(self.rows(*self.parts), self.wanted)

    def test_progress_is_what_this_run_has_done(self):
        self.worker(self.part(0))
        said, files = [], len(self.names) - 3
        bad = [sum("reason" in row for row in rows)
               for rows in (self.wanted[3:17], self.wanted[17:])]
        shown = progress.Progress(
            self.output, {0}, files, lambda share, told: said.append(told))
        shown.look()
        self.assertEqual(said, [])
        self.worker(self.part(1))
        shown.look()
        self.assertEqual(said, [f"14 of {files} files, {bad[0]} bad"])
        with shown:
            self.worker(self.part(2))
        self.assertRegex(said[1], fr"^{files} of {files} files, {sum(bad)} bad, "
                                  r"[1-9]\d* files/s, 0 s left$")
        self.assertEqual(len(said), 2)

    def test_counts(self):
        name = 'a", "reason": "none.jpg'
        self.output.finish_chunk(0, [{"path": name}, {"path": "b", "reason": name}])
        self.assertEqual(self.output.counts(0), (2, 1))

    def test_a_picture_of_another_file_is_none(self):
        others = actions.read_files(os.fsencode(self.input), self.names[1:])
        with self.assertRaisesRegex(RuntimeError, "came for"):
            actions.do_chunk("stats", {}, os.fsencode(self.input), 0, self.names[:1], self.output,
                             others)


if __name__ == "__main__":
    unittest.main(verbosity=2)
