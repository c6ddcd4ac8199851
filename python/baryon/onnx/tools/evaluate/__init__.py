"""python -m baryon.onnx.tools.evaluate: two folders of results, in eight lines, by Quark's formulas."""

import sys

_LINES = (("cosine", "cos similarity"), ("l2", "l2 distance"), ("psnr", "psnr"), ("ssim", "ssim"))


def main(arguments=None):
    import argparse

    import baryon

    parser = argparse.ArgumentParser(prog="python -m baryon.onnx.tools.evaluate", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="baseline and quantized results")
    parser.add_argument("--baseline_results_folder", metavar="FOLDER")
    parser.add_argument("--quantized_results_folder", metavar="FOLDER")
    parser.add_argument("--exact", action="store_true", help="the formulas of 'baryon evaluate' instead of Quark's")
    parser.add_argument("--compat", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    named = [options.baseline_results_folder, options.quantized_results_folder]
    folders = options.folders or named
    if len(folders) != 2 or None in folders or (options.folders and any(named)):
        parser.error("two folders of results are expected")
    if not options.exact:
        print("the formulas are Quark's: the peak of PSNR is the greatest value of the baseline, SSIM does not subtract "
              "means; --exact has the usual ones", file=sys.stderr)  # fmt: skip
    try:
        found = baryon.evaluate(*folders, compat=not options.exact)
    except baryon.Error as error:
        print(f"baryon: {error}", file=sys.stderr)
        return 3
    for metric, label in _LINES:
        score = found[metric]
        print(f"Mean {label}: {score.mean:.6g}")
        print(f"{'Min' if score.higher else 'Max'} {label}: {score.worst:.6g}")
    return 0
