"""Writes small ONNX models field by field, also such as nobody should write.

Every function gives bytes. The messages take what they need and `extra`: bytes of
further fields behind it. relu() is the smallest sound model; a case changes a part of it.
"""

import functools
import struct

FLOAT, UINT8, INT8, INT64, STRING, FLOAT16, DOUBLE, COMPLEX64, INT4 = 1, 2, 3, 7, 8, 10, 11, 14, 22
A_FLOAT, A_INT, A_STRING, A_TENSOR, A_GRAPH, A_INTS = 1, 2, 3, 4, 5, 7


ONE_BYTE = [bytes([value]) for value in range(128)]


def varint(value):
    if 0 <= value < 128:
        return ONE_BYTE[value]
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@functools.cache
def tag(number, wire):
    return varint(number << 3 | wire)


def num(number, value):
    return tag(number, 0) + varint(value)


def sized(number, content):
    content = content.encode() if isinstance(content, str) else content
    return tag(number, 2) + varint(len(content)) + content


def real(number, value):
    return tag(number, 5) + struct.pack("<f", value)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def longs(*values):
    return struct.pack(f"<{len(values)}q", *values)


# Messages.


def pair(key, value):
    return sized(1, key) + sized(2, value)


def tensor(name="", elem=FLOAT, dims=(2,), raw=None, extra=b""):
    """Without a payload in raw or extra: zeros."""
    if raw is None and not extra:
        raw = bytes(4)
        for dim in dims:
            raw *= dim
    out = b"".join(num(1, dim) for dim in dims) + num(2, elem) + (sized(8, name) if name else b"")
    return out + (b"" if raw is None else sized(9, raw)) + extra


def external(name, dims=(2,), elem=FLOAT, extra=b"", **keys):
    """A tensor whose data is in another file: location=..., offset=..., length=..."""
    entries = b"".join(sized(13, pair(key, str(value))) for key, value in keys.items())
    return tensor(name, elem, dims, extra=entries + extra + num(14, 1))


def value(name, elem=FLOAT, dims=(2,)):
    shape = b"".join(sized(1, num(1, dim)) for dim in dims)
    return sized(1, name) + sized(2, sized(1, num(1, elem) + sized(2, shape)))


def attr(name, kind, content):
    """content: an int, float, list of ints, text, or the bytes of a tensor or graph."""
    if kind == A_INT:
        field = num(3, content)
    elif kind == A_FLOAT:
        field = real(2, content)
    elif kind == A_INTS:
        field = b"".join(num(8, item) for item in content)
    else:
        field = sized({A_STRING: 4, A_TENSOR: 5, A_GRAPH: 6}[kind], content)
    return sized(1, name) + field + num(20, kind)


def node(op, inputs, outputs, name="", domain="", attrs=(), extra=b""):
    out = b"".join(sized(1, item) for item in inputs)
    out += b"".join(sized(2, item) for item in outputs)
    out += (sized(3, name) if name else b"") + sized(4, op)
    out += b"".join(sized(5, item) for item in attrs)
    return out + (sized(7, domain) if domain else b"") + extra


def graph(nodes, inputs=(), outputs=(), tensors=(), name="g", extra=b""):
    out = b"".join(sized(1, item) for item in nodes) + sized(2, name)
    out += b"".join(sized(5, item) for item in tensors)
    out += b"".join(sized(11, item) for item in inputs)
    return out + b"".join(sized(12, item) for item in outputs) + extra


def opset(version=21, domain=""):
    return sized(1, domain) + num(2, version)


def function(name, nodes, inputs=("a",), outputs=("b",), domain="local", extra=b""):
    out = sized(1, name) + b"".join(sized(4, item) for item in inputs)
    out += b"".join(sized(5, item) for item in outputs)
    out += b"".join(sized(7, item) for item in nodes)
    return out + sized(9, opset()) + sized(9, opset(1, "local")) + sized(10, domain) + extra


def model(content, ir=10, opsets=None, extra=b""):
    """content: the graph; None: none."""
    out = (num(1, ir) if ir else b"") + (b"" if content is None else sized(7, content))
    out += b"".join(sized(8, item) for item in ([opset()] if opsets is None else opsets))
    return out + extra


# Models.


def relu_graph(nodes=(), tensors=(), extra=b"", inputs=(), outputs=()):
    """x -> Relu -> y, and what else is given."""
    nodes = [node("Relu", ["x"], ["y"], "relu"), *nodes]
    return graph(nodes, [value("x"), *inputs], [value("y"), *outputs], tensors, extra=extra)


def relu(ir=10, opsets=None, model_extra=b"", **parts):
    return model(relu_graph(**parts), ir, opsets, model_extra)


def add(weight, **parts):
    """x + w -> y"""
    nodes = [node("Add", ["x", "w"], ["y"], "add")]
    return model(graph(nodes, [value("x")], [value("y")], [weight]), **parts)


def conv(attrs=(), dims=(4, 3, 3, 3), channels=3, weight=None, bias=None):
    """x -> Conv -> y with a weight w, on pictures of 8 x 8."""
    names = ["x", "w"] + (["b"] if bias else [])
    nodes = [node("Conv", names, ["y"], "conv", attrs=attrs)]
    unknown = sized(1, "y") + sized(2, sized(1, num(1, FLOAT) + sized(2, sized(1, b"") * 4)))
    tensors = [weight or tensor("w", dims=dims)] + ([bias] if bias else [])
    return model(graph(nodes, [value("x", dims=(1, channels, 8, 8))], [unknown], tensors))


def save(content, path="model.onnx"):
    with open(path, "wb") as file:
        file.write(content)
