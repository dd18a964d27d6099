# Seeds for the fuzz targets of metas: caps, and metas that are changed in one place.
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct


def caps_of_coefficients():
    """Format, sampling, depth, width, height: see dct_caps.cpp."""
    for shape in (0x00, 0x01, 0x04, 0x08, 0x11, 0x12, 0x16):
        for sampling in range(7):
            depth = 4 if shape == 0x01 else sampling % 4
            yield bytes([shape, sampling, depth, 16 + sampling, 8])


def dct_seeds():
    """Version, caps, size of the buffer, changes to a sound meta: see fuzz_dct_meta.cpp."""
    for number, caps in enumerate(caps_of_coefficients()):
        head = bytes([number % 5]) + caps
        yield f"{number}-sound", head + b"\0\xff\x01\x07"
        yield f"{number}-short", head + b"\0\x10\x01\x07"
        for at in (0, 3, 4, 8, 12, 44, 52, 156):  # flags, counts, a component, a table
            yield f"{number}-changed-{at}", head + b"\0\xff\x01\x07" + at.to_bytes(2, "big") + \
                b"\x3c"
        yield f"{number}-bytes", head + b"\0\xff\0" + bytes(range(256)) * 2
    # As many components as fit, of 4:2:0 and of grey.
    for sampling, size in ((1, (16, 8)), (0, (8, 8))):
        component = struct.pack("<8I2Q", 1, 1, 1, *size, size[0] // 8, 1, 0, 0, 16 * size[0])
        head = bytes([0, 0, sampling, 0, size[0] - 1, size[1] - 1]) + b"\1\xff\0"
        yield f"four-components-{sampling}", head + struct.pack("<3I", 0, 4, 1) + 4 * component + \
            b"\1\0" * 64
    # Unknown flags, in an otherwise sound meta of no components.
    yield "flags", bytes([0, 0, 0, 0, 8, 8, 0, 255, 0]) + b"\xff" * 4 + bytes(8)
    # What a JPEG file had besides: of no attachments, of two, and of two that reach outside.
    segments, behind = b"\xff\xfe\0\3x", b"..one.two...."
    for name, places in (("none", ()), ("two", (2, 3, 6, 3)), ("outside", (2, 3, 6, 8))):
        yield f"jpeg-{name}", b"\7" + struct.pack("<2I2Q", 1, len(places) // 2, len(segments),
                                                  len(behind)) + \
            struct.pack(f"<{len(places)}Q", *places) + segments + behind


def dwt_seeds():
    """Version, transform, picture, size of the buffer, changes to a meta: see fuzz_dwt_meta.cpp."""
    for wavelet in range(8):
        for ho, levels in ((0, 1), (0, 4), (1, 2), (4, 6), (2, 0), (0, 0), (5, 7)):
            name = f"{wavelet}-{levels}-{ho}"
            head = bytes([0, wavelet * 17, levels | ho << 4, 8 | 1 + wavelet % 7, 0, 17 + levels, 0,
                          33 - wavelet, (4, 5, 6, 8)[wavelet % 4]])
            yield f"{name}-sound", head + b"\0\xff\x01\x05"
            yield f"{name}-short", head + b"\0\x10\x01\x05"
            for at in (0, 4, 20, 32, 40, 48, 70):  # the count, a component, a quantiser
                yield f"{name}-changed-{at}", head + b"\0\xff\x01\x05" + \
                    at.to_bytes(2, "big") + b"\x3c"
    yield "mixed", bytes([0, 0x72, 3, 9, 0, 9, 0, 9, 4]) + b"\0\xff\x01\x05"
    yield "bytes", bytes([0, 0x11, 3, 9, 0, 9, 0, 9, 4]) + b"\0\xff\0" + bytes(range(256)) * 2
