/* ONNX's operators, and one that ONNX Runtime puts there (see opinfo_table.h) */
/* clang-format off */

OP(Abs, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(Acos, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Acosh, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Add, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(AffineGrid, SINCE(20), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), affine_grid,
   ATTRS(A(INT, align_corners)))
OP(And, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(ArgMax, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), FIXED(INT64), arg_reduce,
   ATTRS(A(INT, axis), A(INT, keepdims), A_FROM(INT, select_last_index, 12)))
OP(ArgMin, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), FIXED(INT64), arg_reduce,
   ATTRS(A(INT, axis), A(INT, keepdims), A_FROM(INT, select_last_index, 12)))
OP(Asin, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Asinh, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Atan, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Atanh, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Attention, SINCE(23), IN(3, 7), OUT(1, 4), DATA(FIRST | SECOND | THIRD), EACH("0 1 2 0"),
   attention,
   ATTRS(A(INT, is_causal), A(INT, kv_num_heads), A_FROM(INT, left_window_size, 25),
         A(INT, q_num_heads), A(INT, qk_matmul_output_mode), A_FROM(INT, right_window_size, 25),
         A(FLOAT, scale), A(FLOAT, softcap), A(INT, softmax_precision)))
OP(AveragePool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), pool,
   ATTRS(A(STRING, auto_pad), A_FROM(INT, ceil_mode, 10), A(INT, count_include_pad),
         A_FROM(INTS, dilations, 19), NEED(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(BatchNormalization, SINCE(1), IN(5, 5), OUT(1, 5), LAYER(FIRST, 1, 2, 0, 1), EACH("0 3 3 3 3"),
   batch_norm,
   ATTRS(A(FLOAT, epsilon), A(FLOAT, momentum), A_UNTIL(INT, spatial, 8),
         A_FROM(INT, training_mode, 14)))
OP(Bernoulli, SINCE(15), IN(1, 1), OUT(1, 1), NO_DATA, ATTR_OR_SAME(dtype, 0), same,
   ATTRS(A(INT, dtype), A(FLOAT, seed)))
OP(BitCast, SINCE(26), IN(1, 1), OUT(1, 1), NO_DATA, ATTR(to, UNDEFINED), same,
   ATTRS(NEED(INT, to)))
OP(BitShift, SINCE(11), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), math, ATTRS(NEED(STRING, direction)))
OP(BitwiseAnd, SINCE(18), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), math, NO_ATTRS)
OP(BitwiseNot, SINCE(18), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), same, NO_ATTRS)
OP(BitwiseOr, SINCE(18), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), math, NO_ATTRS)
OP(BitwiseXor, SINCE(18), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), math, NO_ATTRS)
OP(BlackmanWindow, SINCE(17), IN(1, 1), OUT(1, 1), NO_DATA, ATTR(output_datatype, FLOAT), window,
   ATTRS(A(INT, output_datatype), A(INT, periodic)))
OP(Cast, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), ATTR(to, UNDEFINED), cast,
   ATTRS(A_FROM(STRING, round_mode, 24), A_FROM(INT, saturate, 19), NEED(INT, to)))
OP(CastLike, SINCE(15), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(1), cast,
   ATTRS(A_FROM(STRING, round_mode, 24), A_FROM(INT, saturate, 19)))
OP(CausalConvWithState, SINCE(27), IN(2, 4), OUT(2, 2), LAYER(FIRST, 1, 2, 0, 1), SAME(0),
   causal_conv,
   ATTRS(A(STRING, activation)))
OP(Ceil, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(Celu, SINCE(12), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(CenterCropPad, SINCE(18), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), center_crop_pad,
   ATTRS(A(INTS, axes)))
OP(Clip, SINCE(1), IN(1, 3), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A_UNTIL(FLOAT, max, 10), A_UNTIL(FLOAT, min, 10)))
OP(Col2Im, SINCE(18), IN(3, 3), OUT(1, 1), DATA(FIRST), SAME(0), col2im,
   ATTRS(A(INTS, dilations), A(INTS, pads), A(INTS, strides)))
OP(Compress, SINCE(9), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), compress, ATTRS(A(INT, axis)))
OP(Concat, SINCE(1), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), concat, ATTRS(NEED(INT, axis)))
OP(ConcatFromSequence, SINCE(11), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, concat_from_sequence,
   ATTRS(NEED(INT, axis), A(INT, new_axis)))
OP(Constant, SINCE(1), IN(0, 0), OUT(1, 1), NO_DATA, SPECIAL, constant,
   ATTRS(A_FROM(SPARSE_TENSOR, sparse_value, 11), NEED_UNTIL(TENSOR, value, 10),
         A_FROM(TENSOR, value, 11), A_FROM(FLOAT, value_float, 12),
         A_FROM(FLOATS, value_floats, 12), A_FROM(INT, value_int, 12), A_FROM(INTS, value_ints, 12),
         A_FROM(STRING, value_string, 12), A_FROM(STRINGS, value_strings, 12)))
OP(ConstantOfShape, SINCE(9), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, constant_of_shape,
   ATTRS(A(TENSOR, value)))
OP(Conv, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, 1), SAME(0), conv,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, pads), A(INTS, strides)))
OP(ConvInteger, SINCE(10), IN(2, 4), OUT(1, 1), LAYER(FIRST, 1, NONE, 0, 1), FIXED(INT32), conv,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, pads), A(INTS, strides)))
OP(ConvTranspose, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 1, 1), SAME(0), conv_transpose,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, output_padding), A(INTS, output_shape), A(INTS, pads), A(INTS, strides)))
OP(Cos, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Cosh, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(CumProd, SINCE(26), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, exclusive), A(INT, reverse)))
OP(CumSum, SINCE(11), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, exclusive), A(INT, reverse)))
OP(DFT, SINCE(17), IN(1, 3), OUT(1, 1), DATA(FIRST), SAME(0), dft,
   ATTRS(A_UNTIL(INT, axis, 19), A(INT, inverse), A(INT, onesided)))
OP(DeformConv, SINCE(19), IN(3, 5), OUT(1, 1), LAYER(FIRST, 1, 3, 0, 1), SAME(0), conv,
   ATTRS(A(INTS, dilations), A(INT, group), A(INTS, kernel_shape), A(INT, offset_group),
         A(INTS, pads), A(INTS, strides)))
OP(DepthToSpace, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), depth_to_space,
   ATTRS(NEED(INT, blocksize), A_FROM(STRING, mode, 11)))
OP(DequantizeLinear, SINCE(10), IN(2, 3), OUT(1, 1), DATA(FIRST), SPECIAL, dequantize,
   ATTRS(A_FROM(INT, axis, 13), A_FROM(INT, block_size, 21), A_FROM(INT, output_dtype, 23)))
OP(Det, SINCE(11), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), det, NO_ATTRS)
OP(Div, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(Dropout, SINCE(1), IN(1, 3), OUT(1, 2), DATA(FIRST), SAME(0), dropout,
   ATTRS(A_UNTIL(FLOAT, ratio, 11), A_FROM(INT, seed, 12)))
OP(DynamicQuantizeLinear, SINCE(11), IN(1, 1), OUT(3, 3), DATA(FIRST), EACH("uint8 float uint8"),
   dynamic_quantize,
   NO_ATTRS)
OP(Einsum, SINCE(12), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), einsum,
   ATTRS(NEED(STRING, equation)))
OP(Elu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(Equal, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(Erf, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Exp, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Expand, SINCE(8), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), expand, NO_ATTRS)
OP(EyeLike, SINCE(9), IN(1, 1), OUT(1, 1), NO_DATA, ATTR_OR_SAME(dtype, 0), same,
   ATTRS(A(INT, dtype), A(INT, k)))
OP(Flatten, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), flatten, ATTRS(A(INT, axis)))
OP(Floor, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(GRU, SINCE(1), IN(3, 6), OUT(0, 2), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0), rnn,
   ATTRS(A(FLOATS, activation_alpha), A(FLOATS, activation_beta), A(STRINGS, activations),
         A(FLOAT, clip), A(STRING, direction), A(INT, hidden_size), A_FROM(INT, layout, 14),
         A(INT, linear_before_reset)))
OP(Gather, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(FIRST, 0, NONE, NONE, NONE), SAME(0), gather,
   ATTRS(A(INT, axis)))
OP(GatherElements, SINCE(11), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), gather_elements,
   ATTRS(A(INT, axis)))
OP(GatherND, SINCE(11), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), gather_nd,
   ATTRS(A_FROM(INT, batch_dims, 12)))
OP(Gelu, SINCE(20), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(STRING, approximate)))
OP(Gemm, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(BOTH, 1, 2, 1, LAST), SAME(0), gemm,
   ATTRS(A(FLOAT, alpha), A(FLOAT, beta), A(INT, transA), A(INT, transB)))
OP(GlobalAveragePool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), global_pool,
   NO_ATTRS)
OP(GlobalLpPool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), global_pool,
   ATTRS(A(INT, p)))
OP(GlobalMaxPool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), global_pool,
   NO_ATTRS)
OP(Greater, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(GreaterOrEqual, SINCE(12), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(GridSample, SINCE(16), IN(2, 2), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), grid_sample,
   ATTRS(A(INT, align_corners), A(STRING, mode), A(STRING, padding_mode)))
OP(GroupNormalization, SINCE(18), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, 1), SAME(0),
   same,
   ATTRS(A(FLOAT, epsilon), NEED(INT, num_groups), A_FROM(INT, stash_type, 21)))
OP(HammingWindow, SINCE(17), IN(1, 1), OUT(1, 1), NO_DATA, ATTR(output_datatype, FLOAT), window,
   ATTRS(A(INT, output_datatype), A(INT, periodic)))
OP(HannWindow, SINCE(17), IN(1, 1), OUT(1, 1), NO_DATA, ATTR(output_datatype, FLOAT), window,
   ATTRS(A(INT, output_datatype), A(INT, periodic)))
OP(HardSigmoid, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, alpha), A(FLOAT, beta)))
OP(HardSwish, SINCE(14), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Hardmax, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same_along, ATTRS(A(INT, axis)))
OP(Identity, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), identity, NO_ATTRS)
OP(If, SINCE(1), IN(1, 1), OUT(1, ANY), NO_DATA, SPECIAL, if,
   ATTRS(NEED(GRAPH, else_branch), NEED(GRAPH, then_branch)))
OP(ImageDecoder, SINCE(20), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(UINT8), image_decoder,
   ATTRS(A(STRING, pixel_format)))
OP(InstanceNormalization, SINCE(1), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, 1), SAME(0), same,
   ATTRS(A(FLOAT, epsilon)))
OP(IsInf, SINCE(10), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(BOOL), same,
   ATTRS(A(INT, detect_negative), A(INT, detect_positive)))
OP(IsNaN, SINCE(9), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(BOOL), same, NO_ATTRS)
OP(LRN, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, alpha), A(FLOAT, beta), A(FLOAT, bias), NEED(INT, size)))
OP(LSTM, SINCE(1), IN(3, 8), OUT(0, 3), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0), rnn,
   ATTRS(A(FLOATS, activation_alpha), A(FLOATS, activation_beta), A(STRINGS, activations),
         A(FLOAT, clip), A(STRING, direction), A(INT, hidden_size), A(INT, input_forget),
         A_FROM(INT, layout, 14)))
OP(LayerNormalization, SINCE(17), IN(2, 3), OUT(1, 3), LAYER(FIRST, 1, 2, 0, LAST),
   EACH("0 float float"),
   layer_norm,
   ATTRS(A(INT, axis), A(FLOAT, epsilon), A(INT, stash_type)))
OP(LeakyRelu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(Less, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(LessOrEqual, SINCE(12), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(LinearAttention, SINCE(27), IN(3, 6), OUT(2, 2), DATA(FIRST | SECOND | THIRD), EACH("0 3|0"),
   linear_attention,
   ATTRS(A(INT, chunk_size), NEED(INT, kv_num_heads), NEED(INT, q_num_heads), A(FLOAT, scale),
         A(STRING, update_rule)))
OP(Log, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(LogSoftmax, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same_along, ATTRS(A(INT, axis)))
OP(Loop, SINCE(1), IN_BUT(2, ANY, SLOT(0) | SLOT(1)), OUT(1, ANY), NO_DATA, SPECIAL, loop, ATTRS(NEED(GRAPH, body)))
OP(LpNormalization, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same_along,
   ATTRS(A(INT, axis), A(INT, p)))
OP(LpPool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), pool,
   ATTRS(A(STRING, auto_pad), A_FROM(INT, ceil_mode, 18), A_FROM(INTS, dilations, 18),
         NEED(INTS, kernel_shape), A(INT, p), A(INTS, pads), A(INTS, strides)))
OP(MatMul, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), SAME(0), matmul,
   NO_ATTRS)
OP(MatMulInteger, SINCE(10), IN(2, 4), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), FIXED(INT32),
   matmul,
   NO_ATTRS)
OP(Max, SINCE(1), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), math, NO_ATTRS)
OP(MaxPool, SINCE(1), IN(1, 1), OUT(1, 2), DATA_AXIS(FIRST, 1), EACH("0 int64"), pool,
   ATTRS(A(STRING, auto_pad), A_FROM(INT, ceil_mode, 10), A_FROM(INTS, dilations, 10),
         NEED(INTS, kernel_shape), A(INTS, pads), A_FROM(INT, storage_order, 8), A(INTS, strides)))
OP(MaxRoiPool, SINCE(1), IN(2, 2), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), roi_pool,
   ATTRS(NEED(INTS, pooled_shape), A(FLOAT, spatial_scale)))
OP(MaxUnpool, SINCE(9), IN(2, 3), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), max_unpool,
   ATTRS(NEED(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(Mean, SINCE(1), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), math, NO_ATTRS)
OP(MeanVarianceNormalization, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INTS, axes)))
OP(MelWeightMatrix, SINCE(17), IN(5, 5), OUT(1, 1), NO_DATA, ATTR(output_datatype, FLOAT),
   mel_weight_matrix,
   ATTRS(A(INT, output_datatype)))
OP(Min, SINCE(1), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), math, NO_ATTRS)
OP(Mish, SINCE(18), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Mod, SINCE(10), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, ATTRS(A(INT, fmod)))
OP(Mul, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(Multinomial, SINCE(7), IN(1, 1), OUT(1, 1), NO_DATA, ATTR(dtype, INT32), multinomial,
   ATTRS(A(INT, dtype), A(INT, sample_size), A(FLOAT, seed)))
OP(Neg, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(NegativeLogLikelihoodLoss, SINCE(12), IN(2, 3), OUT(1, 1), DATA(FIRST), SAME(0), loss,
   ATTRS(A(INT, ignore_index), A(STRING, reduction)))
OP(NonMaxSuppression, SINCE(10), IN(2, 5), OUT(1, 1), NO_DATA, FIXED(INT64), non_max_suppression,
   ATTRS(A(INT, center_point_box)))
OP(NonZero, SINCE(9), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(INT64), non_zero, NO_ATTRS)
OP(Not, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(OneHot, SINCE(9), IN(3, 3), OUT(1, 1), NO_DATA, SAME(2), one_hot, ATTRS(A(INT, axis)))
OP(Optional, SINCE(15), IN(0, 1), OUT(1, 1), NO_DATA, SPECIAL, optional, ATTRS(A(TYPE_PROTO, type)))
OP(OptionalGetElement, SINCE(15), IN(1, 1), OUT(1, 1), NO_DATA, SPECIAL, optional_get_element,
   NO_ATTRS)
OP(OptionalHasElement, SINCE(15), IN(0, 1), OUT(1, 1), NO_DATA, FIXED(BOOL), scalar, NO_ATTRS)
OP(Or, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
OP(PRelu, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(FIRST, 1, NONE, NONE, 1), SAME(0), same, NO_ATTRS)
OP(Pad, SINCE(1), IN(1, 4), OUT(1, 1), DATA(FIRST), SAME(0), pad,
   ATTRS(A(STRING, mode), NEED_UNTIL(INTS, pads, 10), A_UNTIL(FLOAT, value, 10)))
OP(Pow, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(QLinearConv, SINCE(10), IN(8, 9), OUT(1, 1), LAYER(FIRST, 3, 8, 0, 1), SAME(7), conv,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, pads), A(INTS, strides)))
OP(QLinearMatMul, SINCE(10), IN(8, 8), OUT(1, 1), LAYER(FIRST | SLOT(3), 3, NONE, LAST, LAST),
   SAME(7), matmul,
   NO_ATTRS)
OP(QuantizeLinear, SINCE(10), IN(2, 3), OUT(1, 1), DATA(FIRST), SPECIAL, quantize,
   ATTRS(A_FROM(INT, axis, 13), A_FROM(INT, block_size, 21), A_FROM(INT, output_dtype, 21),
         A_FROM(INT, precision, 23), A_FROM(INT, saturate, 19)))
OP(RMSNormalization, SINCE(23), IN(2, 2), OUT(1, 1), LAYER(FIRST, 1, NONE, 0, LAST), SAME(1), same,
   ATTRS(A(INT, axis), A(FLOAT, epsilon), A(INT, stash_type)))
OP(RNN, SINCE(1), IN(3, 6), OUT(0, 2), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0), rnn,
   ATTRS(A(FLOATS, activation_alpha), A(FLOATS, activation_beta), A(STRINGS, activations),
         A(FLOAT, clip), A(STRING, direction), A(INT, hidden_size), A_FROM(INT, layout, 14)))
OP(RandomNormal, SINCE(1), IN(0, 0), OUT(1, 1), NO_DATA, ATTR(dtype, FLOAT), random,
   ATTRS(A(INT, dtype), A(FLOAT, mean), A(FLOAT, scale), A(FLOAT, seed), NEED(INTS, shape)))
OP(RandomNormalLike, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, ATTR_OR_SAME(dtype, 0), same,
   ATTRS(A(INT, dtype), A(FLOAT, mean), A(FLOAT, scale), A(FLOAT, seed)))
OP(RandomUniform, SINCE(1), IN(0, 0), OUT(1, 1), NO_DATA, ATTR(dtype, FLOAT), random,
   ATTRS(A(INT, dtype), A(FLOAT, high), A(FLOAT, low), A(FLOAT, seed), NEED(INTS, shape)))
OP(RandomUniformLike, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, ATTR_OR_SAME(dtype, 0), same,
   ATTRS(A(INT, dtype), A(FLOAT, high), A(FLOAT, low), A(FLOAT, seed)))
OP(Range, SINCE(11), IN(3, 3), OUT(1, 1), NO_DATA, SAME(0), range,
   ATTRS(A_FROM(INT, stash_type, 27)))
OP(Reciprocal, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(ReduceL1, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceL2, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceLogSum, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceLogSumExp, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceMax, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceMean, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceMin, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceProd, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(ReduceSum, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 12), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 13)))
OP(ReduceSumSquare, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(A_UNTIL(INTS, axes, 17), A(INT, keepdims), A_FROM(INT, noop_with_empty_axes, 18)))
OP(RegexFullMatch, SINCE(20), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(BOOL), same,
   ATTRS(A(STRING, pattern)))
OP(Relu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Reshape, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), reshape,
   ATTRS(A_FROM(INT, allowzero, 14)))
OP(Resize, SINCE(10), IN(1, 4), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), resize,
   ATTRS(A_FROM(INT, antialias, 18), A_FROM(INTS, axes, 18),
         A_FROM(STRING, coordinate_transformation_mode, 11), A_FROM(FLOAT, cubic_coeff_a, 11),
         A_FROM(INT, exclude_outside, 11), A_FROM(FLOAT, extrapolation_value, 11),
         A_FROM(STRING, keep_aspect_ratio_policy, 18), A(STRING, mode),
         A_FROM(STRING, nearest_mode, 11)))
OP(ReverseSequence, SINCE(10), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, batch_axis), A(INT, time_axis)))
OP(RoiAlign, SINCE(10), IN(3, 3), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), roi_align,
   ATTRS(A_FROM(STRING, coordinate_transformation_mode, 16), A(STRING, mode), A(INT, output_height),
         A(INT, output_width), A(INT, sampling_ratio), A(FLOAT, spatial_scale)))
OP(RotaryEmbedding, SINCE(23), IN(3, 4), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, interleaved), A(INT, num_heads), A(INT, rotary_embedding_dim)))
OP(Round, SINCE(11), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(STFT, SINCE(17), IN(2, 4), OUT(1, 1), DATA(FIRST), SAME(0), stft, ATTRS(A(INT, onesided)))
OP(Scan, SINCE(8), IN_BUT(1, ANY, SLOT(0)), OUT(1, ANY), NO_DATA, SPECIAL, scan,
   ATTRS(NEED(GRAPH, body), A_UNTIL(INTS, directions, 8), NEED(INT, num_scan_inputs),
         A_FROM(INTS, scan_input_axes, 9), A_FROM(INTS, scan_input_directions, 9),
         A_FROM(INTS, scan_output_axes, 9), A_FROM(INTS, scan_output_directions, 9)))
OP(Scatter, BETWEEN(9, 10), IN(3, 3), OUT(1, 1), DATA(FIRST | THIRD), SAME(0), same,
   ATTRS(A(INT, axis)))
OP(ScatterElements, SINCE(11), IN(3, 3), OUT(1, 1), DATA(FIRST | THIRD), SAME(0), same,
   ATTRS(A(INT, axis), A_FROM(STRING, reduction, 16)))
OP(ScatterND, SINCE(11), IN(3, 3), OUT(1, 1), DATA(FIRST | THIRD), SAME(0), same,
   ATTRS(A_FROM(STRING, reduction, 16)))
OP(Selu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, alpha), A(FLOAT, gamma)))
OP(SequenceAt, SINCE(11), IN(2, 2), OUT(1, 1), NO_DATA, SPECIAL, sequence_at, NO_ATTRS)
OP(SequenceConstruct, SINCE(11), IN(1, ANY), OUT(1, 1), NO_DATA, SPECIAL, sequence_construct,
   NO_ATTRS)
OP(SequenceEmpty, SINCE(11), IN(0, 0), OUT(1, 1), NO_DATA, SPECIAL, sequence_empty,
   ATTRS(A(INT, dtype)))
OP(SequenceErase, SINCE(11), IN(1, 2), OUT(1, 1), NO_DATA, SPECIAL, sequence_erase, NO_ATTRS)
OP(SequenceInsert, SINCE(11), IN(2, 3), OUT(1, 1), NO_DATA, SPECIAL, sequence_insert, NO_ATTRS)
OP(SequenceLength, SINCE(11), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(INT64), scalar, NO_ATTRS)
OP(SequenceMap, SINCE(17), IN(1, ANY), OUT(1, ANY), NO_DATA, SPECIAL, sequence_map,
   ATTRS(NEED(GRAPH, body)))
OP(Shape, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(INT64), shape_of,
   ATTRS(A_FROM(INT, end, 15), A_FROM(INT, start, 15)))
OP(Shrink, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, bias), A(FLOAT, lambd)))
OP(Sigmoid, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Sign, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(SimplifiedLayerNormalization, SINCE(1), IN(2, 2), OUT(1, 2), LAYER(FIRST, 1, NONE, 0, LAST),
   EACH("1 float"), layer_norm,
   ATTRS(A(INT, axis), A(FLOAT, epsilon), A(INT, stash_type)))
OP(Sin, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Sinh, SINCE(9), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Size, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(INT64), size_of, NO_ATTRS)
OP(Slice, SINCE(1), IN(1, 5), OUT(1, 1), DATA(FIRST), SAME(0), slice,
   ATTRS(A_UNTIL(INTS, axes, 9), NEED_UNTIL(INTS, ends, 9), NEED_UNTIL(INTS, starts, 9)))
OP(Softmax, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same_along, ATTRS(A(INT, axis)))
OP(SoftmaxCrossEntropyLoss, SINCE(12), IN(2, 3), OUT(1, 2), DATA(FIRST), SAME(0), loss,
   ATTRS(A(INT, ignore_index), A(STRING, reduction)))
OP(Softplus, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Softsign, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(SpaceToDepth, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), space_to_depth,
   ATTRS(NEED(INT, blocksize), A_FROM(STRING, mode, 28)))
OP(Split, SINCE(1), IN(1, 2), OUT(1, ANY), DATA(FIRST), SAME(0), split,
   ATTRS(A(INT, axis), A_FROM(INT, num_outputs, 18), A_UNTIL(INTS, split, 12)))
OP(SplitToSequence, SINCE(11), IN(1, 2), OUT(1, 1), NO_DATA, SPECIAL, split_to_sequence,
   ATTRS(A(INT, axis), A(INT, keepdims)))
OP(Sqrt, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), math, NO_ATTRS)
OP(Squeeze, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), squeeze,
   ATTRS(A_UNTIL(INTS, axes, 12)))
OP(StringConcat, SINCE(20), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), math, NO_ATTRS)
OP(StringNormalizer, SINCE(10), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(STRING), string_normalizer,
   ATTRS(A(STRING, case_change_action), A(INT, is_case_sensitive), A(STRING, locale),
         A(STRINGS, stopwords)))
OP(StringSplit, SINCE(20), IN(1, 1), OUT(2, 2), NO_DATA, EACH("string int64"), string_split,
   ATTRS(A(STRING, delimiter), A(INT, maxsplit)))
OP(Sub, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(Sum, SINCE(1), IN(1, ANY), OUT(1, 1), DATA(EVERY), SAME(0), math, NO_ATTRS)
OP(SwiGLU, SINCE(28), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(Swish, SINCE(24), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(Tan, SINCE(7), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Tanh, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(TensorScatter, SINCE(24), IN(2, 3), OUT(1, 1), DATA(BOTH), SAME(0), same,
   ATTRS(A(INT, axis), A(STRING, mode)))
OP(TfIdfVectorizer, SINCE(9), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(FLOAT), tf_idf,
   ATTRS(NEED(INT, max_gram_length), NEED(INT, max_skip_count), NEED(INT, min_gram_length),
         NEED(STRING, mode), NEED(INTS, ngram_counts), NEED(INTS, ngram_indexes),
         A(INTS, pool_int64s), A(STRINGS, pool_strings), A(FLOATS, weights)))
OP(ThresholdedRelu, SINCE(10), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, alpha)))
OP(Tile, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), tile, NO_ATTRS)
OP(TopK, SINCE(1), IN(1, 2), OUT(2, 2), DATA(FIRST), EACH("0 int64"), top_k,
   ATTRS(A(INT, axis), NEED_UNTIL(INT, k, 9), A_FROM(INT, largest, 11), A_FROM(INT, sorted, 11)))
OP(Transpose, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), transpose, ATTRS(A(INTS, perm)))
OP(Trilu, SINCE(14), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(INT, upper)))
OP(Unique, SINCE(11), IN(1, 1), OUT(1, 4), DATA(FIRST), EACH("0 int64 int64 int64"), unique,
   ATTRS(A(INT, axis), A(INT, sorted)))
OP(Unsqueeze, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), unsqueeze,
   ATTRS(NEED_UNTIL(INTS, axes, 12)))
OP(Upsample, BETWEEN(1, 9), IN(1, 2), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), resize,
   ATTRS(A(STRING, mode), NEED_UNTIL(FLOATS, scales, 8)))
OP(Where, SINCE(9), IN(3, 3), OUT(1, 1), DATA(SECOND | THIRD), SAME(1), math, NO_ATTRS)
OP(Xor, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(BOOL), math, NO_ATTRS)
