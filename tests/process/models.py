"""Models made without the onnx package: quick to write, and as sparse as wanted.

A message is a list of pieces, each of them bytes or a Hole: zeros that take no room
on the disk. field() puts a message into another.
"""

import os
import random
import struct


class Hole:
    def __init__(self, size):
        self.size = size


def length_of(pieces):
    return sum(piece.size if isinstance(piece, Hole) else len(piece) for piece in pieces)


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def number(field_number, value):
    return [varint(field_number << 3) + varint(value)]


def field(field_number, pieces):
    if isinstance(pieces, str):
        pieces = [pieces.encode()]
    elif isinstance(pieces, bytes):
        pieces = [pieces]
    return [varint(field_number << 3 | 2) + varint(length_of(pieces)), *pieces]


FLOAT, INT64 = 1, 7


def tensor(name, dims, payload, elem=FLOAT):
    sizes = [piece for dim in dims for piece in number(1, dim)]
    return [*sizes, *number(2, elem), *field(8, name), *field(9, payload)]


def port(name, dims, elem=FLOAT):
    """An input or output; a dimension is a number or a symbol."""
    shape = []
    for dim in dims:
        shape += field(1, number(1, dim) if isinstance(dim, int) else field(2, dim))
    return [*field(1, name), *field(2, field(1, [*number(1, elem), *field(2, shape)]))]


def node(op_type, inputs, outputs, name=""):
    pieces = [piece for text in inputs for piece in field(1, text)]
    pieces += [piece for text in outputs for piece in field(2, text)]
    return b"".join([*pieces, *field(3, name), *field(4, op_type)])


def integers(name, values):
    """An attribute, to be put behind a node."""
    numbers = [piece for value in values for piece in number(8, value)]
    return b"".join(field(5, [*field(1, name), *numbers, *number(20, 7)]))


def model(nodes, initializers, inputs, outputs):
    graph = []
    for one in nodes:
        graph += field(1, one)
    graph += field(2, "graph")
    for field_number, rows in ((5, initializers), (11, inputs), (12, outputs)):
        for row in rows:
            graph += field(field_number, row)
    opset = [*field(1, ""), *number(2, 17)]
    return [*number(1, 8), *field(2, "tests"), *field(7, graph), *field(8, opset)]


def save(path, pieces):
    with open(path, "wb") as file:
        for piece in pieces:
            if isinstance(piece, Hole):
                file.seek(piece.size, os.SEEK_CUR)
            else:
                file.write(piece)
        file.truncate(file.tell())
    return path


def floats(count, value):
    return struct.pack("<f", value) * count


def sums(layers, size, value=1.0, holes=False):
    """x + w0 + w1 + ...: `layers` weights of `size` floats, all of them `value` or holes."""
    payload = [Hole(4 * size)] if holes else [floats(size, value)]
    weights = [tensor(f"w{i}", [1, size], payload) for i in range(layers)]
    names = ["x", *(f"t{i}" for i in range(1, layers)), "y"]
    nodes = [node("Add", [names[i], f"w{i}"], [names[i + 1]], f"add{i}") for i in range(layers)]
    return model(nodes, weights, [port("x", [1, size])], [port("y", [1, size])])


def layers(count, size, weights, biases=None):
    """Products of 64 rows with a weight of size x size each, and Relu behind; weights(i) and biases(i) give numbers."""
    rows, nodes = [], []
    for i in range(count):
        inputs = [f"t{i}", f"w{i}"]
        rows.append(tensor(f"w{i}", [size, size], struct.pack(f"<{size * size}f", *weights(i))))
        if biases:
            inputs.append(f"b{i}")
            rows.append(tensor(f"b{i}", [size], struct.pack(f"<{size}f", *biases(i))))
        op_type = "Gemm" if biases else "MatMul"
        nodes.append(node(op_type, inputs, [f"m{i}"], f"{op_type.lower()}{i}"))
        nodes.append(node("Relu", [f"m{i}"], [f"t{i + 1}"], f"relu{i}"))
    return model(nodes, rows, [port("t0", [64, size])], [port(f"t{count}", [64, size])])


def chain(length):
    """A row of `length` nodes, every third of which also reads from three before."""
    nodes = []
    for i in range(length):
        before = f"t{i - 1}" if i else "x"
        after = f"t{i}" if i + 1 < length else "y"
        if i % 3 == 2:
            nodes.append(node("Add", [before, f"t{i - 3}" if i > 2 else "x"], [after], f"n{i}"))
        else:
            nodes.append(node(("Relu", "Neg")[i % 3], [before], [after], f"n{i}"))
    return model(nodes, [], [port("x", ["N", 4])], [port("y", ["N", 4])])


def convolutions(count):
    """Conv and Relu in turn, four channels of different size."""
    draw = random.Random(1)
    names = ["x", *(f"t{i}" for i in range(1, count)), "y"]
    nodes, rows = [], []
    for i in range(count):
        if i % 2:
            nodes.append(node("Relu", [names[i]], [names[i + 1]], f"n{i}"))
            continue
        values = [draw.uniform(-1, 1) * 2 ** (k // 4) for k in range(16)]
        rows.append(tensor(f"w{i}", [4, 4, 1, 1], struct.pack("<16f", *values)))
        nodes.append(node("Conv", [names[i], f"w{i}"], [names[i + 1]], f"n{i}"))
    return model(nodes, rows, [port("x", [1, 4, 4, 4])], [port("y", [1, 4, 4, 4])])
