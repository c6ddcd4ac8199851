from lib.proto import save, sized

save(sized(99, "something else"))
