"""python -m baryon.onnx.tools.remove_qdq_mul_add"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
