# Seeds for fuzz_jpeg_file_splitter: streams whose lengths, indices and markers claim too much, and
# the other seeds' files.
# SPDX-License-Identifier: LGPL-2.1-or-later
import mpf_seeds

SOI, EOI = b"\xff\xd8", b"\xff\xd9"


def picture(extra=b"", data=bytes(4)):
    """No picture that could be decoded, but markers as one has them."""
    return SOI + extra + b"\xff\xdb\0\4\0\1" + b"\xff\xda\0\2" + data + EOI


def claiming(name, claims, behind):
    """Copies of a picture whose index gives the others these (size, offset), and bytes behind."""
    def lie(entries):
        entries[1:] = claims
    others = [b""] * len(claims)
    for order, data in mpf_seeds.several("", picture(), others, lie):
        yield f"{name}{order}", data * 12 + behind


def streams():
    """Names and streams."""
    one = len(next(mpf_seeds.several("", picture(), [b""]))[1])
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


def seeds(files):
    """Settings, sizes of pieces and a stream: see fuzz_jpeg_file_splitter.cpp."""
    for pieces in ((0,), (1, 7, 0), (188,)):
        for settings in (0, 1, 2, 4, 6):
            head = bytes([settings, len(pieces) - 1, *pieces])
            for name, data in streams():
                yield f"{name}-{settings}-{len(pieces)}-{pieces[0]}", head + data
    for number, (name, data) in enumerate(files):
        yield name, bytes([number % 8, 1, 100, 0]) + data
