"""Makes a quantization annotation of a tensor that does not exist."""

from lib.proto import pair, relu, save, sized

entry = sized(1, "y") + sized(2, pair("SCALE_TENSOR", "gone"))
save(relu(extra=sized(14, entry) + sized(14, sized(1, "nowhere"))))
