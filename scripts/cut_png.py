"""Cuts rectangles out of a grey PNG picture, with nothing but Python's own library.

cut_png.py PICTURE FOLDER NAME=LEFT,TOP,RIGHT,BOTTOM...   writes FOLDER/NAME.png
"""

import struct
import sys
import zlib
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    """(type, content) of each chunk."""
    at = len(SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += size + 12


def paeth(left, above, corner):
    """The neighbour that is nearest to left + above - corner."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


PREDICTIONS = [
    lambda left, above, corner: 0,
    lambda left, above, corner: left,
    lambda left, above, corner: above,
    lambda left, above, corner: (left + above) // 2,
    paeth,
]


def read_rows(path):
    """The rows of an 8-bit grey picture as bytes."""
    data = path.read_bytes()
    found = list(chunks(data))
    width, height, *form = struct.unpack(">IIBBBBB", found[0][1])
    if not data.startswith(SIGNATURE) or form != [8, 0, 0, 0, 0]:
        sys.exit(f"{path}: not a grey PNG with 8 bits a pixel")
    packed = zlib.decompress(b"".join(content for name, content in found if name == b"IDAT"))
    rows, above = [], bytes(width)
    for start in range(0, height * (width + 1), width + 1):
        predict, row = PREDICTIONS[packed[start]], bytearray()
        for x in range(width):
            left, corner = (row[x - 1], above[x - 1]) if x else (0, 0)
            row.append((packed[start + 1 + x] + predict(left, above[x], corner)) & 255)
        rows.append(bytes(row))
        above = rows[-1]
    return rows


def write_rows(path, rows):
    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    path.write_bytes(SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def main():
    rows, folder = read_rows(Path(sys.argv[1])), Path(sys.argv[2])
    for word in sys.argv[3:]:
        name, _, corners = word.partition("=")
        left, top, right, bottom = map(int, corners.split(","))
        write_rows(folder / f"{name}.png", [row[left:right] for row in rows[top:bottom]])


if __name__ == "__main__":
    main()
