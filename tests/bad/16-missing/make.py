from lib.proto import relu, save

save(relu(ir=0))
