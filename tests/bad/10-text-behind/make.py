from lib.proto import relu, save

save(relu() + b"EOF\n")
