"""Makes a model of opset 0."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(0)]))
