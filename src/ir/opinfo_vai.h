/* The same operators under the names of Vitis AI (see opinfo_table.h) */
/* clang-format off */

OP(BFPFixNeuron, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, axis), A(STRING, bfp_method), A(INT, bit_width), A(INT, block_size),
         A(INT, convert_to_bfloat_before_bfp), A(INT, rounding_mode),
         A(INT, sub_block_shift_bits), A(INT, sub_block_size),
         A(INT, use_compiler_version_cpu_kernel)))
OP(MXFixNeuron, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, axis), A(INT, block_size), A(STRING, element_dtype), A(INT, rounding_mode)))
OP(VitisDequantizeLinear, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST), FIXED(FLOAT), same,
   ATTRS(A(INT, axis)))
OP(VitisInstanceNormalization, SINCE(1), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, 1), SAME(0),
   same,
   ATTRS(A(FLOAT, epsilon)))
OP(VitisLSTM, SINCE(1), IN(3, 8), OUT(0, 3), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0), rnn,
   ATTRS(A(FLOAT, b_scale), A(INT, b_zero_point), A(STRING, direction), A(INT, hidden_size),
         A(INT, input_forget), A(INT, layout), A(FLOAT, r_scale), A(INT, r_zero_point),
         A(FLOAT, w_scale), A(INT, w_zero_point), A(FLOAT, x_scale), A(INT, x_zero_point),
         A(FLOAT, y_scale), A(INT, y_zero_point)))
OP(VitisQuantizeLinear, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST), SAME(2), same,
   ATTRS(A(INT, axis)))
