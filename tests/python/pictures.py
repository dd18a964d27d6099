# Pictures, JPEG files of every kind and bad ones for the tests of the Python module.
# SPDX-License-Identifier: LGPL-2.1-or-later
import contextlib
import io
import os
import shutil
import struct
import subprocess
import unittest

import numpy as np

import cudatransform as ct
from cudatransform import color, picture

SKIP = 77
OPENCV = "/usr/share/doc/opencv-doc"
CJPEG_SAMPLINGS = {"YCbCr-4:2:0": "2x2", "YCbCr-4:2:2": "2x1", "YCbCr-4:4:4": "1x1",
                   "YCbCr-4:4:0": "1x2", "YCbCr-4:1:1": "4x1", "YCbCr-4:4:1": "1x4"}


def have_tools():
    """Whether libjpeg-turbo's programs are there."""
    return all(shutil.which(name) for name in ("cjpeg", "djpeg", "jpegtran"))


def pixels(width, height, channels=3, seed=1):
    """A picture with large shapes, edges and noise: uint8 (height, width[, channels])."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    planes = []
    for channel in range(channels):
        wave = 90 * np.sin(x / (7 + 3 * channel)) + 60 * np.cos(y / (5 + 2 * channel))
        edge = 50 * ((x + 2 * y) % (23 + channel) < 9)
        planes.append(100 + wave + edge + random.normal(0, 6, (height, width)))
    made = np.clip(np.stack(planes, axis=2), 0, 255).astype(np.uint8)
    return made[:, :, 0] if channels == 1 else made


def box(left, top, width, height):
    """As Picture.crop() has it."""
    return left, top, left + width, top + height


def channels_of(sampling):
    """How many channels pixels have that are made a sampling of, by whichever of its names."""
    from cudatransform import color
    sampling = color.sampling_of(sampling)
    return {"GRAYSCALE": 1, "CMYK": 4, "YCCK": 4}.get(sampling.split("-")[0], 3)


def pnm(array):
    kind = b"P5" if array.ndim == 2 else b"P6"
    return kind + b"\n%d %d\n255\n" % (array.shape[1], array.shape[0]) + array.tobytes()


def from_pnm(data):
    kind, width, height, _ = data.split(maxsplit=4)[:4]
    shape = (int(height), int(width)) + ((3,) if kind == b"P6" else ())
    size = int(np.prod(shape))
    return np.frombuffer(data[len(data) - size:], np.uint8).reshape(shape)


def run(*command, data):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def cjpeg(array, *options):
    return run("cjpeg", "-dct", "int", *options, data=pnm(array))


def jpegtran(data):
    """A file's first picture as libjpeg-turbo writes it again, without metadata: the same for the
    same coefficients and tables. None where libjpeg-turbo cannot read it."""
    done = subprocess.run(("jpegtran", "-copy", "none", "-optimize"), input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout if done.returncode in (0, 2) else None  # 2: warnings


def djpeg(data, *options):
    """libjpeg-turbo's samples of a file: gray or RGB."""
    return from_pnm(run("djpeg", "-dct", "int", *options, "-pnm", data=data))


def segment(marker, body):
    return b"\xff" + bytes([marker]) + (len(body) + 2).to_bytes(2, "big") + body


def _index(entries, order):
    """A segment with an index of pictures (MPF). `entries`: sizes and offsets."""
    tiff = (b"MM\0*" if order == ">" else b"II*\0") + struct.pack(order + "IH", 8, 2)
    tiff += struct.pack(order + "HHII", 0xB001, 4, 1, len(entries))
    tiff += struct.pack(order + "HHIII", 0xB002, 7, 16 * len(entries), 38, 0)
    return segment(0xE2, b"MPF\0" + tiff + b"".join(
        struct.pack(order + "IIII", 0x20003, *entry, 0) for entry in entries))


def with_others(data, others, order=">", gap=b"", trailer=b""):
    """A file as the first of several pictures."""
    place = 4 + int.from_bytes(data[4:6], "big")  # behind its first segment
    at = len(data) + len(_index([(0, 0)] * (len(others) + 1), order))
    entries = [(at, 0)]
    for other in others:
        at += len(gap)
        entries.append((len(other), at - place - 8))
        at += len(other)
    return (data[:place] + _index(entries, order) + data[place:] +
            b"".join(gap + other for other in others) + trailer)


def xmp(items, film_at=None):
    """A segment of XMP data with a Container: (semantic, type, length) of the bytes behind the
    picture, and how far a film is from the file's end."""
    words = "".join(f'<rdf:li><Container:Item Item:Semantic="{semantic}" Item:Mime="{mime}" '
                    f'Item:Length="{length}"/></rdf:li>' for semantic, mime, length in items)
    film = "" if film_at is None else f' GCamera:MicroVideoOffset="{film_at}"'
    name = "http://ns.google.com/photos/1.0/"
    return segment(0xE1, (
        f'http://ns.adobe.com/xap/1.0/\0<rdf:Description xmlns:Item="{name}container/item/" '
        f'xmlns:Container="{name}container/" xmlns:GCamera="{name}camera/"{film}><rdf:Seq><rdf:li>'
        f'<Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>{words}'
        '</rdf:Seq></rdf:Description>').encode())


def segments_of(data):
    """The segments before the first scan: marker, body. And where the scan's header begins."""
    at, found = 2, []
    while 0 <= (at := data.find(b"\xff", at)) <= len(data) - 4:  # over bytes between them
        if data[at + 1] == 0xFF:
            at += 1
            continue
        if data[at + 1] == 0xDA:
            return found, at
        size = int.from_bytes(data[at + 2:at + 4], "big")
        found.append((data[at + 1], data[at + 4:at + 2 + size]))
        at += 2 + size
    return found, len(data)


def end_of(data):
    """Where the first picture of a file ends: behind its EOI, or at its end without one."""
    at = segments_of(data)[1]
    while 0 <= (at := data.find(b"\xff", at)) < len(data) - 1:
        code = data[at + 1]
        if code == 0xD9:
            return at + 2
        at += 2
        if code == 0xFF:
            at -= 1
        elif code not in (0, 1, *range(0xD0, 0xD8)):
            at += int.from_bytes(data[at:at + 2], "big")
    return len(data)


def others_of(data):
    """The other pictures of a file, where its index says they are."""
    tiff = data.index(b"MPF\0") + 4
    order = ">" if data[tiff:tiff + 2] == b"MM" else "<"
    ifd = tiff + struct.unpack_from(order + "I", data, tiff + 4)[0]
    fields = {}
    for index in range(struct.unpack_from(order + "H", data, ifd)[0]):
        tag, _, count, value = struct.unpack_from(order + "HHII", data, ifd + 2 + 12 * index)
        fields[tag] = count, value
    count, entries = fields[0xB002]
    found = []
    for index in range(1, count // 16):
        _, size, offset = struct.unpack_from(order + "III", data, tiff + entries + 16 * index)
        found.append(data[tiff + offset:tiff + offset + size])
    return found


def file_with_frame(frame):
    """A JPEG file of a frame header of one's own, and too few data."""
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) + frame +
            segment(0xDA, b"\1\1\0\0\x3f\0") + b"\x2b" + b"\xff\xd9")


def tiny():
    """A sound gray file of 8 x 8 samples, all of them 128."""
    return file_with_frame(segment(0xC0, b"\x08\0\x08\0\x08\1\1\x11\0"))


def _zigzag():
    """The natural index of each place of a block in a file (T.81, figure A.6)."""
    diagonals = [[(v, d - v) for v in range(8) if 0 <= d - v < 8] for d in range(15)]
    return [8 * v + u for d, places in enumerate(diagonals)
            for v, u in (places if d % 2 else places[::-1])]


def twelve_bits(components, width, height, table):
    """A 12-bit file, gray or YCbCr-4:4:4, of quantized coefficients (blocks_h, blocks_w, 8, 8) and
    divisors (8, 8). All Huffman codes have 8 bits."""
    order = _zigzag()
    ac = [0x00, 0xF0] + [zeros << 4 | size for size in range(1, 15) for zeros in range(16)]
    bits, before = [], [0] * len(components)

    def put(code, value, size):
        bits.append(f"{code:08b}")
        if size:
            bits.append(f"{value + (2 ** size - 1 if value < 0 else 0):0{size}b}")
    for y, x in np.ndindex(components[0].shape[:2]):
        for index, coefs in enumerate(components):
            block = [int(coef) for coef in coefs[y, x].reshape(64)[order]]
            step, before[index] = block[0] - before[index], block[0]
            put(abs(step).bit_length(), step, abs(step).bit_length())
            last = 0
            for place in [place for place in range(1, 64) if block[place]]:
                zeros, size = place - last - 1, abs(block[place]).bit_length()
                for _ in range(zeros // 16):
                    put(ac.index(0xF0), 0, 0)
                put(ac.index(zeros % 16 << 4 | size), block[place], size)
                last = place
            if last < 63:
                put(ac.index(0), 0, 0)
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    data = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")
    ids = range(1, len(components) + 1)
    return b"".join((
        b"\xff\xd8", segment(0xDB, b"\x10" + table.reshape(64)[order].astype(">u2").tobytes()),
        segment(0xC1, struct.pack(">BHHB", 12, height, width, len(ids)) +
                b"".join(bytes([number, 0x11, 0]) for number in ids)),
        segment(0xC4, b"\0" + bytes(7) + b"\x10" + bytes(8) + bytes(range(16))),
        segment(0xC4, b"\x10" + bytes(7) + bytes([len(ac)]) + bytes(8) + bytes(ac)),
        segment(0xDA, bytes([len(ids)]) + b"".join(bytes([number, 0]) for number in ids) +
                b"\0\x3f\0"), data, b"\xff\xd9"))


def bad_files():
    """Names and bytes of files that cannot be read, and a word of the reason."""
    five = b"\5" + b"".join(bytes([index, 0x11, 0]) for index in range(1, 6))
    cut = cjpeg_or_tiny()
    return {
        "empty.jpg": (b"", "0 bytes"),
        "text.jpg": (b"This is no picture.\n" * 40, "JPEG"),
        "five.jpg": (file_with_frame(segment(0xC0, b"\x08\0\x08\0\x08" + five)), "components: 5"),
        "ten.jpg": (file_with_frame(segment(0xC1, b"\x0a\0\x08\0\x08\1\1\x11\0")), "10 bits"),
        "cut.jpg": (cut[:len(cut) * 2 // 3], "end"),
        "start.jpg": (cut[:2], ""),
    }


def drafts_of(data):
    """What Pillow decodes of a file at 1/1, 1/2, 1/4 and 1/8 of its size, if that has a pixel."""
    from PIL import Image
    for reduce in (1, 2, 4, 8):
        image = Image.open(io.BytesIO(data))
        if min(image.size) >= reduce:
            image.draft(None, [side // reduce for side in image.size])
            yield reduce, image


@contextlib.contextmanager
def as_nobody(folder):
    """Runs its block as a user other than root, to whom files may be closed; `folder` is not."""
    if os.geteuid() != 0:
        yield
        return
    os.chmod(folder, 0o755)
    try:
        os.seteuid(65534)
    except OSError as error:  # a namespace without others
        raise unittest.SkipTest(f"root cannot become another: {error}") from error
    try:
        if not os.access(folder, os.X_OK, effective_ids=True):
            raise unittest.SkipTest(f"others may not look into {folder}")
        yield
    finally:
        os.seteuid(0)


def cjpeg_or_tiny():
    import cudatransform
    return cudatransform.write(cudatransform.Picture.from_pixels(pixels(200, 120)))


def write_all(folder, files):
    """Writes {name: bytes}; returns {name: path}."""
    paths = {}
    for name, data in files.items():
        paths[name] = os.path.join(folder, name)
        os.makedirs(os.path.dirname(paths[name]), exist_ok=True)
        with open(paths[name], "wb") as file:
            file.write(data)
    return paths


def with_jfif(picture):
    """The picture that is read of one made of pixels: the writer has added a header."""
    made = picture.copy()
    if channels_of(picture.sampling) < 4 and picture.sampling != "RGB":
        made.markers = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
    return made


def frame_of(data):
    """The marker of a file's frame header."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2, 0xC9, 0xCA):
        at += 2 + int.from_bytes(data[at + 2:at + 4], "big")
    return data[at + 1]


def equal(a, b):
    """Whether two pictures have the same coefficients, tables and markers."""
    return (a.sampling == b.sampling and (a.width, a.height) == (b.width, b.height) and
            a.markers == b.markers and len(a) == len(b) and
            all(np.array_equal(a[index], b[index]) and
                np.array_equal(a.table(index), b.table(index)) for index in range(len(a))))


def made_of(sampling, width, height, seed):
    """A picture of low frequencies."""
    count = len(color.ids_of(sampling))
    made = picture.empty(width, height, sampling, ct.quality_tables(80), [0] * count)
    numbers = np.random.default_rng(seed)
    for component in made.components:
        coefs = component.coefficients
        coefs[..., 0, 0] = numbers.integers(-30, 30, coefs.shape[:2])
        coefs[..., :3, :3] += numbers.integers(-9, 9, (*coefs.shape[:2], 3, 3), np.int16)
    if sampling.startswith("CMYK"):
        made.markers = segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")
    return made


def mutated(data, numbers):
    """A file with one to three changes, mostly before its coded data. numbers: of numpy"""
    changed = bytearray(data)
    for _ in range(numbers.integers(1, 4)):
        head = data.index(b"\xff\xda") + 14 if numbers.random() < .6 else len(changed)
        at = int(numbers.integers(2, min(head, len(changed) - 2)))
        kind, size = numbers.integers(5), int(numbers.integers(1, 4))
        if kind == 0:
            changed[at] = numbers.integers(256)
        elif kind == 1:
            changed[at] ^= 1 << numbers.integers(8)
        elif kind == 2:
            del changed[at:at + size]
        elif kind == 3:
            changed[at:at] = numbers.bytes(size)
        else:  # sizes, components and their factors
            frame = max(changed.find(b"\xff\xc0"), changed.find(b"\xff\xc1"), 0)
            place = frame + int(numbers.choice((5, 6, 7, 8, 9, 10, 11, 13, 14)))
            if place < len(changed):
                changed[place] = numbers.choice((0, 1, 2, 3, 4, 0x11, 0x21, 0x33, 0x44, 0x55, 255))
    return bytes(changed)
