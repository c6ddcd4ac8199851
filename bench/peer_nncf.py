"""Quantize a model with NNCF to INT8: one JSON line on stdout.

    peer_nncf.py MODEL DATA OUT [--limit N] [--transformer]

DATA/calib/*.npz hold the samples, keys are input names. NNCF's defaults: uint8 or int8 activations,
int8 weights by channel, fast bias correction; --transformer adds SmoothQuant and its list of what stays float.
Needs: pip install nncf onnx onnxruntime, in an environment of its own.
"""

import argparse
import json
import logging
import time

import nncf
import onnx
from judge import samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model"), parser.add_argument("data"), parser.add_argument("out")
    parser.add_argument("--limit", type=int, default=32)
    parser.add_argument("--transformer", action="store_true")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    calib = list(samples(f"{args.data}/calib", args.limit))
    kind = {"model_type": nncf.ModelType.TRANSFORMER} if args.transformer else {}
    start = time.perf_counter()
    quantized = nncf.quantize(onnx.load(args.model), nncf.Dataset(calib), subset_size=len(calib), **kind)
    seconds = time.perf_counter() - start
    onnx.save(quantized, args.out)
    print(json.dumps({"seconds": round(seconds, 2)}))


if __name__ == "__main__":
    main()
