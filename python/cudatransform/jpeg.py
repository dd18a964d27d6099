"""JPEG files to pictures of coefficients and back, one at a time, in the calling thread."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import ctypes
import errno
import os
import stat
import threading
from typing import Any, BinaryIO, Dict, Optional, Tuple, Union

import numpy as np

from . import _gst, color
from ._reads import Path, PatientFiles
from ._stage import Stage, StageError
from .errors import ReadError, WriteError
from .picture import Picture, picture_of_buffer

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]

# As much as jpegcoefdec collects of a stream without an end.
MOST_BYTES = 256 << 20
DECODER = "jpegcoefdec name=first backend=cpu"
JPEG_CAPS = "image/jpeg,parsed=true"
_MESSAGES = ("A JPEG picture is damaged: ", "A frame cannot be written as JPEG: ")


def reason_of(error: Exception) -> str:
    """An error's words without what a caller knows."""
    if isinstance(error, IsADirectoryError):
        return "it is a directory"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error)
    for prefix in _MESSAGES:
        text = text[len(prefix):] if text.startswith(prefix) else text
    return text


def open_picture(path: Path, files: PatientFiles) -> Tuple[int, int]:
    """A file descriptor and how many bytes there are. Raises OSError, ValueError and ReadError."""
    descriptor = files.open(path)
    try:
        size = files.size_of(descriptor)
        if 0 < size <= MOST_BYTES:
            return descriptor, size  # or a directory's, which cannot be read
    except OSError:
        pass
    try:
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


def fill_from(descriptor: int, memory: memoryview, name: str, offset: int = 0) -> None:
    """Fills memory from a file, from `offset` in it on. Raises OSError and ReadError."""
    done = 0
    while done < len(memory):
        got = os.preadv(descriptor, [memory[done:]], offset + done)
        if got == 0:
            raise ReadError(name, "it became shorter while it was read")
        done += got


def check_size(name: str, size: int) -> None:
    """Raises ReadError for what is no picture by its size alone."""
    if size == 0:
        raise ReadError(name, "it has 0 bytes")
    if size > MOST_BYTES:
        raise ReadError(name, f"it has {size} bytes, more than {MOST_BYTES}")


class Context:
    """What reads and writes pictures and transforms planes: elements that are kept alive.

    For one thread at a time. The functions of the module use one for each thread; one of your own
    frees its memory and threads when it goes, or with close().
    """

    def __init__(self) -> None:
        self._stages: Dict[str, Stage] = {}
        self._decoder: Optional[Stage] = None
        self._pools: Any = None
        self._reads = 0
        self._file = np.empty(0, np.uint8)  # the bytes of the last file: fresh memory costs more

    def stage(self, elements: str, device: Optional[int] = None) -> Stage:
        """The Stage of a line of elements, made at its first use; of a CUDA device, if one is given."""
        _gst.libraries()
        stage = self._stages.get(elements)
        if stage is None:
            context = None
            if device is not None:
                from .cuda import context_of
                context = context_of(device)[0]
            stage = self._stages[elements] = Stage(elements, context=context)
        return stage

    def pools(self) -> Any:
        """Of CUDA memory: see _device_transform."""
        if self._pools is None:
            from ._device_transform import Pools
            self._pools = Pools()
        return self._pools

    def close(self) -> None:
        """Frees the elements. Pictures stay valid."""
        for stage in self._stages.values():
            stage.close()
        self._stages.clear()
        if self._pools is not None:
            self._pools.close()
        self._decoder = None
        self._file = np.empty(0, np.uint8)

    def __reduce__(self) -> Any:
        return Context, ()

    def read(self, source: Source) -> Picture:
        """See cudatransform.read."""
        _gst.libraries()
        name, path = name_of(source)
        try:
            if path is not None:
                data = self._bytes_of_file(path)
            else:
                given: Any = source
                data = np.frombuffer(given.read() if hasattr(given, "read") else given, np.uint8)
        except ReadError:
            raise
        except (OSError, MemoryError, ValueError) as error:  # ValueError: a path with a zero byte
            raise ReadError(name, reason_of(error)) from error
        check_size(name, len(data))
        return self._decode(data, name, path)

    def _bytes_of_file(self, path: str) -> np.ndarray:
        descriptor, size = open_picture(path, PatientFiles())
        try:
            if len(self._file) < size:
                self._file = np.empty(max(size, 1 << 20), np.uint8)
            fill_from(descriptor, self._file[:size].data, path)
            return self._file[:size]
        finally:
            os.close(descriptor)

    def _decode(self, data: np.ndarray, name: str, path: Optional[str]) -> Picture:
        gst = _gst.libraries()
        stage = self._decoder
        if stage is None:
            stage = self._decoder = self.stage(f"{DECODER} n-threads=1 on-error=fail qos=false")
            stage.set_caps(JPEG_CAPS)
        try:
            # With one thread the element has read it when the push returns.
            stage.push(_gst.buffer_around(gst, _gst.address_of(data), len(data)))
            decoded = stage.pull()
        except StageError as error:
            stage.flush()
            raise ReadError(name, reason_of(error)) from None
        self._reads += 1
        if self._reads % 32 == 0:
            stage.forget_messages()
        if not decoded:
            raise ReadError(name, "there is no picture in it")
        return picture_of_buffer(gst, decoded, path)

    def write(self, picture: Picture, target: Any = None, *, progressive: bool = False,
              arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
        """See cudatransform.write."""
        if not 0 <= restart <= 65535:
            raise WriteError(f"a restart interval is 0 to 65535 MCUs, not {restart}")
        gst = _gst.libraries()
        if hasattr(picture, "cpu"):  # a CudaPicture
            picture = picture.cpu()
        memory, info = _in_one_piece(gst, picture)
        stage = self.stage("jpegcoefenc name=first backend=cpu n-threads=1")
        try:
            for name, value in (("progressive", progressive), ("arithmetic", arithmetic),
                                ("optimize", optimize)):
                stage.set(name, "true" if value else "false")
            stage.set("restart-interval", str(restart))
            key = f"{picture.width}x{picture.height} {picture.sampling}".encode()
            stage.set_caps_object(key, gst.gst_dct_info_to_caps(info))
            buffer = _described(gst, memory, info, picture)
        finally:
            gst.gst_dct_info_free(info)
        try:
            stage.push(buffer)
            written = stage.pull()
        except StageError as error:
            stage.flush()
            raise WriteError(reason_of(error)) from None
        stage.forget_messages()
        if not written:
            raise WriteError("the picture was not written")
        data = np.asarray(_gst.HeldBuffer(gst, written)).tobytes()
        if target is not None:
            _store(data, target)
        return data


def _in_one_piece(gst: _gst.Libraries, picture: Picture) -> Any:
    """The levels of all components in one array, and the GstDctInfo of its layout."""
    sampling = color.sampling_of(picture.sampling)
    info = gst.gst_dct_info_new()
    # S16LE, blocks, raster, quantised, 8 bits.
    if not gst.gst_dct_info_set(info, 1, 0, 0, 1, 8, color.SAMPLING_NUMBERS[sampling], picture.width,
                                picture.height):
        gst.gst_dct_info_free(info)
        raise WriteError(f"no picture has the size {picture.width}x{picture.height}")
    try:
        _check(picture, sampling)
        return np.concatenate([np.asarray(c.levels, np.int16).ravel()
                               for c in picture.components]), info
    except BaseException:
        gst.gst_dct_info_free(info)
        raise


def _check(picture: Picture, sampling: str) -> None:
    chroma = color.SAMPLINGS[sampling]
    count = 3 if chroma else 1
    tables = picture.tables
    if len(picture.components) != count:
        raise WriteError(f"{sampling} has {count} components, not {len(picture.components)}")
    if tables.dtype != np.uint16 or tables.shape[1:] != (8, 8) or not 1 <= len(tables) <= 4:
        raise WriteError("tables are uint16 (1 to 4, 8, 8), "
                         f"not {tables.dtype} {tables.shape}")
    for index, component in enumerate(picture.components):
        across, down = chroma if index and chroma else (1, 1)
        shape = (-(-picture.height // (8 * down)), -(-picture.width // (8 * across)), 8, 8)
        if component.levels.shape != shape or component.levels.dtype != np.int16:
            raise WriteError(f"the levels of component {index + 1} are int16 {shape}, not "
                             f"{component.levels.dtype} {component.levels.shape}")
        if not 0 <= component.table < len(tables):
            raise WriteError(f"component {index + 1} has no table")


def _described(gst: _gst.Libraries, memory: np.ndarray, info: int, picture: Picture) -> int:
    """A GstBuffer around levels, with tables and markers. The array has to outlive it."""
    buffer = _gst.buffer_around(gst, _gst.address_of(memory), memory.nbytes)
    meta = gst.gst_buffer_add_dct_meta(buffer, info).contents
    tables = np.ascontiguousarray(picture.tables)
    meta.n_tables = len(tables)
    ctypes.memmove(meta.tables, tables.ctypes.data, tables.nbytes)
    for index, component in enumerate(picture.components):
        meta.components[index].table = component.table
    if picture.markers:
        segments = gst.g_bytes_new(picture.markers, len(picture.markers))
        gst.gst_buffer_add_dct_jpeg_meta(buffer, segments)
        gst.g_bytes_unref(segments)
    return buffer


def _store(data: bytes, target: Any) -> None:
    if hasattr(target, "write"):
        target.write(data)
        return
    with open(target, "wb") as file:
        file.write(data)


def name_of(source: Source) -> Any:
    """How messages call a source, and its path if it is one."""
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

    source: a path, bytes (or what has a buffer of bytes), or a binary file, which is read to its end
    Returns a Picture. Raises ReadError with path and reason for what is not there or cannot be
    read: no JPEG, damaged or cut short, CMYK, 12 bits; see jpegcoefdec, "Unsupported kinds".
    """
    return of_this_thread().read(source)


def write(picture: Picture, target: Any = None, *, progressive: bool = False,
          arithmetic: bool = False, optimize: bool = False, restart: int = 0) -> bytes:
    """Writes a Picture as a JPEG file, without any loss: read() gives the same again.

    target: a path or a binary file; None: the bytes are returned only
    progressive: a coarse picture first; smaller, slower
    arithmetic: arithmetic coding, smaller still, which many programs cannot read
    optimize: the best Huffman tables for this picture (progressive files always have them)
    restart: MCUs between restart markers, 0 to 65535; 0: none
    Returns the bytes of the file. Raises WriteError for what a JPEG file cannot hold (AC levels
    beyond 1023, DC levels more than 2047 apart, tables with 0), and OSError.
    """
    return of_this_thread().write(picture, target, progressive=progressive, arithmetic=arithmetic,
                                  optimize=optimize, restart=restart)
