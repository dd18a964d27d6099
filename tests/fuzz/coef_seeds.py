# Seeds of elements that take frames or coefficients, and of metas: settings, caps, frames that lie.
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct


def caps_of_coefficients():
    """Format, sampling, depth, width, height: see frames.cpp."""
    for shape in (0x00, 0x01, 0x04, 0x08, 0x11, 0x12, 0x16):
        for sampling in range(7):
            depth = 4 if shape == 0x01 else sampling % 4
            yield bytes([shape, sampling, depth, 16 + sampling, 8])


def dct_seeds():
    """Version, caps, size of the buffer, changes to a sound meta: see metas.cpp."""
    for number, caps in enumerate(caps_of_coefficients()):
        head = bytes([number % 5]) + caps
        yield f"{number}-sound", head + b"\0\xff\x01\x07"
        yield f"{number}-short", head + b"\0\x10\x01\x07"
        for at in (0, 3, 4, 8, 12, 44, 52, 156):  # flags, counts, a component, a table
            yield f"{number}-changed-{at}", head + b"\0\xff\x01\x07" + at.to_bytes(2, "big") + \
                b"\x3c"
        yield f"{number}-bytes", head + b"\0\xff\0" + bytes(range(256)) * 2
    # As many components as fit, of 4:2:0 and of gray.
    for sampling, size in ((1, (16, 8)), (0, (8, 8))):
        component = struct.pack("<8I2Q", 1, 1, 1, *size, size[0] // 8, 1, 0, 0, 16 * size[0])
        head = bytes([0, 0, sampling, 0, size[0] - 1, size[1] - 1]) + b"\1\xff\0"
        yield f"four-components-{sampling}", head + struct.pack("<3I", 0, 4, 1) + 4 * component + \
            b"\1\0" * 64
    # Unknown flags, in an otherwise sound meta of no components.
    yield "flags", bytes([0, 0, 0, 0, 8, 8, 0, 255, 0]) + b"\xff" * 4 + bytes(8)
    # Other contents of a JPEG file: of no attachments, of two, and of two that reach outside.
    segments, behind = b"\xff\xfe\0\3x", b"..one.two...."
    for name, places in (("none", ()), ("two", (2, 3, 6, 3)), ("outside", (2, 3, 6, 8))):
        yield f"jpeg-{name}", b"\7" + struct.pack("<2I2Q", 1, len(places) // 2, len(segments),
                                                  len(behind)) + \
            struct.pack(f"<{len(places)}Q", *places) + segments + behind


def dwt_seeds():
    """Version, transform, picture, size of the buffer, changes to a meta: see metas.cpp."""
    for wavelet in range(8):
        for ho, levels in ((0, 1), (0, 4), (1, 2), (4, 6), (2, 0), (0, 0), (5, 7)):
            name = f"{wavelet}-{levels}-{ho}"
            head = bytes([0, wavelet * 17, levels | ho << 4, 8 | 1 + wavelet % 7, 0, 17 + levels, 0,
                          33 - wavelet, (4, 5, 6, 8)[wavelet % 4]])
            yield f"{name}-sound", head + b"\0\xff\x01\x05"
            yield f"{name}-short", head + b"\0\x10\x01\x05"
            for at in (0, 4, 20, 32, 40, 48, 70):  # the count, a component, a quantizer
                yield f"{name}-changed-{at}", head + b"\0\xff\x01\x05" + \
                    at.to_bytes(2, "big") + b"\x3c"
    yield "mixed", bytes([0, 0x72, 3, 9, 0, 9, 0, 9, 4]) + b"\0\xff\x01\x05"
    yield "bytes", bytes([0, 0x11, 3, 9, 0, 9, 0, 9, 4]) + b"\0\xff\0" + bytes(range(256)) * 2


def seeds_of_jpegcoefenc():
    """Settings and frames: see jpeg_encoder.cpp."""
    # The same size in another sampling: the base class takes such caps for the old ones.
    yield "other-sampling", bytes([0, 1, 5, 17, 17, 1, 1, 17, 17, 0x10, 0, 0, 0, 0]) + bytes(9)
    levels = [bytes(range(0, 256, 3)) * 5, bytes(400), b"\x7f\xff\x80\0" * 99]
    for sampling in (*range(9), 0x80, 0x81, 0x82, 0x86, 0x87):
        yield f"four-components-{sampling}", bytes([0, 1, sampling, 16, 8]) + \
            bytes([0, 0x10, 6, 0, 4, 0]) + levels[0]
        # The bytes behind the picture, as they should be and with lies.
        for shape in range(0x80, 0x8D):
            yield f"behind-{sampling}-{shape}", bytes([0, 1, sampling, 16, 8]) + \
                bytes([0, 0x10, 0, 0, (5, 200, 255)[sampling % 3], shape]) + levels[0]
    for flags in (*range(8), *range(0xF0, 0xF8)):
        for sampling in range(7):
            number = flags + sampling
            frame = bytes([0, 0x10 * (number % 16), number % 12, 0, number, 0]) + levels[number % 3]
            other = bytes([1, sampling, 30, 9, 0x10, 0, 0, 0, 0]) + levels[0]
            flush = bytes([2, 0x10, 0, 0, 0, 0]) + levels[0]
            yield f"{flags}-{sampling}", bytes([flags, number, sampling, 16, 8]) + frame
            yield f"{flags}-{sampling}-more", \
                bytes([flags, number, sampling, 7, 7]) + frame + other + flush


def coef_frames(number, head, caps):
    """Frames of coefficients behind `head`: see frames.h. `caps`: others that come between."""
    coefs = [bytes(range(0, 256, 3)) * 9, bytes(400), b"\x7f\xff\x80\0" * 99]
    sound = bytes([0, 0, 7]) + coefs[number % 3]
    lie = bytes([0, number, 1, 0, 44, 255])
    for name, frames in (
            ("sound", sound),
            ("lying", sound + bytes([0, 0x20, 9]) + lie + coefs[0]),
            ("lying-of-zeros", sound + bytes([0, 0x20, 9]) + b"\0" * 300 + lie),
            ("short", bytes([0, 0x0F, 3, 0, number])),
            ("bare", bytes([0, 0xE0, 3]) + coefs[0][:64]),
            ("four", sound + bytes([0, 0x40, 3]) + coefs[0]),
            ("reference", bytes([0, 0x0C, number % 16]) + coefs[1]),
            ("more", sound + bytes([1, *caps, 0x1D, 6]) + coefs[2] + bytes([2, 0x0C, 15]) +
             coefs[1])):
        yield f"{number}-{name}", head + frames


def raw_frames(number, head, kind=None):
    """Raw frames behind `head` and their caps: see frames.h. kind: of a format, or by number"""
    samples = [bytes(range(0, 256, 3)) * 9, bytes(400), b"\xff\0" * 300]
    sound = bytes([0, 0, 0, 0, 0]) + samples[number % 3]
    lie = number % 16 + 0x10 * (number % 3)
    for name, frames in (
            ("sound", sound),
            ("described", bytes([0, 0x20, 0, 0, 0]) + samples[0]),
            ("lying", bytes([0, 0x20, lie, number, 0xFF]) + samples[1]),
            ("short", bytes([0, 0x0F, 0, 0, number])),
            ("parts", bytes([0, 0x10, 0, 0, 40]) + samples[2]),
            ("torn", bytes([0, 0x30, 0, 0, 40]) + samples[2]),  # planes in two memories
            ("more", sound + bytes([1, number + 1, 30, 8, 0x40, 0, 0, 0]) + samples[1] +
             bytes([2, 0, 0, 0, 0]) + samples[1])):
        caps = bytes([number if kind is None else kind, 17 + number % 3, 9])
        yield f"{number}-{name}", head + caps + frames


def seeds_of_cudaidct8x8():
    """Settings, caps and frames: see transforms.cpp."""
    for number, caps in enumerate(caps_of_coefficients()):
        # Every fifth to RGB.
        more = number % 8 | (8 | number // 5 % 4 << 4 if number % 5 == 0 else 0)
        yield from coef_frames(number, bytes([number, more]) + caps, [0, number % 7, 0, 9, 30])


def seeds_of_cudadctconvert():
    """Settings, caps and frames: see transforms.cpp."""
    for number, caps in enumerate(caps_of_coefficients()):
        more = number % 4 | number // 3 % 2 << 3 | number // 7 % 5 << 4
        yield from coef_frames(number, bytes([number, more, number % 4]) + caps,
                               [number % 3, 0, number % 7, 0, 9, 30])


def seeds_of_cudadctflip():
    """Settings, caps and frames: see transforms.cpp."""
    for number, caps in enumerate(caps_of_coefficients()):
        yield from coef_frames(number, bytes([number, number // 9]) + caps,
                               [number % 3, 0, number % 7, 0, 9, 30])


def seeds_of_cudadctquant():
    """Settings, caps and frames: see transforms.cpp."""
    yield from seeds_of_cudadctflip()


def seeds_of_cudadct8x8():
    """Settings, caps and frames: see transforms.cpp."""
    for number in range(51):
        yield from raw_frames(number, bytes([number, number % 32]))
    for number in range(51, 59):  # in RGB
        yield from raw_frames(number, bytes([number, number % 32]), 0xc0 + number)


def seeds_of_cudadwt():
    """Settings, caps and frames: see transforms.cpp."""
    for number in range(64):
        levels = (1, 3, 4, 6, 0x12, 0x20, 0x33, 0)[number // 8]
        yield from raw_frames(number, bytes([number % 8 | (0x18 if number % 5 == 4 else 0), levels,
                                             7 * number % 116, number % 32]))


def seeds_of_cudaresize():
    """Settings, caps and frames: see transforms.cpp."""
    for number in range(51):
        yield from raw_frames(number, bytes([5 * number % 256, 7 * number % 256]))
    for number in range(8):  # in RGB
        yield from raw_frames(number, bytes([37 * number % 256, 29 * number % 256]), 0xc0 + number)


def seeds_of_cudaapvenc():
    """Settings, caps and frames: see apv_encoder.cpp."""
    for number in range(64):
        # Of the formats those that the element takes.
        kind = (0, 1, 9, 10, 11, 12, 13, 14, 16)[number % 9]
        yield from raw_frames(number, bytes([5 * number % 256, 7 * number % 256]), kind)


def seeds_of_cudaidwt():
    """Settings, caps and frames: see transforms.cpp."""
    for number in range(64):
        levels = (1, 3, 4, 6, 0x12, 0x20, 0x33, 2)[number // 8]
        wavelet = number % 8
        head = bytes([number % 4, wavelet * 17, levels, 8 * (number % 2) | 1 + number % 7,
                      (7, 9, 11, 15)[number % 4], 16 + number % 5, 9])
        yield from coef_frames(number, head, [0, 2, 1, 7, 9, 30])


SEEDS = {
    "fuzz_cudaapvenc": seeds_of_cudaapvenc,
    "fuzz_cudadct8x8": seeds_of_cudadct8x8,
    "fuzz_cudadctconvert": seeds_of_cudadctconvert,
    "fuzz_cudadctflip": seeds_of_cudadctflip,
    "fuzz_cudadctquant": seeds_of_cudadctquant,
    "fuzz_cudadwt": seeds_of_cudadwt,
    "fuzz_cudaidct8x8": seeds_of_cudaidct8x8,
    "fuzz_cudaidwt": seeds_of_cudaidwt,
    "fuzz_cudaresize": seeds_of_cudaresize,
    "fuzz_dct_meta": dct_seeds,
    "fuzz_dwt_meta": dwt_seeds,
    "fuzz_jpegcoefenc": seeds_of_jpegcoefenc,
}
