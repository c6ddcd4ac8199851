"""Models and samples of the benches, in build/bench: made once, the same every time.

    models.py FOLDER ZOO [NAME...]      (with the Python of build/venv)

FOLDER/MODEL.onnx and FOLDER/MODEL/NNNN.npz. ResNet-50 has random weights, which is as
good as any for time; the others are real models out of tests/zoo on pieces of real pictures.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

SAMPLES = 512
IMAGENET = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)


class Net:
    """A graph that grows layer by layer."""

    def __init__(self, seed):
        self.random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def add(self, op, inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n_{name}", **attributes))
        return name

    def weight(self, *shape, scale):
        values = (self.random.standard_normal(shape) * scale).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def conv(self, x, channels, out, kernel, stride=1, relu=True):
        weight = self.weight(out, channels, kernel, kernel, scale=(2 / (channels * kernel**2)) ** 0.5)
        y = self.add("Conv", [x, weight, self.weight(out, scale=0.1)], kernel_shape=[kernel] * 2,
                     strides=[stride] * 2, pads=[kernel // 2] * 4)
        return self.add("Relu", [y]) if relu else y


def resnet50():
    net = Net(0)
    x = net.add("MaxPool", [net.conv("input", 3, 64, 7, 2)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage else 1
            y = net.conv(net.conv(x, channels, width, 1), width, width, 3, stride)
            y = net.conv(y, width, 4 * width, 1, relu=False)
            if block == 0:
                x = net.conv(x, channels, 4 * width, 1, stride, relu=False)
            x, channels = net.add("Relu", [net.add("Add", [y, x])]), 4 * width
    flat = net.add("Flatten", [net.add("GlobalAveragePool", [x])])
    net.add("Gemm", [flat, net.weight(1000, 2048, scale=0.02), net.weight(1000, scale=0.1)], transB=1)
    graph = helper.make_graph(
        net.nodes, "resnet50", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info(net.nodes[-1].output[0], TensorProto.FLOAT, [1, 1000])], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def pieces(folder, width, height, seed):
    """Pieces of the pictures of a folder, of many sizes, brought to width x height."""
    pictures = [Image.open(path).convert("RGB") for path in sorted(folder.iterdir())]
    random = np.random.default_rng(seed)
    for number in range(SAMPLES):
        picture = pictures[number % len(pictures)]
        scale = random.uniform(0.35, 1) * min(picture.width / width, picture.height / height)
        w, h = int(width * scale), int(height * scale)
        left, top = (int(random.integers(0, most + 1)) for most in (picture.width - w, picture.height - h))
        pixels = np.asarray(picture.crop((left, top, left + w, top + h)).resize((width, height)), np.float32)
        yield ((pixels / 255 - IMAGENET[0]) / IMAGENET[1]).transpose(2, 0, 1)[None].astype(np.float32)


# name | input | width, height | pictures | seed
MODELS = {
    "resnet50": ("input", 224, 224, "pictures", 1),
    "ppocrv4_det": ("x", 320, 320, "texts", 2),
    "ppocrv4_rec": ("x", 320, 48, "texts", 3),
    "centerface": ("input.1", 320, 320, "pictures", 4),  # written with another size, which its layers do not need
}


def copy_sized(source, target, port, width, height):
    """One sample of that size at once."""
    model = onnx.load(source)
    graph = model.graph
    dims = next(value for value in graph.input if value.name == port).type.tensor_type.shape.dim
    if any(dim.dim_value for dim in dims if dim.dim_value not in (1, 3)):
        for dim, size in zip(dims, (1, 3, height, width)):
            dim.dim_value = size
        for value in graph.output:
            value.type.tensor_type.ClearField("shape")
        del graph.value_info[:]
        onnx.save(model, target)
    else:
        shutil.copy(source, target)


def main(folder, zoo, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or MODELS:
        port, width, height, pictures, seed = MODELS[name]
        model, data = folder / f"{name}.onnx", folder / name
        if not model.exists():
            if name == "resnet50":
                onnx.save(resnet50(), model)
            else:
                copy_sized(zoo / "models" / model.name, model, port, width, height)
        data.mkdir(exist_ok=True)
        if len(list(data.iterdir())) < SAMPLES:
            for number, sample in enumerate(pieces(zoo / pictures, width, height, seed)):
                np.savez(data / f"{number:04}.npz", **{port: sample})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
