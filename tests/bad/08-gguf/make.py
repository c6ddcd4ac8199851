from lib.proto import save

save(b"GGUF\x03\0\0\0" + bytes(16))
