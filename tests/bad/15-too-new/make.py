"""Makes a model whose opset is too new."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(29)]))
