"""Time and memory on files that are made to cost much: both in proportion to the file.

Each row makes a model of about so many bytes, out of protobuf fields put together by
hand. Every command runs on it in two sizes, one eight times the other. What takes
much more than eight times as long, or memory out of proportion, has failed.
`test_hostile.py NAME...` for some rows, BYTES=1000000 for other sizes.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ.get("BUILD", "build")) / "baryon"
SMALL = int(os.environ.get("BYTES", "40000"))
FACTOR = 8
SLOWER = 3  # times more than FACTOR is too slow
NOISE = 0.02  # seconds below which nothing is compared
BASE, RATIO = 96 << 20, 200  # bytes of memory: some, and so many for each byte of the file
COMMANDS = (
    ["check", "MODEL"],
    ["inspect", "--nodes", "--json", "MODEL"],
    ["copy", "--force", "--custom-ops", "--rename", "x=renamed", "MODEL", "OUT"],
    ["copy", "--force", "--custom-ops", "--external", "out.data", "--external-min", "1",
     "MODEL", "OUT"],
)  # fmt: skip
ROWS = {}


def row(make):
    ROWS[make.__name__] = make
    return make


# --- protobuf by hand ---


def varint(number):
    out = bytearray()
    number &= (1 << 64) - 1
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def parts(field, texts):
    return b"".join(part(field, text) for text in texts)


def many(size, make):
    """make(0) + make(1) + ... of about that size."""
    out, total = [], 0
    while total < size:
        out.append(make(len(out)))
        total += len(out[-1])
    return b"".join(out)


def attr(name, kind, content):
    return part(5, part(1, name) + content + number(20, kind))


def node_body(op, inputs, outputs, rest=b"", domain=""):
    return (parts(1, inputs) + parts(2, outputs) + part(4, op) + rest
            + (part(7, domain) if domain else b""))  # fmt: skip


def node(*what, **more):
    return part(1, node_body(*what, **more))


def value(name, dims=None, elem=1):
    shape = b"" if dims is None else part(2, b"".join(
        part(1, number(1, dim) if isinstance(dim, int) else part(2, dim)) for dim in dims))
    return part(1, name) + part(2, part(1, number(1, elem) + shape))


def tensor(name, elem, dims, raw):
    return b"".join(number(1, dim) for dim in dims) + number(2, elem) + part(8, name) + part(9, raw)


def weight(*what):
    return part(5, tensor(*what))


def imports(*domains, field=8):
    return b"".join(part(field, part(1, domain) + number(2, version)) for domain, version in domains)


def model(nodes, more=b"", domains=(("", 17), ("d", 1)), dims=(2,), outside=b""):
    """x goes to y through an Identity, beside everything else."""
    graph = (nodes + node("Identity", ["x"], ["y"]) + part(2, "g") + part(11, value("x", dims))
             + part(12, value("y")) + more)  # fmt: skip
    return number(1, 8) + part(7, graph) + imports(*domains) + outside


def function(name, inputs, outputs, nodes, more=b"", domains=(("", 17), ("d", 1))):
    return part(25, part(1, name) + parts(4, inputs) + parts(5, outputs) + nodes + more
                + imports(*domains, field=9) + part(10, "d"))  # fmt: skip


def inner(*what, **more):
    return part(7, node_body(*what, **more))


def calls(size):
    return many(size, lambda i: node("f", ["x"], [f"n{i}"], domain="d"))


# --- functions ---


@row
def function_of_many_inputs(size):
    names = [f"i{i}" for i in range(size // 20)]
    return model(node("f", [*["x"] * len(names)], ["z"], domain="d"),
                 outside=function("f", names, ["o"], inner("Sum", names, ["o"])))  # fmt: skip


@row
def function_of_many_values_called_often(size):
    infos = many(size // 2, lambda i: part(12, value(f"q{i}")))
    body = function("f", ["a"], ["o"], inner("Relu", ["a"], ["o"]), infos)
    return model(calls(size // 2), outside=body)


@row
def function_of_many_outputs_called_often(size):
    names = [f"i{i}" for i in range(size // 32)]
    return model(calls(size // 2), outside=function("f", ["a"], names, inner("Split", ["a"], names)))


@row
def function_of_a_wide_node_called_often(size):
    body = function("f", ["a"], ["o"], inner("Sum", ["a"] * (size // 8), ["o"]))
    return model(calls(size // 2), outside=body)


@row
def function_of_many_references(size):
    given = many(size // 2, lambda i: attr(f"a{i}", 2, number(3, 1)))
    taken = many(size // 2, lambda i: part(5, part(1, f"b{i}") + number(20, 2) + part(21, f"a{i}")))
    return model(node("f", ["x"], ["z"], given, domain="d"),
                 outside=function("f", ["a"], ["o"], inner("Relu", ["a"], ["o"], taken)))  # fmt: skip


@row
def functions_that_call_twice(size):
    def doubled(i):
        return function(f"f{i}", ["a"], ["b"], inner(f"f{i + 1}", ["a"], ["c"], domain="d")
                        + inner(f"f{i + 1}", ["c"], ["b"], domain="d"))  # fmt: skip

    last = function("f31", ["a"], ["b"], inner("Relu", ["a"], ["b"]))
    often = many(size, lambda i: node("f0", ["x"], [f"n{i}"], domain="d"))
    return model(often, outside=b"".join(map(doubled, range(31))) + last)


@row
def functions_in_a_chain(size):
    return model(b"", outside=many(size, lambda i: function(
        f"f{i}", ["a"], ["b"], inner(f"f{i + 1}", ["a"], ["b"], domain="d"))))  # fmt: skip


# --- nodes that go through the same again and again ---


@row
def batch_norms_of_one_variance(size):
    count = size // 8
    norms = many(size // 2, lambda i: node("BatchNormalization", ["x", *["v"] * 4], [f"n{i}"]))
    return model(norms, weight("v", 1, [count], bytes(4 * count)), dims=("N", "C"))


@row
def constant_of_many_attributes(size):
    attrs = many(size // 2, lambda i: attr(f"a{i}", 2, number(3, 1)))
    attrs += attr("value", 4, part(5, tensor("", 1, [1, 1, 1, 1], bytes(4))))
    convs = many(size // 2, lambda i: node("Conv", ["x", "c"], [f"n{i}"]))
    return model(node("Constant", [], ["c"], attrs) + convs, dims=(1, 1, 4, 4))


@row
def node_of_many_shards(size):
    shards = many(size // 2, lambda i: part(2, part(1, "z")))
    return model(node("Sum", ["x"] * (size // 6), ["z"], part(10, part(1, "c") + shards)),
                 outside=part(26, part(1, "c") + number(2, 1)))  # fmt: skip


# --- running ---


def run(command, path, out):
    """CPU seconds and bytes of memory."""
    names = {"MODEL": path, "OUT": out}
    child = subprocess.Popen([PROGRAM, *(names.get(word, word) for word in command)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, child.returncode


def judge(make, folder):
    """What is wrong with one row, in words."""
    seen = {}
    for size in (SMALL, SMALL * FACTOR):
        path = folder / "model.onnx"
        path.write_bytes(make(size))
        for command in COMMANDS:
            name = " ".join(command[:2])
            seconds, memory, status = run(command, path, folder / "out.onnx")
            if status < 0 or status == 1:
                yield f"{name}: exit status {status} on {size} bytes"
            if memory > BASE + RATIO * path.stat().st_size:
                yield f"{name}: {memory >> 20} MiB for a file of {path.stat().st_size} bytes"
            before = seen.setdefault(" ".join(command), seconds)
            if size != SMALL and seconds > NOISE + FACTOR * SLOWER * max(before, NOISE):
                yield f"{name}: {before:.2f} s, with {FACTOR} times as much {seconds:.2f} s"


def main():
    names = sys.argv[1:] or list(ROWS)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            wrong = list(judge(ROWS[name], pathlib.Path(folder)))
            failed += bool(wrong)
            for line in wrong:
                print(f"{name}: {line}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
