"""Prints how many tensors of q.onnx are declared, and which are not."""

import onnx

model = onnx.load("q.onnx")
onnx.checker.check_model(model, full_check=True)
computed = {name for node in model.graph.node for name in node.output}
declared = {info.name for info in [*model.graph.value_info, *model.graph.output]}
assert len(model.graph.value_info) == len({info.name for info in model.graph.value_info})
assert declared <= computed
missing = computed - declared
print("all are declared" if not missing else f"{len(missing)} of {len(computed)} are not declared")
