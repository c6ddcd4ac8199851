"""dump_model(): what the tensors of a quantized model are on a sample, for a comparison with hardware."""

import os

_QUANTIZE = ("QuantizeLinear", "ExtendedQuantizeLinear", "VitisQuantizeLinear", "BFPQuantizeDequantize",
             "MXQuantizeDequantize")  # fmt: skip


def _file_name(name):
    return "".join(char if char.isalnum() or char in "._-" else "_" for char in name)


def _write(folder, name, array):
    path = os.path.join(folder, _file_name(name))
    array.tofile(f"{path}.bin")
    with open(f"{path}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{value}\n" for value in array.ravel().tolist())


def _sample(model, reader, shape):
    if reader is None:
        from .calibration.data_readers import RandomDataReader, _ports

        shapes = shape if isinstance(shape, dict) else {_ports(model)[0].name: shape} if shape else {}
        reader = RandomDataReader(model, shapes)
    sample = reader.get_next()
    if sample is None:
        raise ValueError("the reader of samples gives none")
    return sample


def _wanted(graph, floats):
    """Outputs of nodes that quantize, or of all nodes."""
    return [name for node in graph.node if floats or node.op_type in _QUANTIZE for name in node.output if name]


def dump_model(model, dump_data_reader=None, random_data_reader_input_shape=(), dump_float=False,
               output_dir="./dump_results"):  # fmt: skip
    """Writes tensors of a quantized model, a path or an onnx.ModelProto, on the first sample: integers
    of activations and weights, and with dump_float the results of all nodes. Each is a file NAME.bin
    of bare values and NAME.txt with one a line."""
    import numpy
    import onnx

    from ..running import run

    made = onnx.ModelProto()
    made.CopyFrom(model if hasattr(model, "SerializeToString") else onnx.load(model))
    sample = _sample(model, dump_data_reader, random_data_reader_input_shape)
    known = {value.name for value in made.graph.output}
    wanted = _wanted(made.graph, dump_float)
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(wanted) if name not in known)
    os.makedirs(output_dir, exist_ok=True)
    for name, array in run(made, sample, wanted, optimization="none").items():
        _write(output_dir, name, numpy.asarray(array))
    for tensor in made.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if dump_float or array.dtype.kind in "iu":
            _write(output_dir, tensor.name, array)
