# Seeds for the fuzz target of metadata: Exif data with thumbnails, XMP, Photoshop's resources.
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct


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


def seeds(every):
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
