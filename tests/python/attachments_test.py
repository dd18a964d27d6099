#!/usr/bin/python3
# Files of several pictures: the bytes after the first are read, written and kept by corpus jobs.
# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.util
import os
import pickle
import shutil
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import cudatransform as ct
from cudatransform import _encoding
from cudatransform.corpus import actions, folder
import pictures


def picture_of(width, height):
    return ct.write(ct.Picture.from_pixels(pictures.pixels(width, height), 80))


OTHERS = (picture_of(24, 16), picture_of(40, 40))
FILM = b"\0\0\0\x10ftypmp42\0\0\0\0" + b"film" * 50
FIRST = picture_of(64, 48)
XMP = pictures.xmp((("GainMap", "image/jpeg", len(OTHERS[0])),
                    ("MotionPhoto", "video/mp4", len(FILM))), len(FILM))
FILES = {
    "big": pictures.with_others(picture_of(64, 48), OTHERS),
    "little": pictures.with_others(picture_of(64, 48), OTHERS, "<", trailer=b"motion" * 30),
    "gaps": pictures.with_others(picture_of(64, 48), OTHERS, gap=b"\0" * 7),
    "trailer": picture_of(64, 48) + b"motion" * 50,
    "plain": FIRST,
    # A photograph with a gain map that moves.
    "photograph": pictures.with_others(FIRST[:20] + XMP + FIRST[20:], OTHERS[:1], "<",
                                       trailer=FILM),
}
WITH_TWO = ("big", "little", "gaps")
OTHERS_OF = {"photograph": OTHERS[:1], **{name: OTHERS for name in WITH_TWO}}
TRAILERS = {"little": b"motion" * 30, "trailer": b"motion" * 50, "photograph": FILM}


class Attachments(unittest.TestCase):
    def test_read_and_written(self):
        for name, data in FILES.items():
            with self.subTest(name):
                picture = ct.read(data)
                self.assertEqual(picture.attachments, OTHERS_OF.get(name, ()))
                self.assertEqual(picture.trailer, TRAILERS.get(name, b""))
                self.assertEqual(ct.write(picture), data)
                self.assertEqual(ct.write(pickle.loads(pickle.dumps(picture.copy()))), data)
        self.assertEqual(ct.read(ct.read(FILES["big"]).attachments[1]).width, 40)

    def test_other_sizes(self):
        for options in ({"progressive": True}, {"optimize": True}, {"arithmetic": True}):
            for name, others in OTHERS_OF.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    data = ct.write(ct.read(FILES[name]), **options)
                self.assertNotEqual(len(data), len(FILES[name]))
                self.assertEqual(pictures.others_of(data), list(others))
                if pictures.have_tools():
                    self.assertEqual(pictures.jpegtran(data), pictures.jpegtran(FILES[name]))

    @unittest.skipUnless(shutil.which("exiftool"), "no exiftool (libimage-exiftool-perl)")
    def test_exiftool_finds_them(self):
        with tempfile.TemporaryDirectory() as top:
            path = os.path.join(top, "made.jpg")
            for name, others in OTHERS_OF.items():
                for options in ({}, {"progressive": True}):
                    ct.write(ct.read(FILES[name]), path, **options)
                    for index, other in enumerate(others):
                        found = subprocess.run(
                            ("exiftool", "-b", f"-MPImage{index + 2}", path), check=True,
                            stdout=subprocess.PIPE).stdout
                        self.assertEqual(found, other)
                    told = subprocess.run(("exiftool", "-a", "-Warning", "-Error", path),
                                          check=True, stdout=subprocess.PIPE, text=True).stdout
                    self.assertNotIn("MP", told)

    def test_untrue_lengths_are_told(self):
        for change in ({"attachments": OTHERS[1:]}, {"trailer": b""}, {"trailer": FILM + b"more"},
                       {"gaps": (b"\0",)}):
            picture = ct.read(FILES["photograph"])
            for name, value in change.items():
                setattr(picture, name, value)
            for _ in range(2):
                with self.assertWarnsRegex(UserWarning, "XMP data") as told:
                    data = ct.write(picture)
                self.assertEqual(told.filename, __file__)
            self.assertEqual(ct.read(data).trailer, picture.trailer)

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
        with self.assertRaisesRegex(ct.WriteError, "3 pictures, expected 2"):
            ct.write(picture)
        for attachments, words in (((b"no JPEG",), "attachment 0.*not 6E 6F"),
                                   (OTHERS[:1] * 256, "255 attachments, not 256")):
            picture.attachments = attachments
            with self.assertRaisesRegex(ct.WriteError, words):
                ct.write(picture)
        picture.attachments = ("text",)
        with self.assertRaisesRegex(TypeError, "an attachment must be bytes, not str"):
            ct.write(picture)
        for name, value, words in (("attachments", None, "NoneType"), ("gaps", b"a", "bytes")):
            other = ct.read(FILES["plain"])
            setattr(other, name, value)
            with self.assertRaisesRegex(TypeError, f"^{name} must be a list .* not {words}$"):
                ct.write(other)
        picture.attachments, picture.trailer = (), None
        with self.assertRaisesRegex(TypeError, "a trailer must be bytes, not NoneType"):
            ct.write(picture)


    def test_what_would_not_be_read(self):
        """Attachments that a decoder does not take for one picture are not written."""
        whole = OTHERS[0]
        restarts = ct.encode(pictures.pixels(40, 30), restart=1, progressive=True)
        within = whole[:2] + pictures.segment(0xE1, b"Exif\0\0" + whole) + whole[2:]
        filled = whole[:-2] + b"\xff\xff\xff\xd9"
        sound = (whole, restarts, within, filled, whole + b"\0\xff\xd9 behind \xff",
                 bytearray(whole))
        for attachment in sound:
            for gaps, trailer in (((), b""), ((b"\xff\xd8\xff\xe0\0\4ab", whole), whole)):
                picture = ct.read(FIRST)
                picture.attachments, picture.gaps = (attachment, whole), gaps
                picture.trailer = trailer
                again = ct.read(ct.write(picture))
                self.assertEqual((again.attachments, again.gaps, again.trailer),
                                 ((attachment, whole), gaps or (b"", b""), trailer))
        damaged = {"attachment 1: a JPEG file is expected.*not": (b"", b"\xff", b"\0" + whole,
                                                                  b"\xff" + whole),
                   "attachment 1: a whole JPEG file.* no EOI": (
                       b"\xff\xd8", whole[:100], whole[:-1], whole[:-2], whole[:2] + whole,
                       whole[:2] + b"\xff\xe1\xff\xff" + whole[2:]),
                   "attachment 1: .*one JPEG picture.*another begins at byte": (
                       whole + whole, FILES["big"], within + b"\xff\xff\xd8", whole + b"\xff\xd8")}
        for words, attachments in damaged.items():
            for attachment in attachments:
                picture = ct.read(FIRST)
                picture.attachments = (whole, attachment)
                for make in (ct.write, lambda picture: picture.transpose("90r")):
                    with self.subTest(words), self.assertRaisesRegex(ct.WriteError, words):
                        make(picture)
                with mock.patch.object(_encoding, "check_rest"):
                    try:  # so it is the decoder that does not take it
                        data = ct.write(picture)
                    except ct.WriteError:
                        continue
                self.assertEqual(ct.read(data).attachments, ())

    def test_gaps_without_an_attachment(self):
        for attachments, gaps, words in (
                (OTHERS[:1], (b"a", b"lost"), r"^gap 1 \(4 bytes\) has no attachment: there is 1$"),
                ((), (b"x",), r"^gap 0 \(1 byte\) has no attachment: there are 0$")):
            picture = ct.read(FIRST)
            picture.attachments, picture.gaps = attachments, gaps
            with self.assertRaisesRegex(ct.WriteError, words):
                ct.write(picture)
        picture = ct.read(FILES["big"])  # whose gaps have no bytes
        picture.attachments, picture.markers = (), b""
        self.assertEqual(ct.read(ct.write(picture)).gaps, ())

    def test_more_markers_than_are_read(self):
        one = pictures.segment(0xFE, b"\0" * 65531)
        for own, attachments, added in ((b"", (), 18), (pictures.xmp(()), OTHERS, 18 + 58 + 3 * 16),
                                        (pictures.segment(0xE1, b"Exif\0\0"), (), 0)):
            picture = ct.read(FIRST)
            picture.attachments = attachments
            count, rest = divmod((1 << 24) - added - len(own) - 4, len(one))
            for more in (0, 1):
                picture.markers = own + one * count + pictures.segment(0xFE, b"\0" * (rest + more))
                if more == 0:
                    self.assertIn(picture.markers, ct.read(ct.write(picture)).markers)
                    continue
                with self.assertRaisesRegex(ct.WriteError, "16777217 bytes.*more than 16777216"):
                    ct.write(picture)
                with mock.patch.object(_encoding, "check_rest"):
                    self.assertEqual(ct.read(ct.write(picture)).markers, b"")

    def test_a_file_of_a_missing_pictures_size(self):
        """After a file whose index is not true, others with the sizes that it names are read."""
        cut = FILES["big"][:-10]
        for _ in range(2):
            self.assertEqual(ct.read(cut).attachments, ())
            for other in OTHERS:
                self.assertEqual(ct.write(ct.read(other)), other)
            self.assertEqual(ct.decode(cut).shape, (48, 64, 3))
            for other in OTHERS:
                self.assertEqual(ct.decode(other).shape[2], 3)


class Corpus(unittest.TestCase):
    def test_actions(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        source = os.path.join(made.name, "in")
        pictures.write_all(source, {f"{name}.jpg": data for name, data in FILES.items()})
        names = folder.list_files(source)
        for action, options in (("repack", {}), ("requantize", {"quality": 40}), ("stats", {})):
            output = folder.Output(os.path.join(made.name, action))
            self.addCleanup(output.release)
            output.claim({"action": action, "options": options, "input": source}, names)
            actions.do_chunk(action, options, os.fsencode(source), 0, names, output,
                             actions.read_files(os.fsencode(source), names))
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
                    self.assertEqual(pictures.others_of(data), list(before.attachments))
                if action == "repack" and pictures.have_tools():
                    stem = os.fsdecode(name)[:-4]
                    self.assertEqual(pictures.jpegtran(data), pictures.jpegtran(FILES[stem]))

    def test_export(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        source = os.path.join(made.name, "in")
        pictures.write_all(source, {f"{name}.jpg": data for name, data in FILES.items()})
        names = folder.list_files(source)
        output = folder.Output(os.path.join(made.name, "export"))
        self.addCleanup(output.release)
        output.claim({"action": "export", "options": {}, "input": source}, names)
        items = actions.read_files(os.fsencode(source), names)
        shard = os.path.join(output.path, "coefficients-000000.parquet")
        if importlib.util.find_spec("pyarrow") is None:
            # The rows are what pyarrow would be given.
            with mock.patch.object(actions, "parquet", pickle.dumps):
                actions.do_chunk("export", {}, os.fsencode(source), 0, names, output, items)
            with open(shard, "rb") as file:
                rows = pickle.load(file)
        else:
            import pyarrow.parquet
            actions.do_chunk("export", {}, os.fsencode(source), 0, names, output, items)
            rows = pyarrow.parquet.read_table(shard).to_pylist()
            # Shards have one schema, whether or not their files have attachments.
            schemas = [pyarrow.parquet.read_schema(pyarrow.BufferReader(actions.parquet(part)))
                       for part in (rows, [dict(row, attachments=[]) for row in rows])]
            self.assertEqual(*schemas)
        self.assertEqual([row["path"] for row in rows], names)
        for row in rows:
            stem = os.fsdecode(row["path"])[:-4]
            self.assertEqual(row["attachments"], list(OTHERS_OF.get(stem, ())))
            self.assertEqual(row["trailer"], TRAILERS.get(stem, b""))
            picture = ct.read(FILES[stem])
            self.assertEqual(row["markers"], picture.markers)
            self.assertEqual(row["coefficients"],
                             [c.coefficients.tobytes() for c in picture.components])


if __name__ == "__main__":
    unittest.main(verbosity=2)
