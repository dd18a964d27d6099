#!/usr/bin/python3
# Files of several pictures: what stands behind the first is read, written and kept by corpus jobs.
# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import pickle
import tempfile
import unittest

import cudatransform as ct
from cudatransform.corpus import actions, folder
import pictures


def picture_of(width, height):
    return ct.write(ct.Picture.from_pixels(pictures.pixels(width, height), 80))


OTHERS = (picture_of(24, 16), picture_of(40, 40))
FILES = {
    "big": pictures.with_others(picture_of(64, 48), OTHERS),
    "little": pictures.with_others(picture_of(64, 48), OTHERS, "<", trailer=b"motion" * 30),
    "gaps": pictures.with_others(picture_of(64, 48), OTHERS, gap=b"\0" * 7),
    "trailer": picture_of(64, 48) + b"motion" * 50,
    "plain": picture_of(64, 48),
}


class Attachments(unittest.TestCase):
    def test_read_and_written(self):
        for name, data in FILES.items():
            with self.subTest(name):
                picture = ct.read(data)
                has_others = name in ("big", "little", "gaps")
                self.assertEqual(picture.attachments, OTHERS if has_others else ())
                self.assertEqual(picture.trailer,
                                 b"motion" * {"little": 30, "trailer": 50}.get(name, 0))
                self.assertEqual(ct.write(picture), data)
                self.assertEqual(ct.write(pickle.loads(pickle.dumps(picture.copy()))), data)
        self.assertEqual(ct.read(ct.read(FILES["big"]).attachments[1]).width, 40)

    def test_other_sizes(self):
        for options in ({"progressive": True}, {"optimize": True}, {"arithmetic": True}):
            for name in ("big", "little", "gaps"):
                data = ct.write(ct.read(FILES[name]), **options)
                self.assertNotEqual(len(data), len(FILES[name]))
                self.assertEqual(pictures.others_of(data), list(OTHERS))

    def test_reader(self):
        with tempfile.TemporaryDirectory() as top:
            paths = pictures.write_all(top, FILES)
            read = [picture for batch in ct.Reader(list(paths.values())) for picture in batch]
            self.assertEqual([ct.write(picture) for picture in read], list(FILES.values()))

    def test_own_ones(self):
        picture = ct.read(FILES["plain"])
        picture.attachments, picture.trailer = list(OTHERS[::-1]), bytearray(b"behind")
        data = ct.write(picture)
        self.assertEqual(pictures.others_of(data), list(OTHERS[::-1]))
        self.assertEqual(ct.read(data).trailer, b"behind")
        picture.attachments = ()
        self.assertNotIn(b"MPF", ct.write(picture))

    def test_wrong_ones(self):
        picture = ct.read(FILES["big"])
        picture.attachments = OTHERS[:1]
        with self.assertRaisesRegex(ct.WriteError, "3 pictures, where 2"):
            ct.write(picture)
        for attachments, words in (((b"no JPEG",), "attachment 0.*not 6E 6F"),
                                   (OTHERS[:1] * 256, "255 attachments, not 256")):
            picture.attachments = attachments
            with self.assertRaisesRegex(ct.WriteError, words):
                ct.write(picture)
        picture.attachments = ("text",)
        with self.assertRaisesRegex(TypeError, "an attachment is bytes, not str"):
            ct.write(picture)
        picture.attachments, picture.trailer = (), None
        with self.assertRaisesRegex(TypeError, "a trailer is bytes, not NoneType"):
            ct.write(picture)


class Corpus(unittest.TestCase):
    def test_actions(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        source = os.path.join(made.name, "in")
        pictures.write_all(source, {f"{name}.jpg": data for name, data in FILES.items()})
        names = folder.list_files(source)
        reader = actions.WorkerReader()
        self.addCleanup(reader.close)
        for action, options in (("repack", {}), ("requantise", {"quality": 40}), ("stats", {})):
            output = folder.Output(os.path.join(made.name, action))
            self.addCleanup(output.release)
            output.claim({"action": action, "options": options, "input": source}, names)
            actions.do_chunk(action, options, os.fsencode(source), 0, names, output,
                             reader.read(os.fsencode(source), names))
            rows = output.rows_of(0, names)
            for name, row in zip(names, rows):
                self.assertNotIn("reason", row)
                before = ct.read(os.path.join(source, os.fsdecode(name)))
                if action == "stats":
                    self.assertEqual(row["attachments"], len(before.attachments))
                    self.assertEqual(row["attachment_bytes"], sum(map(len, before.attachments)))
                    self.assertEqual(row["trailer_bytes"], len(before.trailer))
                    continue
                with open(os.path.join(output.path, os.fsdecode(name)), "rb") as file:
                    data = file.read()
                after = ct.read(data)
                self.assertEqual((after.attachments, after.trailer, after.gaps),
                                 (before.attachments, before.trailer, before.gaps))
                if before.attachments:
                    self.assertEqual(pictures.others_of(data), list(OTHERS))


if __name__ == "__main__":
    unittest.main(verbosity=2)
