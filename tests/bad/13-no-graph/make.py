from lib.proto import model, save

save(model(None))
