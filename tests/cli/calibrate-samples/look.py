"""Statistics of the input beside what `baryon run` saved of minus the input."""

import json
import sys
from pathlib import Path

import numpy as np

values = np.concatenate([-np.load(path).ravel() for path in sorted(Path("out").glob("*.npy"))])
finite = values[np.isfinite(values)].astype(np.float64)
row = json.load(open("stats.json"))["tensors"][0]
want = {
    "values": values.size,
    "nan": int(np.isnan(values).sum()),
    "infinite": int(np.isinf(values).sum()),
    "min": finite.min(),
    "max": finite.max(),
    "mean": finite.mean(),
}
same = all(np.isclose(row[key], number, rtol=1e-6 if key == "mean" else 1e-12, atol=1e-15) for key, number in want.items())
print(sys.argv[1], "->", "same" if same else f"{row} is not {want}")
