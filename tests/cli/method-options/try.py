"""Options of calibration methods, with the default and with a value that no option has."""

import json
import os
import re
import subprocess

COMMANDS = {
    "quantize": ["-o", "q.onnx", "--force"],
    "plan": [],
    "sensitivity": [],
}


def baryon(command, *words):
    done = subprocess.run(
        [os.environ["BARYON"], command, "model.onnx", "--random", "4", "--shape", "N=1", "--cle", "off", "-q",
         "--activation-scale", "pow2", "--weight-scale", "pow2", "--activation-symmetric", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.returncode, done.stderr


tried = 0
for command in json.load(open("help.json"))["commands"]:
    for option in command["options"]:
        of_method = re.match(r"For (weight )?methods? ([\w-]+)", option["help"])
        if not of_method:
            continue
        tried += 1
        name, role = option["name"], "weight" if of_method[1] else "activation"
        words = [f"--{role}-method", of_method[2], *COMMANDS[command["name"]]]
        status, text = baryon(command["name"], *words, f"--{name}={option['default']}")
        if status:
            print(f"{command['name']} --{name}: {text}")
        status, text = baryon(command["name"], *words, f"--{name}=none")
        if status != 2 or f"--{name}" not in text or "is not" not in text:
            print(f"{command['name']} --{name}=none: {status} {text}")
assert tried > 20
