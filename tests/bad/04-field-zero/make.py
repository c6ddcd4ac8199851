from lib.proto import relu, save

save(relu(model_extra=b"\x02\x00"))
