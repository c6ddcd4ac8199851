"""Pages of the documentation: their blocks of code, and stand-ins for the files that these name."""

import pathlib
import re
import shutil
import subprocess

import llm_files
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build/zoo/pictures"
BLOCK = re.compile(r"(?:^<!-- (?P<note>[^\n]*?) -->\n)?^(?P<fence>```)(?P<kind>\w*)\n(?P<text>.*?)^```$", re.S | re.M)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.M)


class Block:
    """A block of a page: its language, its text, its line, and the note in the line above."""

    def __init__(self, page, match, text):
        self.place = f"{page}:{text.count(chr(10), 0, match.start('fence')) + 1}"
        self.kind, self.text = match["kind"], match["text"]
        note = match["note"] or ""
        self.why_not = note.removeprefix("not run: ") if note.startswith("not run: ") else None
        self.file, _, self.then = note.removeprefix("file: ").partition("; then: ") if note.startswith("file: ") else ("", "", "")

    def commands(self):
        """What stands behind $ in a block of a screen, or the whole of a script."""
        if self.kind == "sh":
            return [self.text]
        return COMMAND.findall(self.text) if not self.kind else []


def blocks(page):
    text = (ROOT / page).read_text("utf-8")
    return [Block(page, match, text) for match in BLOCK.finditer(text)]


class Net:
    """A graph as it is put together; each node is named as exporters do."""

    def __init__(self):
        self.nodes, self.constants, self.rng = [], [], np.random.default_rng(5)

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind, name, *inputs, output=None, outputs=(), **attributes):
        outputs = list(outputs) or [output or f"{name}_output_0"]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name, **attributes))
        return outputs[0]

    def conv(self, name, source, channels, size=3, stride=1, group=1, output=None):
        inputs, outputs = channels
        weight = self.rng.normal(size=(outputs, inputs // group, size, size)) * (2 / (size * size * inputs / group)) ** 0.5
        weight = self.constant(f"{name}.weight", weight.astype(np.float32))
        bias = self.constant(f"{name}.bias", self.rng.normal(size=outputs).astype(np.float32) / 8)
        return self.add("Conv", name, source, weight, bias, pads=[size // 2] * 4, strides=[stride] * 2, group=group, output=output)

    def save(self, path, inputs, outputs):
        described = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side]
                     for side in (inputs, outputs)]  # fmt: skip
        graph = helper.make_graph(self.nodes, "net", *described, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def classifier(path):
    """Pictures of 32 x 32 to ten classes, with the names of torchvision's MobileNetV2."""
    net, at = Net(), "input"
    widths = [3, 8, 8, 16, 16]
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        name = ["features.0", "features.1", "features.17", "features.18"][i]
        inner = f"/features/{name}/{name}.0/Conv" if i in (0, 2) else f"/features/{name}/Conv"
        output = "/features/features.18/Conv" if i == 3 else None
        at = net.conv(inner, at, (inputs, outputs), stride=2 if i % 2 == 0 else 1, output=output)
        at = net.add("Clip", f"/features/{name}/Clip", at, *(net.constant(f"{name}.{v}", np.float32(v)) for v in (0, 6)))
    at = net.conv("/head/conv/Conv", at, (16, 16), size=1)
    at = net.add("Relu", "/head/Relu", at)
    at = net.add("Add", "/Add", at, at)
    at = net.add("Flatten", "/Flatten", net.add("GlobalAveragePool", "/GlobalAveragePool", at))
    at = net.add("MatMul", "/mixer/MatMul", at, net.constant("mixer.weight", net.rng.normal(size=(16, 64)).astype(np.float32) / 4))
    weight = net.constant("classifier.weight", net.rng.normal(size=(64, 10)).astype(np.float32) / 8)
    net.add("Gemm", "/classifier/Gemm", at, weight, net.constant("classifier.bias", np.zeros(10, np.float32)), output="logits")
    net.save(path, [("input", [1, 3, 32, 32])], [("logits", [1, 10])])


def detector(path, classes=4, side=64):
    """The shape of a YOLOv8, with its names; anchors of three scales meet at the end."""
    net = Net()
    at, features, width = "images", [], 3
    for level in range(5):
        at = net.conv(f"/model.{level}/conv/Conv", at, (width, 8), stride=2)
        at = net.add("Mul", f"/model.{level}/act/Mul", at, net.add("Sigmoid", f"/model.{level}/act/Sigmoid", at))
        width = 8
        features.append(at)
    number = ["", "_1", "_2"]
    rows, places = [], 0
    for i, feature in enumerate(features[2:]):
        box = net.conv(f"/model.22/cv2.{i}/cv2.{i}.2/Conv", feature, (8, 4), size=1)
        kind = net.conv(f"/model.22/cv3.{i}/cv3.{i}.2/Conv", feature, (8, classes), size=1)
        both = net.add("Concat", f"/model.22/Concat{number[i]}", box, kind, axis=1)
        shape = net.constant(f"shape{i}", np.array([1, 4 + classes, -1]))
        rows.append(net.add("Reshape", f"/model.22/Reshape{number[i]}", both, shape))
        places += (side >> (3 + i)) ** 2
    at = net.add("Concat", "/model.22/Concat_3", *rows, axis=2)
    sizes = net.constant("sizes", np.array([4, classes]))
    net.add("Split", "/model.22/Split", at, sizes, outputs=["boxes", "kinds"], axis=1)
    anchors = net.constant("anchors", net.rng.uniform(0, side, (1, 4, places)).astype(np.float32))
    box = net.add("Add", "/model.22/Add", "boxes", anchors)
    kind = net.add("Sigmoid", "/model.22/Sigmoid", "kinds")
    net.add("Concat", "/model.22/Concat_25", box, kind, axis=1, output="output0")
    net.save(path, [("images", [1, 3, side, side])], [("output0", [1, 4 + classes, places])])


def pictures(path):
    path.mkdir()
    for picture in sorted(PICTURES.iterdir())[:4]:
        shutil.copy(picture, path)


def texts(path):
    path.mkdir()
    (path / "a.txt").write_text("The quick brown fox jumps over the lazy dog. " * 40)


def arrays(path):
    """Tokens for models that read bytes."""
    path.mkdir()
    rng = np.random.default_rng(0)
    for i in range(4):
        np.save(path / f"{i}.npy", rng.integers(0, 257, (1, 2048)).astype(np.int32))


def decoder(path):
    llm_files.byte_decoder(path, 2**-20, hidden=256, inner=256)


def made(*words):
    """What the program makes of the classifier."""

    def make(path):
        if not pathlib.Path("made.onnx").exists():
            classifier("made.onnx")
        subprocess.run([ROOT / "build/baryon", *words, "-q", "made.onnx", "-o", path], check=True, stdout=subprocess.DEVNULL)

    return make


def report(path):
    if not pathlib.Path("made.onnx").exists():
        classifier("made.onnx")
    words = ["quantize", "-q", "-p", "A8W8", "--random", "4", "made.onnx", "-o", "reported.onnx", "-f", "--report", path]
    subprocess.run([ROOT / "build/baryon", *words], check=True, stdout=subprocess.DEVNULL)


def zoo(name):
    return lambda path: shutil.copy(ROOT / "build/zoo/models" / name, path)


def strip(path):
    """A classifier of lines of text, of fixed size."""
    model = onnx.load(ROOT / "build/zoo/models/ppocr_cls.onnx")
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, (1, 3, 48, 192)):
        dim.dim_value = size
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, path)


# A name in a block | what makes it. The longest name that fits is taken.
MAKERS = {
    "model.onnx": classifier,
    "m.onnx": classifier,
    "mobilenet_v2.onnx": classifier,
    "yolov8n.onnx": detector,
    "mtcnn_onet.onnx": classifier,
    "ppocrv4_det.onnx": zoo("ppocrv4_det.onnx"),
    "magika.onnx": zoo("magika.onnx"),
    "pictures": pictures,
    "photos": pictures,
    "unseen": pictures,
    "faces": pictures,
    "samples": pictures,
    "licenses": texts,
    "detector.onnx": detector,
    "int8.onnx": made("quantize", "-p", "A8W8", "--random", "4", "--no-judge"),
    "report.json": report,
    "shared.json": report,
    "SmolLM2-135M": decoder,
    "SmolLM2-int4": decoder,
    "texts": texts,
    "model.stats": made("calibrate", "--random", "4", "--tensors", "all"),
    "quark.onnx": made("quantize", "-p", "XINT8", "--random", "4", "--no-judge"),
    "baryon.onnx": made("quantize", "-p", "A8W8", "--random", "4", "--no-judge"),
    "Qwen3-0.6B": decoder,
}
SPECIAL = {("docs/python.md", "model.onnx"): strip, ("docs/fp16.md", "texts"): arrays, ("docs/quantization.md", "texts"): pictures}


def furnish(page, text):
    """Makes, in the current folder, the files that the text names and no command of it writes first."""
    for name, maker in MAKERS.items():
        use = re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w.-])", text)
        before = r'(?:-o|--out|",)' if name.endswith(".onnx") else "(?:-o|--out|--report)"
        write = re.search(rf'{before} "?{re.escape(name)}(?![\w.-])', text)
        if use and not (write and write.end() <= use.end()):
            SPECIAL.get((page, name), maker)(pathlib.Path(name))
