"""python -m baryon.onnx.tools.remove_initializer_from_input"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
