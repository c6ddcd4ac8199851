from lib.proto import save

save(b"%PDF-1.7\n")
