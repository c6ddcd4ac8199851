"""Makes a quantization annotation with characters that would act on the terminal."""

from lib.proto import pair, relu, save, sized

# A key and a name that would colour the terminal and turn its text around.
entry = sized(1, "y") + sized(2, pair("\x1b[31mKEY", "\u202egone"))
save(relu(extra=sized(14, entry)))
