"""Which tensors of a model are quantized, in a short form: one letter a tensor."""

import hashlib
import re

import numpy as np
from onnx import numpy_helper


def constant_of(node, constants):
    """The array that a node gives whatever the input, None where it is not so simple."""
    attribute = node.attribute[0] if node.attribute else None
    if node.op_type == "Constant" and attribute.name == "value":
        return numpy_helper.to_array(attribute.t)
    if node.op_type == "Constant" and attribute.name == "value_float":
        return np.float32(attribute.f)
    if node.op_type == "Reshape" and all(name in constants for name in node.input):
        return constants[node.input[0]].reshape(constants[node.input[1]])
    return None


def lift(model):
    """Constant nodes and moved constants become initializers, so that they are constants for everybody."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for node in list(model.graph.node):
        array = constant_of(node, constants)
        if array is not None:
            constants[node.output[0]] = array
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), node.output[0]))
            model.graph.node.remove(node)
    return model


def letters(model, owners, constants):
    """owners: activation -> whose parameters it has. "q" its own, "s" another's, "w" a constant."""
    text = []
    for name in [port.name for port in model.graph.input] + [o for node in model.graph.node for o in node.output]:
        text.append("." if name not in owners else "q" if owners[name] == name else "s")
    text.extend("w" if tensor.name in constants else "." for tensor in model.graph.initializer)
    pairs = "".join(f"{name} {owner}\n" for name, owner in sorted(owners.items()))
    return {"tensors": shorten("".join(text)), "owners": hashlib.sha256(pairs.encode()).hexdigest()[:16]}


def shorten(text):
    """"qqq.." becomes "q3.2"."""
    return re.sub(r"(.)\1*", lambda match: match[1] + (str(len(match[0])) if len(match[0]) > 1 else ""), text)


def of_formats(model):
    """Tensor -> how it becomes a float of fewer bits or blocks, with the attributes that say so."""
    kinds = {}
    for node in model.graph.node:
        name = node.input[0].removesuffix("_QuantizeLinear_Input") if node.input else ""
        if node.op_type.endswith("QuantizeDequantize"):
            values = {a.name: a.s.decode() if a.s else a.i for a in node.attribute}
            kinds[name] = f"{node.op_type} {sorted(values.items())}"
        elif node.op_type == "ExtendedQuantizeLinear":
            zero = next(t for t in model.graph.initializer if t.name == node.input[2])
            kinds[name] = f"{node.op_type} {zero.data_type}"
        elif node.op_type == "DequantizeLinear" and not name.endswith("_QuantizeLinear_Output"):
            kinds[name.removesuffix("_quantized")] = "DequantizeLinear"
    return kinds


def formats_letters(model, kinds):
    """A letter for each kind that there is, and a hash of which tensor has which."""
    names = [port.name for port in model.graph.input] + [o for node in model.graph.node for o in node.output]
    names += [tensor.name for tensor in model.graph.initializer]
    known = sorted(set(kinds.values()))
    text = "".join("." if name not in kinds else chr(ord("a") + known.index(kinds[name])) for name in names)
    return {"kinds": known, "tensors": shorten(text), "count": len(kinds)}


def of_quantized(model):
    """Owners and constants of a model with QuantizeLinear and DequantizeLinear by the usual names."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    owners, constants = {}, set()
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear":
            name = node.input[0].removesuffix("_QuantizeLinear_Input")
            owners[name] = node.input[1].removesuffix("_scale")
        elif node.op_type == "DequantizeLinear" and node.input[0] in initializers:
            constants.add(node.input[0].removesuffix("_quantized"))
    return owners, constants
