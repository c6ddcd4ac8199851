from lib.proto import model, save, sized

save(model(sized(2, b"\xc0\xaf")))
