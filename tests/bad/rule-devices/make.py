"""Makes a model whose device configurations contradict each other."""

from lib.proto import node, num, pair, relu, save, sized

devices = sized(26, sized(1, "pair") + num(2, 2) + sized(3, "cpu:0"))
spec = sized(1, "elsewhere") + sized(4, num(1, 0) + sized(2, num(1, 8) + num(3, 0)))
placed = [sized(10, sized(1, "pair") + sized(2, spec)), sized(10, sized(1, "three"))]
nodes = [node("Neg", ["x"], ["n"], "neg", extra=item) for item in placed[:1]]
nodes += [node("Abs", ["x"], ["a"], "abs", extra=placed[1])]
save(relu(nodes=nodes, ir=11, model_extra=devices))
