# Seeds made of JPEG files: several pictures in one, some with a false index (MPF); streams whose
# lengths, indices and markers claim too much; metadata; settings of the writer.
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct

SOI, EOI = b"\xff\xd8", b"\xff\xd9"


def _several(name, order, first, others, change=lambda entries: None):
    """A file of pictures behind each other, with an index (MPF). `change` makes the index lie."""
    def indexed(entries):
        tiff = (b"MM\0*\0\0\0\x08" if order == ">" else b"II*\0\x08\0\0\0") + \
            struct.pack(order + "H", 3) + \
            struct.pack(order + "HHI4s", 0xB000, 7, 4, b"0100") + \
            struct.pack(order + "HHII", 0xB001, 4, 1, len(entries)) + \
            struct.pack(order + "HHII", 0xB002, 7, 16 * len(entries), 50) + bytes(4)
        packed = [struct.pack(order + "IIIHH", 0, *entry, 0, 0) for entry in entries]
        body = b"MPF\0" + tiff + b"".join(packed)
        return first[:2] + b"\xff\xe2" + (len(body) + 2).to_bytes(2, "big") + body + first[2:]
    at = len(indexed([(0, 0)] * (len(others) + 1)))
    entries = [(at, 0)]
    for other in others:
        entries.append((len(other), at - 10))  # from the TIFF header on
        at += len(other)
    change(entries)
    yield f"{name}-{'big' if order == '>' else 'little'}", indexed(entries) + b"".join(others)


def several(name, first, others, change=lambda entries: None):
    """The same in both byte orders."""
    for order in "<>":
        yield from _several(name, order, first, others, change)


def mpf_files(first, others, prefix=""):
    """Files of these pictures: name, bytes."""
    for name, data in _mpf_files(first, others):
        yield prefix + name, data


def _mpf_files(first, others):
    for order in "<>":
        yield from _several("pictures", order, first, others)
        for name, data in _several("pictures-trailer", order, first, others):
            yield name, data + b"\xff\xd8\xff\xe1\0\2 a film"
        yield from _several("pictures-none", order, first, [])
        for name, lie in (("at-first", (50, 0)), ("outside", (50, 0xFFFFFFF0)),
                          ("empty", (0, 500)), ("at-itself", (16, 50))):
            yield from _several(f"pictures-{name}", order, first, others,
                                lambda entries, lie=lie: entries.__setitem__(1, lie))
        yield from _several("pictures-over-each-other", order, first, others,
                            lambda entries: entries.__setitem__(1, entries[2]))
        yield from _several("pictures-many", order, first, others,
                            lambda entries: entries.extend(entries[1:] * 150))


def _segment(marker, body):
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body


def _exif(order, image, note):
    """IFD0 with orientation and a pointer, the Exif IFD with a maker note and a subject, IFD1."""
    def directory(entries, link):
        body = struct.pack(order + "H", len(entries))
        for tag, kind, count, value in entries:
            short = kind == 3 and count == 1
            body += struct.pack(order + "HHI", tag, kind, count)
            body += struct.pack(order + ("H" if short else "I"), value).ljust(4, b"\0")
        return body + struct.pack(order + "I", link)
    exif_at, ifd1_at = 8 + 42, 8 + 42 + 66
    note_at = ifd1_at + 42
    image_at = note_at + len(note)
    return _segment(0xE1, b"Exif\0\0" + (b"MM\0*" if order == ">" else b"II*\0") +
                    struct.pack(order + "I", 8) +
                    directory([(0x112, 3, 1, 6), (0x100, 4, 1, 16), (0x8769, 4, 1, exif_at)],
                              ifd1_at) +
                    directory([(0x9214, 3, 4, 8), (0x927C, 7, len(note), note_at),
                               (0xA002, 4, 1, 16), (0xA003, 3, 1, 16), (0xA214, 3, 2, 0x00040005)],
                              0) +
                    directory([(0x103, 3, 1, 6), (0x201, 4, 1, image_at),
                               (0x202, 4, 1, len(image))], 0) + note + image)


def _xmp(length):
    photos = "http://ns.google.com/photos/1.0/"
    return _segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + (
        '<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6" '
        f'xmlns:I="{photos}container/item/" xmlns:h="http://ns.adobe.com/hdr-gain-map/1.0/" '
        f'xmlns:c="{photos}camera/" c:MicroVideo="1" h:Version="1.0" '
        'xmlns:r="http://www.metadataworkinggroup.com/schemas/regions/"><r:Regions><a/>'
        '</r:Regions><rdf:Seq><rdf:li I:Mime="image/jpeg" I:Padding="0"/>'
        f'<rdf:li><b I:Mime="image/jpeg" I:Length="{length}"/></rdf:li></rdf:Seq>'
        "</rdf:Description>").encode())


def _photoshop(image):
    block = b"8BIM\x04\x0c\0\0" + struct.pack(">I", 28 + len(image)) + bytes(28) + image
    return _segment(0xED, b"Photoshop 3.0\0" + block + b"\0" * (len(block) % 2) +
                    b"8BIM\x04\x04\0\0\0\0\0\x01a\0")


def seeds_of_metadata(every):
    """Flips of the files with metadata in front of all kinds of segments."""
    whole = (data for _, data in every if data[-2:] == b"\xff\xd9" and len(data) > 100)
    small = min(whole, key=len)
    extra = {"exif-big": _exif(">", small, b"note" + small), "exif-little": _exif("<", small, b""),
             "xmp": _xmp(len(small)), "photoshop": _photoshop(small),
             "jfxx": _segment(0xE0, b"JFXX\0\x10" + small), "app4": _segment(0xE4, small)}
    heads = {"90r": bytes([4 | 8 | 32, 0, 15, 0, 15, 0, 0, 0, 0]),
             "180": bytes([8 | 16, 0, 15, 0, 15, 0, 0, 0, 0]),
             "crop": bytes([0, 0, 63, 0, 63, 16, 16, 32, 0]),
             "trim": bytes([64 | 8, 0, 20, 0, 20, 0, 0, 0, 0])}
    for direction, head in heads.items():
        for name, segment in extra.items():
            yield f"{direction}-{name}", head + small[:2] + segment + small[2:] + small
        for name, data in every:
            if b"MPF\0" in data[:200]:
                yield f"{direction}-{name}", head + data


def picture(extra=b"", data=bytes(4)):
    """No picture that could be decoded, but markers as one has them."""
    return SOI + extra + b"\xff\xdb\0\4\0\1" + b"\xff\xda\0\2" + data + EOI


def claiming(name, claims, behind):
    """Copies of a picture whose index gives the others these (size, offset), and bytes behind."""
    def lie(entries):
        entries[1:] = claims
    others = [b""] * len(claims)
    for order, data in several("", picture(), others, lie):
        yield f"{name}{order}", data * 12 + behind


def streams():
    """Names and streams."""
    one = len(next(several("", picture(), [b""]))[1])
    yield "tiny", picture() * 100
    for size in (1, one, one + 2, 900, 1 << 28):
        yield from claiming(f"claim-{size}", [(size, one - 10)], picture() * 20)
    chain = [(one + 16 * 5, (i + 1) * (one + 16 * 5) - 10) for i in range(6)]
    yield from claiming("chain", chain, b"")
    yield from claiming("chain-untrue", chain[:-1] + [(one + 82, chain[-1][1])], b"")
    yield from claiming("one-long", [(900, 12 * one - 10)], SOI + b"\xff\xda\0\2" + bytes(900))
    yield "trailer", picture() + b"\0" + b"\xff\xd8\xff\xc0" * 300
    yield "trailer-of-segments", picture() + b"\0" + b"\xff\xd8\xff\xe0\0\xf0" * 200
    yield "trailer-of-files", picture() + (b"\0" * 9 + picture()) * 20
    yield "segments", picture(b"\xff\xfe\0\2" * 300)
    yield "stray", picture(bytes([1]) * 1200)
    yield "fill", picture(b"\xff" * 1200)
    yield "soi", SOI * 600
    yield "soi-eoi", (SOI + EOI) * 300
    yield "soi-half-a-segment", b"\xff\xd8\xff\xdb" * 300
    yield "open", SOI + b"\xff\xda\0\2" + bytes(1200)


def seeds_of_file_splitter(files):
    """Settings, sizes of pieces and a stream: see jpeg_streams.cpp."""
    for pieces in ((0,), (1, 7, 0), (188,)):
        for settings in (0, 1, 2, 4, 6):
            head = bytes([settings, len(pieces) - 1, *pieces])
            for name, data in streams():
                yield f"{name}-{settings}-{len(pieces)}-{pieces[0]}", head + data
    for number, (name, data) in enumerate(files):
        yield name, bytes([number % 8, 1, 100, 0]) + data


def settings(number, pieces):
    """The bytes before the stream for the element: see stream_input.h."""
    body = bytes([number, len(pieces) - 1])
    return body + b"".join(bytes([before]) + size.to_bytes(2, "big") for before, size in pieces)


def seeds_of_library(every):
    for number, (name, data) in enumerate(every):
        for what in (number % 256, 0x42, 0x62):  # levels with metadata, and concealed, too
            yield f"{name}-{what}", bytes([what, number % 8]) + data


def seeds_of_splitter(every):
    for name, data in every:
        yield name, bytes([2, 7, 100, 0]) + data
    yield "stream", bytes([1, 13, 200]) + b"".join(data for _, data in every[::7])


def seeds_of_jpegcoefdec(every):
    for number, (name, data) in enumerate(every):
        yield name, settings(number % 64, [(0, 0)]) + data  # whole
        if number % 5 == 0:
            yield f"{name}-pieces", settings(number & 0x0F, [(0, 100), (0, 33)]) + data
    for number in range(0, 64, 5):
        stream = b"".join(data for _, data in every[number::40])
        yield f"stream-{number}", settings(number, [(0, 3000)]) + stream
        for more in (0x40, 0x80):
            yield f"stream-{number}-{more}", settings(number | more, [(0, 700)]) + stream
        yield f"events-{number}", settings(
            number, [(0, 700), (number % 8, 900), (0x10, 20), (number // 8, 500)]) + stream


def seeds_of_writer():
    """Settings, divisors, levels: see jpeg_writer.cpp."""
    levels = [bytes(600), bytes(range(256)) * 3, b"\x03\xff\xfc\x01" * 200, b"\x7f\xff\x80\0" * 99,
              b"\x3f\xff\xc0\0" + bytes(124) + b"\xc0\0" + bytes(126) + b"\x3f\xff"]
    for flags in (*range(8), 0x40, 0x41, 0x44, 0x38, 0x78, 0xB8):
        for kind in (0, 1, 2, 5, 9, 0x11, 0x15, 0x0D, 0x3D, 0xC8, 0xC9, 0xD2, 0xFF):
            number = flags + kind
            for size in (b"\0\0", b"\x27\x11"):
                head = bytes([flags, kind, number % 4]) + size + bytes([number % 9])
                yield f"{flags}-{kind}-{size[0]}", \
                    head + bytes([1, 2, 3, 99, 255, 16, 8, 7]) + levels[number % len(levels)]


# Without the files that are made for all targets, and with them.
SEEDS = {"fuzz_jpeg_writer": seeds_of_writer}
OF_FILES = {
    "fuzz_jpeg_splitter": seeds_of_splitter,
    "fuzz_jpeg_metadata": seeds_of_metadata,
    "fuzz_jpegcoefdec": seeds_of_jpegcoefdec,
    "fuzz_library": seeds_of_library,
    "fuzz_jpeg_file_splitter": seeds_of_file_splitter,
}
