"""An importance matrix of a Llama folder on windows of a text, in llama-imatrix's older form: llm_imatrix.py IN TEXT LENGTH WINDOWS OUT.

Mean squares of what each linear layer of the float model reads, by transformers. Needs torch, transformers and tokenizers
(`make peers`). With it `baryon llm quantize --layout gguf --importance OUT` writes the bytes of llama-quantize --imatrix
(tests/diff/test_llm_importance.py), where llama.cpp cannot be built.
"""

import pathlib
import struct
import sys

NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}  # fmt: skip


def windows_of(folder, text, length, count):
    """Those that `baryon llm quantize --text` takes."""
    import tokenizers

    ids = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).encode(pathlib.Path(text).read_text()).ids
    starts = [(len(ids) - length) * (2 * i + 1) // (2 * count) for i in range(count)]
    return [ids[start : start + length] for start in starts]


def squares_of(folder, windows):
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    sums = {}

    def watch(name):
        def see(module, given, result):
            rows = given[0].reshape(-1, given[0].shape[-1]).double()
            sums[name] = sums.get(name, 0) + (rows * rows).sum(0)

        return see

    for layer, part in enumerate(model.model.layers):
        for name, short in NAMES.items():
            part.get_submodule(name).register_forward_hook(watch(f"blk.{layer}.{short}.weight"))
    with torch.no_grad():
        for window in windows:
            model(torch.tensor([window]))
    return {name: (total / sum(map(len, windows))).float().numpy() for name, total in sums.items()}


def write(out, means, calls, text):
    content = struct.pack("<i", len(means))
    for name, values in means.items():
        content += struct.pack(f"<i{len(name)}sii", len(name), name.encode(), calls, values.size) + (values * calls).astype("<f4").tobytes()
    pathlib.Path(out).write_bytes(content + struct.pack(f"<ii{len(text)}s", calls, len(text), text.encode()))


def main():
    folder, text, length, count, out = sys.argv[1:]
    windows = windows_of(pathlib.Path(folder), text, int(length), int(count))
    write(out, squares_of(pathlib.Path(folder), windows), len(windows), pathlib.Path(text).name)


if __name__ == "__main__":
    main()
