from lib.proto import model, num, save

save(model(num(2, 7)))
