"""Writes the seeds of the fuzz targets wire, load and external into tests/fuzz/corpus.

Small models that between them use every message of the schema. Run with a Python
that has the onnx package; the seeds are in the repository, so this is only needed
when the schema grows.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

TESTS = pathlib.Path(__file__).resolve().parents[1]
CORPUS = TESTS / "fuzz/corpus"
SEED_MAX = 6000  # bytes
# The order of by_schema_all(): the first byte of a wire seed chooses.
MODEL, GRAPH, NODE, ATTRIBUTE, TENSOR = range(5)
CASES = """add abs constant constant_pad conv_with_strides_padding batchnorm_epsilon gemm_all_attributes
 if if_seq loop11 loop13_seq scan9_sum lstm_defaults gru_with_initial_bias reshape_negative_dim
 transpose_default resize_upsample_scales_linear split_variable_parts_1d_opset18 slice
 quantizelinear_axis dequantizelinear_int4 quantizelinear_float4e2m1 cast_FLOAT_to_BFLOAT16
 einsum_batch_matmul layer_normalization_2d_axis0 layer_normalization_2d_axis0_expanded
 optional_get_element_sequence sequence_map_add_1_sequence_1_tensor string_concat
 training_dropout_default adam momentum attention_4d softmax_axis_0_expanded
 reduce_sum_keepdims_random tfidfvectorizer_tf_batch_onlybigrams_skip0 identity_opt identity_sequence
 maxpool_2d_ceil matmulinteger qlinearconv convtranspose_group_2 where_example nonmaxsuppression_identical_boxes
 gathernd_example_float32 affine_grid_2d gridsample bitwise_and_i32_2d shape_clip_start size topk""".split()


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def port(name, elem=TensorProto.FLOAT, shape=("N", 2)):
    return helper.make_tensor_value_info(name, elem, shape)


def model_of(nodes, inputs, outputs, initializers=(), **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)],
                             **more)


def relu():
    return model_of([helper.make_node("Relu", ["x"], ["y"], name="r")], [port("x")], [port("y")])


def types():
    """One initializer of every element type."""
    tensors = []
    for elem in range(1, 29):
        name = TensorProto.DataType.Name(elem).lower()
        if elem == TensorProto.STRING:
            tensors.append(helper.make_tensor(name, elem, [2], [b"a", b""]))
        else:
            bits = {TensorProto.COMPLEX128: 128, TensorProto.COMPLEX64: 64, 27: 6, 28: 6}.get(
                elem, helper.tensor_dtype_to_np_dtype(elem).itemsize * 8)
            bits = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}.get(elem, bits)
            tensors.append(TensorProto(name=name, data_type=elem, dims=[3],
                                       raw_data=bytes((3 * bits + 7) // 8)))
    tensors += [helper.make_tensor("f", TensorProto.FLOAT, [2], [1, 2]),
                helper.make_tensor("i", TensorProto.INT64, [2], [-1, 2]),
                helper.make_tensor("d", TensorProto.DOUBLE, [1], [0.5]),
                helper.make_tensor("u", TensorProto.UINT64, [1], [7]),
                helper.make_tensor("q", TensorProto.INT4, [3], [1, -2, 3])]
    return model_of([], [], [], tensors)


def everything():
    model = relu()
    sparse = helper.make_sparse_tensor(helper.make_tensor("s", 1, [1], [2.0]),
                                       helper.make_tensor("si", 7, [1], [1]), [4])
    model.graph.sparse_initializer.append(sparse)
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    function = helper.make_function("local", "F", ["a"], ["b"],
                                    [helper.make_node("Neg", ["a"], ["b"])],
                                    [helper.make_opsetid("", 21)], attributes=["k"])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.metadata_props.add(key="author", value="nobody")
    training = model.training_info.add()
    training.algorithm.CopyFrom(relu().graph)
    training.update_binding.add(key="x", value="y")
    model.configuration.add(name="two", num_devices=2, device=["a", "b"])
    device = model.graph.node[0].device_configurations.add(configuration_id="two",
                                                            pipeline_stage=1)
    spec = device.sharding_spec.add(tensor_name="x", device=[0, 1])
    spec.index_to_device_group_map.add(key=-1, value=[0, 1])
    spec.sharded_dim.add(axis=0).simple_sharding.add(dim_param="N", num_shards=2)
    model.graph.node[0].attribute.append(helper.make_attribute("fs", [1.0, 2.0]))
    model.graph.node[0].attribute.append(helper.make_attribute("ss", ["a", "b"]))
    model.graph.value_info.append(helper.make_tensor_sequence_value_info("q", 1, None))
    return model


def external(entries, dims=(4,), elem=TensorProto.FLOAT):
    tensor = TensorProto(name="w", data_type=elem, dims=dims,
                         data_location=TensorProto.EXTERNAL)
    for key, value in entries:
        tensor.external_data.add(key=key, value=value)
    return model_of([helper.make_node("Add", ["x", "w"], ["y"])], [port("x")], [port("y")],
                    [tensor])


def bad_models():
    """The models of tests/bad that can be read but break a rule."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONDONTWRITEBYTECODE": "1"}
    for case in sorted((*TESTS.glob("bad/1[3-9]-*"), *TESTS.glob("bad/[23]*"),
                        *TESTS.glob("bad/rule-*"))):
        if case.name[:2] in ("37", "38", "39"):  # external data
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, case / "make.py"], cwd=folder, env=environment,
                           check=True)
            data = (pathlib.Path(folder) / "model.onnx").read_bytes()
        if len(data) < SEED_MAX:
            yield f"bad-{case.name}", data


def main():
    models = {"relu": relu(), "types": types(), "everything": everything()}
    cases = {case.name.removeprefix("test_"): case.model for case in collect_testcases(None)}
    models |= {name: cases[name] for name in CASES if name in cases}
    for name, model in models.items():
        data = model.SerializeToString()
        if len(data) < SEED_MAX:
            write("load", name, data)
    for name, data in bad_models():
        write("load", name, data)
    parts = models["everything"]
    write("wire", "model", bytes([MODEL]) + parts.SerializeToString())
    write("wire", "graph", bytes([GRAPH]) + parts.graph.SerializeToString())
    write("wire", "node", bytes([NODE]) + parts.graph.node[0].SerializeToString())
    for index, attribute in enumerate(parts.graph.node[0].attribute):
        write("wire", f"attribute{index}", bytes([ATTRIBUTE]) + attribute.SerializeToString())
    for tensor in models["types"].graph.initializer:
        write("wire", f"tensor_{tensor.name}", bytes([TENSOR]) + tensor.SerializeToString())
    odd = numpy_helper.from_array(numpy.arange(3, dtype=numpy.int32), "unpacked")
    write("wire", "overlong", bytes([TENSOR]) + b"\x88\x00\x83\x00" + odd.SerializeToString())
    whole = [("location", "w.bin"), ("offset", "16"), ("length", "16")]
    for name, entries in {
        "plain": whole, "bare": whole[:1], "folder": [("location", "d/w")],
        "up": [("location", "../secret")], "absolute": [("location", "/etc/passwd")],
        "link": [("location", "link")], "through": [("location", "up/secret")],
        "hard": [("location", "hard")], "odd": [("location", "d/../../secret")],
        "negative": whole[:1] + [("offset", "-1")], "big": whole[:1] + [("length", "9" * 30)],
        "behind": whole[:1] + [("offset", "4090")], "twice": whole + whole[:1],
        "checksum": whole + [("checksum", "0" * 40)], "unknown": whole + [("basepath", "x")],
        "memory": [("location", "*/_ORT_MEM_ADDR_/*"), ("offset", "4096"), ("length", "16")],
    }.items():
        write("external", name, external(entries).SerializeToString())
    write("external", "int4", external(whole[:1], (5,), TensorProto.INT4).SerializeToString())


if __name__ == "__main__":
    main()
