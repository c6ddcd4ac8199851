"""Ten times the nodes take about ten times as long, not a hundred times.

Only a loose guard, for machines that are busy with other things: what fits into
caches with 10,000 nodes does not with 100,000, so that 15 times is no news. Counted is
the processor's time without that of starting the program. The figures are printed.
"""

import unittest

import models
import process

SMALL, LARGE = 10_000, 100_000
RATIO = 40
TURNS = 7
COMMANDS = {
    "inspect": ["inspect", "m.onnx"],
    "inspect --nodes": ["inspect", "m.onnx", "--nodes"],
    "inspect --between": ["inspect", "m.onnx", "--between", "n10", "n9000"],
    "check": ["check", "m.onnx"],
    "copy": ["copy", "m.onnx", "out.onnx", "--force"],
    "copy --rename": ["copy", "m.onnx", "out.onnx", "--force", "--rename", "x=in"],
    "copy --shape": ["copy", "m.onnx", "out.onnx", "--force", "--shape", "N=1"],
}


def fan(count):
    """One tensor with `count` readers, whose results are all joined by one node."""
    outs = [f"t{i}" for i in range(count)]
    nodes = [models.node("Relu", ["x"], [name], f"n{i}") for i, name in enumerate(outs)]
    nodes.append(models.node("Sum", outs, ["y"], "sum"))
    return models.model(nodes, [], [models.port("x", ["N", 4])], [models.port("y", ["N", 4])])


def weights(count):
    """A small weight for every node."""
    rows = [models.tensor(f"w{i}", [4], models.floats(4, 1.0)) for i in range(count)]
    names = ["x", *(f"t{i}" for i in range(1, count)), "y"]
    nodes = [models.node("Add", [names[i], f"w{i}"], [names[i + 1]], f"n{i}") for i in range(count)]
    return models.model(nodes, rows, [models.port("x", ["N", 4])], [models.port("y", ["N", 4])])


def backwards(count):
    """A chain whose nodes stand in the wrong order: last first."""
    names = ["x", *(f"t{i}" for i in range(1, count)), "y"]
    nodes = [models.node("Relu", [names[i]], [names[i + 1]], f"n{i}") for i in range(count)]
    return models.model(nodes[::-1], [], [models.port("x", ["N", 4])], [models.port("y", ["N", 4])])


@unittest.skipUnless(process.LONG, "compares times: LONG=1")
class Scaling(process.Case):
    quick = True

    def seconds(self, words):
        return min(self.baryon(*words).cpu for _ in range(TURNS))

    def compare(self, make, commands):
        start = self.seconds(["list", "preps"])
        times = {}
        for count in (SMALL, LARGE):
            models.save(self.folder / "m.onnx", make(count))
            for name, words in commands.items():
                times.setdefault(name, []).append(max(self.seconds(words) - start, 0.001))
        for name, (small, large) in times.items():
            ratio = large / small
            print(f"{make.__name__:9} {name:18} {small:6.3f} s {large:6.3f} s  x {ratio:.1f}", flush=True)
        for name, (small, large) in times.items():
            # What takes some milliseconds says nothing about its growth.
            self.assertLess(large, RATIO * max(small, 0.01), f"{make.__name__}, {name}")

    def test_chain(self):
        self.compare(models.chain, COMMANDS)

    def test_fan(self):
        self.compare(fan, COMMANDS)

    def test_weights(self):
        more = ["copy", "m.onnx", "out.onnx", "--force", "--external", "w.bin", "--external-min=1"]
        self.compare(weights, {**COMMANDS, "copy --external": more})

    def test_backwards(self):
        self.compare(backwards, {"copy --sort": ["copy", "m.onnx", "out.onnx", "-f", "--sort"]})


if __name__ == "__main__":
    process.main()
