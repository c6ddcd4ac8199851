"""Makes a model whose graph name has the wire type of a number."""

from lib.proto import model, num, save

save(model(num(2, 7)))
