"""How often each model of a list has each operator, and each type among its constants."""

import collections
import os

import onnx

for line in open("list"):
    path, _, what = line.strip().partition(" ")
    onnx.checker.check_model(path)
    model = onnx.load(path)
    nodes = collections.Counter(f"{node.domain}{'.' * bool(node.domain)}{node.op_type}" for node in model.graph.node)
    types = collections.Counter(onnx.TensorProto.DataType.Name(t.data_type) for t in model.graph.initializer)
    print(what, ":", sep="")
    print(" ", ", ".join(f"{count} {name}" for name, count in sorted(nodes.items())))
    print(" ", ", ".join(f"{count} {name}" for name, count in sorted(types.items())), os.path.getsize(path), "bytes")
