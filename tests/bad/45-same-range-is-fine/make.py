from lib.proto import external, relu, save

save(bytes(8), "w.bin")
tensors = [external(name, location="w.bin", offset=0, length=8) for name in "wv"]
save(relu(tensors=tensors))
