"""Tensors of a GGUF file: type, shape and bytes, by a reader of the tests' own."""

import pathlib
import struct

# number -> name, elements and bytes of a block
BLOCKS = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
          7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
          12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
          18: ("IQ3_XXS", 256, 98), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110),
          23: ("IQ4_XS", 256, 136), 30: ("BF16", 1, 2), 39: ("MXFP4", 32, 17)}  # fmt: skip
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Reader:
    def __init__(self, path):
        self.raw, self.at = pathlib.Path(path).read_bytes(), 8
        count, pairs = self.number("Q"), self.number("Q")
        self.metadata = {}
        for _ in range(pairs):
            key = self.text()
            self.metadata[key] = self.value(self.number("I"))
        entries = [self.entry() for _ in range(count)]
        align = self.metadata.get("general.alignment", 32)
        base = -(-self.at // align) * align
        self.tensors = {name: self.content(base + offset, kind, shape) for name, shape, kind, offset in entries}

    def number(self, kind):
        found = struct.unpack_from("<" + kind, self.raw, self.at)[0]
        self.at += struct.calcsize("<" + kind)
        return found

    def text(self):
        size = self.number("Q")
        self.at += size
        return self.raw[self.at - size : self.at].decode(errors="replace")

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            inner, count = self.number("I"), self.number("Q")
            return [self.value(inner) for _ in range(count)]
        return self.number(NUMBERS[kind])

    def entry(self):
        name, rank = self.text(), self.number("I")
        shape = [self.number("Q") for _ in range(rank)]
        return name, shape, self.number("I"), self.number("Q")

    def content(self, at, kind, shape):
        name, elements, size = BLOCKS[kind]
        count = 1
        for dim in shape:
            count *= dim
        return name, shape, self.raw[at : at + count // elements * size]
