"""JPEG files to pictures of coefficients and back, one at a time, in the calling thread."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import functools
import math
import operator
import os
from collections import Counter
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple,
                    Union, overload)

import numpy as np

from . import _device, color
from ._cuda_memory import CudaArray, downloaded, uploaded
from ._decoding import CHANNELS, MODES, PLAIN, Wanted, decode_one, decode_part, reduce_for
from ._encoding import Quantization, Options, checked, encoded, written
from ._info import info
from ._coefficients import check_markers, check_sides
from ._metadata import segments_with
from ._sources import Source
from ._store import check_target, store
from .errors import one_of, true_or_false
from .picture import Picture
from .resampling import Resampling, box_of, crop_of, gap_of, parts_of, resize, size_of

if TYPE_CHECKING:
    import numpy.typing as npt


def _pixels_of(array: Any, subsampling: Any, quantization: Quantization) -> Tuple[Any, str]:
    """Pixels as a numpy array or, on a GPU, a View, and their sampling. Raises ValueError,
    TypeError and WriteError."""
    own = quantization.own_tables()
    on_device = isinstance(array, _device.View) or _device.is_on_device(array)
    if on_device:
        pixels: Any = array if isinstance(array, _device.View) else _device.view(array)
        color.check_shape(pixels)
        if pixels.dtype != np.uint8:
            raise ValueError("pixels of 12 bits need an array in system memory")
        kind = color.sampling_for(subsampling, pixels.shape)
    else:
        pixels, kind = color.checked(array, subsampling)
    check_sides(*pixels.shape[:2])
    channels = color.channels_of(pixels.shape)
    if pixels.dtype != np.uint8 and not quantization.is_plain():
        raise ValueError("12 bits need quantizer='round', and no other preset, target_size or "
                         "max_size")
    if channels == 4 or own is not None and len(own) > 2:
        if on_device:
            raise ValueError("CMYK and more than two qtables need an array in system memory")
        if not quantization.is_plain():
            raise ValueError("CMYK and more than two qtables need quantizer='round', and no other "
                             "preset, target_size or max_size")
    return pixels, kind


def _targets_of(target: Any, count: Optional[int]) -> Sequence[Any]:
    """The targets of this many pictures or, None, of one. Raises ValueError and TypeError."""
    if target is None:
        return []
    is_list = isinstance(target, (list, tuple))
    if count is not None and (not is_list or len(target) != count):
        raise ValueError(f"target must be a list of {count} paths or binary files, not "
                         + (f"of {len(target)}" if is_list else repr(target)))
    targets = [target] if count is None else target
    for one in targets:
        check_target(one)
    paths = [os.path.abspath(os.fsencode(one)) for one in targets if not hasattr(one, "write")]
    twice = [os.fsdecode(path) for path, number in Counter(paths).items() if number > 1]
    if twice:
        raise ValueError(f"target must be a list of different paths, not {twice[0]!r} twice")
    return targets


def _stacked(array: Any) -> Optional[Sequence[Any]]:
    """The pictures of a list, a tuple, or an array of four dimensions; None: it is one picture."""
    if isinstance(array, (list, tuple)) and not hasattr(array, "shape"):
        return array
    if len(getattr(array, "shape", ())) != 4:
        return None
    if _device.is_on_device(array):
        return _device.view(array).parts()
    return list(np.asarray(array))


def _files_of(pictures: List[Tuple[Any, str]], options: Dict[str, Options],
              quantization: Quantization,
              method: str) -> List[bytes]:
    """The JPEG files of pictures of _pixels_of(). options: by sampling"""
    files: Dict[int, bytes] = {}
    calls: Dict[Any, Dict[int, Any]] = {}  # pixels that one call of the library encodes
    for index, (pixels, sampling) in enumerate(pictures):
        channels, own = color.channels_of(pixels.shape), quantization.own_tables()
        is_wanted = channels == (1 if sampling == "GRAYSCALE" else 3)
        if isinstance(pixels, _device.View) and not is_wanted:
            pixels = downloaded(_device.with_rows(pixels, (3, 1)[-len(pixels.shape) + 1:]))
        if channels == 4 or pixels.dtype != np.uint8 or own is not None and len(own) > 2:
            picture = Picture.from_pixels(pixels, quantization.quality, sampling, own, method)
            picture.markers += options[sampling].markers
            files[index], = written([picture], options[sampling])
            continue
        if not is_wanted:
            pixels = (color.luma(pixels) if channels == 3 else
                      np.repeat(pixels[:, :, None], 3, 2))
        device = pixels.device if isinstance(pixels, _device.View) else None
        calls.setdefault((sampling, device), {})[index] = pixels
    for (sampling, _), images in calls.items():
        made = encoded(list(images.values()), sampling, options[sampling], quantization, method)
        files.update(zip(images, made))
    return [files[index] for index in range(len(pictures))]


def _plain_first(function: Any) -> Any:
    """decode(), of which a call without options, as most are, goes a shorter way: to pass and check
    twenty arguments takes as long as all else that Python does for a file."""
    @functools.wraps(function)
    def decode(*arguments: Any, **options: Any) -> Any:
        if options or len(arguments) != 1:
            return function(*arguments, **options)
        return PLAIN.decode(arguments[0])
    return decode


def read(source: Source, *, device: str = "cpu", max_pixels: Optional[int] = None,
         max_memory: Optional[int] = None, on_error: str = "fail") -> Picture:
    """Reads a JPEG file's quantized coefficients, as they are in the file.

    source: a path, bytes (or an object with a buffer of bytes), or a binary file, which is read to
        its end; at most 256 MiB
    device: `cpu`, or `cuda` or `cuda:1` for a CudaPicture on that GPU
    max_pixels: of a picture; None: 134217728
    max_memory: bytes that a picture may need, without its file; None: no limit
    on_error: `fail`, or `conceal`: of a damaged file what there is, and a UserWarning that names
        the damage
    Returns a Picture. Raises ReadError, with path and reason, for a file that is missing or cannot
    be read: not JPEG, damaged or cut short, lossless; see jpegcoefdec, "Unsupported kinds".
    """
    return decode_one(Wanted.of(None, 1, "fancy", False, device, max_pixels, max_memory, on_error),
                      source)


@overload
def decode(source: Source, mode: str = ..., *, reduce: int = ..., upsampling: str = ...,
           exif: bool = ..., device: Literal["cpu"] = ..., max_pixels: Optional[int] = ...,
           max_memory: Optional[int] = ..., on_error: str = ..., size: None = ...,
           crop: Optional[Sequence[int]] = ...) -> "npt.NDArray[np.uint8]": ...


@overload
def decode(source: Source, mode: str = ..., *, reduce: int = ..., upsampling: str = ...,
           exif: bool = ..., device: str, max_pixels: Optional[int] = ...,
           max_memory: Optional[int] = ..., on_error: str = ..., size: None = ...,
           crop: Optional[Sequence[int]] = ...) -> Union["npt.NDArray[np.uint8]", CudaArray]: ...


@overload
def decode(source: Source, mode: str = ..., *, reduce: int = ..., upsampling: str = ...,
           exif: bool = ..., device: str = ..., max_pixels: Optional[int] = ...,
           max_memory: Optional[int] = ..., on_error: str = ..., size: Any = ...,
           resample: Any = ..., crop: Optional[Sequence[int]] = ...,
           box: Optional[Sequence[float]] = ..., reducing_gap: Optional[float] = ...,
           draft: bool = ..., like: str = ..., dtype: Any = ..., layout: str = ...,
           recipe: str = ..., mean: Optional[Sequence[float]] = ...,
           std: Optional[Sequence[float]] = ...) -> Any: ...


@_plain_first
def decode(source: Source, mode: str = "RGB", *, reduce: int = 1, upsampling: str = "fancy",
           exif: bool = False, device: str = "cpu", max_pixels: Optional[int] = None,
           max_memory: Optional[int] = None, on_error: str = "fail", size: Any = None,
           resample: Any = "bicubic", crop: Optional[Sequence[int]] = None,
           box: Optional[Sequence[float]] = None, reducing_gap: Optional[float] = None,
           draft: bool = False, like: str = "pillow-13", dtype: Any = "uint8", layout: str = "hwc",
           recipe: str = "torchvision", mean: Optional[Sequence[float]] = None,
           std: Optional[Sequence[float]] = None) -> Any:
    """Decodes a JPEG file to pixels, with the bytes of libjpeg-turbo, Pillow and, by exif=True,
    OpenCV.

    source: as of read()
    mode: `RGB`: uint8 (height, width, 3), of gray files three times the same, of CMYK and YCCK
        those of Pillow's convert("RGB"). `L`: uint8 (height, width), luma as the file has it, which
        is that of Pillow's draft("L") and OpenCV's IMREAD_GRAYSCALE. `CMYK`: uint8 (height, width,
        4) of CMYK and YCCK, 255 = full ink
    reduce: 1, 2, 4 or 8: divides width and height, rounded up, as `djpeg -scale 1/8` and Pillow's
        draft() do
    upsampling: `fancy` or `nearest`, see Picture.pixels
    exif: whether to turn the pixels upright by the file's Exif orientation, as OpenCV and Pillow's
        ImageOps.exif_transpose() do
    device: `cpu`: a numpy array. `cuda` or `cuda:1`: a CudaArray on that GPU, which the CPU makes
        of CMYK and YCCK, and as `L` of RGB and of luma smaller than the picture
    max_pixels, max_memory, on_error: as of read(); max_memory also bounds the result of `size`
    crop: left, top, right and bottom in whole pixels, after `reduce`, `draft` and `exif`, as
        Image.crop()
    size: resamples the pixels, after `crop`: width and height, or the shorter side
    resample, box, reducing_gap, like: as of resize(); box is within `crop`
    draft: whether to decode at 1/2, 1/4 or 1/8 where that has at least `size`, as after Pillow's
        draft(mode, size), which changes the bytes, and compares sides before `exif` turns them
    dtype, layout, recipe, mean, std: as of resize(), and without `size`, too
    Raises ReadError as read(), also for files that have no pixels in that mode (12 bits),
    ValueError and TypeError for other arguments, and Unavailable.
    """
    one_of("mode", mode, MODES)  # None is of coefficients
    wanted = Wanted.of(mode, reduce, upsampling, exif, device, max_pixels, max_memory, on_error)
    given = (size, resample, crop, box, reducing_gap, draft, like, dtype, layout, recipe, mean, std)
    if all(map(operator.is_, given, _NO_RESAMPLING)):
        return decode_one(wanted, source)
    if size is None and (resample != "bicubic" or box is not None or reducing_gap is not None):
        raise TypeError("resample, box and reducing_gap need size")
    how = Resampling.of(size, resample, reducing_gap, False, like, dtype, layout, recipe, mean, std)
    how = how.check(CHANNELS[mode], max_memory)
    true_or_false("draft", draft)
    wanted = wanted.drafted(how.size) if draft else wanted
    part = None if crop is None else crop_of(crop)
    boxes = None if box is None else [box_of(box)]
    pixels = decode_one(wanted, source) if part is None else decode_part(wanted, source, part)
    if size is None and how.is_plain():
        return np.ascontiguousarray(pixels) if device == "cpu" else pixels
    return parts_of(how.stacked([pixels], boxes))[0]


# The arguments of a decode() that only decodes.
_NO_RESAMPLING = (None, "bicubic", None, None, None, False, "pillow-13", "uint8", "hwc",
                  "torchvision", None, None)


def thumbnail(source: Source, size: Tuple[int, int], resample: Any = "bicubic", *,
              reducing_gap: Optional[float] = 2., mode: str = "RGB", device: str = "cpu",
              like: str = "pillow-13", max_pixels: Optional[int] = None,
              max_memory: Optional[int] = None, on_error: str = "fail") -> Any:
    """The pixels of Pillow's Image.thumbnail() of a JPEG file, since Pillow 10.4.

    Those of CMYK and YCCK become RGB, by mode="RGB", at their final size.

    source: as of read()
    size: the most of width and height; the picture's ratio is kept, and it is not enlarged
    reducing_gap: how many times larger than the result the file is decoded at least, where that is
        a half, a quarter or an eighth of its size; None: it is decoded whole
    resample, like: as of resize(); others as of decode()
    Raises what info(), decode() and resize() raise.
    """
    limits: Any = {"max_pixels": max_pixels, "max_memory": max_memory, "on_error": on_error}
    head, gap = info(source), gap_of(reducing_gap)
    if mode == "RGB" and color.is_ink(head.sampling):
        inks = thumbnail(source, size, resample, reducing_gap=reducing_gap, mode="CMYK", like=like,
                         **limits)
        return uploaded(color.without_ink(inks), _device.number_of(device))
    bounds = size_of(size, head.width, head.height)
    reduce = 1
    fitted = _fitted(bounds, head.width, head.height)
    if fitted is None:
        return decode(source, mode, device=device, **limits)
    if gap:
        reduce = reduce_for([int(side * gap) for side in bounds], head.width, head.height)
    pixels = decode(source, mode, reduce=reduce, device=device, **limits)
    if pixels.shape[1::-1] == fitted:
        return pixels
    box = (0, 0, head.width / reduce, head.height / reduce) if gap else None
    return resize(pixels, fitted, resample, box=box, reducing_gap=reducing_gap, like=like,
                  alpha=False)


def _fitted(bounds: Tuple[int, int], width: int, height: int) -> Optional[Tuple[int, int]]:
    """The largest size of a picture's ratio within another; None: the picture is no larger."""
    x, y = bounds
    if x >= width and y >= height:
        return None
    aspect = width / height

    def nearest(side: float, distance: Callable[[int], float]) -> int:
        return max(min(math.floor(side), math.ceil(side), key=distance), 1)
    if x / y >= aspect:
        return nearest(y * aspect, lambda side: abs(aspect - side / y)), y
    return x, nearest(x / aspect, lambda side: abs(aspect - x / side) if side else 0)


def encode(array: Any, target: Any = None, *, quality: Optional[int] = None,
           subsampling: Any = None, qtables: Any = "annex-k", quantizer: str = "round",
           target_size: Optional[int] = None, max_size: Optional[int] = None, method: str = "islow",
           progressive: bool = False, arithmetic: bool = False, optimize: bool = False,
           restart: int = 0, exif: Any = None, icc: Any = None, comment: Any = None,
           markers: bytes = b"") -> Any:
    """Encodes pixels as a JPEG file: the one that libjpeg-turbo, and so Pillow, makes of them.

    Other tables and quantizers than the first make smaller files that look the same.

    array: as of Picture.from_pixels, uint16 of 12 bits too. Or uint8, gray or RGB, on a GPU, of
        PyTorch, CuPy or any library with DLPack or __cuda_array_interface__, whose rows may have
        gaps between them; it is coded there. Or several: a list or a tuple of such arrays, or one
        (n, height, width, 3), which the library encodes at once
    target: a path or a binary file, or a list of them for several; None: the bytes are only
        returned
    quality, subsampling, method: as of Picture.from_pixels; None: quality 85
    qtables: `annex-k` or `perceptual`, which quality scales, or arrays, as from_pixels takes them
    quantizer: `round`, `dead-zone` or `rd`: how coefficients are made
    target_size: bytes; instead of quality the highest one whose file has no more. Where even
        quality 1 makes a larger file, that is the file, and a UserWarning
    max_size: bytes; a lower quality where the file would have more. Raises WriteError where none
        makes it as small
    progressive, arithmetic, optimize, restart: as of write()
    exif: bytes of Exif data, at most 65527, with or without the first `Exif` and two zeros; or an
        object with tobytes() such as Pillow's Image.Exif
    icc: bytes of a color profile, such as info["icc_profile"] of a Pillow image
    comment: a str, which becomes UTF-8, or bytes; at most 65533
    markers: further APPn and COM segments, as Picture.markers
    Returns the bytes of the file, of several a list. Raises WriteError, ValueError, TypeError,
    OSError and Unavailable. Several are stored in order after all are encoded: none if a picture
    cannot be encoded; an OSError leaves those before it.
    """
    options, quantization = checked((progressive, arithmetic, optimize, restart), method,
                                    (quality, qtables, quantizer, target_size, max_size))
    stacked = _stacked(array)
    pictures = [_pixels_of(one, subsampling, quantization)
                for one in ([array] if stacked is None else stacked)]
    targets = _targets_of(target, None if stacked is None else len(pictures))
    by_kind = {kind: options for _, kind in pictures}
    is_bare = exif is icc is comment is None and isinstance(markers, bytes) and not markers
    if not is_bare:
        for kind in by_kind:
            made = segments_with(exif, icc, comment, markers, kind)
            check_markers(made)
            by_kind[kind] = options._replace(markers=made)
    files = _files_of(pictures, by_kind, quantization, method)
    for data, place in zip(files, targets):
        store(data, place)
    return files[0] if stacked is None else files


def write(picture: Any, target: Any = None, *, progressive: bool = False,
          arithmetic: bool = False, optimize: bool = False, restart: int = 0,
          strip: bool = False) -> Any:
    """Writes a Picture as a JPEG file, without any loss: read() gives the same again.

    picture: is not changed; a CudaPicture is downloaded. Or a list or a tuple of pictures, which
        the library writes at once
    target: a path or a binary file, or a list of them for several; None: the bytes are only
        returned
    progressive: a coarse picture first; smaller, slower
    arithmetic: arithmetic coding, smaller still, which many programs cannot read
    optimize: the best Huffman tables for this picture (progressive files always have them, and
        those of 12 bits)
    restart: MCUs between restart markers, 0 to 65535; 0: none
    strip: leaves out metadata, the color profile and the Exif orientation among them, attachments
        and the trailer
    Returns the bytes of the file, of several a list. Raises WriteError for a picture that a JPEG
    file cannot hold (AC coefficients beyond 1023, DC ones more than 2047 apart, at 12 bits 16383
    and 32767; tables of zeros, markers other than segments) or read() does not take (attachments
    that are not one JPEG picture each, a gap without one, more than 16 MiB of markers), ValueError
    for other targets, TypeError and OSError. Several are stored in order after all are encoded:
    none if a picture cannot be; an OSError leaves those before it. A path has its old file until
    the new one is complete, and after an error; a file's writer gets all bytes or an error. Warns
    if XMP data name lengths that attachments and trailer do not have.
    """
    options = Options(progressive, arithmetic, optimize, restart).check()
    is_one = not isinstance(picture, (list, tuple))
    pictures = [picture] if is_one else picture
    for one in pictures:
        if not isinstance(one, Picture):
            raise TypeError(f"write() takes a Picture, not {type(one).__name__}")
    targets = _targets_of(target, None if is_one else len(pictures))
    true_or_false("strip", strip, or_number=True)
    files = written([one.cpu().stripped() if strip else one.cpu() for one in pictures], options)
    for data, place in zip(files, targets):
        store(data, place)
    return files[0] if is_one else files
