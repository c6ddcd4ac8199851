"""Shows what text detectors found, and how well they agree: a table, a drawing, a page.

    show_text.py PICTURES SIDE PAGE FLOAT QUANTIZED...

FLOAT and the others are folders with NAME.npy for each picture, as `baryon run` wrote
them: how sure a model is, pixel for pixel, that there is text, in the picture
letterboxed to SIDE. The drawing is of the first of QUANTIZED.
"""

import html
import struct
import sys
from pathlib import Path

from agreement import read_npy, sqnr

SURE = 0.3
SMALLEST = 100  # pixels of a line of text


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


def show_table(pictures, masks, boxes):
    """Lines of text by picture and model, then how much of the first model the others keep."""
    models = list(masks)
    names = "".join(f"{model.name:>10}" for model in models)
    print(f"  {'lines of text in':24}{names}")
    for path in pictures:
        print(f"  {path.name:24}" + "".join(f"{len(boxes[m][path]):10}" for m in models))
    kept = [
        sqnr((masks[models[0]][path][2], masks[model][path][2]) for path in pictures)
        for model in models[1:]
    ]
    figures = "".join(f"{value:7.1f} dB" for value in kept)
    print(f"  {'signal to noise':24}{'':10}{figures}")


def show_drawing(path, grid, side):
    _, columns, mask = grid
    width, height = picture_size(path)
    used = height * min(side / width, side / height)
    for line in draw(columns, mask, int((side - used) / 2), int((side + used) / 2)):
        print(f"    |{line}|")


def read_grid(path):
    """(rows, columns, values) of an array 1 x 1 x rows x columns."""
    shape, values = read_npy(path)
    return *shape[-2:], values


def main():
    side, models = int(sys.argv[2]), [Path(name) for name in sys.argv[4:]]
    pictures = sorted(Path(sys.argv[1]).iterdir())
    masks = {m: {p: read_grid(m / f"{p.stem}.npy") for p in pictures} for m in models}
    boxes = {m: {p: find_lines(*masks[m][p]) for p in pictures} for m in models}
    show_table(pictures, masks, boxes)
    shown = models[1]
    best = max(pictures, key=lambda path: len(boxes[shown][path]))
    if boxes[shown][best]:
        print(f"\n  Where {shown.name} sees text in {best.name}:\n")
        show_drawing(best, masks[shown][best], side)
    figures = [figure(p, boxes[shown][p], picture_size(p), side) for p in pictures]
    Path(sys.argv[3]).write_text(
        "<!doctype html><meta charset=utf-8><title>Text found</title><style>"
        "body{font-family:sans-serif;margin:2em}figure{display:inline-block;margin:1em}"
        "svg{height:16em}rect{fill:#e6007e22;stroke:#e6007e;stroke-width:2}"
        f"</style><h1>Text found</h1>{''.join(figures)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
