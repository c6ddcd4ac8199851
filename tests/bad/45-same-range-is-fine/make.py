"""Makes two tensors that share the same external data, which is allowed."""

from lib.proto import external, relu, save

save(bytes(8), "w.bin")
tensors = [external(name, location="w.bin", offset=0, length=8) for name in "wv"]
save(relu(tensors=tensors))
