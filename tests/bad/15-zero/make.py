from lib.proto import opset, relu, save

save(relu(opsets=[opset(0)]))
