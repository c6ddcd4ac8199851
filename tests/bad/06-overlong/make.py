"""Makes a model whose graph name has an overlong UTF-8 sequence."""

from lib.proto import model, save, sized

save(model(sized(2, b"\xc0\xaf")))
