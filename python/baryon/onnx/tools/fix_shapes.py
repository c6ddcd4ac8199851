"""python -m baryon.onnx.tools.fix_shapes"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
