"""Makes a model without a graph."""

from lib.proto import model, save

save(model(None))
