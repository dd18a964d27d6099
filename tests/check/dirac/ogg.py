"""Writes a raw stream of Dirac into an Ogg file, as "Ogg Encapsulation of Dirac" (xiph.org) has it.

A data unit is a packet, and each packet has a page. The granule position of a picture tells when it
is decoded and how much later it is shown, in half frames, and how far the last sequence header is.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
import struct

SEQUENCE, PICTURE = 0x00, 0x08
SERIAL = 0xd1ac
BEGIN, END = 0x02, 0x04


def checksums():
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x04c11db7 if value & 0x80000000 else 0)
        yield value & 0xffffffff


TABLE = list(checksums())


def checksum(data):
    value = 0
    for byte in data:
        value = ((value << 8) & 0xffffffff) ^ TABLE[(value >> 24) ^ byte]
    return value


def units(stream):
    """The code and the bytes of each unit; a stream as encoders write it."""
    at = 0
    while at < len(stream):
        assert stream[at:at + 4] == b"BBCD", at
        size = int.from_bytes(stream[at + 5:at + 9], "big") or len(stream) - at
        yield stream[at + 4], stream[at:at + size]
        at += size


def granule_position(shown, decoded, distance):
    delay = shown - decoded
    return ((decoded << 9 | distance >> 8) << 22) | delay << 9 | distance & 0xff


def positions(found):
    """The granule position of each unit: that of the picture that it is or that follows."""
    numbers = [int.from_bytes(data[13:17], "big") for code, data in found if code & PICTURE]
    # The delay of the first picture that lets every picture be decoded before it is shown.
    wait = max(i - (number - numbers[0]) for i, number in enumerate(numbers))
    result, decoded, header = [], 0, 0
    for code, _ in found:
        if code == SEQUENCE:
            header = decoded
        picture = min(decoded, len(numbers) - 1)
        shown = 2 * (numbers[picture] - numbers[0] + wait)
        result.append(granule_position(shown, 2 * picture, picture - header))
        decoded += bool(code & PICTURE)
    return result


def pages(packet, position, number, flags):
    """The pages of a packet: 255 segments of 255 bytes each at most."""
    lacing = [255] * (len(packet) // 255) + [len(packet) % 255]
    for first in range(0, len(lacing), 255):
        part = lacing[first:first + 255]
        data, packet = packet[:sum(part)], packet[sum(part):]
        is_last = first + 255 >= len(lacing)
        head = struct.pack("<4sBBqIIIB", b"OggS", 0,
                           (flags if is_last or flags == BEGIN else flags & ~END) | (first > 0),
                           position if is_last else -1, SERIAL, number, 0, len(part)) + bytes(part)
        yield head[:22] + struct.pack("<I", checksum(head + data)) + head[26:] + data
        number += 1


def write(source, target):
    with open(source, "rb") as file:
        found = list(units(file.read()))
    number = 0
    with open(target, "wb") as file:
        for i, ((_, data), position) in enumerate(zip(found, positions(found))):
            flags = BEGIN if i == 0 else END if i + 1 == len(found) else 0
            for page in pages(data, position if i else 0, number, flags):
                file.write(page)
                number += 1
