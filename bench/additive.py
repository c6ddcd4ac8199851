"""Checks the additive model of decisions against one run, and one candidate, for each.

    additive.py [--alone] BUILD ZOO PICTURE NAME...      (with the Python of build/venv)

BUILD has tests/tools/decisions_dump (make tools), ZOO is build/zoo-all.

--alone: what each tensor and layer costs at the outputs, as the few runs of a search tell it (--effort normal and 48
samples: 480 runs), beside a run of each alone on samples that it was not measured on. Rank correlations of noise over
signal, and of shares in the noise of each sample, mean over samples and outputs. Halves: the same between those further
runs on every other sample and on the rest, which says how far the truth is one. PICTURE becomes scatter plots of both, in dB.

Else: rank and linear correlation of the gains of single decisions in place, predicted and of candidates: of all, and of
those with 0.1 dB or more by either. Halves: the rank correlation of candidates' gains on every other sample with those on
the others. Share: of all that candidates gain, what the eight with the greatest predicted gain have. And the errors of
random sets. PICTURE becomes scatter plots of single gains and of sets, predicted against real.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import plot

CANDIDATES = 0  # all
LEAST = 0.1  # dB
FIRST = 8
SIDE, EDGE = 420, 60
FLOOR = 1e-10
SEARCH_RUNS = 480  # of `baryon auto` with 48 samples


def dump(build, zoo, name, *more):
    tool = build / "tests/tools/decisions_dump"
    done = subprocess.run([tool, zoo / f"models/{name}.onnx", zoo / f"data/{name}/calib", "A8W8", *map(str, more)],
                          capture_output=True, text=True, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if failed := [row for row in rows if row[0] == "FAIL"]:
        sys.exit(f"{name}: {failed[0][1]}")
    return rows


def measure(build, zoo, name):
    rows = dump(build, zoo, name, 0, CANDIDATES)
    gains = np.array([[float(cell) for cell in row[3:]] for row in rows if row[0] == "DECISION"])
    sets = np.array([[float(row[1]), float(row[2])] for row in rows if row[0] == "SET"])
    return next(row for row in rows if row[0] == "PLAN"), gains, sets


def correlation(pairs):
    return np.corrcoef(pairs[:, 0], pairs[:, 1])[0, 1] if len(pairs) > 2 else float("nan")


def ranks(pairs):
    """Of equal values the mean of their places."""
    return np.array([[(column < value).sum() + (column == value).sum() / 2 for value in column] for column in pairs.T]).T


def first_share(gains):
    """Of what candidates gain, losses left out."""
    real = np.maximum(gains[:, 1], 0)
    return real[np.argsort(-gains[:, 0])[:FIRST]].sum() / real.sum()


def panel(left, points, title):
    low = min(pairs.min() for pairs in points.values())
    high = max(pairs.max() for pairs in points.values())
    place = lambda value: EDGE + (value - low) / (high - low) * (SIDE - 2 * EDGE)
    parts = [f'<g transform="translate({left} 0)">', plot.line(EDGE, SIDE - EDGE, SIDE - EDGE, EDGE, "#999"),
             plot.text(SIDE / 2, SIDE - 14, f"{title}, predicted, dB", "middle"), plot.text(4, 18, "real, dB")]
    step = max(1, int((high - low) / 6))
    for mark in range(int(np.ceil(low)), int(high) + 1, step):
        parts += [plot.text(place(mark), SIDE - EDGE + 18, str(mark), "middle"),
                  plot.text(EDGE - 8, SIDE - place(mark) + 4, str(mark), "end")]
    for number, (name, pairs) in enumerate(points.items()):
        colour = plot.COLOURS[number % len(plot.COLOURS)]
        parts += [f'<circle cx="{place(a):.1f}" cy="{SIDE - place(b):.1f}" r="3" fill="{colour}"/>' for a, b in pairs]
        parts.append(plot.text(EDGE + 8, EDGE + 18 * number, name, more=f'fill="{colour}"'))
    return "".join(parts) + "</g>"


def alone(build, zoo, picture, names):
    noise, shares = {}, {}
    print("| model | tensors and layers | runs | rank, noise | halves | rank, shares | halves |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        rows = dump(build, zoo, name, SEARCH_RUNS, "none")
        plan = next(row for row in rows if row[0] == "PLAN")
        found = np.array([[float(cell) for cell in row[3:]] for row in rows if row[0] == "ALONE"])
        figures = [f"{correlation(ranks(found[:, place:place + 2])):.2f}" for place in (0, 2, 4, 6)]
        print(f"| {name} | {plan[3]} | {plan[5]} | {' | '.join(figures)} |", flush=True)
        decibels = 10 * np.log10(np.maximum(found, FLOOR))
        noise[name], shares[name] = decibels[:, 0:2], decibels[:, 4:6]
    draw(picture, panel(0, noise, "noise alone"), panel(SIDE, shares, "share alone"))


def draw(picture, *panels):
    picture.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * SIDE} {SIDE}" font-family="sans-serif">'
                       + "".join(panels) + "</svg>\n")


def main():
    names = [word for word in sys.argv[1:] if word != "--alone"]
    build, zoo, picture, names = Path(names[0]), Path(names[1]), Path(names[2]), names[3:]
    if "--alone" in sys.argv:
        alone(build, zoo, picture, names)
        return
    singles, sets = {}, {}
    print("| model | decisions | runs | rank, all | linear | 0.1 dB or more | rank of those | halves | share | sets: median error "
          "| greatest |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        plan, gains, sets[name] = measure(build, zoo, name)
        singles[name] = gains[:, :2]
        errors = np.abs(sets[name][:, 0] - sets[name][:, 1])
        large = gains[gains[:, :2].max(axis=1) >= LEAST]
        print(f"| {name} | {plan[4]} | {plan[5]} | {correlation(ranks(gains[:, :2])):.2f} | {correlation(gains):.2f} | "
              f"{len(large)} | {correlation(ranks(large[:, :2])):.2f} | {correlation(ranks(gains[:, 2:])):.2f} | "
              f"{100 * first_share(gains):.0f} % | {np.median(errors):.2f} dB | {errors.max():.2f} dB |", flush=True)
    draw(picture, panel(0, singles, "one decision"), panel(SIDE, sets, "sets"))


main()
