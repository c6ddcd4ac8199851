"""Time and memory on files that are made to cost much: both in proportion to the file.

Each row makes a model of about so many bytes; every command runs on it in two sizes,
one eight times the other. What takes much more than eight times as long, or memory
out of proportion, has failed. `test_hostile.py NAME...` for some rows, BYTES=1000000
for other sizes; without names and LONG=1 a row gets one of the commands.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

from lib.proto import (
    A_GRAPH, A_INT, A_TENSOR, INT64, attr, external, function, graph, longs, model, node, num,
    opset, pair, sized, tensor, value,
)  # fmt: skip

PROGRAM = (pathlib.Path(os.environ.get("BUILD", "build")) / "baryon").absolute()
SMALL = int(os.environ.get("BYTES", "40000"))
FACTOR = 8
SLOWER = 3  # times more than FACTOR is too slow
NOISE = 0.02  # seconds below which nothing is compared
BASE, RATIO = 96 << 20, 200  # bytes of memory: some, and so many for each byte of the files
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


def many(size, make):
    """make(0), make(1), ...: together about that size."""
    out, total = [], 0
    while total < size:
        out.append(make(len(out)))
        total += len(out[-1]) + 2
    return out


def joined(number, items):
    return b"".join(sized(number, item) for item in items)


def whole(nodes=(), tensors=(), dims=(2,), inputs=(), extra=b"", behind=b""):
    """x -> Identity -> y, and what else is given."""
    content = graph([*nodes, node("Identity", ["x"], ["y"])],
                    [value("x", dims=dims), *inputs], [value("y", dims=dims)], tensors,
                    extra=extra)  # fmt: skip
    return model(content, 8, [opset(17), opset(1, "local")], behind)


def with_function(nodes, body):
    return whole(nodes, behind=sized(25, body))


def calls(size, name="f"):
    return many(size, lambda i: node(name, ["x"], [f"n{i}"], domain="local"))


def branches(i, then, other):
    return node("If", ["cond"], [f"o{i}"], attrs=[attr("then_branch", A_GRAPH, then),
                attr("else_branch", A_GRAPH, other)])  # fmt: skip


# --- many of one thing ---


@row
def nodes(size):
    return whole(many(size, lambda i: node("Relu", ["x"], [f"n{i}"])))


@row
def nodes_in_reverse(size):
    count = size // 22
    chain = [node("Relu", [f"n{i + 1}" if i + 1 < count else "x"], [f"n{i}"]) for i in range(count)]
    return whole(chain)


@row
def a_cycle(size):
    count = size // 22
    return whole([node("Relu", [f"n{(i + 1) % count}"], [f"n{i}"]) for i in range(count)])


@row
def inputs_of_a_node(size):
    return whole([node("Sum", ["x"] * (size // 3), ["z"])], dims=(1,) * 16)


@row
def tensors_of_a_sequence(size):
    return whole([node("SequenceConstruct", ["x"] * (size // 3), ["z"])], dims=(1,) * 16)


@row
def inputs_left_out(size):
    return whole([node("Sum", ["x"] + [""] * (size // 2), ["z"])])


@row
def outputs_of_a_node(size):
    return whole([node("Split", ["x"], many(size, lambda i: f"n{i}"))])


@row
def initializers(size):
    return whole(tensors=many(size, lambda i: tensor(f"w{i}", dims=(1,))))


@row
def initializers_without_anything(size):
    return whole(tensors=many(size, lambda i: sized(8, f"w{i}")))


@row
def initializers_of_one_name(size):
    return whole(tensors=many(size, lambda i: tensor("w", dims=(1,))))


@row
def types_of_nothing(size):
    return whole(extra=joined(13, many(size, lambda i: value(f"q{i}"))))


@row
def types_of_one_value(size):
    return whole(extra=joined(13, many(size, lambda i: value("y"))))


@row
def attributes(size):
    return whole([node("Relu", ["x"], ["z"], attrs=many(size, lambda i: attr(f"a{i}", A_INT, 1)))])


@row
def attributes_of_one_name(size):
    return whole([node("Conv", ["x", "x"], ["z"], attrs=many(size, lambda i: attr("a", A_INT, 1)))])


@row
def domains(size):
    return whole(many(size, lambda i: node("F", ["x"], [f"n{i}"], domain=f"d{i}")))


@row
def imports(size):
    used = many(size // 2, lambda i: node("F", ["x"], [f"n{i}"], domain="d0"))
    return whole(used, behind=joined(8, many(size // 2, lambda i: opset(1, f"d{i}"))))


@row
def operators_nobody_knows(size):
    return whole(many(size, lambda i: node(f"ReduceLogSumExp{i:06x}", ["x"], [f"n{i}"])))


@row
def names_nobody_defines(size):
    return whole(many(size, lambda i: node("Relu", [f"q{i}"], [f"n{i}"])))


@row
def outputs_of_the_model(size):
    return whole(extra=joined(12, many(size, lambda i: value("y"))))


@row
def metadata(size):
    return whole(behind=joined(14, many(size, lambda i: pair("key", "value"))))


@row
def annotations(size):
    entry = sized(1, "x") + sized(2, pair("SCALE_TENSOR", "x"))
    return whole(extra=joined(14, many(size, lambda i: entry)))


@row
def training(size):
    one = sized(2, graph([node("Relu", ["x"], ["t"])])) + sized(3, pair("x", "x"))
    return whole(behind=joined(20, many(size, lambda i: one)))


@row
def sparse_initializers(size):
    def sparse(i):
        return (sized(1, tensor(f"s{i}", dims=(1,))) + sized(2, tensor("", INT64, (1,), longs(0)))
                + num(3, 4))  # fmt: skip

    return whole(extra=joined(15, many(size, sparse)))


@row
def numbers_of_an_attribute(size):
    pads = sized(1, "pads") + sized(8, b"\1" * size) + num(20, 7)
    return whole([node("MaxPool", ["x"], ["z"], attrs=[pads])], dims=(1, 1, 4, 4))


@row
def dimensions(size):
    return whole(extra=sized(13, sized(1, "q") + sized(2, sized(1, num(1, 1) + sized(
        2, sized(1, b"") * (size // 2))))))  # fmt: skip


@row
def fields_nobody_knows(size):
    return whole(behind=num(1000, 1) * (size // 3))


# --- nested graphs ---


@row
def branches_of_many_ifs(size):
    def one(i):
        def body(name):
            return graph([node("Relu", ["x"], [name])], outputs=[value(name)])

        return branches(i, body(f"t{i}"), body(f"e{i}"))

    return whole(many(size, one), inputs=[value("cond", 9, ())])


@row
def nodes_of_a_branch_that_fail(size):
    body = graph(many(size, lambda i: node("Reshape", ["x", "s"], [f"n{i}"])),
                 outputs=[value("n0")])  # fmt: skip
    return whole([branches(0, body, graph([node("Relu", ["x"], ["r"])], outputs=[value("r")]))],
                 [tensor("s", INT64, (1,), longs(3))], inputs=[value("cond", 9, ())])  # fmt: skip


@row
def nodes_thirty_deep(size):
    body = graph(many(size, lambda i: node("Relu", ["x"], [f"n{i}"])), outputs=[value("n0")])
    for depth in range(30):
        other = graph([node("Relu", ["x"], [f"r{depth}"])], outputs=[value(f"r{depth}")])
        body = graph([branches(depth, body, other)], outputs=[value(f"o{depth}")])
    other = graph([node("Relu", ["x"], ["r"])], outputs=[value("r")])
    return whole([branches("z", body, other)], inputs=[value("cond", 9, ())])


# --- the same read again and again ---


@row
def batch_norms_of_one_variance(size):
    norms = many(size // 2, lambda i: node("BatchNormalization", ["x", *["v"] * 4], [f"n{i}"]))
    return whole(norms, [tensor("v", dims=(size // 8,))], dims=(2, size // 8))


@row
def a_constant_of_many_attributes(size):
    attrs = many(size // 2, lambda i: attr(f"a{i}", A_INT, 1))
    attrs.append(attr("value", A_TENSOR, tensor(dims=(1, 1, 1, 1))))
    convs = many(size // 2, lambda i: node("Conv", ["x", "c"], [f"n{i}"]))
    return whole([node("Constant", [], ["c"], attrs=attrs), *convs], dims=(1, 1, 4, 4))


@row
def shards_of_a_node(size):
    shards = joined(2, many(size // 2, lambda i: sized(1, "z")))
    wide = node("Sum", ["x"] * (size // 6), ["z"], extra=sized(10, sized(1, "c") + shards))
    return whole([wide], behind=sized(26, sized(1, "c") + num(2, 1)))


@row
def indices_of_gathers(size):
    return whole(many(size, lambda i: node("Gather", ["x", "i"], [f"n{i}"])),
                 [tensor("i", INT64, (1000,), bytes(8000))])  # fmt: skip


@row
def elements_that_are_followed(size):
    return whole(many(size, lambda i: node("Add", ["a", "a"], [f"n{i}"])),
                 [tensor("a", INT64, (64,), bytes(512))])  # fmt: skip


@row
def a_data_file_of_many_checksums(size):
    data = bytes(size)
    digest = hashlib.sha1(data).hexdigest()
    pathlib.Path("w.bin").write_bytes(data)
    return whole(tensors=many(size, lambda i: external(
        f"w{i}", (1,), location="w.bin", offset=4 * i, checksum=digest)))  # fmt: skip


@row
def a_data_file_shared_by_many(size):
    pathlib.Path("w.bin").write_bytes(bytes(4 * size))
    return whole(tensors=many(size, lambda i: external(f"w{i}", (size,), location="w.bin")))


# --- functions ---


@row
def functions_in_a_chain(size):
    return whole(behind=joined(25, many(size, lambda i: function(
        f"f{i}", [node(f"f{i + 1}", ["a"], ["b"], domain="local")]))))  # fmt: skip


@row
def functions_that_call_twice(size):
    def doubled(i):
        return function(f"f{i}", [node(f"f{i + 1}", ["a"], ["c"], domain="local"),
                                  node(f"f{i + 1}", ["c"], ["b"], domain="local")])  # fmt: skip

    bodies = [doubled(i) for i in range(31)] + [function("f31", [node("Relu", ["a"], ["b"])])]
    return whole(calls(size, "f0"), behind=joined(25, bodies))


@row
def a_function_of_many_inputs(size):
    names = [f"i{i}" for i in range(size // 20)]
    call = node("f", ["x"] * len(names), ["z"], domain="local")
    return with_function([call], function("f", [node("Sum", names, ["b"])], names))


@row
def a_function_of_many_types_called_often(size):
    infos = joined(12, many(size // 2, lambda i: value(f"q{i}")))
    return with_function(calls(size // 2), function("f", [node("Relu", ["a"], ["b"])], extra=infos))


@row
def a_function_of_many_outputs_called_often(size):
    names = [f"i{i}" for i in range(size // 32)]
    body = function("f", [node("Split", ["a"], names)], outputs=names)
    return with_function(calls(size // 2), body)


@row
def a_function_of_a_wide_node_called_often(size):
    body = function("f", [node("Sum", ["a"] * (size // 8), ["b"])])
    return with_function(calls(size // 2), body)


@row
def a_function_of_many_references(size):
    def reference(i):
        return sized(1, f"b{i}") + num(20, A_INT) + sized(21, f"a{i}")

    given = many(size // 2, lambda i: attr(f"a{i}", A_INT, 1))
    body = node("Relu", ["a"], ["b"], attrs=many(size // 2, reference))
    return with_function([node("f", ["x"], ["z"], domain="local", attrs=given)],
                         function("f", [body]))  # fmt: skip


# --- running ---


def run(command):
    """CPU seconds, bytes of memory, exit status."""
    names = {"MODEL": "model.onnx", "OUT": "out.onnx"}
    child = subprocess.Popen([PROGRAM, *(names.get(word, word) for word in command)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, child.returncode


def judge(make, commands=COMMANDS):
    """What is wrong with one row, in words. Its files lie in the current folder."""
    seen = {}
    for size in (SMALL, SMALL * FACTOR):
        pathlib.Path("model.onnx").write_bytes(make(size))
        files = sum(path.stat().st_size for path in map(pathlib.Path, ("model.onnx", "w.bin"))
                    if path.exists())  # fmt: skip
        for number, command in enumerate(commands):
            name = " ".join(word for word in command if word.islower() or word.startswith("--"))
            seconds, memory, status = run(command)
            if status < 0 or status == 1:
                yield f"{name}: exit status {status} on {size} bytes"
            if memory > BASE + RATIO * files:
                yield f"{name}: {memory >> 20} MiB for files of {files} bytes"
            before = seen.setdefault(number, seconds)
            most = NOISE + FACTOR * SLOWER * max(before, NOISE)
            for _ in range(4):  # what else the machine does is in it: the least of some counts
                if size != SMALL and seconds > most:
                    seconds = min(seconds, run(command)[0])
            if size != SMALL and seconds > most:
                yield f"{name}: {before:.2f} s, with {FACTOR} times as much {seconds:.2f} s"


def main():
    names = sys.argv[1:] or list(ROWS)
    every = sys.argv[1:] or os.environ.get("LONG")
    failed = 0
    for number, name in enumerate(names):
        commands = COMMANDS if every else COMMANDS[number % 4 :][:1]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            wrong = list(judge(ROWS[name], commands))
            os.chdir("/")
        failed += bool(wrong)
        for line in wrong:
            print(f"{name}: {line}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
