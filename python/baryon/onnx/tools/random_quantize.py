"""python -m baryon.onnx.tools.random_quantize"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
