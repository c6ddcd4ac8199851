"""python -m baryon.onnx.tools.evaluate.py, as it is found in documents."""

from . import main

if __name__ == "__main__":
    raise SystemExit(main())
