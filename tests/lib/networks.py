"""Small networks over many operators, for mutating: the text form of ONNX, weights filled in.

A tensor that is declared in the angle brackets of a graph and that no node makes becomes an
initializer. Values repeat, so that a network has the same bytes everywhere.
"""

import functools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

HEADER = '<ir_version: {ir}, opset_import: ["" : {opset}{more}]>\n'
MICROSOFT = ', "com.microsoft" : 1'
LOCAL = ', "local" : 1'

# name | opset, further domains | graph and functions
TEXTS = {
    "cnn": (17, "", """
g (float[N,3,8,8] x) => (float[N,5] y) <float[4,3,3,3] w, float[4] b, float[5,4] w2, float[5] b2>
{ c = Conv<pads=[1,1,1,1]>(x, w, b)  r = Relu(c)  p = GlobalAveragePool(r)  f = Flatten(p)
  y = Gemm<transB=1>(f, w2, b2) }"""),
    "residual": (13, "", """
g (float[1,4,8,8] x) => (float[1,4,4,4] y)
<float[4,4,3,3] w, float[4] s, float[4] o, float[4] m, float[4] v = {1,2,1,0.5}, float[4,1,3,3] d, float six = {6}, float zero = {0}>
{ c = Conv<pads=[1,1,1,1]>(x, w)  n = BatchNormalization(c, s, o, m, v)  l = Clip(n, zero, six)  a = Add(l, x)
  e = Conv<group=4, pads=[1,1,1,1]>(a, d)  h = HardSigmoid(e)  k = Mul(h, e)  y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(k) }"""),
    "conv1d": (11, "", """
g (float[1,4,16] x) => (float[1,6,8] y) <float[6,2,3] w, float[6] b, float[1,6,1] slope>
{ c = Conv<group=2, dilations=[2], auto_pad="SAME_UPPER">(x, w, b)  p = PRelu(c, slope)
  q = AveragePool<kernel_shape=[3], strides=[2], pads=[1,1]>(p)  y = LeakyRelu<alpha=0.2>(q) }"""),
    "conv3d": (18, "", """
g (float[1,2,4,6,6] x) => (float[1,3,1,1,1] y) <float[3,2,3,3,3] w, float[3] b, float[3] s, float[3] o>
{ c = Conv<pads=[1,1,1,1,1,1], strides=[1,2,2]>(x, w, b)  i = InstanceNormalization(c, s, o)
  e = Elu(i)  y = GlobalMaxPool(e) }"""),
    "transposed": (16, "", """
g (float[1,4,5,5] x) => (float[1,3,12,12] y) <float[4,3,3,3] w, float[3] b, float[3] s>
{ c = ConvTranspose<strides=[2,2], output_padding=[1,1]>(x, w, b)  t = Tanh(c)  p = Mul(t, t)  y = Sigmoid(p) }"""),
    "attention": (17, "", """
g (float[B,4,8] x) => (float[B,4,8] y)
<float[8,8] q, float[8,8] k, float[8,8] v, float[8] b, float root = {2.5}, int64[4] heads = {0,4,2,4}, int64[3] flat = {0,4,8}, float[8] s, float[8] o>
{ q1 = MatMul(x, q)  q2 = Add(q1, b)  q3 = Reshape(q2, heads)  q4 = Transpose<perm=[0,2,1,3]>(q3)
  k1 = MatMul(x, k)  k3 = Reshape(k1, heads)  k4 = Transpose<perm=[0,2,3,1]>(k3)
  v1 = MatMul(x, v)  v3 = Reshape(v1, heads)  v4 = Transpose<perm=[0,2,1,3]>(v3)
  m = MatMul(q4, k4)  d = Div(m, root)  f = Softmax<axis=-1>(d)  z = MatMul(f, v4)
  z2 = Transpose<perm=[0,2,1,3]>(z)  z3 = Reshape(z2, flat)  a = Add(z3, x)  y = LayerNormalization(a, s, o) }"""),
    "gelu": (13, "", """
g (float[2,6] x) => (float[2,6] y)
<float[6,12] w, float[12] b, float[12,6] w2, float root = {1.4142135}, float one = {1}, float half = {0.5}, float two = {2}, float eps = {0.00001}, float[6] s, float[6] o>
{ m = MatMul(x, w)  a = Add(m, b)  d = Div(a, root)  e = Erf(d)  f = Add(e, one)  h = Mul(a, f)  i = Mul(h, half)
  n = MatMul(i, w2)  mean = ReduceMean<axes=[-1]>(n)  c = Sub(n, mean)  p = Pow(c, two)  v = ReduceMean<axes=[-1]>(p)
  q = Add(v, eps)  r = Sqrt(q)  t = Div(c, r)  u = Mul(t, s)  y = Add(u, o) }"""),
    "lstm": (14, "", """
g (float[5,2,3] x) => (float[5,2,2,4] y, float[2,2,4] h) <float[2,16,3] w, float[2,16,4] r, float[2,32] b>
{ y, h, c = LSTM<hidden_size=4, direction="bidirectional">(x, w, r, b) }"""),
    "gru": (14, "", """
g (float[5,2,3] x) => (float[2,2] y) <float[1,12,3] w, float[1,12,4] r, float[1,24] b, float[4,2] o, int64[1] first = {0}>
{ a, h = GRU<hidden_size=4, linear_before_reset=1>(x, w, r, b)  s = Squeeze(h, first)  y = MatMul(s, o) }"""),
    "rnn": (7, "", """
g (float[5,2,3] x) => (float[1,2,4] h) <float[1,4,3] w, float[1,4,4] r>
{ a, h = RNN<hidden_size=4>(x, w, r) }"""),
    "shapes": (17, "", """
g (float[N,4,6,6] x) => (float[N,8,6,6] y, float[N,2,6,6] z)
<int64[8] pads = {0,0,1,1,0,0,1,1}, float[4] scales = {1,1,2,2}, int64[2] sizes = {2,2}, int64[1] begin = {1}, int64[1] end = {7}, int64[1] axis = {2}, int64[1] axis2 = {3}, float[4,4,1,1] w, int64[2] some = {0,3}>
{ a, b = Split<axis=1>(x, sizes)  c = Concat<axis=1>(b, a)  p = Pad<mode="constant">(c, pads)
  r = Slice(p, begin, end, axis)  t = Slice(r, begin, end, axis2)  u = Conv(t, w)  v = Concat<axis=1>(u, x)
  y = Relu(v)  z = Gather<axis=1>(t, some) }"""),
    "upsampled": (19, "", """
g (float[1,2,4,4] x) => (float[1,2,8,8] y) <float[4] scales = {1,1,2,2}, float[2,2,3,3] w, float none, int64[4] sizes = {1,2,8,8}>
{ r = Resize<mode="linear">(x, , scales)  c = Conv<pads=[1,1,1,1]>(r, w)  s = Resize<mode="nearest">(x, , , sizes)  y = Add(c, s) }"""),
    "old": (7, "", """
g (float[1,3,8,8] x) => (float[1,5] y) <float[4,3,3,3] w, float[4] s, float[4] o, float[4] m, float[4] v = {1,1,2,2}, int64[2] shape = {1,36}, float[36,5] f, float[5] fb>
{ p = Pad<pads=[0,0,0,0,0,0,1,1]>(x)  c = Conv<kernel_shape=[3,3]>(p, w)  n = BatchNormalization(c, s, o, m, v)
  k = Clip<min=0.0, max=6.0>(n)  l = Slice<axes=[2,3], starts=[0,0], ends=[6,6]>(k)  q = MaxPool<kernel_shape=[2,2], strides=[2,2]>(l)
  h = Dropout(q)  i = Reshape(h, shape)  t = Gemm(i, f, fb)  y = Softmax<axis=1>(t) }"""),
    "old9": (9, "", """
g (float[1,2,4,4] x) => (float[1,2,8,8] y) <float[4] scales = {1,1,2,2}>
{ u = Upsample<mode="nearest">(x, scales)  a, b = Split<axis=1>(u)  c = Concat<axis=1>(b, a)
  d = Unsqueeze<axes=[0]>(c)  e = Squeeze<axes=[0]>(d)  y = Selu(e) }"""),
    "embedding": (15, "", """
g (int64[N,3] tokens, int64[N,3] mask) => (float[N,3,4] y)
<float[10,4] table, float[4,4] w, int64[1] two = {2}, float big = {-10000}, float one = {1}>
{ e = Gather(table, tokens)  m = Cast<to=1>(mask)  u = Unsqueeze(m, two)  i = Sub(one, u)  k = Mul(i, big)
  p = MatMul(e, w)  a = Add(p, k)  y = Softmax(a) }"""),
    "norms": (21, "", """
g (float[1,4,6] x) => (float[1,4,6] y) <float[4] s, float[4] o>
{ a = GroupNormalization<num_groups=2>(x, s, o)  b = LpNormalization<p=2, axis=-1>(a)  c = MeanVarianceNormalization<axes=[0,2]>(b)
  d = Gelu(c)  e = Mish(d)  f = HardSwish(e)  y = Add(f, x) }"""),
    "modern": (23, "", """
g (float[1,2,4,8] q, float[1,2,4,8] k, float[1,2,4,8] v) => (float[1,2,4,8] y) <float[8] s, float[8,8] w>
{ a = Attention(q, k, v)  n = RMSNormalization(a, s)  m = MatMul(n, w)  y = Sigmoid(m) }"""),
    "newest": (24, "", """
g (float[2,8] x) => (float[2,8] y) <float[8,8] w>
{ m = MatMul(x, w)  s = Swish(m)  y = Softplus(s) }"""),
    "reduced": (18, "", """
g (float[2,3,4] x) => (float[2] y, int64[2,3,1] i) <int64[1] last = {-1}, int64[1] k = {2}, float[1] three = {3}>
{ a = ReduceSum<keepdims=0>(x, last)  b = ReduceMax<keepdims=0>(a, last)  c = Exp(b)  d = Log(c)  e = Neg(d)  y = Abs(e)
  i = ArgMax<axis=-1>(x)  v, j = TopK(x, k) }"""),
    "picked": (16, "", """
g (float[3,4] x, bool[3,4] m) => (float[4,3] y, float[3,8] z)
<int64[2] shape = {3,4}, int64[2] times = {1,2}, int64[2,2] where = {0,1,1,2}, float[2] news = {5,6}, float zero = {0}>
{ e = Expand(zero, shape)  w = Where(m, x, e)  s = ScatterND(w, where, news)  y = Transpose(s)  z = Tile(x, times)
  g = GatherND(x, where)  q = CumSum(x, zero2)  zero2 = Constant<value_int=0>() }"""),
    "pixels": (16, "", """
g (float[1,8,3,3] x) => (float[1,8,3,3] y) <float[2,8,1,1] w, float[2,2,1,1] w2>
{ d = DepthToSpace<blocksize=2>(x)  c = Conv(d, w2)  s = SpaceToDepth<blocksize=2>(c)  l = LRN<size=3>(s)  y = Add(l, x) }"""),
    "einsum": (12, "", """
g (float[2,3,4] x) => (float[2,3,5] y) <float[4,5] w>
{ y = Einsum<equation="bij,jk->bik">(x, w) }"""),
    "halves": (17, "", """
g (float16[1,3,8,8] x) => (float16[1,5] y) <float16[4,3,3,3] w, float16[4] b, float16[4,5] w2>
{ c = Conv<strides=[2,2]>(x, w, b)  r = Relu(c)  p = GlobalAveragePool(r)  f = Flatten(p)  y = MatMul(f, w2) }"""),
    "brain": (22, "", """
g (float[2,6] x) => (float[2,4] y) <bfloat16[6,4] w>
{ h = Cast<to=16>(x)  m = MatMul(h, w)  y = Cast<to=1>(m) }"""),
    "doubles": (13, "", """
g (double[2,6] x) => (double[2,4] y) <double[6,4] w> { m = MatMul(x, w)  y = Tanh(m) }"""),
    "integers": (13, "", """
g (uint8[2,6] x, int8[6,4] w) => (int32[2,4] y) <uint8 zero = {3}> { y = MatMulInteger(x, w, zero) }"""),
    "dynamic": (13, "", """
g (float[2,6] x) => (float[2,4] y) <int8[6,4] w, float s = {0.02}>
{ q, t, z = DynamicQuantizeLinear(x)  m = MatMulInteger(q, w, z)  f = Cast<to=1>(m)  u = Mul(t, s)  y = Mul(f, u) }"""),
    "qlinear": (13, "", """
g (float[1,2,6,6] x) => (float[1,3,4,4] y) <float s = {0.05}, uint8 z = {128}, int8[3,2,3,3] w, float[3] ws = {0.1,0.2,0.3}, int8[3] wz = {0,0,0}, int32[3] b>
{ q = QuantizeLinear(x, s, z)  c = QLinearConv(q, s, z, w, ws, wz, s, z, b)  y = DequantizeLinear(c, s, z) }"""),
    "pairs": (21, "", """
g (float[N,3,6,6] x) => (float[N,4,6,6] y) <float s = {0.05}, int8 z = {0}, int8[4,3,1,1] w, float[4] ws = {0.1,0.2,0.3,0.1}, int8[4] wz = {0,0,0,0}, int32[4] b, float[4] bs = {0.005,0.01,0.015,0.005}>
{ q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)  e = DequantizeLinear<axis=0>(w, ws, wz)  f = DequantizeLinear<axis=0>(b, bs)
  c = Conv(d, e, f)  r = Relu(c)  q2 = QuantizeLinear(r, s, z)  y = DequantizeLinear(q2, s, z) }"""),
    "nbits": (17, MICROSOFT, """
g (float[2,32] x) => (float[2,8] y) <uint8[8,1,16] w, float[8] s>
{ y = com.microsoft.MatMulNBits<K=32, N=8, bits=4, block_size=32>(x, w, s) }"""),
    "fused": (17, MICROSOFT, """
g (float[2,8] x) => (float[2,8] y) <float[8,8] w, float[8] b, float[8] s, float[8] o>
{ m = com.microsoft.FusedMatMul<transB=1>(x, w)  g = com.microsoft.BiasGelu(m, b)
  y = com.microsoft.SkipLayerNormalization(g, x, s, o) }"""),
    "choice": (16, "", """
g (bool flag, float[2,3] x) => (float[2,3] y) <float[3,3] w>
{ m = MatMul(x, w)
  y = If(flag) <then_branch = t () => (float[2,3] ty) { ty = Mul(m, x) }, else_branch = e () => (float[2,3] ey) { ey = MatMul(m, w) }> }"""),
    "loop": (16, "", """
g (float[2,3] x) => (float[2,3] y, float[K,2,3] all) <float[3,3] w, int64 count = {3}, bool go = {1}>
{ y, all = Loop(count, go, x) <body = b (int64 i, bool c, float[2,3] v) => (bool c2, float[2,3] v2, float[2,3] o)
  { c2 = Identity(c)  m = MatMul(v, w)  v2 = Tanh(m)  o = Neg(v2) }> }"""),
    "scan": (16, "", """
g (float[4,2,3] x, float[2,3] h) => (float[2,3] y, float[4,2,3] all)
{ y, all = Scan <num_scan_inputs=1, body = b (float[2,3] s, float[2,3] v) => (float[2,3] s2, float[2,3] o)
  { s2 = Add(s, v)  o = Relu(s2) }>(h, x) }"""),
    "function": (17, LOCAL, """
g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4] b>
{ a = local.Layer<slope=0.3>(x, w, b)  y = local.Layer(a, w, b) }
<domain: "local", opset_import: ["" : 17]>
Layer <slope: float = 0.1> (x, w, b) => (y) { m = MatMul(x, w)  a = Add(m, b)  y = LeakyRelu<alpha: float = @slope>(a) }"""),
    "sequences": (17, "", """
g (float[4,3] x) => (float[4,3] y) <int64 one = {1}>
{ s = SplitToSequence<axis=0>(x)  e = SequenceAt(s, one)  t = SequenceInsert(s, e)  n = SequenceLength(t)
  c = ConcatFromSequence<axis=0>(s)  y = Relu(c) }"""),
    "computed": (17, "", """
g (float[N,3,4] x) => (float[N,12] y) <int64 zero = {0}, int64[1] rest = {-1}, float[12,12] w>
{ s = Shape(x)  n = Gather<axis=0>(s, zero)  z = Constant<value_ints=[0]>()  u = Unsqueeze(n, z)  c = Concat<axis=0>(u, rest)
  r = Reshape(x, c)  i = Identity(r)  m = MatMul(i, w)  k = ConstantOfShape<value=float[1] {1.5}>(s2)  s2 = Shape(m)  y = Add(m, k) }"""),
    "boxes": (11, "", """
g (float[1,6,4] boxes, float[1,2,6] scores) => (int64[M,3] y) <int64 most = {3}, float overlap = {0.5}, float least = {0.1}>
{ y = NonMaxSuppression(boxes, scores, most, overlap, least) }"""),
    "shared": (14, "", """
g (float[2,4] x, float[2,4] x2) => (float[2,4] y, float[2,4] z) <float[4,4] w, float[4] b>
{ m = Gemm(x, w, b)  n = Gemm(x2, w, b)  z = Sum(m, n)  k = Max(m, n)  l = Min(k, z)  h = Mean(l, m, n)  y = Sub(h, b) }"""),
    "warped": (16, "", """
g (float[1,2,4,4] x, float[1,3,3,2] at) => (float[1,2,3,3] y) <float[2,2,1,1] w> { c = Conv(x, w)  y = GridSample(c, at) }"""),
}  # fmt: skip


def numbers(dims, kind):
    """Values between -1 and 1, or 0 to 2 for integers, that repeat."""
    count = int(np.prod(dims, dtype=np.int64))
    repeated = np.arange(count) * 7 % 17
    values = repeated % 3 if kind.kind in "iub" else (repeated - 8) / 8
    return values.astype(kind).reshape(dims)


def filled(port):
    tensor = port.type.tensor_type
    dims = [dim.dim_value for dim in tensor.shape.dim]
    kind = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    return numpy_helper.from_array(numbers(dims, kind), port.name)


def fill(graph):
    """Makes declared tensors initializers where no node makes them, and drops nodes that come too early."""
    made = {name for node in graph.node for name in node.output}
    declared = list(graph.value_info)
    del graph.value_info[:]
    graph.initializer.extend(filled(port) for port in declared if port.name not in made)


def in_order(graph):
    """The nodes, each behind those that it reads from."""
    known = {port.name for port in graph.input} | {tensor.name for tensor in graph.initializer} | {""}
    waiting, done = list(graph.node), []
    while waiting:
        ready = next(node for node in waiting if known.issuperset(node.input))
        waiting.remove(ready)
        done.append(ready)
        known.update(ready.output)
    del graph.node[:]
    graph.node.extend(done)


def built(name):
    opset, more, text = TEXTS[name]
    ir = 12 if opset > 23 else 10 if opset > 20 else 8
    model = parser.parse_model(HEADER.format(ir=ir, opset=opset, more=more) + text)
    fill(model.graph)
    in_order(model.graph)
    for k, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{k}"
    return model


def quark():
    """Operators of com.amd.quark, as quantizing to blocks writes them."""
    domain = "com.amd.quark"
    nodes = [
        helper.make_node("BFPQuantizeDequantize", ["x"], ["a"], "one", domain=domain),
        helper.make_node("MatMul", ["a", "w"], ["b"], "two"),
        helper.make_node("ExtendedQuantizeLinear", ["b", "s", "z"], ["c"], "three", domain=domain),
        helper.make_node("ExtendedDequantizeLinear", ["c", "s", "z"], ["y"], "four", domain=domain),
    ]
    weights = [numpy_helper.from_array(numbers((16, 8), np.dtype("f4")), "w"),
               numpy_helper.from_array(np.array(1 / 64, "f4"), "s"), numpy_helper.from_array(np.array(0, "i2"), "z")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)])


def sparse():
    """A weight whose values are stored without its zeros."""
    model = built("gelu")
    values = helper.make_tensor("kept", TensorProto.FLOAT, [3], [1, 2, 3])
    places = helper.make_tensor("", TensorProto.INT64, [3], [0, 2, 5])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [6]))
    model.graph.node[-1].input[1] = "kept"
    return model


@functools.cache
def names():
    return [*TEXTS, "quark", "sparse"]


@functools.cache
def stored(name):
    made = {"quark": quark, "sparse": sparse}.get(name)
    return (made() if made else built(name)).SerializeToString()


def network(name):
    return onnx.load_from_string(stored(name))
