# A user's program as mypy --strict and pyright read it: the module's arguments and results.
# SPDX-License-Identifier: LGPL-2.1-or-later
# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

import pathlib
from concurrent.futures import Future
from typing import List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import cudatransform as ct
from cudatransform.cuda import CudaArray

Pixels = npt.NDArray[np.uint8]


def sizes(folder: pathlib.Path) -> List[Tuple[int, int]]:
    infos = [ct.info(path) for path in folder.glob("*.jpg")]
    assert_type(infos[0].orientation, Optional[int])
    return [(info.width, info.height) for info in infos]


def smaller(data: bytes) -> Pixels:
    pixels = ct.decode(data, "L", reduce=2, exif=True)
    assert_type(pixels, Pixels)
    assert_type(ct.decode(data, device="cuda"), Union[Pixels, CudaArray])
    assert_type(ct.decode(data, crop=(0, 0, 8, 8)), Pixels)
    tensor: npt.NDArray[np.float32] = ct.decode(data, size=224, dtype="float32", layout="chw")
    assert tensor.shape[0] == 3
    return pixels


def requantized(path: pathlib.Path) -> bytes:
    picture = ct.read(path, max_pixels=1 << 26)
    assert_type(picture, ct.Picture)
    assert_type(picture.markers, bytes)
    written: bytes = ct.write(picture.transpose("90r").requantize(50), optimize=True)
    return written


def brighter(picture: ct.Picture) -> Pixels:
    assert_type(picture[0], npt.NDArray[np.int16])
    assert_type(picture.table(0), npt.NDArray[np.uint16])
    for component in picture.components:
        steps = picture.tables[component.table]
        component.coefficients[..., 0, 0] += np.int16(64 // steps[0, 0])
    print([plane.shape for plane in picture.samples()], ct.quality_tables(75), ct.ZIGZAG)
    return picture.pixels()


def same_tables(path: pathlib.Path, picture: ct.Picture) -> bool:
    return np.array_equal(ct.info(path).tables, picture.tables)


def failures(paths: List[pathlib.Path]) -> List[str]:
    with ct.Reader(paths, batch_size=8, device=["cuda:0", "cuda:1"], output="pixels") as reader:
        return [f"{path}: {reason}" for batch in reader for path, reason in batch.failures]


def encoded(pictures: List[Pixels]) -> List["Future[Optional[bytes]]"]:
    with ct.Writer(quality=90) as writer:
        return [writer.add(one) for one in pictures]


def wrong() -> None:
    # Each is an error for the type checkers, too: they report an unused ignore.
    ct.decode(5)  # type: ignore[call-overload]
    ct.decode(b"", reduce="2")  # type: ignore[call-overload]
    ct.read(b"", maximum=4)  # type: ignore[call-arg]
    ct.Reader(["a.jpg"], batch_size="8")  # type: ignore[arg-type]
