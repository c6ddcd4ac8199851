"""Writes ops/answers.json: what Quark's operators make of the nodes in tests/diff/ops_data.py.

Needs the packages amd-quark (0.13) and its torch and onnxruntime. The answers are stored as
hashes of the bytes that came out, so that no test needs them: tests/diff/test_ops.py compares.
"""

import json
import pathlib
import sys

from quark.onnx import get_library_path

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "diff"))
import ops_data  # noqa: E402


def main():
    (HERE / "ops").mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}"
                       for key, value in ops_data.answers(get_library_path()))
    (HERE / "ops/answers.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
