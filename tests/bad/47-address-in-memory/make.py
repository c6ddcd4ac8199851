from lib.proto import add, external, save

save(add(external("w", location="*/_ORT_MEM_ADDR_/*", offset=140000000000000, length=8)))
