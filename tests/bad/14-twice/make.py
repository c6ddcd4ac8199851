"""Makes a model that imports a domain twice."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(21), opset(17)]))
