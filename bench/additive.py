"""Checks the additive model of decisions against one candidate for each.

    additive.py BUILD ZOO PICTURE NAME...      (with the Python of build/venv)

BUILD has tests/tools/decisions_dump (make tools), ZOO is build/zoo-all. Prints for each model rank
and linear correlation of the gains of single decisions, and the errors of random sets of them;
PICTURE becomes a scatter plot of the sets, predicted against real.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import plot

CANDIDATES = 24
SIDE, EDGE = 420, 60


def measure(build, zoo, name, preset):
    tool = build / "tests/tools/decisions_dump"
    done = subprocess.run([tool, zoo / f"models/{name}.onnx", zoo / f"data/{name}/calib", preset, "0",
                           str(CANDIDATES)], capture_output=True, text=True, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if failed := [row for row in rows if row[0] == "FAIL"]:
        sys.exit(f"{name}: {failed[0][1]}")
    gains = np.array([[float(row[3]), float(row[4])] for row in rows if row[0] == "DECISION"])
    sets = np.array([[float(row[1]), float(row[2])] for row in rows if row[0] == "SET"])
    return next(row for row in rows if row[0] == "PLAN"), gains, sets


def correlation(pairs):
    return np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1]


def ranks(pairs):
    return np.argsort(np.argsort(pairs, axis=0), axis=0)


def scatter(points):
    low = min(sets.min() for sets in points.values()) - 1
    high = max(sets.max() for sets in points.values()) + 1
    place = lambda value: EDGE + (value - low) / (high - low) * (SIDE - 2 * EDGE)
    parts = [plot.line(EDGE, SIDE - EDGE, SIDE - EDGE, EDGE, "#999"),
             plot.text(SIDE / 2, SIDE - 14, "predicted, dB", "middle"), plot.text(4, 18, "real, dB")]
    for mark in range(int(low) // 10 * 10 + 10, int(high) + 1, 10):
        parts += [plot.text(place(mark), SIDE - EDGE + 18, str(mark), "middle"),
                  plot.text(EDGE - 8, SIDE - place(mark) + 4, str(mark), "end")]
    for number, (name, sets) in enumerate(points.items()):
        colour = plot.COLOURS[number % len(plot.COLOURS)]
        parts += [f'<circle cx="{place(a):.1f}" cy="{SIDE - place(b):.1f}" r="4" fill="{colour}"/>' for a, b in sets]
        parts.append(plot.text(SIDE - EDGE + 8, EDGE + 18 * number, name, more=f'fill="{colour}"'))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE + 120} {SIDE}" '
            f'font-family="sans-serif">' + "".join(parts) + "</svg>\n")


def main():
    build, zoo, picture, names = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
    points = {}
    print("| model | decisions | runs | rank correlation | linear | sets: error, median | greatest |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        plan, gains, points[name] = measure(build, zoo, name, "A8W8")
        errors = np.abs(points[name][:, 0] - points[name][:, 1])
        print(f"| {name} | {plan[4]} | {plan[5]} | {correlation(ranks(gains)):.2f} | {correlation(gains):.2f} | "
              f"{np.median(errors):.2f} dB | {errors.max():.2f} dB |", flush=True)
    picture.write_text(scatter(points))


main()
