"""What the benches on the models of bench/zoo share: options, and answers of earlier runs."""

import argparse
import json
import os
import pathlib
import sys

from measure import version

MODELS = ["mobilenet_v2", "ppocrv4_rec", "ppocrv4_det", "ppocr_cls", "centerface", "mtcnn_onet", "minilm_l6",
          "magika", "silero_vad", "crepe_tiny", "yolov8n_320"]


def words(text):
    return text.split(",")


def parser_for(doc, result, presets, samples, timeout, further):
    """result: the file of results that --write is for; further: what --options are."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=words, default=MODELS)
    parser.add_argument("--presets", type=words, default=presets)
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--zoo", default="build/zoo-all")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--options", type=lambda t: t.split(), default=[], help=f"further ones {further}")
    parser.add_argument("--keep", help="folder of answers: those that are there are taken")
    parser.add_argument("--timeout", type=int, default=timeout)
    parser.add_argument("--write", action="store_true", help=f"write bench/results/{result}")
    return parser


def add_peers(parser):
    parser.add_argument("--judge", type=int, default=96)
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peer-answers", help="folder with MODEL.PRESET.json and .onnx of earlier runs of the peers")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnxruntime and numpy")


def parse(parser):
    args = parser.parse_args()
    if not os.path.isdir(f"{args.zoo}/models"):
        sys.exit(f"no models in {args.zoo}: `make zoo` makes them (600 MB of downloads)")
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    return args


def find_peer(args):
    """The version of amd-quark; None, and then no args.peers, where it is not there or not wanted."""
    quark = None if args.no_peers else version(args.peers, "amd-quark")
    if not quark:
        args.peers = None
        if not args.peer_answers:
            print("no peers in build/peers: ours alone (`make peers` installs them, 3 GB)")
    return quark


def has_kept(args, name):
    return bool(args.keep) and pathlib.Path(args.keep, f"{name}.json").exists()


def kept(args, name, make):
    """An answer of an earlier run, or a new one, which is kept."""
    path = pathlib.Path(args.keep, f"{name}.json") if args.keep else None
    if has_kept(args, name):
        return json.loads(path.read_text())
    answer = make()
    if path:
        path.write_text(json.dumps(answer) + "\n")
    return answer
