"""The command `baryon`: the program in this package, with the ONNX Runtime that Python has."""

import os
import subprocess
import sys

from . import _library


def main():
    name = "baryon.exe" if sys.platform == "win32" else "baryon"
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", name)
    if not os.path.exists(program):
        sys.exit(f"baryon: {program} is not there; install the wheel ('make wheel')")
    if folder := _library.onnxruntime():
        os.environ["BARYON_ONNXRUNTIME"] = folder
    if sys.platform == "win32":  # where nothing can take the place of a process
        sys.exit(subprocess.run([program, *sys.argv[1:]], check=False).returncode)
    os.execv(program, [program, *sys.argv[1:]])
