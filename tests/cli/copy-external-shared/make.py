"""Makes tensors that share one range of a data file."""

from lib.proto import external, relu, save

save(bytes(100000), "w.bin")
save(relu(tensors=[external(name, (25000,), location="w.bin", offset=0) for name in "abc"]))
