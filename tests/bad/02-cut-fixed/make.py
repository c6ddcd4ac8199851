from lib.proto import relu, save, tag

save(relu(model_extra=tag(99, 1) + b"abc"))
