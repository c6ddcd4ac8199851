"""For tests/bad and tests/cli: models that hand their input through, and sample files,
right and wrong."""

import io
import pathlib
import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper

ELEMS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64,
         "int32": TensorProto.INT32, "uint8": TensorProto.UINT8, "int16": TensorProto.INT16}


def write(name, data):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def identity(*inputs):
    """model.onnx with an Identity for each (name, type, shape): x becomes x_out."""
    ins = [helper.make_tensor_value_info(name, ELEMS[elem], shape) for name, elem, shape in inputs]
    outs = [helper.make_tensor_value_info(name + "_out", ELEMS[elem], shape)
            for name, elem, shape in inputs]
    nodes = [helper.make_node("Identity", [name], [name + "_out"], name="copy_" + name)
             for name, _, _ in inputs]
    graph = helper.make_graph(nodes, "g", ins, outs)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    onnx.save(model, "model.onnx")


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def npy_text(header, payload=b"", version=1):
    """A .npy with this text as its header, whatever it says."""
    text = header.encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + payload


def npz(members, **changes):
    """Members (name, bytes), stored; `changes` go over the fields of the first entry:
    flags, method, crc, packed, size, and `extra` bytes."""
    out, directory = b"", b""
    for i, (name, data) in enumerate(members):
        fields = {"flags": 0, "method": 0, "crc": zlib.crc32(data), "packed": len(data),
                  "size": len(data), "extra": b""}
        if i == 0:
            fields.update(changes)
        common = struct.pack("<HHHHHIIIH", 20, fields["flags"], fields["method"], 0, 0,
                             fields["crc"], fields["packed"], fields["size"], len(name))
        directory += (b"PK\1\2" + struct.pack("<H", 20) + common
                      + struct.pack("<HHHHII", len(fields["extra"]), 0, 0, 0, 0, len(out))
                      + name.encode() + fields["extra"])
        out += b"PK\3\4" + common + struct.pack("<H", 0) + name.encode() + data
    return (out + directory + b"PK\5\6"
            + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(out), 0))


def chunk(kind, body=b""):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, bits, colour, rows, *chunks, end=True):
    """Rows come with their filter bytes; chunks go before the pixels."""
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunks)
            + chunk(b"IDAT", zlib.compress(rows)) + (chunk(b"IEND") if end else b""))


def picture(width, height, channels=3):
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    return ((x * 7 + y * 3 + c * 80) % 256).astype(np.uint8)


def jpeg(array, mode="RGB", **options):
    from PIL import Image
    out = io.BytesIO()
    Image.fromarray(array, mode).save(out, "JPEG", **options)
    return out.getvalue()
