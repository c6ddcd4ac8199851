"""Makes a model with sequence types nested 200 deep."""

from lib.proto import relu, save, sized

kind = b""
for _ in range(200):
    kind = sized(4, sized(1, kind))
save(relu(inputs=[sized(1, "s") + sized(2, kind)]))
