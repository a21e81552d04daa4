#!/usr/bin/env python3
"""Makes of one recording of a chip that keeps prints those that Signet's own order of requests needs.

    chiprecording.py FOLDER elanmoc|synaptics enroll|touch|delete USER DAY FILE

FOLDER holds libfprint's own recording (`custom.pcapng`), in which one program does everything in a row, for a user "nobody"
without a finger or a date. FILE becomes the traffic of one helper that opens the reader, does one thing and closes it, for the
right index of USER, six letters as "nobody", enrolled on DAY (YYYYMMDD). The replay compares every byte.
"""
import struct
import sys

# Where the packets of each part begin and end.
PARTS = {
    "elanmoc": {
        "open": (0, 32), "enroll": (32, 88), "list": (88, 132), "touch": (132, 144), "delete": (156, 160),
        "close": (160, 162),
    },
    "synaptics": {
        "open": (0, 18), "enroll": (34, 272), "touch": (272, 302), "delete": (302, 306), "close": (306, 310),
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
    elif chip == "elanmoc":
        chosen += part("list")
    chosen += part(step) + part("close")
    if chip == "synaptics":
        chosen = renumbered(chosen)
    name = b"FP1-%s-7-00000000-%s" % (day.encode(), user.encode())
    if len(name) != len(NOBODY):
        sys.exit("the user's name must have six letters")
    with open(target, "wb") as file:
        file.write(b"".join(head) + b"".join(chosen).replace(NOBODY, name))


main()
