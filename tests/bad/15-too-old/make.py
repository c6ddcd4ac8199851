"""Makes a model whose opset is too old."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(6)]))
