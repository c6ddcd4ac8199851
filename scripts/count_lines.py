"""Shows how many lines of text each step of a search finds, and adds the pictures to its report.

    count_lines.py --configs REPORT FOLDER           writes the config of each step, prints the paths
    count_lines.py REPORT FLOAT SAMPLES FOLDER...

REPORT is what `baryon auto --report` wrote. FLOAT and each FOLDER have the results of `baryon run`
for the pictures in SAMPLES: maps of the probability that a pixel is text, of the float model and of
each step. `REPORT.html` gets a section with the pictures and the lines that were found.
"""

import ast
import base64
import html
import json
import struct
import sys
from array import array
from pathlib import Path

TEXT = 0.3  # probability from which on a pixel is text, as the detector's authors use it
SMALL = 20  # pixels; what is smaller is no line


def read_npy(path):
    """(shape, values) of a float32 array."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + size].decode())
    if header["descr"] != "<f4":
        sys.exit(f"{path}: {header['descr']}, not float32")
    values = array("f", data[10 + size :])
    if sys.byteorder == "big":
        values.byteswap()
    return header["shape"], values


def find_lines(path):
    """Boxes (left, top, right, bottom) of the connected areas of text, and the size of the map."""
    shape, values = read_npy(path)
    height, width = shape[-2:]
    text = {place for place in range(height * width) if values[place] > TEXT}
    boxes = []
    while text:
        area, edge = [], [text.pop()]
        while edge:
            place = edge.pop()
            area.append(place)
            beside = {place - width, place + width}
            beside |= {place - 1} if place % width else set()
            beside |= {place + 1} if (place + 1) % width else set()
            edge.extend(beside & text)
            text -= beside
        if len(area) >= SMALL:
            columns, rows = [place % width for place in area], [place // width for place in area]
            boxes.append((min(columns), min(rows), max(columns) + 1, max(rows) + 1))
    return sorted(boxes, key=lambda box: (box[1], box[0])), (width, height)


def size(box):
    return max(0, box[2] - box[0]) * max(0, box[3] - box[1])


def overlap(one, other):
    """Common area of two boxes, by the area of both together."""
    both = size((max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])))
    return both / (size(one) + size(other) - both)


def count(wanted, boxes):
    """(lines of the float model that are found, boxes where it has no line)."""
    found = sum(any(overlap(line, box) >= 0.5 for box in boxes) for line in wanted)
    extra = sum(not any(overlap(line, box) >= 0.5 for line in wanted) for box in boxes)
    return found, extra


def common_text(baseline, folder):
    """Pixels of text that both have, by those that either has."""
    both = either = 0
    for one, other in zip(sorted(baseline.glob("*.npy")), sorted(folder.glob("*.npy"))):
        for left, right in zip(read_npy(one)[1], read_npy(other)[1]):
            both += left > TEXT and right > TEXT
            either += left > TEXT or right > TEXT
    return both / max(1, either)


def draw(picture, boxes, width, height):
    data = base64.b64encode(picture.read_bytes()).decode()
    frames = "".join(
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"/>' for left, top, right, bottom in boxes
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{picture.stem}: {len(boxes)} boxes"><image href="data:image/png;base64,{data}" width="{width}" '
        f'height="{height}" preserveAspectRatio="none"/>'
        f'<g fill="none" stroke="#d33" stroke-width="2">{frames}</g></svg>'
    )


def add_pictures(report, titles, pictures, found, shape):
    page = report.with_suffix(".html")
    text = page.read_text("utf-8")
    if text.count("</main>") != 1:
        sys.exit(f"{page}: has no place for the pictures")
    rows = ""
    for title, boxes in zip(titles, found):
        figures = "".join(f"<li>{draw(picture, lines, *shape)}</li>" for picture, lines in zip(pictures, boxes))
        rows += f"<h3>{html.escape(title)}: {sum(map(len, boxes))} boxes</h3><ul class='figures'>{figures}</ul>"
    section = f'<section id="found" aria-labelledby="found-title"><h2 id="found-title">What each step finds</h2>{rows}</section>'
    page.write_text(text.replace("</main>", section + "</main>"), "utf-8")


def read_steps(report):
    """The steps that were measured."""
    return [step for step in json.loads(report.read_text("utf-8"))["steps"] if step.get("choose")]


def write_configs(report, folder):
    for place, step in enumerate(read_steps(report)):
        path = folder / f"{place + 1}.yaml"
        path.write_text(step["config"], "utf-8")
        print(path)


def main():
    if sys.argv[1] == "--configs":
        return write_configs(*map(Path, sys.argv[2:]))
    report, *folders = map(Path, sys.argv[1:])
    steps = read_steps(report)
    baseline, samples, *folders = folders
    pictures = sorted(samples.glob("*.png"))
    found = []
    for folder in (baseline, *folders):
        maps = [find_lines(path) for path in sorted(folder.glob("*.npy"))]
        found.append([boxes for boxes, _ in maps])
        shape = maps[0][1]

    total = sum(map(len, found[0]))
    print(f"  {'':33}{'lines found':>12}{'false boxes':>13}{'same pixels':>13}{'sqnr':>7}{'cost':>7}")
    print(f"  {'float model':33}{total:>12}")
    for step, folder, boxes in zip(steps, folders, found[1:]):
        hits, extra = map(sum, zip(*map(count, found[0], boxes)))
        mark = "*" if step["state"] == "final" else " "
        print(
            f"{mark} {step['name']:33}{f'{hits} of {total}':>12}{extra:>13}{common_text(baseline, folder):>13.0%}"
            f"{step['choose']['sqnr']:>7.1f}{step['cost']:>7.2f}"
        )
    add_pictures(report, ["Float model", *(step["name"] for step in steps)], pictures, found, shape)


if __name__ == "__main__":
    main()
