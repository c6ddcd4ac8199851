"""Makes so many tensors with the same external data that reading them is refused."""

from lib.proto import external, relu, save

save(bytes(4 << 20), "w.bin")
save(relu(tensors=[external(f"w{i}", (1 << 20,), location="w.bin") for i in range(66)]))
