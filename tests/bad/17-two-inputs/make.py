from lib.proto import relu, save, value

save(relu(inputs=[value("x")]))
