"""Makes files that are no reports, each wrong in one way."""

from pathlib import Path

HEAD = '"report": 1, "command": "quantize", "version": "1.0.0",\n "outcome": {"text": "It is written."}'
WRONG = {
    "empty": "",
    "text": "It is written.",
    "yaml": "report: 1\n",
    "cut": '{"report": 1, "command": "quan',
    "list": "[1, 2]",
    "other": '{"inputs": [], "outputs": []}',
    "newer": '{"report": 2}',
    "older": '{"report": 0}',
    "no-outcome": '{"report": 1, "command": "quantize", "version": "1.0.0"}',
    "no-sentence": '{"report": 1, "command": "quantize", "version": "1.0.0", "outcome": {"goal": "met"}}',
    "kind": "{" + HEAD + ',\n "tensors": [{"name": "x"},\n  {"name": "y", "scale": "0.5"}]}',
    "hostile": "{" + HEAD + ',\n "seconds": {"\\u001b[31m</script>": []}}',
    "deep": "{" + HEAD + ', "later": ' + "[" * 40 + "]" * 40 + "}",
    "many": "{" + HEAD + ', "later": [' + "0.00000," * (2 << 20) + "0]}",
    "twice": "{" + HEAD + ', "report": 1}',
}
for name, text in WRONG.items():
    Path(f"{name}.json").write_text(text)
Path("not-utf8.json").write_bytes(b'{"report": 1, "command": "\xff"}')
Path("nulled.json").write_bytes(b'{"report": 1}\0')
with open("large.json", "wb") as large:  # 100 MB, of which the disk has nothing
    large.truncate(100 << 20)
