# Makes small streams of Dirac and VC-2 with random coefficients, for fuzz_dirac and
# fuzz_cudadiracdec.
# SPDX-License-Identifier: LGPL-2.1-or-later
import random

END, AUXILIARY, PADDING = 0x10, 0x20, 0x30
ARITHMETIC, VLC, LOW_DELAY, HIGH_QUALITY = 0x08, 0x48, 0xC8, 0xE8
REFERENCE, FRAGMENT = 0x04, 0x04
LITTLE_MEMORY = 0x40  # among the settings of fuzz_cudadiracdec


class Bits:
    def __init__(self):
        self.text = ""

    def flag(self, *ones):
        for one in ones:
            self.text += "1" if one else "0"
        return self

    def code(self, *values):
        """Interleaved exp-Golomb codes."""
        for value in values:
            digits = bin(value + 1)[3:]
            self.text += "".join("0" + digit for digit in digits) + "1"
        return self

    def signed(self, value):
        self.code(abs(value))
        if value:
            self.flag(value < 0)
        return self

    def align(self):
        self.text += "0" * (-len(self.text) % 8)
        return self

    def raw(self, data):
        self.align()
        self.text += "".join(f"{byte:08b}" for byte in data)
        return self

    def bytes(self):
        self.align()
        return bytes(int(self.text[i:i + 8], 2) for i in range(0, len(self.text), 8))


def stream(units):
    """Units with parse infos around them: (code, data)."""
    body, previous = b"", 0
    for code, data in (*units, (END, b"")):
        size = 13 + len(data)
        following = 0 if code == END else size
        body += b"BBCD" + bytes([code]) + following.to_bytes(4, "big") + \
            previous.to_bytes(4, "big") + data
        previous = size
    return body


def header(version=2, size=(40, 24), chroma=2, depth=8, fields=False):
    bits = Bits().code(version, 0, 0, 0, 0)
    bits.flag(1).code(*size).flag(1).code(chroma).flag(0, 0, 0, 0)
    peak, middle = (1 << depth) - 1, 1 << (depth - 1)
    bits.flag(1).code(0, 0, peak, middle, peak).flag(0).code(int(fields))
    return 0x00, bits.bytes()


def noise(chance, size):
    """Bytes that decode to levels now and then."""
    return bytes(chance.choice((0xFF, 0xFF, chance.randrange(256))) for _ in range(size))


def core_bands(bits, chance, levels, size):
    for _ in range(3 * (1 + 3 * levels)):
        length = chance.choice((0, 1, size, size))
        bits.align().code(length)
        if length:
            bits.code(chance.randrange(30)).raw(noise(chance, length))
    return bits


def core_transform(bits, wavelet, levels, codeblocks):
    bits.code(wavelet, levels)
    if codeblocks:
        bits.flag(1).code(*(1, 2) * (levels + 1)).code(1)
    else:
        bits.flag(0)
    return bits.align()


def intra(chance, code, number, wavelet=1, levels=2, codeblocks=False):
    bits = Bits().raw(number.to_bytes(4, "big"))
    if code & REFERENCE:
        bits.code(0)
    bits.align()
    core_transform(bits, wavelet, levels, codeblocks)
    return code, core_bands(bits, chance, levels, 30).bytes()


def inter(chance, code, number, precision=2, preset=1, residual=True):
    references = code & 3
    bits = Bits().raw(number.to_bytes(4, "big"))
    for distance in range(references):
        bits.signed(-1 - distance)
    if code & REFERENCE:
        bits.code(0)
    bits.align().code(preset)
    if preset == 0:
        bits.code(16, 12, 8, 8)
    bits.code(precision).flag(0).code(0)
    bits.flag(1).code(2)
    for _ in range(references):
        bits.signed(2)
    bits.align()
    for _ in range(5 + 2 * references):
        data = noise(chance, 12)
        bits.code(len(data)).raw(data)
    bits.align().flag(not residual)
    if residual:
        core_transform(bits, 3, 1, False)
        core_bands(bits, chance, 1, 9)
    return code, bits.bytes()


def slice_parameters(bits, code, grid, both=2, horizontal=None, explicit=False):
    bits.code(1, both)
    if horizontal is not None:
        bits.flag(1).code(1).flag(1).code(horizontal)
    bits.code(*grid)
    if code & 0x20:
        bits.code(1, 2)  # a prefix of a byte, lengths in pairs of bytes
    else:
        bits.code(37, 2)
    bits.flag(explicit)
    if explicit:
        bits.code(*range(1 + (horizontal or 0) + 3 * both))
    return bits.align()


def slices(chance, code, count):
    if not code & 0x20:
        return noise(chance, 37 * count // 2 + 1)
    body = b""
    for _ in range(count):
        body += bytes([0, chance.randrange(40)])
        for _ in range(3):
            length = chance.randrange(6)
            body += bytes([length]) + noise(chance, 2 * length)
    return body


def slice_picture(chance, code, number, **parameters):
    bits = slice_parameters(Bits().raw(number.to_bytes(4, "big")), code, (3, 2), **parameters)
    return code, bits.bytes() + slices(chance, code, 6)


def fragments(chance, code, number, missing=()):
    def unit(count, place, data):
        head = number.to_bytes(4, "big") + len(data).to_bytes(2, "big") + count.to_bytes(2, "big")
        return code | FRAGMENT, head + place + data

    yield unit(0, b"", slice_parameters(Bits(), code, (3, 2), horizontal=1).bytes())
    for row in range(2):
        for column, count in ((0, 2), (2, 1)):
            if (column, row) not in missing:
                place = column.to_bytes(2, "big") + row.to_bytes(2, "big")
                yield unit(count, place, slices(chance, code, count))


def streams():
    """Names and streams."""
    chance = random.Random(1)
    for wavelet in range(7):
        yield f"arithmetic-{wavelet}", [header(), intra(chance, ARITHMETIC, 1, wavelet, 3)]
    for codeblocks in (False, True):
        yield f"vlc-{codeblocks}", [header(chroma=1, depth=10),
                                    intra(chance, VLC, 1, 1, 2, codeblocks)]
        yield f"blocks-{codeblocks}", [header(chroma=0), (AUXILIARY, b"\1Schroedinger 1.0.3"),
                                       intra(chance, ARITHMETIC, 1, 0, 2, codeblocks)]
    for coding in (ARITHMETIC, VLC):
        for precision in range(4):
            yield f"inter-{coding}-{precision}", [
                header(fields=precision == 3), intra(chance, coding | REFERENCE, 5),
                inter(chance, coding | REFERENCE | 1, 6, precision, 0),
                inter(chance, coding | 2, 7, precision, 1 + precision, precision != 2)]
    for code in (LOW_DELAY, HIGH_QUALITY):
        yield f"slices-{code}", [header(), slice_picture(chance, code, 9)]
        yield f"extended-{code}", [header(3), slice_picture(chance, code, 9, horizontal=1,
                                                            explicit=True)]
        yield f"fragments-{code}", [header(3), *fragments(chance, code, 9), (PADDING, b"x")]
        yield f"missing-{code}", [header(3), *fragments(chance, code, 9, ((2, 0),)),
                                  *fragments(chance, code, 10, ((2, 1),))]
    yield "two-headers", [header(), intra(chance, VLC, 1), header(), intra(chance, VLC, 2),
                          header(chroma=1), intra(chance, VLC, 3)]
    yield "large", [header(size=(5000, 3000)), intra(chance, VLC, 1)]
    yield "small", [header(size=(1, 1), chroma=0), intra(chance, VLC, 1, 4, 6)]
    yield "no-header", [intra(chance, VLC, 1)]


def seeds():
    for name, units in streams():
        data = stream(units)
        yield name, b"\1" + data
        yield f"{name}-lost", b"\0some bytes" + data
        yield f"{name}-cut", b"\1" + data[:len(data) * 2 // 3]
        yield f"{name}-no-offsets", b"\1" + stream(units).replace(data[5:9], bytes(4), 1)


def claiming(code, claim, behind):
    """A unit that claims to be so large, and then others."""
    head = stream([header(), (VLC, b"")])[:-13]
    return head + b"BBCD" + bytes([code]) + claim.to_bytes(4, "big") + bytes(4) + behind * 300


def splitter_seeds():
    """Settings, sizes of pieces and a stream whose splitting may cost too much."""
    padding = b"BBCD" + bytes([PADDING]) + (13).to_bytes(4, "big") * 2
    nothing = b"BBCD" + bytes([VLC]) + (1).to_bytes(4, "big") * 2
    for pieces in ((0,), (1, 7, 0), (100,)):
        head = bytes([1, len(pieces) - 1, *pieces])
        name = "-".join(map(str, pieces))
        for claim in (0, 1, 200, 900, 0x0FFFFFFF):
            yield f"padding-{claim}-{name}", head + claiming(PADDING, claim, padding)
            yield f"picture-{claim}-{name}", head + claiming(VLC, claim, padding)
            yield f"prefixes-{claim}-{name}", head + claiming(VLC, claim, nothing)
            yield f"short-{claim}-{name}", head + claiming(AUXILIARY, claim, b"BBCD")
            yield f"open-{claim}-{name}", head + claiming(VLC, claim, bytes(13))
            yield f"half-{claim}-{name}", head + claiming(VLC, claim, b"BBC")
            far = b"BBCD" + bytes([ARITHMETIC]) + (150).to_bytes(4, "big") + bytes(4)
            yield f"far-{claim}-{name}", head + claiming(VLC, claim, far)
        for kind, units in streams():
            yield f"{kind}-{name}", head + stream(units)


def large_streams():
    """A few bytes that claim much: samples, references with half-sample positions, coefficients."""
    chance = random.Random(3)
    for depth in (8, 15):
        units = [header(size=(4096, 2048), chroma=0, depth=depth)]
        units += [intra(chance, ARITHMETIC | REFERENCE, number, 1, 4) for number in range(6)]
        units += [inter(chance, ARITHMETIC | REFERENCE | 2, 6 + number, 3, residual=False)
                  for number in range(4)]
        yield f"large-{depth}", units


def element_seeds():
    """Settings, pieces and a stream: whole and in pieces, with a flush, other caps, a restart."""
    chance = random.Random(2)
    for name, units in streams():
        data = stream(units)
        for pieces in ((), ((0, 7), (0, 61)), ((1, 90),), ((0, 40), (2, 40)), ((0, 200), (6, 50))):
            described = pieces or ((0, 0),)
            head = bytes([chance.randrange(64), len(described) - 1])
            for before, size in described:
                head += bytes([before]) + size.to_bytes(2, "big")
            yield f"{name}-{len(pieces)}-{sum(size for _, size in pieces)}", head + data + data
    for name, units in large_streams():
        for threads in range(4):
            yield f"{name}-{threads}", bytes([LITTLE_MEMORY | threads << 2, 0, 0, 0, 0]) + \
                stream(units)


SEEDS = {
    "fuzz_dirac": seeds,
    "fuzz_dirac_splitter": splitter_seeds,
    "fuzz_cudadiracdec": element_seeds,
}
