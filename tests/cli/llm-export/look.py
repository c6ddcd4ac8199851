"""What the exported model is, and what it computes."""

import json

import numpy
import onnx
import onnxruntime

onnx.checker.check_model("onnx/model.onnx")
nodes = onnx.load("onnx/model.onnx", load_external_data=False).graph.node
packed = [node for node in nodes if node.op_type == "MatMulNBits"]
levels = {attribute.i for node in packed for attribute in node.attribute if attribute.name == "accuracy_level"}
print(len(packed), "nodes MatMulNBits of accuracy level", levels)
said = json.load(open("onnx/genai_config.json"))["model"]
print("context", said["context_length"], "vocabulary", said["vocab_size"])
session = onnxruntime.InferenceSession("onnx/model.onnx")
ids = numpy.arange(6).reshape(1, 6)
feeds = {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}
for value in session.get_inputs():
    if value.name.startswith("past"):
        feeds[value.name] = numpy.zeros([1, value.shape[1], 0, value.shape[3]], numpy.float32)
logits = session.run(["logits"], feeds)[0]
print("logits", logits.shape, bool(numpy.isfinite(logits).all()))
