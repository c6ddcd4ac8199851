"""GGUF files of every type in llama.cpp itself: each is loaded and generates, and its logarithms of probabilities are compared.

llama.cpp is that of the package xllamacpp, which has it built: a Python with it is --llama. The model is a folder that
`baryon llm convert` reads. Beside llama.cpp's answer stands transformers with the weights of `baryon llm dequantize` in
float32, token for token on llama.cpp's own text; llama.cpp rounds activations to 8 bits as it multiplies, so that the two
differ by some hundredths. Needs torch and transformers for that (`make peers`); without them only the text is printed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TYPES = """f32 f16 bf16 q8_0 q6_k q5_k_m q5_k_s q5_1 q5_0 q4_k_m q4_k_s q4_1 q4_0 iq4_xs iq4_nl q3_k_l q3_k_m q3_k_s q2_k
mxfp4_moe""".split()
PROMPT = "The capital of France is"
SERVE = """
import json, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.warmup, params.cpuparams.n_threads = 512, 1, False, 2
server = xllamacpp.Server(params)
answer = server.handle_completions({"prompt": sys.argv[2], "max_tokens": 24, "temperature": 0, "n_probs": 3})
print("ANSWER " + json.dumps(answer["choices"][0]))
"""


def by_llama(python, model):
    done = subprocess.run([python, "-c", SERVE, model, PROMPT], capture_output=True, text=True, timeout=600)
    for line in done.stdout.splitlines():
        if line.startswith("ANSWER "):
            return json.loads(line[7:])
    raise ValueError((done.stderr.strip().splitlines() or ["no answer"])[-1][:120])


def differences(folder, tokens):
    """Of logarithms of probabilities, of the tokens that llama.cpp lists; how often both have the same one first."""
    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = transformers.AutoTokenizer.from_pretrained(folder)(PROMPT)["input_ids"]
    with torch.no_grad():
        logits = model(torch.tensor([ids + [t["id"] for t in tokens]])).logits[0, len(ids) - 1:-1]
    known = torch.log_softmax(logits, -1)
    off = [abs(float(known[at, top["id"]]) - top["logprob"]) for at, t in enumerate(tokens) for top in t["top_logprobs"]]
    same = sum(int(known[at].argmax()) == t["id"] for at, t in enumerate(tokens))
    return sum(off) / len(off), max(off), same


def row(args, kind, work):
    made, back = f"{work}/{kind}.gguf", f"{work}/{kind}"
    for command in (["convert", args.model, "-o", made, "--type", kind], ["dequantize", made, "-o", back, "--to", "fp32"]):
        done = subprocess.run([args.program, "llm", *command, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            return f"| {kind} | not written: {done.stderr.strip().splitlines()[-1][:110]} | | | |"
    answer = by_llama(args.llama, made)
    tokens = answer["logprobs"]["content"]
    cells = ["", "", ""]
    try:
        mean, most, same = differences(back, tokens)
        cells = [f"{mean:.3f}", f"{most:.3f}", f"{same} of {len(tokens)}"]
    except ImportError as error:
        cells[0] = f"{error}"
    return f"| {kind} | {answer['text'].strip()[:60]!r} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--llama", default=sys.executable, help="a Python that has xllamacpp")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("model", type=pathlib.Path)
    args = parser.parse_args()
    if subprocess.run([args.llama, "-c", "import xllamacpp"], capture_output=True).returncode:
        print(f"{args.llama} has no xllamacpp: nothing to compare with")
        return 0
    print("| type | text | mean difference | greatest | same first token |\n|---|---|---|---|---|")
    for kind in args.types.split(","):
        with tempfile.TemporaryDirectory() as work:
            try:
                print(row(args, kind, work), flush=True)
            except (ValueError, subprocess.TimeoutExpired) as error:
                print(f"| {kind} | {error} | | | |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
