"""python -m baryon.onnx.tools.convert_fp16_to_fp32"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
