"""Curves as SVG: both axes logarithmic, colours that the eyes of most tell apart."""

import math
from html import escape

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 36, 48
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


def short(value):
    return f"{value:g}" if value < 10000 else f"{value:,.0f}"


class Axis:
    """Values between two ends of the picture."""

    def __init__(self, values, start, end):
        self.start, self.end = start, end
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        if self.high - self.low < 0.3:
            self.low, self.high = self.low - 0.3, self.high + 0.3

    def at(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def marks(self):
        steps = [step * 10**power for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                 for step in (1, 2, 5)]
        inside = [step for step in steps if self.low - 1e-9 <= math.log10(step) <= self.high + 1e-9]
        return inside if len(inside) <= 9 else [step for step in inside if f"{step:e}"[0] == "1"]


def text(x, y, words, anchor="start", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def frame(x, y, name_x, name_y, ticks):
    parts = []
    for value in ticks:
        parts += [line(x.at(value), TOP, x.at(value), HEIGHT - BOTTOM, "#ddd"),
                  text(x.at(value), HEIGHT - BOTTOM + 16, short(value), "middle")]
    for value in y.marks():
        parts += [line(LEFT, y.at(value), WIDTH - RIGHT, y.at(value), "#ddd"),
                  text(LEFT - 6, y.at(value) + 4, short(value), "end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [*parts, text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, name_x, "middle"),
            text(16, middle, name_y, "middle", more=f'transform="rotate(-90 16 {middle})"')]


def curve(points, name, colour, x, y, number):
    places = [(x.at(a), y.at(b)) for a, b in points]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    dots = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
    row = TOP + 14 + 18 * number
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots,
            line(WIDTH - RIGHT + 12, row - 4, WIDTH - RIGHT + 32, row - 4, colour),
            text(WIDTH - RIGHT + 38, row, name)]


def svg(title, name_x, name_y, curves):
    """curves: {name: [(x, y), ...]}, all above 0; None where there is nothing to show."""
    curves = {name: [(a, b) for a, b in points if a > 0 and b > 0] for name, points in curves.items()}
    curves = {name: points for name, points in curves.items() if points}
    if not curves:
        return None
    every = [point for points in curves.values() for point in points]
    x = Axis([a for a, _ in every], LEFT, WIDTH - RIGHT)
    y = Axis([b for _, b in every], HEIGHT - BOTTOM, TOP)
    parts = [text(LEFT, 20, title, size=14), *frame(x, y, name_x, name_y, sorted({a for a, _ in every}))]
    for number, (name, points) in enumerate(curves.items()):
        parts += curve(points, name, COLOURS[number % len(COLOURS)], x, y, number)
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                      f'font-family="sans-serif">', '<rect width="100%" height="100%" fill="white"/>', *parts,
                      "</svg>", ""])
