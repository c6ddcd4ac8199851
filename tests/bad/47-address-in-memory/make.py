"""Makes a tensor whose external data is an address in memory."""

from lib.proto import add, external, save

save(add(external("w", location="*/_ORT_MEM_ADDR_/*", offset=140000000000000, length=8)))
