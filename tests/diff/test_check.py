"""Verdicts on models, beside those of the onnx checker and of ONNX Runtime.

Every backend test model of the installed onnx package that the checker accepts has to
pass. Then models are broken, in one way each: what the checker or ONNX Runtime refuse we
have to refuse, and what both accept we have to accept. Where we judge otherwise, EXPLAINED
says why; a reason that is not needed any more is a failure too.
"""

import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import onnx
import onnxruntime as ort
from onnx import AttributeProto, TensorProto, helper

from lib.backend import model_files

from dump import tool

MODELS_A_MUTATION = 12
OPSET_MIN = 7  # older ones are refused, exit status 4
ort.set_default_logger_severity(4)

CHECKER, RUNTIME, US = "the checker refuses", "ONNX Runtime refuses", "only we refuse"
NO_MEANING = "what is missing is no help for running the model; we warn"
EXPLAINED = {
    ("no_graph_name", CHECKER): NO_MEANING,
    ("output_without_shape", CHECKER): NO_MEANING,
    ("output_without_type", CHECKER): NO_MEANING,
    ("input_without_shape", CHECKER): "an input of any shape runs; we warn",
    ("metadata_twice", CHECKER): "metadata mean nothing to whoever runs the model; we warn",
    ("opset_twice", US): "which version holds is left to chance",
    ("output_twice", US): "one of the two is a slip, and nobody can ask for it by its name",
    ("payload_too_long", US): "the dims or the payload are wrong, and nobody knows which",
    ("payload_of_too_many_numbers", US): "the dims or the payload are wrong, nobody knows which",
    ("input_too_many", CHECKER): "inputs that an operator got in a later opset are not told apart",
}

MUTATIONS = []


def mutation(function):
    MUTATIONS.append(function)
    return function


class Skip(Exception):
    """The model has nothing to break in this way."""


def pick(items, rng):
    items = list(items)
    if not items:
        raise Skip
    return rng.choice(items)


def weight(model, name="extra_weight", elem=TensorProto.FLOAT, dims=(2,), raw=bytes(8)):
    """A further initializer."""
    tensor = model.graph.initializer.add(name=name, data_type=elem, dims=dims)
    if raw is not None:
        tensor.raw_data = raw
    if model.ir_version < 4:
        model.graph.input.append(helper.make_tensor_value_info(name, elem, dims))
    return tensor


def schema_of(model, node):
    versions = {entry.domain: entry.version for entry in model.opset_import}
    if node.domain not in versions or versions[node.domain] > onnx.defs.onnx_opset_version():
        raise Skip
    return onnx.defs.get_schema(node.op_type, versions[node.domain], node.domain)


# --- the model ---


@mutation
def no_ir_version(model, rng):
    model.ClearField("ir_version")


@mutation
def ir_version_too_new(model, rng):
    model.ir_version = 99


@mutation
def no_opset(model, rng):
    model.ClearField("opset_import")


@mutation
def opset_too_new(model, rng):
    model.opset_import[0].version = 999


@mutation
def opset_twice(model, rng):
    entry = model.opset_import[0]
    model.opset_import.append(helper.make_opsetid(entry.domain, entry.version + 1))


@mutation
def metadata_twice(model, rng):
    for _ in range(2):
        model.metadata_props.add(key="a", value="b")


# --- inputs and outputs ---


@mutation
def no_graph_name(model, rng):
    model.graph.ClearField("name")


@mutation
def input_without_type(model, rng):
    pick(model.graph.input, rng).ClearField("type")


@mutation
def input_without_elem_type(model, rng):
    tensors = [port for port in model.graph.input if port.type.HasField("tensor_type")]
    pick(tensors, rng).type.tensor_type.ClearField("elem_type")


@mutation
def input_of_unknown_type(model, rng):
    tensors = [port for port in model.graph.input if port.type.HasField("tensor_type")]
    pick(tensors, rng).type.tensor_type.elem_type = 99


@mutation
def input_without_shape(model, rng):
    tensors = [port for port in model.graph.input if port.type.HasField("tensor_type")]
    pick(tensors, rng).type.tensor_type.ClearField("shape")


@mutation
def input_without_name(model, rng):
    model.graph.input.append(helper.make_tensor_value_info("", TensorProto.FLOAT, [2]))


@mutation
def input_twice(model, rng):
    model.graph.input.append(pick(model.graph.input, rng))


@mutation
def output_without_type(model, rng):
    pick(model.graph.output, rng).ClearField("type")


@mutation
def output_without_shape(model, rng):
    tensors = [port for port in model.graph.output if port.type.HasField("tensor_type")]
    pick(tensors, rng).type.tensor_type.ClearField("shape")


@mutation
def output_twice(model, rng):
    model.graph.output.append(pick(model.graph.output, rng))


@mutation
def output_not_defined(model, rng):
    pick(model.graph.output, rng).name = "nobody_defines_this"


@mutation
def output_of_other_type(model, rng):
    tensors = [port for port in model.graph.output if port.type.HasField("tensor_type")]
    kind = pick(tensors, rng).type.tensor_type
    kind.elem_type = TensorProto.UINT16 if kind.elem_type != TensorProto.UINT16 else 1


# --- nodes ---


@mutation
def node_input_not_defined(model, rng):
    node = pick((node for node in model.graph.node if node.input), rng)
    node.input[rng.randrange(len(node.input))] = "nobody_defines_this"


@mutation
def node_output_twice(model, rng):
    node = pick((node for node in model.graph.node if any(node.output)), rng)
    name = pick(filter(None, node.output), rng)
    model.graph.node.append(helper.make_node("Constant", [], [name], value_float=1.0))


@mutation
def node_output_is_input(model, rng):
    name = pick(model.graph.input, rng).name
    model.graph.node.append(helper.make_node("Constant", [], [name], value_float=1.0))


@mutation
def node_reads_itself(model, rng):
    model.graph.node.append(helper.make_node("Identity", ["loop"], ["loop"]))


@mutation
def nodes_in_a_circle(model, rng):
    model.graph.node.append(helper.make_node("Identity", ["loop_b"], ["loop_a"]))
    model.graph.node.append(helper.make_node("Identity", ["loop_a"], ["loop_b"]))


@mutation
def nodes_not_sorted(model, rng):
    name = pick(model.graph.input, rng).name
    model.graph.node.append(helper.make_node("Identity", ["early"], ["late"]))
    model.graph.node.append(helper.make_node("Identity", [name], ["early"]))


@mutation
def operator_unknown(model, rng):
    pick(model.graph.node, rng).op_type = "NoSuchOperator"


@mutation
def operator_missing(model, rng):
    pick(model.graph.node, rng).ClearField("op_type")


@mutation
def operator_of_later_opset(model, rng):
    if model.opset_import[0].domain or model.opset_import[0].version >= 20:
        raise Skip
    name = pick(model.graph.input, rng).name
    model.graph.node.append(helper.make_node("Gelu", [name], ["too_new"]))


@mutation
def operator_that_ended(model, rng):
    if model.opset_import[0].domain or model.opset_import[0].version < 10:
        raise Skip
    name = pick(model.graph.input, rng).name
    model.graph.node.append(helper.make_node("Upsample", [name, name], ["ended"], mode="nearest"))


@mutation
def domain_not_imported(model, rng):
    pick(model.graph.node, rng).domain = "com.nobody.imported.this"


@mutation
def domain_of_nobody(model, rng):
    pick(model.graph.node, rng).domain = "com.nobody.knows.this"
    model.opset_import.append(helper.make_opsetid("com.nobody.knows.this", 1))


@mutation
def input_too_many(model, rng):
    node = pick(model.graph.node, rng)
    schema = schema_of(model, node)
    if schema.max_input > 20:
        raise Skip
    name = pick(model.graph.input, rng).name
    while len(node.input) <= schema.max_input:
        node.input.append(name)


@mutation
def input_too_few(model, rng):
    nodes = [node for node in model.graph.node if schema_of(model, node).min_input > 0]
    node = pick(nodes, rng)
    del node.input[schema_of(model, node).min_input - 1 :]


@mutation
def input_left_out(model, rng):
    nodes = [node for node in model.graph.node if schema_of(model, node).min_input > 0]
    node = pick(nodes, rng)
    single = onnx.defs.OpSchema.FormalParameterOption.Single
    places = [i for i, formal in enumerate(schema_of(model, node).inputs)
              if formal.option == single and i < len(node.input)]
    node.input[pick(places, rng)] = ""


@mutation
def output_too_many(model, rng):
    node = pick(model.graph.node, rng)
    schema = schema_of(model, node)
    if schema.max_output > 20:
        raise Skip
    while len(node.output) <= schema.max_output:
        node.output.append(f"too_many_{len(node.output)}")


@mutation
def node_without_anything(model, rng):
    model.graph.node.add(op_type="Identity", name="nothing")


# --- attributes ---


@mutation
def attribute_required(model, rng):
    places = [(node, i) for node in model.graph.node for i, attr in enumerate(node.attribute)
              if schema_of(model, node).attributes.get(attr.name)
              and schema_of(model, node).attributes[attr.name].required]
    node, place = pick(places, rng)
    del node.attribute[place]


def some_attribute(model, rng):
    return pick((attr for node in model.graph.node for attr in node.attribute), rng)


@mutation
def attribute_of_other_type(model, rng):
    attr = some_attribute(model, rng)
    name, other = attr.name, "text" if attr.type != AttributeProto.STRING else 1
    attr.CopyFrom(helper.make_attribute(name, other))


@mutation
def attribute_twice(model, rng):
    node = pick((node for node in model.graph.node if node.attribute), rng)
    node.attribute.append(node.attribute[0])


@mutation
def attribute_unknown(model, rng):
    pick(model.graph.node, rng).attribute.append(helper.make_attribute("no_such_thing", 1))


@mutation
def attribute_without_name(model, rng):
    some_attribute(model, rng).ClearField("name")


@mutation
def attribute_without_type(model, rng):
    some_attribute(model, rng).ClearField("type")


@mutation
def attribute_with_two_values(model, rng):
    attr = some_attribute(model, rng)
    if attr.type == AttributeProto.FLOAT:
        attr.s = b"text"
    else:
        attr.f = 1.0


@mutation
def attribute_value_in_other_field(model, rng):
    attr = some_attribute(model, rng)
    if attr.type != AttributeProto.INT:
        raise Skip
    attr.ClearField("i")
    attr.f = 1.0


@mutation
def attribute_without_its_tensor(model, rng):
    attr = pick((attr for node in model.graph.node for attr in node.attribute
                 if attr.HasField("t")), rng)
    attr.ClearField("t")


# --- tensors ---


@mutation
def payload_too_short(model, rng):
    weight(model, raw=bytes(7))


@mutation
def payload_too_long(model, rng):
    weight(model, raw=bytes(9))


@mutation
def payload_missing(model, rng):
    weight(model, raw=None)


@mutation
def payload_twice(model, rng):
    weight(model).float_data.extend([1.0, 2.0])


@mutation
def payload_in_other_field(model, rng):
    weight(model, raw=None).int64_data.extend([1, 2])


@mutation
def payload_of_too_few_numbers(model, rng):
    weight(model, raw=None).float_data.extend([1.0])


@mutation
def payload_of_too_many_numbers(model, rng):
    weight(model, raw=None).float_data.extend([1.0, 2.0, 3.0])


@mutation
def payload_of_strings_raw(model, rng):
    weight(model, elem=TensorProto.STRING)


@mutation
def payload_of_packed_too_short(model, rng):
    if model.ir_version < 10:
        raise Skip
    weight(model, elem=TensorProto.INT4, dims=(5,), raw=bytes(2))


@mutation
def dims_negative(model, rng):
    weight(model, dims=(-2,))


@mutation
def dims_overflow(model, rng):
    weight(model, dims=(1 << 40, 1 << 40))


@mutation
def type_missing(model, rng):
    weight(model, elem=TensorProto.UNDEFINED)


@mutation
def type_unknown(model, rng):
    weight(model, elem=99)


@mutation
def initializer_twice(model, rng):
    weight(model)
    model.graph.initializer.append(model.graph.initializer[-1])


@mutation
def initializer_without_name(model, rng):
    weight(model, name="")


@mutation
def initializer_is_no_input(model, rng):
    if model.ir_version >= 4:
        raise Skip
    weight(model)
    model.graph.input.pop()


@mutation
def external_missing(model, rng):
    tensor = weight(model, raw=None)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="no_such_file.bin")


@mutation
def external_absolute(model, rng):
    tensor = weight(model, raw=None)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/hostname")


@mutation
def external_without_location(model, rng):
    weight(model, raw=None).data_location = TensorProto.EXTERNAL


def sparse(model, indices, dims=(8,), values=3):
    entry = model.graph.sparse_initializer.add(dims=dims)
    entry.values.CopyFrom(helper.make_tensor("sparse", TensorProto.FLOAT, [values], [1.0] * values))
    entry.indices.CopyFrom(helper.make_tensor("", TensorProto.INT64, [len(indices)], indices))


@mutation
def sparse_out_of_range(model, rng):
    sparse(model, [0, 1, 8])


@mutation
def sparse_not_sorted(model, rng):
    sparse(model, [0, 5, 4])


@mutation
def sparse_too_few_indices(model, rng):
    sparse(model, [0, 5])


@mutation
def sparse_without_dims(model, rng):
    sparse(model, [0, 1, 2], dims=())


# --- nested graphs and functions ---


def branches(model, nodes, output):
    if model.ir_version < 4 or model.opset_import[0].domain:
        raise Skip
    graph = helper.make_graph(nodes, "branch", [], [onnx.ValueInfoProto(name=output)])
    other = helper.make_graph([helper.make_node("Constant", [], ["o"], value=helper.make_tensor(
        "", TensorProto.FLOAT, [], [1.0]))], "other", [], [onnx.ValueInfoProto(name="o")])
    weight(model, "condition", TensorProto.BOOL, (), b"\1")
    model.graph.node.append(helper.make_node("If", ["condition"], ["chosen"], then_branch=graph,
                                             else_branch=other))


@mutation
def nested_shadows(model, rng):
    name = pick(model.graph.input, rng).name
    branches(model, [helper.make_node("Constant", [], [name], value=helper.make_tensor(
        "", TensorProto.FLOAT, [], [1.0]))], name)


@mutation
def nested_reads_nothing(model, rng):
    branches(model, [helper.make_node("Identity", ["nobody_defines_this"], ["n"])], "n")


@mutation
def nested_gives_back_outer(model, rng):
    branches(model, [], pick(model.graph.input, rng).name)


@mutation
def nested_output_not_defined(model, rng):
    branches(model, [], "nobody_defines_this")


def add_function(model, name, nodes, inputs=("a",), outputs=("b",)):
    if model.ir_version < 8 or model.functions:
        raise Skip
    imports = [*model.opset_import, helper.make_opsetid("local", 1)]
    made = helper.make_function("local", name, inputs, outputs, nodes, imports)
    return made


def call(model, rng, *functions):
    model.functions.extend(functions)
    model.opset_import.append(helper.make_opsetid("local", 1))
    name = pick(model.graph.input, rng).name
    model.graph.node.append(helper.make_node("f", [name], ["called"], domain="local"))


@mutation
def function_calls_itself(model, rng):
    again = helper.make_node("f", ["a"], ["b"], domain="local")
    call(model, rng, add_function(model, "f", [again]))


@mutation
def functions_in_a_circle(model, rng):
    there = helper.make_node("g", ["a"], ["b"], domain="local")
    back = helper.make_node("f", ["a"], ["b"], domain="local")
    call(model, rng, add_function(model, "f", [there]), add_function(model, "g", [back]))


@mutation
def function_twice(model, rng):
    node = helper.make_node("Identity", ["a"], ["b"])
    call(model, rng, add_function(model, "f", [node]), add_function(model, "f", [node]))


@mutation
def function_reads_nothing(model, rng):
    node = helper.make_node("Identity", ["nobody_defines_this"], ["b"])
    call(model, rng, add_function(model, "f", [node]))


@mutation
def function_output_not_defined(model, rng):
    node = helper.make_node("Identity", ["a"], ["c"])
    call(model, rng, add_function(model, "f", [node]))


@mutation
def function_output_twice(model, rng):
    node = helper.make_node("Identity", ["a"], ["b"])
    call(model, rng, add_function(model, "f", [node], outputs=("b", "b")))


# --- verdicts ---


def checker_refuses(data):
    try:
        onnx.checker.check_model(data, full_check=True)
        return None
    except Exception as error:
        return str(error).splitlines()[0]


def runtime_refuses(data):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        ort.InferenceSession(data, options)
        return None
    except Exception as error:
        return str(error).splitlines()[0]


def our_verdicts(paths):
    """Path to None, or to the first error."""
    lines = "".join(f"{path}\n" for path in paths)
    run = subprocess.run([tool("verdict")], input=lines, text=True,
                         capture_output=True, check=True)
    verdicts = {}
    for line in run.stdout.splitlines():
        path, rule, *message = line.split("\t")
        verdicts[path] = None if rule == "ok" else f"{rule}: {message[0]}"
    return verdicts


def old(model):
    return any(entry.domain == "" and entry.version < OPSET_MIN for entry in model.opset_import)


def test_sound(models):
    verdicts = our_verdicts(path for _, path in models)
    passed, failed = 0, 0
    for name, path in models:
        verdict = verdicts[str(path)]
        if old(onnx.load(path)):
            wrong = not verdict or not verdict.startswith("opset-version: ")
        else:
            wrong = verdict and not checker_refuses(path.read_bytes())
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print(f"{name}: {verdict}")
    return passed, failed


def break_models(models, folder):
    """(mutation, base name, path) of broken models."""
    rng = random.Random(14)
    broken = []
    for mutate in MUTATIONS:
        found = 0
        for name, path in rng.sample(models, len(models)):
            model = onnx.load(path)
            try:
                mutate(model, rng)
            except (Skip, onnx.defs.SchemaError):
                continue
            out = folder / f"{mutate.__name__}-{found}.onnx"
            out.write_bytes(model.SerializeToString())
            broken.append((mutate.__name__, name, out))
            found += 1
            if found == MODELS_A_MUTATION:
                break
        if not found:
            print(f"{mutate.__name__}: no model to break")
    return broken


def judge(ours, checker, runtime):
    if ours:
        return None if checker or runtime else US
    return CHECKER if checker else RUNTIME if runtime else None


def test_broken(models, folder):
    broken = break_models(models, folder)
    verdicts = our_verdicts(path for _, _, path in broken)
    kinds = collections.defaultdict(list)
    for mutate, name, path in broken:
        data = path.read_bytes()
        ours, checker, runtime = verdicts[str(path)], checker_refuses(data), runtime_refuses(data)
        kinds[mutate, judge(ours, checker, runtime)].append((name, ours or checker or runtime))
    failed = 0
    for (mutate, kind), cases in kinds.items():
        if kind and (mutate, kind) not in EXPLAINED:
            failed += len(cases)
            for name, text in cases[:3]:
                print(f"{mutate}, {kind} ({len(cases)}): {name}: {text}")
    for key in EXPLAINED.keys() - kinds.keys():
        failed += 1
        print(f"{key}: the reason is not needed any more")
    return len(broken) - failed, failed


def test_every_rule_has_a_case():
    """tests/bad breaks each rule of check_rules.h; the case shows "[rule]" behind the finding."""
    root = pathlib.Path(__file__).parents[2]
    text = (root / "src/onnx/check_rules.h").read_text(encoding="utf-8")
    rules = re.findall(r'RULE\(\w+, "([a-z-]+)"', text)
    shown = "".join(path.read_text(encoding="utf-8") for path in root.glob("tests/bad/*/stdout"))
    missing = [rule for rule in rules if f"[{rule}]\n" not in shown]
    for rule in missing:
        print(f"no case in tests/bad breaks the rule {rule}")
    return len(rules) - len(missing), len(missing)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sound").mkdir()
        models = model_files(folder / "sound")
        passed, failed = test_sound(models)
        sound = []
        for model_name, path in models:
            model = onnx.load(path)
            if not old(model) and model.ir_version < 14 and len(sound) < 600:
                sound.append((model_name, path))
        counts = [(passed, failed), test_broken(sound, folder), test_every_rule_has_a_case()]
    passed, failed = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or len(models) < 1500 else 0


if __name__ == "__main__":
    sys.exit(main())
