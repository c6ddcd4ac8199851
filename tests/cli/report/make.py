"""Copies the example reports."""

import shutil
from pathlib import Path

import run_cases

for name in ("small", "rich"):
    shutil.copy(Path(run_cases.TESTS) / "report" / f"{name}.json", f"{name}.json")
