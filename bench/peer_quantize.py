"""Quantize a model with a peer and judge the result: one JSON line on stdout.

    peer_quantize.py MODEL DATA PRESET OUT [--limit N] [--judge N] [--options '{"Key": value}'] [--no-equalization]

DATA holds calib/*.npz and eval/*.npz, one sample a file, keys are input names (see zoo/).
PRESET is a preset of AMD Quark 0.13 (XINT8, VINT8, A8W8, A16W8, BF16, BFP16, MX6, XINT8_ADAROUND, ...) or
ORT_MinMax, ORT_Percentile, ORT_Entropy for onnxruntime.quantization (QDQ, uint8 activations, int8 weights per channel);
ORT_Transformer: extremes, MatMul and Gemm alone.
PRESET+20 is a preset of Quark, then its AutoMixprecision: layers become int8, the least sensitive first, until the SQNR
on the samples that calibrate would be below 20 dB.
VINT8 is set up as the Vitis AI document asks. Time is the peer's call alone, without imports.
Needs: pip install amd-quark==0.13 torch onnxruntime onnxruntime-extensions onnx.
"""
import argparse
import glob
import json
import logging
import os
import resource
import time

from judge import judge, samples
from shares import shares
from onnxruntime.quantization.calibrate import CalibrationDataReader


class Reader(CalibrationDataReader):
    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit
        self.rewind()

    def rewind(self):
        self.iterator = samples(self.folder, self.limit)

    def get_next(self):
        return next(self.iterator, None)

    def __len__(self):
        return min(self.limit, len(glob.glob(os.path.join(self.folder, "*.npz"))))


def mix(config, threshold, count):
    """Quark runs one sample more than DataSize says."""
    from quark.onnx import Int8Spec, QLayerConfig

    config.include_auto_mp = True
    config.extra_options["AutoMixprecision"] = {
        "TargetLayerConfig": QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec()), "MetricDefault": "sqnr",
        "MetricThreshold": -threshold, "DataSize": count - 1}  # fmt: skip


def quantize_quark(model, out, reader, preset, options, equalize):
    from quark.onnx import ModelQuantizer
    from quark.onnx.quantization.config import Config, get_default_config

    preset, _, threshold = preset.partition("+")
    config = get_default_config(preset)
    if threshold:
        mix(config, float(threshold), len(reader))
    config.include_cle = equalize and config.include_cle
    if preset == "VINT8":
        config.enable_npu_cnn = True
        config.extra_options.update(Int32Bias=False, DedicatedQDQPair=True, QuantizeAllOpTypes=True, UseRandomData=False)
    config.extra_options.update(options)
    quantizer = ModelQuantizer(Config(global_quant_config=config))
    start = time.perf_counter()
    quantizer.quantize_model(model, out, reader)
    return time.perf_counter() - start


def quantize_ort(model, out, reader, method):
    from onnxruntime.quantization import CalibrationMethod, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    transformer = method == "Transformer"
    start = time.perf_counter()
    quant_pre_process(model, out + ".pre", skip_symbolic_shape=True)
    quantize_static(out + ".pre", out, reader, calibrate_method=getattr(CalibrationMethod, "MinMax" if transformer else method),
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True,
                    op_types_to_quantize=["MatMul", "Gemm"] if transformer else None)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model"), parser.add_argument("data"), parser.add_argument("preset"), parser.add_argument("out")
    parser.add_argument("--limit", type=int, default=32), parser.add_argument("--judge", type=int, default=32)
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--no-equalization", dest="equalize", action="store_false")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    reader, library = Reader(os.path.join(args.data, "calib"), args.limit), None
    if args.preset.startswith("ORT_"):
        seconds = quantize_ort(args.model, args.out, reader, args.preset[4:])
    else:
        from quark.onnx import get_library_path
        library = get_library_path()
        seconds = quantize_quark(args.model, args.out, reader, args.preset, args.options, args.equalize)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    outputs = judge(args.model, args.out, args.data, args.judge, library)
    found = shares(args.out, next(samples(os.path.join(args.data, "calib"), 1)), library)
    print(json.dumps({"model": os.path.basename(args.model), "preset": args.preset, "samples": args.limit,
                      "seconds": round(seconds, 2), "peak_mb": peak, "bytes": os.path.getsize(args.out), "outputs": outputs,
                      "low_bits_share": found["macs8"] / max(found["macs"], 1)}))


if __name__ == "__main__":
    main()
