from lib.proto import conv, save

save(conv(dims=(4, 3)))
