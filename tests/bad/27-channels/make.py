from lib.proto import conv, save

save(conv(channels=5))
