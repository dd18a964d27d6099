"""What a corpus job does to pictures, such as stats, export and repack. Without Ray."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Union

import numpy as np

from .. import color
from .._encoding import Quantization, reencoded
from .._info import process_of
from ..errors import Failure, is_interruption
from ..jpeg import read, write
from ..picture import Picture
from ..reader import Reader
from ..tables import estimated_quality
from ..transform import psnr
from .folder import Output
from .names import shard_name

_AHEAD = 8  # pictures that a worker has read for what it does next

Row = Dict[str, Any]


def stats(picture: Picture, source: bytes) -> Row:
    """A row of stats.parquet: a picture's properties as numbers and words. Raises OSError."""
    size = os.path.getsize(source)
    coefficients = sum(component.coefficients.size for component in picture.components)
    zeros = coefficients - sum(int(np.count_nonzero(c.coefficients)) for c in picture.components)
    return {"width": picture.width, "height": picture.height, "depth": picture.depth,
            "sampling": picture.sampling, "process": process_of(source),
            "quality": estimated_quality(picture.table(0)),
            "tables": picture.tables.reshape(-1, 64).tolist(), "zero_share": zeros / coefficients,
            "bytes": size, "bits_per_pixel": 8 * size / (picture.width * picture.height),
            "marker_bytes": len(picture.markers), "irregular": ",".join(picture.irregular),
            "attachments": len(picture.attachments),
            "attachment_bytes": sum(map(len, picture.attachments)),
            "trailer_bytes": len(picture.trailer)}


def _repack(picture: Picture, source: bytes, relative: bytes, output: Output) -> Row:
    # Not every libjpeg writes progressive files of 12 bits; sequential ones have the best tables.
    data, before = write(picture, progressive=picture.depth == 8), os.path.getsize(source)
    if len(data) < before:
        output.write(relative, data)
    else:
        output.copy(source, relative)
    return {"bytes": before, "bytes_after": min(len(data), before)}


def _requantize(picture: Picture, source: bytes, relative: bytes, output: Output,
                quality: int) -> Row:
    return _write(picture.requantize(quality), source, relative, output)


def _write(made: Picture, source: bytes, relative: bytes, output: Output) -> Row:
    data = write(made, optimize=True)
    output.write(relative, data)
    return {"bytes": os.path.getsize(source), "bytes_after": len(data)}


def _transpose(picture: Picture, source: bytes, relative: bytes, output: Output, trim: bool) -> Row:
    made = picture.transpose("auto", trim=trim)
    if made.markers != picture.markers:  # they say that it is upright now
        return _write(made, source, relative, output)
    output.copy(source, relative)
    size = os.path.getsize(source)
    return {"bytes": size, "bytes_after": size}


def _crop(picture: Picture, source: bytes, relative: bytes, output: Output,
          crop: List[int]) -> Row:
    left, top, width, height = crop
    return _write(picture.crop((left, top, left + width, top + height)), source, relative, output)


def shrunk(picture: Picture, target_size: Optional[int] = None) -> Optional[Picture]:
    """A picture of the same samples whose coefficients quantizer=rd has made, for a smaller file.

    With the picture's own tables, or with those that make a file of `target_size` bytes. None: of
    such pictures no samples are made, or no pixels to compare, or rd does not take their tables.
    """
    if color.why_no_pixels(picture.sampling) is not None:
        return None
    quantization = Quantization(qtables="perceptual", quantizer="rd", target_size=target_size)
    if target_size is None:
        own = [picture.table(index) for index in range(len(picture))]
        one_chroma_table = np.array_equal(own[min(1, len(own) - 1)], own[-1])
        if not one_chroma_table or picture.tables.max() > 255 or not all(t.all() for t in own):
            return None
        quantization = quantization._replace(qtables=np.stack([own[0], own[-1]]))
    data = reencoded(picture, quantization)
    if data is None:
        return None
    coefficients, made = read(data), picture.copy()
    for component, new in zip(made.components, coefficients.components):
        component.coefficients, component.table = new.coefficients, new.table
    made.tables = coefficients.tables
    return made


def _shrink(picture: Picture, source: bytes, relative: bytes, output: Output,
            target_size: Optional[int]) -> Row:
    before, made, data = os.path.getsize(source), None, b""
    room: Optional[int] = None
    # Its own tables lose least; if they do not do, others. What else is in a file takes room, too:
    # of a second try it is known.
    for _ in range(4 if target_size is None or before > target_size else 0):
        made = shrunk(picture, room)
        data = b"" if made is None else write(made, optimize=True)
        if target_size is None or (made is not None and len(data) <= target_size):
            break
        room = target_size if room is None else max(1, room - (len(data) - target_size))
    if target_size is not None and made is None and before > target_size:
        raise ValueError(f"shrink does not support {picture.sampling} with {picture.depth} bits")
    if target_size is not None and len(data) > target_size:
        raise ValueError(f"cannot be reduced to {target_size} bytes")
    if made is None or len(data) >= before:
        output.copy(source, relative)
        return {"bytes": before, "bytes_after": before}
    output.write(relative, data)
    return {"bytes": before, "bytes_after": len(data),
            "psnr": round(min(psnr(picture.pixels(), made.pixels()), 99.), 2)}


def _coefficients(picture: Picture) -> Row:
    """A row of Parquet: coefficients (int16) and tables (uint16) as little-endian bytes in natural
    order."""
    return {"width": picture.width, "height": picture.height, "depth": picture.depth,
            "sampling": picture.sampling,
            "blocks_w": [c.coefficients.shape[1] for c in picture.components],
            "blocks_h": [c.coefficients.shape[0] for c in picture.components],
            "table_of": [c.table for c in picture.components],
            "tables": [table.astype("<u2").tobytes() for table in picture.tables],
            "coefficients": [c.coefficients.astype("<i2").tobytes() for c in picture.components],
            "markers": picture.markers, "attachments": list(picture.attachments),
            "trailer": picture.trailer}


def _export(picture: Picture, relative: bytes, exported: List[Row]) -> Row:
    exported.append({"path": relative, **_coefficients(picture)})
    return {}


def parquet(rows: List[Row]) -> bytes:
    """Rows as the bytes of a Parquet file."""
    import pyarrow
    import pyarrow.parquet
    table = pyarrow.Table.from_pylist(rows)
    # Of a column of empty lists pyarrow does not know the type, and all shards have one schema.
    empty, lists = pyarrow.list_(pyarrow.null()), pyarrow.list_(pyarrow.binary())
    table = table.cast(pyarrow.schema([field.with_type(lists) if field.type == empty else field
                                       for field in table.schema]))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def reader_of(paths: Iterable[str], device: str) -> Reader:
    """A worker's Reader: one thread for its core, several files at a time for a GPU."""
    return Reader(paths, batch_size=_AHEAD, device=device, num_workers=1 if device == "cpu" else 4)


def read_files(root: bytes, names: Iterable[bytes],
               device: str = "cpu") -> Iterator[Union[Picture, Failure]]:
    """The files of a call in order. Pictures are in system memory; with `cuda` the GPU decodes
    them."""
    for batch in reader_of([os.fsdecode(os.path.join(root, name)) for name in names], device):
        for item in batch:
            yield item if isinstance(item, Failure) else item.cpu()


def _row_of(one: Callable[[Picture, bytes, bytes], Row], picture: Picture, source: bytes,
            name: bytes) -> Row:
    """The result of an action on a picture, or the reason why it failed; and the UserWarnings
    of a result, each text once. Other warnings are about programs, and not shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            row = one(picture, source, name)
        except (OSError, ValueError) as error:
            if is_interruption(error):
                raise
            return {"reason": str(error)}
    messages = dict.fromkeys(str(warning.message) for warning in caught)
    return {**row, "warnings": list(messages)} if messages else row


def do_chunk(action: str, options: Row, root: bytes, number: int, names: List[bytes],
             output: Output, items: Iterator[Union[Picture, Failure]]) -> None:
    """Does one chunk, and notes it as done.

    items: of read_files(), from this chunk's first file on
    """
    rows: List[Row] = []
    exported: List[Row] = []
    one: Callable[[Picture, bytes, bytes], Row] = {
        "stats": lambda picture, source, relative: stats(picture, source),
        "export": lambda picture, source, relative: _export(picture, relative, exported),
        "repack": lambda picture, source, relative: _repack(picture, source, relative, output),
        "requantize": lambda picture, source, relative: _requantize(
            picture, source, relative, output, options["quality"]),
        "transpose": lambda picture, source, relative: _transpose(
            picture, source, relative, output, options.get("trim", False)),
        "crop": lambda picture, source, relative: _crop(
            picture, source, relative, output, options["crop"]),
        "shrink": lambda picture, source, relative: _shrink(
            picture, source, relative, output, options.get("target_size")),
    }[action]
    for name in names:
        item, source = next(items), os.path.join(root, name)
        if item.path != os.fsdecode(source):
            raise RuntimeError(f"{item.path!r} came for {source!r}")
        # ASCII in JSON, and the same bytes again with surrogateescape.
        row: Row = {"path": os.fsdecode(name)}
        if isinstance(item, Picture):
            row.update(_row_of(one, item, source, name))
        else:
            row["reason"] = item.reason
        rows.append(row)
    if exported:
        output.write(shard_name(number), parquet(exported))
    output.finish_chunk(number, rows)
