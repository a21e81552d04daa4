#!/usr/bin/env python3
"""Makes of one recording of a chip that keeps prints those that Signet's own order of requests needs.

    chiprecording.py FOLDER elanmoc|synaptics|fpcmoc|goodixmoc enroll|touch|delete USER DAY FILE

FOLDER holds libfprint's own recording (`custom.pcapng`), in which one program does everything in a row, for a user "nobody"
without a finger or a date. FILE becomes the traffic of one helper that opens the reader, does one thing and closes it, for the
right index of USER, six letters as "nobody", enrolled on DAY (YYYYMMDD). The replay compares every byte.
"""
import struct
import sys
import zlib

# Where the packets of each part begin and end.
PARTS = {
    "elanmoc": {
        "open": (0, 32), "enroll": (32, 88), "list": (88, 132), "touch": (132, 144), "delete": (156, 160),
        "close": (160, 162),
    },
    "synaptics": {
        "open": (0, 18), "enroll": (34, 272), "touch": (272, 302), "delete": (302, 306), "close": (306, 310),
    },
    # Nothing is said on closing. The recorded enrollment lists the chip first, which was cleared just then.
    "fpcmoc": {
        "open": (0, 28), "nothing": (32, 36), "enroll": (32, 198), "list": (198, 202), "touch": (202, 214),
        "delete": (226, 228), "close": (0, 0),
    },
    "goodixmoc": {
        "open": (0, 52), "nothing": (42, 52), "enroll": (62, 472), "list": (472, 482), "touch": (482, 522),
        "delete": (562, 572), "close": (512, 522),
    },
}
NOBODY = b"FP1-00000000-0-00000000-nobody"
PACKET = 6  # the block type of pcapng
HEADER, USB_HEADER = 28, 64  # before a block's data, and of Linux's usbmon before the transfer's


def blocks(data):
    place = 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        yield kind, data[place:place + length]
        place += length


def changed(block, offset, value):
    place = HEADER + USB_HEADER + offset
    return block[:place] + value + block[place + len(value):]


def payload(block):
    captured = struct.unpack_from("<I", block, 20)[0]
    return block[HEADER + USB_HEADER:HEADER + captured]


def renumbered(packets):
    """Synaptics numbers its commands; the answer has the command's number, and what comes by itself has 0."""
    number = 0
    result = []
    for block in packets:
        data = payload(block)
        if data[:2] == b"\xa7\xfe":
            number += 1
            block = changed(block, 2, bytes([number]))
        elif data[2:3] == b"\xfe" and data[3:4] not in (b"", b"\0"):
            block = changed(block, 3, bytes([number]))
        result.append(block)
    return result


def without_news(packets):
    """Leaves out what libfprint 1.94.5 does not ask of Goodix's chips yet: to make a template (0xA1) where there is none."""
    result = []
    skipped = 0
    for block in packets:
        if is_request(block) and payload(block)[:1] == b"\xa1":
            skipped = 10
        if skipped:
            skipped -= 1
        else:
            result.append(block)
    return result


def is_request(block):
    # Submitted to the endpoint 1, which is bulk and out.
    return block[HEADER + 8:HEADER + 11] == b"S\x03\x01"


def sealed(packets):
    """Goodix numbers its requests, and has checksums of its own over head and body of whatever goes either way."""
    number = 0
    result = []
    for block in packets:
        data = payload(block)
        length = struct.unpack_from("<H", data, 4)[0] if len(data) > 8 else 0
        if block[HEADER + 9] == 3 and 4 <= length <= len(data) - 8:
            head = data[:6]
            if is_request(block):
                head = head[:3] + bytes([number & 255]) + head[4:]
                number += 1
            check = crc8(head)
            body = head + bytes([check, check ^ 255]) + data[8:4 + length]
            block = changed(block, 0, body + struct.pack("<I", zlib.crc32(body)))
        result.append(block)
    return result


def crc8(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value << 1 ^ 0x107 if value & 0x80 else value << 1
    return value ^ 255


def main():
    folder, chip, step, user, day, target = sys.argv[1:]
    everything = list(blocks(open(folder + "/custom.pcapng", "rb").read()))
    head = [block for kind, block in everything if kind != PACKET]
    packets = [block for kind, block in everything if kind == PACKET]

    def part(name):
        first, end = PARTS[chip][name]
        return packets[first:end]

    chosen = part("open")
    if chip == "elanmoc" and step == "enroll":
        # No print is on the chip yet: neither counted nor in the first of its ten places, which answers as the second.
        listing = part("list")
        listing[3] = changed(listing[3], 1, b"\0")
        listing[7] = changed(listing[7], 0, payload(listing[11]))
        chosen += listing
    elif "list" in PARTS[chip]:
        chosen += part("nothing" if step == "enroll" else "list")
    chosen += (without_news(part(step)) if chip == "goodixmoc" else part(step)) + part("close")
    if chip == "synaptics":
        chosen = renumbered(chosen)
    name = b"FP1-%s-7-00000000-%s" % (day.encode(), user.encode())
    if len(name) != len(NOBODY):
        sys.exit("the user's name must have six letters")
    chosen = [block.replace(NOBODY, name) for block in chosen]
    if chip == "goodixmoc":
        chosen = sealed(chosen)
    with open(target, "wb") as file:
        file.write(b"".join(head + chosen))


main()
