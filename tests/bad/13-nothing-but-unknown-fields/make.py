"""Makes a file that has only fields unknown to ONNX."""

from lib.proto import save, sized

save(sized(99, "something else"))
