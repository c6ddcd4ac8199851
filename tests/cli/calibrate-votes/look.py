"""Checks that each sample votes once and that the chosen scale has the most votes."""

import json

tensor = json.load(open("out.json"))["tensors"][0]
votes = [vote for vote in tensor["votes"] if (vote["qmin"], vote["qmax"]) == (-128, 127)]
assert len({(vote["qmin"], vote["qmax"]) for vote in tensor["votes"]}) == 12
assert sum(vote["samples"] for vote in votes) == 4
chosen = [choice for choice in tensor["choices"] if choice["method"] == "minmse-pow2-common"]
assert [choice["position"] for choice in chosen] == [max(vote["position"] for vote in votes)]
print(votes)
