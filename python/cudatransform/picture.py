"""A JPEG picture as its coefficients: numpy arrays, tables, and the rest of its file."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from . import _filters, _native, color
from ._cuda_memory import CudaArray
from ._encoding import QUALITY, Options, checked_size, written
from ._coefficients import device_of
from ._metadata import segments_of
from ._parts import layout_of, rest_of
from .errors import warn
from .planes import Planes, planes_of
from .tables import check_tables, quality_tables
from .transform import idct, coefficients_of

if TYPE_CHECKING:
    import numpy.typing as npt

_TYPE = np.dtype("<i2")


def _zigzag() -> npt.NDArray[np.intp]:
    """The natural index (8 v + u) of each place in a JPEG file's order (ITU-T T.81, figure 5)."""
    def key(place: int) -> Tuple[int, int]:
        v, u = divmod(place, 8)
        return v + u, v if (v + u) % 2 else u
    return np.array(sorted(range(64), key=key))


_LARGEST_RGB = 65535  # pixels on a side of the library's RGB, and of files
ZIGZAG = _zigzag()
ZIGZAG.setflags(write=False)


# Adobe's APP14 of version 100 and transform 0: CMYK, inverted.
_ADOBE = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0"


class Component:
    """One component of a picture.

    coefficients: int16 (blocks_h, blocks_w, 8, 8), quantized; [by, bx, v, u] is the one
        of vertical frequency v and horizontal frequency u in the block of row by, column bx
    id: 1 Y, 2 Cb, 3 Cr, 4 K, or the letter's code: 82 R, 71 G, 66 B; 67 C, 77 M, 89 Y, 75 K
    h_samp, v_samp: sampling factors as in the file's frame header
    width, height: samples, without the padding to whole blocks
    table: index of its quantization table in Picture.tables
    """

    __slots__ = ("coefficients", "id", "h_samp", "v_samp", "width", "height", "table")

    def __init__(self, coefficients: npt.NDArray[np.int16], id: int, h_samp: int, v_samp: int,
                 width: int, height: int, table: int) -> None:
        self.coefficients, self.id, self.h_samp, self.v_samp = coefficients, id, h_samp, v_samp
        self.width, self.height, self.table = width, height, table

    def __reduce__(self) -> Tuple[Any, ...]:
        return Component, tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: Any) -> bool:
        """Whether the coefficients, in system memory, and all numbers are equal."""
        if not isinstance(other, Component):
            return NotImplemented
        return (np.array_equal(self.coefficients, other.coefficients)
                and all(getattr(self, name) == getattr(other, name) for name in self.__slots__[1:]))

    def __repr__(self) -> str:
        return (f"Component(id={self.id}, {self.width}x{self.height}, "
                f"{self.coefficients.shape[1]}x{self.coefficients.shape[0]} blocks, "
                f"table {self.table})")


class Picture:
    """A JPEG picture as its quantized coefficients. `read` makes it, `write` takes it.

    components: tuple of Component, one to four. Coefficients are views of the decoder's
        buffer, which lives as long as one of them does; they may be changed in place.
    tables: uint16 (n, 8, 8), n from 1 to 4, quantization tables in natural order, 0 to 65535;
        Component.table is an index
    width, height: of the picture, in samples
    sampling: `GRAYSCALE`, `YCbCr-4:2:0`, `-4:2:2`, `-4:4:4`, `-4:4:0`, `-4:1:1`, `RGB`,
        `CMYK-4:4:4`, or `YCCK-4:2:0` and so on, as YCbCr. Others are the color and the sampling
        factors of each component, without a common divisor: `RGB-2x2,2x2,1x1`
    markers: bytes, the file's APPn and COM segments (JFIF, Exif, XMP, color profile, comments)
        concatenated, each from the FF of its marker on; of CMYK Adobe's, too, which is written
        where it is there, since some programs invert such files alone. Not written are segments
        about the coding (Adobe's of other files, AVI1) and an index without attachments
    path: of the file that was read, or None
    irregular: the anomalies of that file, of which nothing is missing: a tuple of `trailing-bytes`
        (after the entropy-coded data), `extraneous-bytes` (between segments), `scan-parameters`
        (of a sequential scan), `missing-eoi`, `unexpected-marker`, `unknown-header` (a JFIF
        version, an Adobe transform code); empty for a regular file
    attachments: the other pictures of its file by the index (MPF) in `markers`, each the bytes of a
        JPEG file of one picture, which read() takes: gain maps, stereo pairs, previews; at most 255
    trailer: the bytes after the last picture of the file
    gaps: bytes that stand before each attachment, behind the picture before it; mostly empty
    depth: bits of a sample, 8 or 12
    """

    __slots__ = ("components", "tables", "width", "height", "sampling", "markers", "path",
                 "irregular", "attachments", "trailer", "gaps", "depth")

    def __init__(self, components: Sequence[Component], tables: npt.NDArray[np.uint16], width: int,
                 height: int, sampling: str, markers: bytes = b"", path: Optional[str] = None,
                 irregular: Tuple[str, ...] = (), attachments: Sequence[bytes] = (),
                 trailer: bytes = b"", gaps: Sequence[bytes] = (), depth: int = 8) -> None:
        self.components, self.tables = tuple(components), tables
        self.width, self.height, self.sampling = width, height, sampling
        self.markers, self.path, self.irregular = markers, path, irregular
        self.attachments, self.trailer, self.gaps = tuple(attachments), trailer, tuple(gaps)
        self.depth = depth

    def __reduce__(self) -> Tuple[Any, ...]:  # views become copies
        return Picture, tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        depth = "" if self.depth == 8 else f" {self.depth} bits"
        return f"<Picture {self.width}x{self.height} {self.sampling}{depth}>"

    def __len__(self) -> int:
        return len(self.components)

    def __iter__(self) -> Iterator[npt.NDArray[np.int16]]:
        """The coefficients of each component."""
        return (component.coefficients for component in self.components)

    def __getitem__(self, index: int) -> npt.NDArray[np.int16]:
        """The coefficients of a component. Raises TypeError and IndexError."""
        if not hasattr(index, "__index__"):
            raise TypeError(f"picture[i] needs an int, not {type(index).__name__}")
        return self.components[index].coefficients

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        # Components of one shape would become one array, of coefficients for most surprisingly.
        raise TypeError("a Picture is no array: use picture.pixels(), or picture[i] for the "
                        "coefficients of a component")

    def __eq__(self, other: Any) -> bool:
        """Whether both files would be the same except in their coding: `path` and `irregular` do
        not count."""
        if not isinstance(other, Picture):
            return NotImplemented
        one, other = self.cpu(), other.cpu()
        names = ("width", "height", "sampling", "depth", "markers", "attachments", "trailer",
                 "gaps")
        return (all(getattr(one, name) == getattr(other, name) for name in names)
                and np.array_equal(one.tables, other.tables) and len(one) == len(other)
                and all(map(Component.__eq__, one.components, other.components)))

    def table(self, component: int) -> npt.NDArray[np.uint16]:
        """uint16 (8, 8): the quantization table of a component, a view of `tables`."""
        return self.tables[self.components[component].table]

    @property
    def quantization(self) -> Dict[int, List[int]]:
        """The tables as Pillow's Image.quantization has them, for its `qtables`: by their number,
        64 steps in natural order each. Copies: change `tables` instead."""
        return {index: table.reshape(64).tolist() for index, table in enumerate(self.tables)}

    def cpu(self) -> "Picture":
        """The same picture in system memory: itself, of a CudaPicture a download."""
        return self

    def copy(self) -> "Picture":
        """A copy, so that the decoder's buffer is free again."""
        components = [Component(c.coefficients.copy(), c.id, c.h_samp, c.v_samp, c.width, c.height,
                                c.table) for c in self.components]
        return Picture(components, self.tables.copy(), self.width, self.height, self.sampling,
                       self.markers, self.path, self.irregular, self.attachments, self.trailer,
                       self.gaps, self.depth)

    def stripped(self) -> "Picture":
        """The same coefficients without metadata: no markers but Adobe's of CMYK, attachments, gaps
        or trailer."""
        adobe = [one for one in segments_of(self.markers)
                 if self.sampling.startswith("CMYK") and one[1] == 0xEE and one[4:9] == b"Adobe"]
        return Picture(self.components, self.tables, self.width, self.height, self.sampling,
                       b"".join(adobe), depth=self.depth)

    def transpose(self, method: Any, trim: bool = False, perfect: bool = False) -> "Picture":
        """The picture rotated, mirrored or transposed without loss, with jpegtran's coefficients.

        method: as of cudadctflip: `90r`, clockwise; `180`; `90l`; `horiz`, left and right
            exchanged; `vert`; `ul-lr`, transposed; `ur-ll`; `identity`; `auto`, by the Exif data in
            `markers`, which then say, as XMP data do, that the picture is upright. Or a member of
            Pillow's Image.Transpose, whose rotations are counterclockwise, or its number
        trim: drop partial MCUs at an edge that would have to come first; else they stay there as
            they are
        perfect: raise ValueError where there are such
        Tables, attachments, thumbnails and sizes in metadata follow. What cannot follow without
        loss is dropped, with a UserWarning that names it; another names partial MCUs that `auto`
        leaves as they are. Raises ValueError, and WriteError and TypeError for a picture that no
        file can hold.
        """
        return self._by(_filters.flip(self, method, trim, perfect))

    def crop(self, box: Any) -> "Picture":
        """A part of the picture, without loss.

        box: (left, top, right, bottom) in samples, right and bottom exclusive, as of Pillow's crop
        It begins at a whole MCU: up to an MCU less one of columns and rows before `left` and `top`
        are there, too. Metadata follow as with transpose(); attachments are cropped where the crop
        is at their MCUs. Raises as transpose(), ValueError for a part that is not in the picture.
        """
        return self._by(_filters.crop(self, box))

    def requantize(self, quality: Optional[int] = None, *,
                   target_size: Optional[int] = None) -> "Picture":
        """The picture with libjpeg's tables of a quality, where these are coarser than its own.

        target_size: bytes; instead of quality the highest one whose file, as write() makes it
            without options, has no more. Where even quality 1 makes a larger file, that is the
            picture, and a UserWarning
        Rounded to the nearest, ties away from zero; nothing is transformed. Raises as transpose().
        """
        if (quality is None) == (target_size is None):
            raise ValueError("requantize() takes quality or target_size")
        if quality is not None:
            return self._by(_filters.requantize(self, quality))
        return self._of_size(checked_size("target_size", target_size) or 0)

    def _of_size(self, size: int) -> "Picture":
        """By bisection: files of a higher quality are rarely smaller."""
        def made(quality: int) -> Tuple["Picture", int]:
            picture = self.requantize(quality)
            return picture, len(written([picture.cpu()], Options())[0])
        best, found = made(100)
        if found <= size:
            return best
        best, found = made(1)
        if found > size:
            warn(f"target_size={size} exceeded: {found} bytes at quality 1")
            return best
        fits, exceeds = 1, 100
        while exceeds - fits > 1:
            quality = (fits + exceeds) // 2
            picture, found = made(quality)
            if found <= size:
                best, fits = picture, quality
            else:
                exceeds = quality
        return best

    def _by(self, made: _native.Pictures) -> "Picture":
        block = made.take_block()
        picture = self.of_native(made.array[0], block, self.path, device_of(self))
        picture.irregular = self.irregular
        return picture

    @classmethod
    def of_native(cls, made: _native.Picture, block: _native.Block, path: Optional[str],
                  device: Optional[int]) -> "Picture":
        """A CtPicture of coefficients, whose block that is, as one of this class."""
        layout, rest = layout_of(made), rest_of(made)
        block.address = made.component[0].data
        memory = block.array((layout.size,)) if device is None else None
        components = [Component(
            np.ndarray(part.shape, _TYPE, memory, part.offset, part.strides) if device is None
            else CudaArray(block, part.offset, part.shape, part.strides, device),  # type: ignore
            *part.fields) for part in layout.parts]
        return cls(components, layout.tables.copy(), layout.width, layout.height, layout.sampling,
                   rest.markers, path, *rest[1:], made.depth)

    def planes(self, dtype: Any = np.int16) -> Planes:
        """A plane for each frequency of each component, (64, blocks_h, blocks_w), to be channels.

        dtype: int16: coefficients. int32, float32, float16: coefficients times their table
        Raises ValueError for other types, and WriteError and TypeError for
        a picture that no file can hold.
        """
        return planes_of(self, dtype)

    def dequantize(self) -> Tuple[npt.NDArray[np.int32], ...]:
        """Each component's coefficients times their table: int32 (blocks_h, blocks_w, 8, 8).

        In the units of JPEG: DC is eight times the mean of the samples less 128, or less 2048 at 12
        bits.
        """
        return tuple(c.coefficients * self.tables[c.table].astype(np.int32)
                     for c in self.components)

    def samples(self, method: str = "islow") -> Tuple[npt.NDArray[Any], ...]:
        """Each component's samples at the file's sampling: uint8 (height, width); of 12 bits
        uint16, 0 to 4095.

        Those of `islow` are libjpeg-turbo's, to the bit, at 12 bits those of libjpeg-turbo 3.
        cudaidct8x8 lists the methods.
        """
        return tuple(idct(c.coefficients, table=self.tables[c.table], size=(c.height, c.width),
                          method=method, depth=self.depth) for c in self.components)

    def pixels(self, upsampling: str = "fancy") -> npt.NDArray[Any]:
        """uint8 (height, width, 3), RGB; (height, width) of a gray picture; (height, width, 4),
        CMYK as Pillow gives it, 255 = full ink: files have it inverted, as Adobe's do.

        upsampling: of Cb and Cr that have fewer samples. `fancy`: triangle filters; the bytes are
            those of libjpeg-turbo, djpeg, Pillow and OpenCV. `nearest`: samples are repeated, as by
            `djpeg -nosmooth`
        Of 12 bits they are uint16, 0 to 4095, and libjpeg-turbo 3's. Raises ValueError, also where
        the picture is a fraction larger than a component: libjpeg has no such pixels.
        """
        _filters.check_upsampling(upsampling)
        reason = color.why_no_pixels(self.sampling)
        if reason is not None:
            raise ValueError(reason)
        too_large = max(self.width, self.height) > _LARGEST_RGB
        if (self.depth != 8 or too_large or self.sampling == "GRAYSCALE"
                or self.sampling.startswith("CMYK")
                or len(self) == 4 and self.sampling not in color.SAMPLINGS):
            return color.to_pixels(self.samples(), self.sampling, (self.height, self.width),
                                   self.depth, upsampling == "fancy")
        if not self.sampling.startswith("YCCK"):
            return _filters.pixels(self, upsampling)
        *colors, black = self.components
        rest = Picture(colors, self.tables, self.width, self.height, "YCbCr" + self.sampling[4:])
        ink = idct(black.coefficients, table=self.tables[black.table],
                   size=(self.height, self.width))
        return np.dstack([_filters.pixels(rest, upsampling), 255 - ink])

    @classmethod
    def from_pixels(cls, array: Any, quality: int = QUALITY, subsampling: Any = None,
                    qtables: Optional[Any] = None, method: str = "islow") -> "Picture":
        """A picture made of pixels, with the coefficients of `cjpeg -dct int`.

        array: uint8 (height, width), gray; (height, width, 3), RGB; with a `subsampling` of CMYK or
            YCCK (height, width, 4), 255 = full ink. Or an image of Pillow, whose mode is
            L, RGB or CMYK. Or uint16, 0 to 4095: of 12 bits
        quality: 1 to 100, libjpeg's scale of the tables of ITU-T T.81, annex K; entries up to 255
        subsampling: as Picture.sampling or its end: `4:2:0`, the default for color; `gray`; `rgb`,
            which keeps the colors as they are; `cmyk`, the default for Pillow's CMYK alone, since
            four channels may be RGBA, too; `YCCK-4:2:0`. Without colons, too: `420`; or 0, 1, 2 as
            in Pillow: 4:4:4, 4:2:2, 4:2:0
        qtables: instead of `quality`: (8, 8) for all components, or (n, 8, 8), one for each
            component in turn, the last for the rest; 1 to 65535. Or 64 in place of 8, 8, or a dict
            of such in the order of keys, as `quantization` of a Pillow image: all are in natural
            order, as Pillow's are from 8.3 on
        method: as of dct()
        Raises ValueError for other shapes and values, and TypeError.
        """
        pixels, sampling = color.checked(array, subsampling)
        count = len(color.ids_of(sampling))
        if pixels.ndim == 2 and sampling != "GRAYSCALE":
            pixels = np.repeat(pixels[:, :, None], 3, axis=2)
        planes = color.to_planes(pixels, sampling)
        if qtables is None:
            tables = quality_tables(quality)
            which = [int(color.is_chroma(sampling, index)) for index in range(count)]
        else:
            tables = check_tables(qtables)
            which = [min(index, len(tables) - 1) for index in range(count)]
        height, width = pixels.shape[:2]
        picture = empty(width, height, sampling, tables, which)
        picture.depth = color.depth_of(pixels)
        if sampling.startswith("CMYK"):
            picture.markers = _ADOBE
        for component, plane in zip(picture.components, planes):
            component.coefficients[:] = coefficients_of(plane, tables[component.table], method,
                                                        picture.depth)
        return picture


def empty(width: int, height: int, sampling: str, tables: npt.NDArray[np.uint16],
          which: Sequence[int]) -> Picture:
    """A picture of zeros. `which`: the index of each component's table."""
    components: List[Component] = []
    for index, (id, factors) in enumerate(zip(color.ids_of(sampling), color.factors_of(sampling))):
        c_width, c_height = color.sides_of(sampling, index, width, height)
        coefficients = np.zeros((-(-c_height // 8), -(-c_width // 8), 8, 8), np.int16)
        components.append(Component(coefficients, id, *factors, c_width, c_height, which[index]))
    # A file has no unused tables either.
    used = sorted({component.table for component in components})
    for component in components:
        component.table = used.index(component.table)
    return Picture(components, tables[used], width, height, sampling)


def samples_at(picture: Picture, scale: int) -> Tuple[List[np.ndarray], str]:
    """Each component's samples, of 8 bits, of a picture at 1/`scale` of its size, in system memory,
    and the sampling that is left.

    As in libjpeg (jdmaster.c), a component that has half the columns and half the rows gets an
    inverse twice as large instead of an upsampling.
    """
    samples, left = [], []
    for index, c in enumerate(picture.components):
        (x, y), own = color.ratio_of(picture.sampling, index), scale
        while own > 1 and x % 2 == y % 2 == 0:
            x, y, own = x // 2, y // 2, own // 2
        alone = Picture([Component(c.coefficients, 1, 1, 1, c.width, c.height, c.table)],
                        picture.tables, c.width, c.height, "GRAYSCALE")
        samples.append(_filters.pixels(alone, scale=own))
        h, v = color.factors_of(picture.sampling)[index]
        left.append((h * scale // own, v * scale // own))
    return samples, color.sampling_by(picture.sampling.partition("-")[0], left)
