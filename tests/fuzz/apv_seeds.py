# Makes small streams of APV with random codes, for fuzz_apv, fuzz_apv_splitter and fuzz_cudaapvdec.
# SPDX-License-Identifier: LGPL-2.1-or-later
import random

PRIMARY, PREVIEW, METADATA, FILLER = 1, 25, 66, 67
BLOCKS_OF_MB = {0: (4,), 2: (4, 2, 2), 3: (4, 4, 4), 4: (4, 4, 4, 4)}
EMPTY_BLOCK = "1" + "01" + "00000" + "1" + "11110"  # no difference, a run of 63


def to_bytes(bits):
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def chain(chance, blocks):
    """Empty blocks after one difference, or any bits."""
    if chance.random() < 0.5:
        # A difference of 1, which leaves its parameter at 0.
        return to_bytes("1" + "00001" + "0" + EMPTY_BLOCK[1:] + EMPTY_BLOCK * (blocks - 1))
    return bytes(chance.getrandbits(8) for _ in range(blocks * 14))


def frame(chance, size=(40, 24), chroma=2, depth=10, tile=(16, 8), matrix=False):
    head = bytes([33, 123, 2 << 5]) + size[0].to_bytes(3, "big") + size[1].to_bytes(3, "big") + \
        bytes([chroma << 4 | depth - 8, 0, 0, 0])
    components = len(BLOCKS_OF_MB[chroma])
    bits = "0" + ("1" if matrix else "0")
    if matrix:
        bits += "".join(f"{chance.randrange(1, 256):08b}" for _ in range(64 * components))
    body = head + to_bytes(bits + f"{tile[0]:020b}{tile[1]:020b}" + "0" + "0" * 8)
    across, down = (-(-side // 16) for side in size)
    index = 0
    for y in range(0, down, tile[1]):
        for x in range(0, across, tile[0]):
            mbs = min(tile[0], across - x) * min(tile[1], down - y)
            chains = [chain(chance, mbs * count) for count in BLOCKS_OF_MB[chroma]]
            data = (5 + 5 * components).to_bytes(2, "big") + index.to_bytes(2, "big") + \
                b"".join(len(part).to_bytes(4, "big") for part in chains) + \
                bytes(chance.randrange(0, 64) for _ in chains) + b"\0" + b"".join(chains)
            body += len(data).to_bytes(4, "big") + data
            index += 1
    return body


def unit(kind, payload, group=1):
    return (len(payload) + 4).to_bytes(4, "big") + bytes([kind]) + group.to_bytes(2, "big") + \
        b"\0" + payload


def access_unit(*units):
    body = b"aPv1" + b"".join(units)
    return len(body).to_bytes(4, "big") + body


def metadata():
    payloads = bytes([6, 4, 3, 232, 1, 144, 5, 24]) + bytes(range(24)) + bytes([4, 2, 0xB5, 0])
    return len(payloads).to_bytes(4, "big") + payloads


def streams():
    chance = random.Random(1)
    yield "plain", access_unit(unit(PRIMARY, frame(chance)))
    yield "two", b"".join(access_unit(unit(PRIMARY, frame(chance))) for _ in range(2))
    yield "gray", access_unit(unit(PRIMARY, frame(chance, (33, 17), 0)))
    yield "alpha", access_unit(unit(PRIMARY, frame(chance, (16, 16), 4, 12)))
    yield "tiles", access_unit(unit(PRIMARY, frame(chance, (70, 50), 3, 12, (2, 1))))
    yield "matrix", access_unit(unit(PRIMARY, frame(chance, matrix=True)))
    yield "units", access_unit(unit(FILLER, b"\xff"), unit(METADATA, metadata()),
                               unit(PREVIEW, b"x"), unit(90, b"y"), unit(PRIMARY, frame(chance)))
    old = unit(PRIMARY, frame(chance))
    yield "old", len(old).to_bytes(4, "big") + old
    yield "large", access_unit(unit(PRIMARY, frame(chance)[:3] + b"\x7f" + frame(chance)[4:]))
    sound = access_unit(unit(PRIMARY, frame(chance)))
    yield "lost", b"aPv1aPv1" + sound + sound[:30] + sound


def with_pieces(*sizes):
    """The input of a splitter, or a stream as it is."""
    return lambda: [(name, bytes(sizes) + data) for name, data in streams()]


def element_seeds():
    """Settings, pieces and a stream: whole and in pieces, with a flush, other caps, a restart."""
    chance = random.Random(2)
    for name, data in streams():
        for pieces in (((0, 0),), ((0, 7), (0, 61)), ((1, 90),), ((0, 40), (2, 40)), ((6, 200),)):
            head = bytes([chance.randrange(128), len(pieces) - 1])
            for before, size in pieces:
                head += bytes([before]) + size.to_bytes(2, "big")
            yield f"{name}-{len(pieces)}-{sum(size for _, size in pieces)}", head + data + data


SEEDS = {
    "fuzz_apv": with_pieces(),
    "fuzz_apv_splitter": with_pieces(2, 7, 50),
    "fuzz_cudaapvdec": element_seeds,
}
