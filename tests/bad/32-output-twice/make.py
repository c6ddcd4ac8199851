from lib.proto import relu, save, value

save(relu(outputs=[value("y")]))
