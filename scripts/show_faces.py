"""Shows what the face detector of the demo found: a line a picture, and a page.

    show_faces.py PICTURES OUTPUTS SIDE PAGE

OUTPUTS holds NAME.OUTPUT.npy as `baryon run` wrote them, for pictures letterboxed
to SIDE by SIDE: a map of how sure the model is that a face is there (537), and of
the logarithm of its size (538), both at a quarter of the resolution.
"""

import ast
import html
import math
import struct
import sys
from array import array
from pathlib import Path

SURE = 0.5
CELL = 4  # pixels of the input in one cell of the maps
SHADES = " .:-=+*#%@"


def read_npy(path):
    """(shape, values) of a float32 array."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + size].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"]
    values = array("f")
    values.frombytes(data[10 + size :])
    return header["shape"], values


def picture_size(path):
    """(width, height) out of the header of a PNG or JPEG file."""
    data = path.read_bytes()
    if data[:4] == b"\x89PNG":
        return struct.unpack_from(">II", data, 16)
    at = 2
    while not 0xC0 <= data[at + 1] <= 0xC2:
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    height, width = struct.unpack_from(">HH", data, at + 5)
    return width, height


def find_faces(heat_file, size_file):
    """Peaks of the map as (sure, x, y, width, height), in pixels of the input."""
    (_, _, rows, columns), heat = read_npy(heat_file)
    _, sizes = read_npy(size_file)
    plane = rows * columns
    faces = []
    for cell in sorted(range(plane), key=heat.__getitem__, reverse=True):
        if heat[cell] < SURE:
            break
        row, column = divmod(cell, columns)
        height, width = (CELL * math.exp(sizes[cell + k * plane]) for k in (0, 1))
        x, y = CELL * (column + 0.5), CELL * (row + 0.5)
        if all(abs(x - face[1]) > face[3] / 2 or abs(y - face[2]) > face[4] / 2 for face in faces):
            faces.append((heat[cell], x, y, width, height))
    return faces, (rows, columns, heat)


def draw(rows, columns, heat, width=32, height=16):
    """The map in letters: the darkest is the surest."""
    for row in range(height):
        line = ""
        for column in range(width):
            block = [
                heat[r * columns + c]
                for r in range(row * rows // height, (row + 1) * rows // height)
                for c in range(column * columns // width, (column + 1) * columns // width)
            ]
            line += SHADES[min(int(max(block) * len(SHADES)), len(SHADES) - 1)]
        yield line


def box(face, scale, left, top):
    sure, x, y, width, height = face
    x, y = (x - width / 2 - left) / scale, (y - height / 2 - top) / scale
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width / scale:.0f}" height="{height / scale:.0f}"/>'
        f'<text x="{x:.0f}" y="{y - 6:.0f}">{100 * sure:.0f}%</text>'
    )


def main():
    pictures, outputs, side, page = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    figures, best = [], None
    for path in sorted(pictures.iterdir()):
        faces, grid = find_faces(*(outputs / f"{path.stem}.{name}.npy" for name in ("537", "538")))
        found = ", ".join(f"{100 * face[0]:.0f}% sure" for face in faces)
        print(f"  {path.name:16} {len(faces)} face{'s' * (len(faces) != 1)}{': ' * bool(faces)}{found}")
        if faces and (best is None or faces[0][0] > best[0]):
            best = faces[0][0], path.name, grid
        width, height = picture_size(path)
        scale = min(side / width, side / height)
        left, top = (side - width * scale) / 2, (side - height * scale) / 2
        boxes = "".join(box(face, scale, left, top) for face in faces)
        source = html.escape(path.resolve().as_uri())
        figures.append(
            f'<figure><svg viewBox="0 0 {width} {height}"><image href="{source}" width="{width}"'
            f' height="{height}"/>{boxes}</svg><figcaption>{html.escape(path.name)}</figcaption></figure>'
        )
    if best:
        print(f"\n  how sure the model is, over {best[1]}:\n")
        for line in draw(*best[2]):
            print(f"    |{line}|")
    Path(page).write_text(
        "<!doctype html><meta charset=utf-8><title>Faces</title><style>"
        "body{font-family:sans-serif;background:#fafafa;margin:2em}figure{display:inline-block;margin:1em}"
        "svg{height:18em}rect{fill:none;stroke:#e6007e;stroke-width:4}text{fill:#e6007e;font-size:24px}"
        f"</style><h1>Faces found</h1>{''.join(figures)}\n"
    )


if __name__ == "__main__":
    main()
