# Seeds for the fuzz targets that read JPEG files: several pictures in one, some with a false index.
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct


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


def files(first, others, prefix=""):
    """Files of these pictures: name, bytes."""
    for name, data in _files(first, others):
        yield prefix + name, data


def _files(first, others):
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
