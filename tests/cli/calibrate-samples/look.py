"""Statistics of the input beside what `baryon run` saved of minus the input; of each folder."""

import json
import sys
from pathlib import Path

import numpy as np

for folder in map(Path, sys.argv[1:]):
    values = np.concatenate([-np.load(path).ravel() for path in sorted(folder.glob("*.npy"))])
    finite = values[np.isfinite(values)].astype(np.float64)
    row = json.loads((folder / "stats.json").read_text())["tensors"][0]
    want = {
        "values": values.size,
        "nan": int(np.isnan(values).sum()),
        "infinite": int(np.isinf(values).sum()),
        "min": finite.min(),
        "max": finite.max(),
        "mean": finite.mean(),
    }
    same = all(np.isclose(row[key], number, rtol=1e-6 if key == "mean" else 1e-12, atol=1e-15) for key, number in want.items())
    options = (folder / "options").read_text().strip()
    print(options, "->", "same" if same else f"{row} is not {want}")
