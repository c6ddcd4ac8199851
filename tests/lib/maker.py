"""Runs make.py of folders named on standard input, one a line, and says how each ended.

Importing onnx takes longer than most of them: it happens once here, and each make.py runs
in a fork. What it prints goes to make.log beside the folder; the answer is its exit status.
"""

import os
import runpy
import sys
import traceback

import cli_models  # noqa: F401  what nearly all of them import
import lib.proto  # noqa: F401
import numpy  # noqa: F401
import onnx.checker  # noqa: F401
import onnx.helper  # noqa: F401


def make(folder):
    """Never returns: the child's side."""
    status = 1
    try:
        log = os.open(os.path.join(os.path.dirname(folder), "make.log"), os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        sys.argv, sys.path[0] = ["make.py"], ""
        runpy.run_path("make.py", run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code)
    except BaseException:  # whatever it is, the case has to show it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


for line in sys.stdin:
    child = os.fork()
    if not child:
        make(line.rstrip("\n"))
    _, code = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(code), flush=True)
