#!/usr/bin/python3
# Where files are written to: paths get whole files or keep the old ones, raw files get all bytes.
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import errno
import io
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import cudatransform as ct
from cudatransform import _store
import pictures

PICTURE = ct.Picture.from_pixels(pictures.pixels(200, 150), 95)
DATA = ct.write(PICTURE)
OLD = b"the old file"


class Raw(io.RawIOBase):
    """Takes `step` bytes at a time, and after `most` of them returns `then`."""

    def __init__(self, step, most=1 << 30, then=None):
        super().__init__()
        self.step, self.most, self.then, self.taken = step, most, then, bytearray()

    def writable(self):
        return True

    def write(self, data):
        taken = bytes(data[:min(self.step, self.most - len(self.taken))])
        self.taken += taken
        return len(taken) if taken else self.then


class Objects(unittest.TestCase):
    def test_short_writes(self):
        for step in (1, 1000, len(DATA) - 1, len(DATA), len(DATA) + 1):
            target = Raw(step)
            self.assertEqual(ct.write(PICTURE, target), DATA)
            self.assertEqual(target.taken, DATA)
        target = Raw(7)
        self.assertEqual(ct.encode(pictures.pixels(40, 30), target), target.taken)

    def test_no_progress(self):
        for most in (0, 1000):
            with self.assertRaises(BlockingIOError) as raised:
                ct.write(PICTURE, Raw(600, most))
            self.assertEqual((raised.exception.errno, raised.exception.characters_written),
                             (errno.EAGAIN, most))
            for then in (0, -1):
                with self.assertRaisesRegex(OSError, f"{then} of {len(DATA) - most} bytes"):
                    ct.write(PICTURE, Raw(600, most, then))

    def test_pipes(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with open(writer, "wb", buffering=0) as target, open(reader, "rb") as source:
            large = ct.Picture.from_pixels(pictures.pixels(700, 500), 100)
            with self.assertRaises(BlockingIOError) as raised:
                ct.write(large, target)
            self.assertGreater(raised.exception.characters_written, 0)
            target.close()
            self.assertEqual(len(source.read()), raised.exception.characters_written)

    def test_other_objects(self):
        for result in (None, True, "text", object(), len(DATA), len(DATA) + 1):
            target = mock.Mock(spec=["write"])
            target.write.return_value = result
            ct.write(PICTURE, target)
            target.write.assert_called_once_with(DATA)
            self.assertIs(type(target.write.call_args[0][0]), bytes)
        with self.assertRaises(TypeError):
            ct.write(PICTURE, io.StringIO())
        for wrong in (1, True, 0, 2.5, object()):
            with self.assertRaisesRegex(TypeError, "target must be a path or a binary file, not "
                                        f"{type(wrong).__name__}$"):
                ct.write(PICTURE, wrong)


class Paths(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.path = self.old("picture.jpg")

    def old(self, name, mode=0o600):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_bytes(OLD)
        os.chmod(path, mode)
        return path

    def content(self, path):
        return pathlib.Path(path).read_bytes()

    def assert_only(self, *names):
        """No other file remains in the folder."""
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_modes(self):
        for mode in (0o600, 0o640, 0o755, 0o666):
            os.chmod(self.path, mode)
            ct.write(PICTURE, self.path)
            self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), mode)
        for mask in (0o022, 0o077, 0):
            before = os.umask(mask)
            try:
                new = os.path.join(self.folder, f"new-{mask}.jpg")
                ct.encode(pictures.pixels(9, 9), new)
            finally:
                os.umask(before)
            self.assertEqual(stat.S_IMODE(os.stat(new).st_mode), 0o666 & ~mask)

    def test_owners_and_attributes(self):
        if os.geteuid() == 0:
            os.chown(self.path, 65534, 65533)
        try:
            os.setxattr(self.path, "user.origin", b"a camera")
        except OSError:
            pass
        before = os.stat(self.path)
        kept = {name: os.getxattr(self.path, name) for name in os.listxattr(self.path)}
        ct.write(PICTURE, self.path)
        after = os.stat(self.path)
        self.assertEqual((after.st_uid, after.st_gid), (before.st_uid, before.st_gid))
        self.assertNotEqual(after.st_ino, before.st_ino)
        self.assertEqual({name: os.getxattr(self.path, name)
                          for name in os.listxattr(self.path)}, kept)

    def test_who_reads_the_old_file_has_it(self):
        with open(self.path, "rb") as file:
            os.link(self.path, self.path + ".link")
            ct.write(PICTURE, self.path)
            self.assertEqual((file.read(), self.content(self.path + ".link")), (OLD, OLD))
        self.assertEqual(self.content(self.path), DATA)
        self.assert_only("picture.jpg", "picture.jpg.link")

    def test_links(self):
        os.mkdir(os.path.join(self.folder, "far"))
        far = os.path.join(self.folder, "far", "new.jpg")
        for name, to in (("link", "picture.jpg"), ("again", "link"), ("absolute", self.path),
                         ("dangling", "far/new.jpg"), ("up", "far/../picture.jpg")):
            link = os.path.join(self.folder, name)
            os.symlink(to, link)
            final = far if name == "dangling" else self.old("picture.jpg")
            ct.write(PICTURE, link)
            self.assertEqual((os.readlink(link), self.content(final)), (to, DATA))
            self.assertFalse(os.path.islink(final))
        os.symlink("loop", os.path.join(self.folder, "loop"))
        with self.assertRaises(OSError) as raised:
            ct.write(PICTURE, os.path.join(self.folder, "loop"))
        self.assertEqual(raised.exception.errno, errno.ELOOP)

    def test_devices_and_pipes(self):
        ct.write(PICTURE, "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        with self.assertRaises(OSError) as raised:
            ct.write(PICTURE, "/dev/full")
        self.assertEqual(raised.exception.errno, errno.ENOSPC)
        pipe, got = os.path.join(self.folder, "pipe"), []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: got.append(self.content(pipe)))
        reader.start()
        ct.write(PICTURE, pipe)
        reader.join()
        self.assertEqual(got, [DATA])
        self.assert_only("picture.jpg", "pipe")

    def test_standard_output(self):
        """A file that others write to by the same name is not replaced."""
        code = ("import sys, cudatransform as ct\nct.write(ct.read(sys.argv[1]), '/dev/stdout')\n"
                "open('/dev/stdout', 'ab').write(b'more')")
        pathlib.Path(self.path).write_bytes(DATA)
        command, out = (sys.executable, "-c", code, self.path), os.path.join(self.folder, "out")
        self.assertEqual(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout,
                         DATA + b"more")
        with open(out, "wb") as file:
            subprocess.run(command, stdout=file, check=True)
            self.assertEqual(os.fstat(file.fileno()).st_ino, os.stat(out).st_ino)
        self.assertEqual(self.content(out), DATA + b"more")

    def test_a_full_disk(self):
        """The old file stays, and no part of the new one: by a limit on the sizes of files."""
        code = ("import resource, signal, sys, cudatransform as ct\n"
                "picture, limit = ct.read(sys.argv[1]), resource.RLIMIT_FSIZE\n"
                "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                "resource.setrlimit(limit, (5000, resource.RLIM_INFINITY))\n"
                "for target in (sys.argv[2], sys.argv[3], open(sys.argv[4], 'wb', buffering=0)):\n"
                "    try:\n        ct.write(picture, target)\n"
                "    except OSError as error:\n        print(error.errno)\n")
        source = os.path.join(self.folder, "source.jpg")
        pathlib.Path(source).write_bytes(DATA)
        paths = [os.path.join(self.folder, name) for name in ("picture.jpg", "new", "raw")]
        ran = subprocess.run((sys.executable, "-c", code, source, *paths), stdout=subprocess.PIPE,
                             check=True, text=True)
        self.assertEqual(ran.stdout.split(), [str(errno.EFBIG)] * 3)
        self.assertEqual((self.content(self.path), os.path.getsize(paths[2])), (OLD, 5000))
        self.assert_only("picture.jpg", "raw", "source.jpg")

    def test_what_cannot_be_replaced_is_written(self):
        for name in ("replace", "fchmod"):  # a file that something is mounted on; no permission
            self.old("picture.jpg")
            with mock.patch.object(os, name, side_effect=OSError(errno.EBUSY, "busy")):
                ct.write(PICTURE, self.path)
            self.assertEqual(self.content(self.path), DATA)
            self.assert_only("picture.jpg")

    def test_permissions(self):
        closed, folder = self.old("closed.jpg", 0o444), os.path.join(self.folder, "folder")
        os.chmod(self.path, 0o666)
        os.mkdir(folder)
        with pictures.as_nobody(self.folder), contextlib.ExitStack() as later:
            if os.stat(self.folder).st_uid == os.geteuid():
                os.chmod(self.folder, 0o555)
                later.callback(os.chmod, self.folder, 0o755)
            ct.write(PICTURE, self.path)  # in a folder that takes no new file
            for path in (closed, os.path.join(self.folder, "new.jpg")):
                with self.assertRaises(PermissionError) as raised:
                    ct.write(PICTURE, path)
                self.assertEqual(raised.exception.filename, path)
        self.assertEqual((self.content(self.path), self.content(closed)), (DATA, OLD))
        self.assert_only("closed.jpg", "folder", "picture.jpg")

    def test_errors_name_the_path(self):
        for name, kind in (("no/picture.jpg", FileNotFoundError), ("", IsADirectoryError),
                           ("picture.jpg/a.jpg", NotADirectoryError)):
            path = os.path.join(self.folder, name)
            for given in (path, pathlib.Path(path), os.fsencode(path)):
                with self.assertRaises(kind) as raised:
                    ct.write(PICTURE, given)
                self.assertEqual(os.fsencode(raised.exception.filename),
                                 os.fsencode(os.fspath(given)))
        with self.assertRaises(FileNotFoundError):
            ct.write(PICTURE, "")
        with self.assertRaisesRegex(ValueError, "null (byte|character)"):
            ct.write(PICTURE, "a\0b.jpg")
        self.assert_only("picture.jpg")

    def test_in_the_working_folder(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            for path in ("new.jpg", b"odd \xff name\n.jpg", pathlib.Path("picture.jpg")):
                ct.write(PICTURE, path)
                self.assertEqual(self.content(os.fsdecode(path)), DATA)
        finally:
            os.chdir(before)

    def test_where_links_lead(self):
        self.assertIsNone(_store._final_path(b"/dev/stdout"))
        self.assertEqual(_store._final_path(os.fsencode(self.path)),
                         os.fsencode(os.path.realpath(self.path)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
