"""Networks whose activations are the difficulty: ours beside NNCF, AMD Quark and onnxruntime.quantization.

    activations.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 48] [--no-peers] [--write]
                   [--keep FOLDER] [--nncf PYTHON] [--peers PYTHON]

Transformers, recurrent networks and audio front ends of bench/zoo (`fetch.sh`, then `fetch.sh --activations`),
calibrated on their `calib` samples, judged on their `eval` samples, which share no source with them. SQNR of the
outputs against the float model in dB, mean over the outputs, as the model is written: without integer kernels,
which saturate on some processors. Behind it the share of multiply-adds whose data and weights both come out of
integers of 8 bits (of 16 with A16W8). Every tool has its default options; U8S8 is U8S8_AAWS with weights by
channel. A peer that is not there is left out. --write puts the rows that were run into the section Results of
bench/results/activations.md, in place of those of the same preset and model, with what all rows say together, and
leaves its other sections alone. NNCF, which other benches do not need, may be in an environment of its own. Networks
that are not in the lists below belong to neither half: they are "new", no rule has met them.
"""

import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from accuracy import last_json
from measure import machine, version
from options import add_peers, find_peer, kept, parse, parser_for

HERE = pathlib.Path(__file__).parent
# The first half was used to find rules, the second one only to judge them.
FOUND_ON = ["minilm_l6", "vit_focus", "whisper_tiny", "deepfilter", "plcmos", "voice_encoder", "mpnet_base", "aecmos"]
JUDGED_ON = ["svtrv2_rec", "fcpe", "ddddocr_rec"]
BY_CHANNEL = ["--weight-granularity", "channel"]
# preset | options of ours | each peer's name for it, or its options
PRESETS = {
    "U8S8": (["U8S8_AAWS", *BY_CHANNEL], {"nncf": [], "quark": "U8S8_AAWS", "ort": "ORT_MinMax"}),
    "INT8_TRANSFORMER_DEFAULT": (["INT8_TRANSFORMER_DEFAULT"], {
        "nncf": ["--transformer"], "quark": "INT8_TRANSFORMER_DEFAULT", "ort": "ORT_Transformer"}),
    "A8W8": (["A8W8"], {"quark": "A8W8"}),
    "A16W8": (["A16W8"], {"quark": "A16W8"}),
    "XINT8": (["XINT8"], {"quark": "XINT8"}),
}
SECTION = "## Results"
HALVES = {"find": "that rules were found on", "judge": "that rules were only judged on", "new": "that no rule has met"}
PEERS = {"nncf": "NNCF", "quark": "Quark", "ort": "ONNX Runtime"}


def judged(args, model, quantized):
    return last_json([args.python, str(HERE / "shares.py"), f"{args.zoo}/models/{model}.onnx", quantized,
                      f"{args.zoo}/data/{model}", str(args.judge), *args.library], args.timeout)


def ours(args, model, preset, out):
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
               "--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples), "--preset",
               *PRESETS[preset][0], *args.options]
    done = subprocess.run(command, capture_output=True, text=True)
    return {"failed": done.stderr.strip()[:200]} if done.returncode else judged(args, model, out)


def theirs(args, model, preset, peer, out):
    how, data = PRESETS[preset][1][peer], f"{args.zoo}/data/{model}"
    source, limit = f"{args.zoo}/models/{model}.onnx", ["--limit", str(args.samples)]
    if peer == "nncf":
        command = [args.nncf, str(HERE / "peer_nncf.py"), source, data, out, *limit, *how]
    else:
        command = [args.peers, str(HERE / "peer_quantize.py"), source, data, how, out, *limit, "--judge", "0"]
    # Quark leaves files where it runs.
    answer = last_json([str(pathlib.Path(part).absolute()) if pathlib.Path(part).exists() else part for part in command],
                       args.timeout, str(pathlib.Path(out).parent))
    return answer if "failed" in answer else judged(args, model, out)


def level(answer):
    """Mean SQNR over the outputs, None where there is none. What is not finite counts as -10 dB."""
    if not answer or "failed" in answer or not answer["outputs"]:
        return None
    values = (row["written_db"] for row in answer["outputs"].values())
    return statistics.fmean(max(-10, min(value, 100)) if value == value else -10 for value in values)


def share(answer, preset):
    return answer["macs16" if preset == "A16W8" else "macs8"] / max(answer["macs"], 1)


def cell(answer, preset):
    if answer is None:
        return "not run"
    value = level(answer)
    return "fails" if value is None else f"{value:.1f} ({100 * share(answer, preset):.0f} %)"


def comparable(preset, mine, other):
    """Whether a peer quantizes as much as ours: within 5 % of the multiply-adds."""
    return level(other) is not None and abs(share(mine, preset) - share(other, preset)) <= 0.05


def half_of(model):
    return "find" if model in FOUND_ON else "judge" if model in JUDGED_ON else "new"


def row_of(args, preset, model, folder):
    mine = kept(args, f"{model}.{preset}", lambda: ours(args, model, preset, f"{folder}/ours.onnx"))
    others = {}
    for peer in args.there:
        if peer in PRESETS[preset][1]:
            others[peer] = kept(args, f"{model}.{preset}.{peer}",
                                lambda peer=peer: theirs(args, model, preset, peer, f"{folder}/{peer}.onnx"))
    level_of_ours = level(mine)
    best = max((level(other) for other in others.values() if level(other) is not None), default=None)
    lead = "" if best is None or level_of_ours is None else f"{level_of_ours - best:+.1f}"
    alike = [level(other) for other in others.values() if level_of_ours is not None and comparable(preset, mine, other)]
    same = f"{level_of_ours - max(alike):+.1f}" if alike else ""
    cells = [cell(others.get(peer), preset) if peer in PRESETS[preset][1] else "" for peer in PEERS]
    remarks = [f"{who}: {answer['failed']}" for who, answer in [("ours", mine), *others.items()] if "failed" in answer]
    row = f"| {preset} | {model} | {half_of(model)} | {cell(mine, preset)} | {' | '.join(cells)} | {lead} | {same} | " \
          f"{'; '.join(remarks)} |"
    print(row, flush=True)
    return row


def cells_of(row):
    return [text.strip() for text in row.split("|")[1:-1]]


def summary(rows):
    """What the rows of each preset say together, half by half."""
    lines = []
    for preset in PRESETS:
        for half, name in HALVES.items():
            found = [cells_of(row) for row in rows if cells_of(row)[0] == preset and cells_of(row)[2] == half]
            leads, same = ([float(row[place]) for row in found if row[place]] for place in (7, 8))
            if not leads:
                continue
            beside = f"; beside those of the same share {statistics.fmean(same):+.1f} dB in the mean of {len(same)}" if same else ""
            lines.append(f"- {preset}, networks {name}: {statistics.fmean(leads):+.1f} dB beside the best peer in the mean, "
                         f"ahead or equal (0.1 dB) on {sum(lead >= -0.1 for lead in leads)} of {len(leads)}{beside}.")
    return lines


def parts_of(page):
    """The page before the script's section, the section, and what is behind it."""
    before, mark, rest = page.partition(SECTION + "\n")
    own, further, behind = rest.partition("\n## ")
    return before.rstrip("\n") + "\n\n", mark + own, further.lstrip("\n") + behind


def rows_in(section):
    """Rows of the script's own section by preset and model."""
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| preset")]
    return {tuple(cells_of(row)[:2]): row for row in rows}


def in_order(key):
    names = [*FOUND_ON, *JUDGED_ON]
    return (list(PRESETS).index(key[0]), names.index(key[1]) if key[1] in names else len(names), key[1])


def write(path, head, lines):
    """Replaces the rows of the section, the new ones among them."""
    before, section, behind = parts_of(path.read_text() if path.exists() else "# Activations\n")
    rows = rows_in(section)
    for line in lines:
        rows[tuple(cells_of(line)[:2])] = line
    table = [rows[key] for key in sorted(rows, key=in_order)]
    body = [SECTION, "", *head, *table, "", *summary(table), ""]
    path.write_text(before + "\n".join(body) + ("\n" + behind if behind else ""))


def main():
    parser = parser_for(__doc__, "activations.md", list(PRESETS), 32, 1800, "for ours")
    add_peers(parser)
    parser.add_argument("--nncf", default="build/peers/bin/python", help="has nncf and onnxruntime")
    parser.set_defaults(models=[*FOUND_ON, *JUDGED_ON], judge=48)
    args = parse(parser)
    quark = find_peer(args)
    nncf = None if args.no_peers else version(args.nncf, "nncf")
    args.there = [peer for peer in PEERS if (nncf if peer == "nncf" else args.peers)]
    library = pathlib.Path(args.program).parent / "libbaryon_ops.so"
    args.library = [str(library)] if library.exists() else []
    head = [f"{datetime.date.today()} (the last rows), {machine()}; {args.samples} samples to calibrate, {args.judge} others to "
            f"judge. NNCF {nncf or 'absent'}, amd-quark and onnxruntime.quantization {quark or 'absent'}. The first difference "
            "is to the best peer, the second to the best of those that quantize as much, within 5 % of the multiply-adds.", "",
            f"| preset | model | half | ours | {' | '.join(PEERS.values())} | difference | same share | |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        lines = [row_of(args, preset, model, folder) for preset in args.presets for model in args.models]
    print("\n".join(summary(lines)))
    if args.write:
        write(HERE / "results" / "activations.md", head, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
