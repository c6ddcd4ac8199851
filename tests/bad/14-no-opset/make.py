"""Makes a model that imports no opset."""

from lib.proto import relu, save

save(relu(opsets=[]))
