"""Shows what the text detector of the demo found: a line a picture, and a page.

    show_text.py PICTURES MASKS SIDE PAGE

MASKS holds NAME.npy for each picture, as `baryon run` wrote them: how sure the
model is, pixel for pixel, that there is text, in the picture letterboxed to SIDE.
"""

import ast
import html
import struct
import sys
from array import array
from pathlib import Path

SURE = 0.3
SMALLEST = 100  # pixels of a line of text


def read_npy(path):
    """(rows, columns, values) of a float32 array 1 x 1 x rows x columns."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + size].decode())
    values = array("f", data[10 + size :])
    return *header["shape"][-2:], values


def picture_size(path):
    """(width, height) out of the header of a PNG or JPEG file."""
    data = path.read_bytes()
    if data.startswith(b"\x89PNG"):
        return struct.unpack_from(">II", data, 16)
    at = 2
    while not 0xC0 <= data[at + 1] <= 0xC2:
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    height, width = struct.unpack_from(">HH", data, at + 5)
    return width, height


def find_lines(rows, columns, mask):
    """Boxes (left, top, right, bottom) around what hangs together, from the top down."""
    open_cells = {cell for cell in range(rows * columns) if mask[cell] > SURE}
    boxes = []
    while open_cells:
        front, cells = [min(open_cells)], []
        open_cells.remove(front[0])
        while front:
            cell = front.pop()
            cells.append(cell)
            for near in (cell - 1, cell + 1, cell - columns, cell + columns):
                if near in open_cells:
                    open_cells.remove(near)
                    front.append(near)
        if len(cells) >= SMALLEST:
            across, down = [c % columns for c in cells], [c // columns for c in cells]
            boxes.append((min(across), min(down), max(across), max(down)))
    return boxes


def draw(columns, mask, first, last, width=80):
    """The rows from first to last in letters twice as high as wide."""
    step = columns // width
    for top in range(first, last - 2 * step + 1, 2 * step):
        share = [0] * width
        for row in range(top, top + 2 * step):
            for column in range(width):
                at = row * columns + column * step
                share[column] += sum(cell > SURE for cell in mask[at : at + step])
        yield "".join("#" if cells > step * step / 2 else " " for cells in share)


def figure(path, boxes, size, side):
    """The picture with the boxes drawn over it, as HTML."""
    width, height = size
    scale = min(side / width, side / height)
    left, top = (side - width * scale) / 2, (side - height * scale) / 2
    marks = "".join(
        f'<rect x="{(x0 - left) / scale - 2:.0f}" y="{(y0 - top) / scale - 2:.0f}"'
        f' width="{(x1 - x0) / scale + 4:.0f}" height="{(y1 - y0) / scale + 4:.0f}"/>'
        for x0, y0, x1, y1 in boxes
    )
    return (
        f'<figure><svg viewBox="0 0 {width} {height}"><image href="{path.resolve().as_uri()}"'
        f' width="{width}" height="{height}"/>{marks}</svg>'
        f"<figcaption>{html.escape(path.name)}: {lines(len(boxes))}</figcaption></figure>"
    )


def lines(count):
    return f"{count or 'no'} line{'s' * (count != 1)} of text"


def main():
    pictures, masks, side = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    figures, best = [], ([],)
    for path in sorted(pictures.iterdir()):
        grid = read_npy(masks / f"{path.stem}.npy")
        boxes = find_lines(*grid)
        print(f"  {path.name:16} {lines(len(boxes))}")
        width, height = picture_size(path)
        figures.append(figure(path, boxes, (width, height), side))
        if len(boxes) > len(best[0]):
            used = height * min(side / width, side / height)
            best = boxes, path.name, grid, (side - used) / 2, (side + used) / 2
    if best[0]:
        _, name, (_, columns, mask), first, last = best
        print(f"\n  Where the model sees text in {name}:\n")
        for line in draw(columns, mask, int(first), int(last)):
            print(f"    |{line}|")
    Path(sys.argv[4]).write_text(
        "<!doctype html><meta charset=utf-8><title>Text found</title><style>"
        "body{font-family:sans-serif;margin:2em}figure{display:inline-block;margin:1em}"
        "svg{height:16em}rect{fill:#e6007e22;stroke:#e6007e;stroke-width:2}"
        f"</style><h1>Text found</h1>{''.join(figures)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
