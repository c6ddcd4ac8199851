"""Every option of every command is used by a case; common ones by any command's. The case
method-options tries those of calibration methods."""

import json
import re
from pathlib import Path

import cli_models

COMMON = {"config", "json", "quiet", "verbose", "no-color", "help", "version"}
cases = []
for path in sorted(Path(cli_models.__file__).parent.glob("cli/*/cmd")):
    text = path.read_text()
    keys = {
        key.replace("_", "-")
        for file in (*path.parent.glob("*.yaml"), *path.parent.glob("*.json"))
        for key in re.findall(r'^\W*([\w-]+)"?:', file.read_text(), re.M)
    }
    cases.append((text, keys))


def is_used(command, option):
    if option["help"].startswith(("For method", "For weight method")):
        return True
    words = [rf"--{option['name']}(?![\w-])"]
    if "letter" in option:
        words.append(rf"\s-[a-zA-Z]*{option['letter']}(?!\w)")
    command_word = r"\b\w+\b" if option["name"] in COMMON else command
    for text, keys in cases:
        if not re.search(rf'"\$BARYON" {command_word}\b', text):
            continue
        if option["name"] in keys or any(re.search(word, text) for word in words):
            return True
    return False


total = 0
for command in json.load(open("help.json"))["commands"]:
    for option in command["options"]:
        total += 1
        if not is_used(command["name"], option):
            print(f"no case for 'baryon {command['name']} --{option['name']}'")
assert total > 50
