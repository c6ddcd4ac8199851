"""Makes a model that is cut off within its weights."""

from lib.proto import add, save, tensor

content = add(tensor("w", dims=(100,)))
save(content[: len(content) // 2])
