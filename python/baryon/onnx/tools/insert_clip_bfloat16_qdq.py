"""python -m baryon.onnx.tools.insert_clip_bfloat16_qdq"""

from ._tool import main_of

main = main_of(__spec__)
if __name__ == "__main__":
    raise SystemExit(main())
