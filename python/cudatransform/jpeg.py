"""JPEG files to pictures of coefficients and back, one at a time, in the calling thread."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import errno
import os
import stat
import threading
from functools import partial
from typing import Any, BinaryIO, Callable, List, Optional, Tuple, Union

import numpy as np

from . import _gst
from ._cuda_memory import context_of
from ._device import number_of
from ._levels import add_rest, check_rest, check_sides, described, in_one_piece
from ._pixels import SMALLER, Levelling, Options, Wanted, coded
from ._reads import OneFile, Path, PatientFiles
from ._stage import Stage, StageError
from ._stages import Stages
from ._store import store
from .errors import ReadError, WriteError, is_interruption, warn, whole_number
from .picture import Picture, picture_of_sample

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]

# The most that jpegcoefdec collects of a stream without an end.
MOST_BYTES = 256 << 20
JPEG_CAPS = "image/jpeg,parsed=true"
# What XMP data have in them that name lengths of the bytes behind the picture (Google's Container).
_LENGTHS, _UNTRUE = b"http://ns.google.com/photos/1.0/", "untrue-lengths"


def reason_of(error: Exception) -> str:
    """The words of an error; of the system's without number and path, which a caller knows."""
    if isinstance(error, IsADirectoryError):
        return "it is a directory"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)


def open_picture(path: Path, files: PatientFiles) -> Tuple[int, int]:
    """A file's descriptor and size in bytes. Raises OSError, ValueError and ReadError."""
    descriptor = files.open(path)
    try:
        size = _size_of(descriptor, files)
        if 0 < size <= MOST_BYTES:
            return descriptor, size  # of a directory, too: its read will fail
        status, name = os.fstat(descriptor), os.fspath(path)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise ReadError(name, "it is not a file")
        check_size(name, status.st_size)
        return descriptor, status.st_size
    except BaseException:
        files.close(descriptor)
        raise


def _size_of(descriptor: int, files: PatientFiles) -> int:
    try:
        return files.size_of(descriptor)
    except OSError as error:
        if is_interruption(error):
            raise
        return 0


def fill_from(descriptor: int, memory: memoryview, name: str, offset: int = 0) -> None:
    """Fills memory from a file, from `offset` in it on. Raises OSError and ReadError."""
    done = 0
    while done < len(memory):
        got = os.preadv(descriptor, [memory[done:]], offset + done)
        if got == 0:
            raise ReadError(name, "it became shorter while it was read")
        done += got


def check_size(name: str, size: int) -> None:
    """Raises ReadError for a size in bytes that no picture has."""
    if size == 0:
        raise ReadError(name, "it has 0 bytes")
    if size > MOST_BYTES:
        raise ReadError(name, f"it has {size} bytes, more than {MOST_BYTES}")


def ink_of(picture: Picture, name: str, wanted: Wanted) -> np.ndarray:
    """The pixels of a picture of CMYK. Raises ReadError for others."""
    reason = wanted.why_not(picture.sampling, picture.depth)
    if reason is not None:
        raise ReadError(name, reason)
    if len(picture) != 4:
        raise ReadError(name, f"a picture of CMYK is expected, it is of {picture.sampling}")
    return picture.pixels(wanted.upsampling)


class Context:
    """Reads and writes pictures with elements that it keeps alive.

    One thread at a time may use it. The functions of the module have one for each thread; a Context
    of your own frees its memory and threads with close(), or when nothing refers to it.
    """

    def __init__(self) -> None:
        self._stages = Stages()
        self._file: Optional[np.ndarray] = None  # for a file's bytes: fresh memory costs more

    def close(self) -> None:
        """Frees the elements. Pictures stay valid."""
        self._stages.close()
        self._file = None

    def __reduce__(self) -> Any:
        return Context, ()

    def read(self, source: Source) -> Picture:
        """See cudatransform.read."""
        return self._with_bytes(source, self._decode)

    def decode(self, source: Source, mode: str = "RGB", *, scale: int = 1,
               upsampling: str = "fancy", device: str = "cpu") -> Any:
        """See cudatransform.decode."""
        return self.decode_as(Wanted(mode, scale, upsampling, number_of(device)).check(), source)

    def decode_as(self, wanted: Wanted, source: Source) -> Any:
        """decode() with arguments that have been checked."""
        return self._with_bytes(source, partial(self._decode_pixels, wanted))

    def _with_bytes(self, source: Source, use: Callable[..., Any]) -> Any:
        """Calls `use` with a source's bytes, its name and, if it has one, its path."""
        _gst.libraries()
        name, path = name_of(source)
        # After an interruption elements may still read the memory, so the call has taken it away.
        memory, self._file = self._file, None
        try:
            if path is not None:
                memory, size = _bytes_of_file(path, memory)
                data = memory[:size]
            else:
                given: Any = source
                data = np.frombuffer(given.read() if hasattr(given, "read") else given, np.uint8)
        except ReadError:
            raise
        except (OSError, MemoryError, ValueError) as error:  # ValueError: a path with a zero byte
            if is_interruption(error):
                raise
            raise ReadError(name, reason_of(error)) from error
        check_size(name, len(data))
        try:
            made = use(data, name, path)
        except ReadError:
            self._file = memory
            raise
        self._file = memory
        return made

    def _run_decoder(self, elements: str, data: np.ndarray,
                     context: Optional[int] = None) -> Optional[_gst.Sample]:
        gst = _gst.libraries()

        def prepare(stage: Stage) -> int:
            stage.set_caps(JPEG_CAPS)
            return _gst.buffer_around(gst, _gst.address_of(data), len(data))
        # With one thread the element has decoded it when the push returns. It leaves out a file
        # that has the size of another picture in the last file's index, until it is flushed.
        line = f"jpegcoefdec name=first n-threads=1 on-error=fail qos=false {elements}"
        tries = (self._stages.run(line, prepare, data, context) for _ in range(2))
        return next((made for made in tries if made is not None), None)

    def _decode(self, data: np.ndarray, name: str, path: Optional[str]) -> Picture:
        try:
            decoded = self._run_decoder("backend=cpu", data)
        except StageError as error:
            raise ReadError(name, str(error)) from None
        if decoded is None:
            raise ReadError(name, "there is no picture in it")
        return picture_of_sample(_gst.libraries(), decoded, path)

    def _decode_pixels(self, wanted: Wanted, data: np.ndarray, name: str,
                       path: Optional[str]) -> Any:
        if wanted.mode == "CMYK":
            return ink_of(self._decode(data, name, path), name, wanted)
        context = None if wanted.device is None else context_of(wanted.device)[0]
        try:
            decoded = self._run_decoder(wanted.line(), data, context)
        except StageError as error:
            picture = self._decode(data, name, path)  # which knows what is wrong with a file
            raise ReadError(name, wanted.why_not(picture.sampling, picture.depth)
                            or str(error)) from None
        if decoded is None:
            raise ReadError(name, "there is no picture in it")
        return wanted.pixels_of(_gst.libraries(), decoded)

    def encode(self, array: Any, target: Any = None, *, quality: int = 85,
               sampling: Optional[str] = None, tables: Any = "annex-k",
               quantizer: str = "round", target_size: Optional[int] = None,
               max_size: Optional[int] = None, method: str = "islow", progressive: bool = False,
               arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
        """See cudatransform.encode."""
        _check_options(progressive, arithmetic, optimize, restart)
        options = Options(progressive, arithmetic, optimize, restart)
        levelling = Levelling(quality, tables, quantizer, target_size, max_size)
        try:
            data = coded(self._stages, array, sampling, levelling, method, options)
        except StageError as error:
            raise WriteError(str(error)) from None
        if data is None:  # no element takes such pixels or tables
            own = None if isinstance(tables, str) else tables
            return self.write(Picture.from_pixels(array, quality, sampling, own, method),
                              target, progressive=progressive, arithmetic=arithmetic,
                              optimize=optimize, restart=restart)
        if target is not None:
            store(data, target)
        if target_size is not None and len(data) > target_size:
            warn(f"target_size={int(target_size)} is not reached: the smallest file has "
                 f"{len(data)} bytes. {SMALLER}")
        return data

    def write(self, picture: Picture, target: Any = None, *, progressive: bool = False,
              arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
        """See cudatransform.write."""
        _check_options(progressive, arithmetic, optimize, restart)
        options = Options(progressive, arithmetic, optimize, restart)
        gst = _gst.libraries()
        if hasattr(picture, "cpu"):  # a CudaPicture
            picture = picture.cpu()
        if not isinstance(picture, Picture):
            raise TypeError(f"a Picture is written, not {type(picture).__name__}")
        check_rest(picture)
        memory, info = in_one_piece(gst, picture)
        check_sides(picture.width, picture.height)
        used: List[Tuple[Stage, int]] = []  # with the number of such files that it has written

        def prepare(stage: Stage) -> int:
            if _LENGTHS in picture.markers:
                used.append((stage, stage.count_of(_UNTRUE)))
            options.set(stage)
            key = f"{picture.width}x{picture.height} {picture.sampling} {picture.depth}".encode()
            stage.set_caps_object(key, gst.gst_dct_info_to_caps(info))
            buffer = described(gst, memory, info, picture)
            add_rest(gst, buffer, picture)
            return buffer
        try:
            written = self._stages.run("jpegcoefenc name=first backend=cpu n-threads=1", prepare,
                                       memory)
        except StageError as error:
            raise WriteError(str(error)) from None
        if written is None:
            raise WriteError("the picture was not written")
        data = np.asarray(_gst.HeldBuffer(gst, written)).tobytes()
        if target is not None:
            store(data, target)
        if any(stage.count_of(_UNTRUE) > count for stage, count in used):
            warn("XMP data among the picture's markers name lengths that are not those of its "
                 "attachments and trailer")
        return data


def _bytes_of_file(path: str, memory: Optional[np.ndarray]) -> Tuple[np.ndarray, int]:
    """An array that begins with a file's bytes, `memory` if it is large enough; their number."""
    files = OneFile()
    descriptor, size = open_picture(path, files)
    try:
        if memory is None or len(memory) < size:
            memory = np.empty(max(size, 1 << 20), np.uint8)
        fill_from(descriptor, memory[:size].data, path)
        return memory, size
    finally:
        files.close(descriptor)


def _check_options(progressive: Any, arithmetic: Any, optimize: Any, restart: Any) -> None:
    for name, value in (("progressive", progressive), ("arithmetic", arithmetic),
                        ("optimize", optimize)):
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} is True or False, not {value!r}")
    if not 0 <= whole_number("a restart interval", restart) <= 65535:
        raise WriteError(f"a restart interval is 0 to 65535 MCUs, not {restart}")


def name_of(source: Source) -> Any:
    """A source's name for messages, and its path if it is one."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return path, path
    if not hasattr(source, "read"):
        return "<bytes>", None
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<file>", None


class _Contexts(threading.local):
    context: Optional[Context] = None


_contexts = _Contexts()


def of_this_thread() -> Context:
    """The Context that the functions of the module use in this thread."""
    if _contexts.context is None:
        _contexts.context = Context()
    return _contexts.context


def read(source: Source) -> Picture:
    """Reads a JPEG file's quantised coefficients, as they are in the file.

    source: a path, bytes (or an object with a buffer of bytes), or a binary file, which is read to
        its end; at most 256 MiB
    Returns a Picture. Raises ReadError, with path and reason, for a file that is missing or cannot
    be read: not JPEG, damaged or cut short, lossless; see jpegcoefdec, "Unsupported kinds".
    """
    return of_this_thread().read(source)


def decode(source: Source, mode: str = "RGB", *, scale: int = 1, upsampling: str = "fancy",
           device: str = "cpu") -> Any:
    """Decodes a JPEG file to pixels, with the bytes of libjpeg-turbo, Pillow and OpenCV.

    source: as of read()
    mode: `RGB`: uint8 (height, width, 3), of grey files three times the same. `L`: uint8 (height,
        width), luma as the file has it, which is that of Pillow's draft("L") and OpenCV's
        IMREAD_GRAYSCALE. `CMYK`: uint8 (height, width, 4) of CMYK and YCCK, 255 for all of the ink
    scale: 1, 2, 4 or 8: a picture of 1/scale of the width and height, rounded up, as by `djpeg
        -scale` and Pillow's draft()
    upsampling: `fancy` or `nearest`, see Picture.pixels
    device: `cpu`: a numpy array. `cuda` or `cuda:1`: a CudaArray on that GPU
    Raises ReadError as read(), also for files that have no pixels in that mode (CMYK in RGB, 12
    bits), ValueError and TypeError for other arguments, and Unavailable.
    """
    return of_this_thread().decode(source, mode, scale=scale, upsampling=upsampling, device=device)


def encode(array: Any, target: Any = None, *, quality: int = 85, sampling: Optional[str] = None,
           tables: Any = "annex-k", quantizer: str = "round", target_size: Optional[int] = None,
           max_size: Optional[int] = None, method: str = "islow", progressive: bool = False,
           arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
    """Encodes pixels as a JPEG file: the one that libjpeg-turbo, and so Pillow, makes of them.

    Other tables and quantizers than the first make smaller files that look the same.

    array: as of Picture.from_pixels. Or grey or RGB on a GPU, of PyTorch, CuPy or any library with
        DLPack or __cuda_array_interface__, whose rows may have gaps between them; it is coded there
    target: a path or a binary file; None: the bytes are only returned
    quality, sampling, method: as of Picture.from_pixels
    tables: `annex-k` or `perceptual`, which quality scales, or arrays, as from_pixels' qtables
    quantizer: `round`, `dead-zone` or `rd`: how levels are made
    target_size: bytes; instead of quality the highest one whose file has no more. Where even
        quality 1 makes a larger file, that is the file, and a UserWarning
    max_size: bytes; a lower quality where the file would have more. Raises WriteError where none
        makes it as small
    progressive, arithmetic, optimize, restart: as of write()
    Returns the bytes of the file. Raises WriteError, ValueError, TypeError, OSError, Unavailable.
    """
    return of_this_thread().encode(array, target, quality=quality, sampling=sampling,
                                   tables=tables, quantizer=quantizer, target_size=target_size,
                                   max_size=max_size, method=method, progressive=progressive,
                                   arithmetic=arithmetic, optimize=optimize, restart=restart)


def write(picture: Picture, target: Any = None, *, progressive: bool = False,
          arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
    """Writes a Picture as a JPEG file, without any loss: read() gives the same again.

    picture: is not changed; a CudaPicture is downloaded
    target: a path or a binary file; None: the bytes are only returned
    progressive: a coarse picture first; smaller, slower
    arithmetic: arithmetic coding, smaller still, which many programs cannot read
    optimize: the best Huffman tables for this picture (progressive files always have them, and
        those of 12 bits)
    restart: MCUs between restart markers, 0 to 65535; 0: none
    Returns the bytes of the file. Raises WriteError for a picture that a JPEG file cannot hold (AC
    levels beyond 1023, DC levels more than 2047 apart, at 12 bits 16383 and 32767; tables with 0,
    markers other than segments) or libjpeg cannot write (before libjpeg-turbo 3: progressive and
    arithmetic at 12 bits), or read() does not take (attachments that are not one JPEG picture each,
    a gap without one, more than 16 MiB of markers), TypeError and OSError. A path has its old file
    until the new one is complete, and after an error; a file's writer gets all bytes or an error.
    Warns if XMP data name lengths that attachments and trailer do not have.
    """
    return of_this_thread().write(picture, target, progressive=progressive, arithmetic=arithmetic,
                                  optimize=optimize, restart=restart)
