"""Shows what text recognizers read, and what quantization changed.

    compare_text.py MODEL FOLDER FLOAT PLAIN BETTER

FLOAT, PLAIN and BETTER are models NAME.onnx; FOLDER has a folder NAME for each with the results of
`baryon run`, a .npy file for each line of text. MODEL.json is what `baryon inspect --json` says of
the float model: it has the characters of the outputs.
"""

import ast
import difflib
import json
import struct
import sys
from array import array
from pathlib import Path


def read_npy(path):
    """(shape, values) of a float32 array."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + size].decode())
    if header["descr"] != "<f4":
        sys.exit(f"{path}: {header['descr']}, not float32")
    values = array("f", data[10 + size :])
    if sys.byteorder == "big":
        values.byteswap()
    return header["shape"], values


def read_text(path, characters):
    """The most probable character at each place; repeated ones and blanks (0) are dropped."""
    (_, places, classes), values = read_npy(path)
    text, last = "", 0
    for place in range(places):
        scores = values[place * classes : (place + 1) * classes]
        best = scores.index(max(scores))
        if best and best != last:
            text += characters[best - 1]
        last = best
    return text


def same(one, other):
    """How many characters both have, in the same order."""
    blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def megabytes(path):
    return f"{path.stat().st_size / 1e6:.1f} MB"


def main():
    about, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    models = [Path(name) for name in sys.argv[3:]]
    (value,) = (entry["value"] for entry in about["metadata"] if entry["key"] == "character")
    characters = value.split("\n") + [" "]
    texts = [
        [read_text(path, characters) for path in sorted((folder / model.stem).glob("*.npy"))]
        for model in models
    ]
    print("  " + "".join(f"{title:26}" for title in ("float model", "XINT8, nearest", "XINT8_ADAROUND")).rstrip())
    for line in zip(*texts):
        print("  " + "".join(f"{text or '(nothing)':26}" for text in line).rstrip())

    total = sum(map(len, texts[0]))
    plain, better = (sum(map(same, texts[0], read)) for read in texts[1:])
    times = models[0].stat().st_size / models[2].stat().st_size
    print(f"""
  file             {megabytes(models[0])} before, {megabytes(models[1])} and {megabytes(models[2])} after: {times:.1f} times smaller
  XINT8, nearest   reads {plain} of the {total} characters that the float model reads
  XINT8_ADAROUND   reads {better} of {total}

  Both int8 models have the same operators and integer types, and both pass the rules of the NPU.
  Rounding each weight to the nearest integer keeps {100 * plain / total:.0f} % of the text, with equalization and bias
  correction where samples favour them. Choosing the integers on samples keeps {100 * better / total:.0f} %.""")


if __name__ == "__main__":
    main()
