"""Makes two tensors whose external data overlap in part."""

from lib.proto import external, relu, save

save(bytes(16), "w.bin")
tensors = [external("v", location="w.bin", offset=4)]
save(relu(tensors=[external("w", location="w.bin"), *tensors]))
