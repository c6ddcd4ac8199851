"""python -m baryon.onnx.tools.remove_bf16_cast"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
