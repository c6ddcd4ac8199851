"""Makes a model without an IR version."""

from lib.proto import relu, save

save(relu(ir=0))
