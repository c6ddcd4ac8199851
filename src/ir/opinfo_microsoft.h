/* ONNX Runtime's own operators (see opinfo_table.h) */
/* clang-format off */

OP(Attention, SINCE(1), IN(2, 7), OUT(1, 2), LAYER(FIRST, 1, 2, 1, LAST), SAME(0), ms_attention,
   ATTRS(A(INT, do_rotary), A(FLOAT, mask_filter_value), NEED(INT, num_heads),
         A(INT, past_present_share_buffer), A(INTS, qkv_hidden_sizes), A(INT, rotary_embedding_dim),
         A(FLOAT, scale), A(INT, unidirectional)))
OP(AttnLSTM, SINCE(1), IN(3, 14), OUT(0, 3), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0), none,
   ATTRS(A(FLOATS, activation_alpha), A(FLOATS, activation_beta), A(STRINGS, activations),
         A(FLOAT, clip), A(STRING, direction), A(INT, hidden_size), A(INT, input_forget)))
OP(BeamSearch, SINCE(1), IN_BUT(5, 12, SLOT(2)), OUT(1, 3), NO_DATA, EACH("1 5|float 5|float"), none,
   ATTRS(NEED(GRAPH, decoder), A(INT, decoder_start_token_id), A(INT, early_stopping),
         A(GRAPH, encoder), NEED(INT, eos_token_id), A(GRAPH, init_decoder), A(INT, model_type),
         A(INT, no_repeat_ngram_size), NEED(INT, pad_token_id), A(INT, vocab_size)))
OP(BiasAdd, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(BiasDropout, SINCE(1), IN(2, 5), OUT(1, 2), DATA(FIRST), EACH("0 bool"), same,
   ATTRS(A(INT, seed)))
OP(BiasGelu, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(BiasSoftmax, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, axis), NEED(INT, is_inner_broadcast)))
OP(BiasSplitGelu, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), bias_split_gelu, NO_ATTRS)
OP(BifurcationDetector, SINCE(1), IN(3, 4), OUT(2, 2), NO_DATA, SAME(0), none,
   ATTRS(A(INT, max_ngram_size), A(INT, min_ngram_size)))
OP(BitmaskBiasDropout, SINCE(1), IN(2, 5), OUT(1, 2), DATA(FIRST), EACH("0 uint32"), none,
   ATTRS(A(INT, seed)))
OP(BitmaskDropout, SINCE(1), IN(1, 3), OUT(1, 2), DATA(FIRST), EACH("0 uint32"), none,
   ATTRS(A(INT, seed)))
OP(BranchwiseRMSNorm, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, epsilon), A(INT, num_branches)))
OP(CDist, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), none, ATTRS(A(STRING, metric)))
OP(CausalConvWithState, SINCE(1), IN(2, 4), OUT(2, 2), LAYER(FIRST, 1, 2, 0, 1), SAME(0), none,
   ATTRS(A(STRING, activation), A(INT, channels_last), A(INT, dilation), A(INT, ndim),
         A(INT, state_window)))
OP(ComplexMul, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(ComplexMulConj, SINCE(1), IN(2, 2), OUT(1, 1), DATA(BOTH), SAME(0), math, NO_ATTRS)
OP(ConvTransposeWithDynamicPads, SINCE(1), IN(2, 4), OUT(1, 1), LAYER(FIRST, 1, 3, 1, 1), SAME(0),
   none,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, output_padding), A(INTS, strides)))
OP(CropAndResize, SINCE(1), IN(4, 4), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(FLOAT, extrapolation_value), A(STRING, mode)))
OP(DecoderAttention, SINCE(1), IN_BUT(12, 12, SLOT(5) | SLOT(6) | SLOT(7)), OUT(1, 3), DATA(FIRST), SAME(0), none,
   ATTRS(A(FLOAT, mask_filter_value), NEED(INT, num_heads)))
OP(DecoderMaskedMultiHeadAttention, SINCE(1), IN(1, 11), OUT(1, 4), DATA(FIRST | SECOND | THIRD),
   EACH("0 0 0 ?"), none,
   ATTRS(A(FLOAT, mask_filter_value), NEED(INT, num_heads), A(INT, output_qk),
         A(INT, past_present_share_buffer), A(FLOAT, scale)))
OP(DecoderMaskedSelfAttention, SINCE(1), IN_BUT(7, 9, SLOT(3) | SLOT(5)), OUT(2, 2), DATA(FIRST), SAME(0), none,
   ATTRS(A(INT, do_rotary), A(FLOAT, mask_filter_value), NEED(INT, num_heads),
         A(INT, past_present_share_buffer), A(FLOAT, scale)))
OP(DequantizeBFP, SINCE(1), IN(3, 3), OUT(1, 1), NO_DATA, ATTR(dtype, FLOAT), none,
   ATTRS(NEED(INT, bfp_type), A(INT, block_dim), A(INT, dtype)))
OP(DequantizeLinear, SINCE(1), IN(2, 3), OUT(1, 1), DATA(FIRST), SPECIAL, dequantize,
   ATTRS(A(INT, axis)))
OP(DequantizeWithOrder, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, ATTR(to, UNDEFINED), same,
   ATTRS(NEED(INT, order_input), NEED(INT, order_output), NEED(INT, to)))
OP(DynamicQuantizeLSTM, SINCE(1), IN_BUT(12, 12, SLOT(3) | SLOT(4) | SLOT(5) | SLOT(6) | SLOT(7)), OUT(0, 3), LAYER(FIRST, 1, 3, NONE, NONE), SAME(0),
   none,
   ATTRS(A(FLOATS, activation_alpha), A(FLOATS, activation_beta), A(STRINGS, activations),
         A(FLOAT, clip), A(STRING, direction), A(INT, hidden_size), A(INT, input_forget)))
OP(DynamicQuantizeMatMul, SINCE(1), IN(3, 5), OUT(1, 1), LAYER(FIRST, 1, 4, LAST, LAST), SAME(0),
   matmul,
   NO_ATTRS)
OP(DynamicSparseAttention, SINCE(1), IN_BUT(11, 17, SLOT(1) | SLOT(2) | SLOT(3) | SLOT(4) | SLOT(5) | SLOT(6)), OUT(1, 3), DATA(FIRST), SAME(0), none,
   ATTRS(A(STRING, attention_mode), A(INT, auxiliary_kv_shared), A(INT, do_rotary),
         A(INT, is_causal), NEED(INT, kv_num_heads), A(INT, local_window_size),
         NEED(INT, num_heads), A(FLOAT, qk_norm_epsilon), A(INT, rotary_interleaved),
         A(INT, rotary_offset), A(FLOAT, scale), A(STRING, selected_kv_source),
         A(INT, smooth_softmax)))
OP(DynamicTimeWarping, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, FIXED(INT32), none, NO_ATTRS)
OP(EPContext, SINCE(1), IN(0, ANY), OUT(1, ANY), NO_DATA, NO_TYPE, none,
   ATTRS(A(INT, embed_mode), A(STRING, ep_cache_context), A(STRING, ep_sdk_version),
         A(STRING, hardware_architecture), A(INT, main_context), A(INT, max_size), A(STRING, notes),
         A(STRING, onnx_model_filename), A(STRING, partition_name), A(STRING, source)))
OP(EmbedLayerNormalization, SINCE(1), IN_BUT(7, 9, SLOT(1) | SLOT(4)), OUT(1, 3), LAYER(0, 2, NONE, NONE, LAST),
   EACH("2 0 2"), embed_layer_norm,
   ATTRS(A(FLOAT, epsilon), A(INT, mask_index_type)))
OP(EngramGate, SINCE(1), IN(5, 6), OUT(1, 2), NO_DATA, SAME(0), none, ATTRS(A(FLOAT, epsilon)))
OP(ExpandDims, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), expand_dims, NO_ATTRS)
OP(FastGelu, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(FusedConv, SINCE(1), IN(2, 4), OUT(1, 1), LAYER(FIRST | SLOT(3), 1, 2, 0, 1), SAME(0), conv,
   ATTRS(A(STRING, activation), A(FLOATS, activation_params), A(STRING, auto_pad),
         A(INTS, dilations), A(INT, group), A(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(FusedGemm, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(BOTH, 1, 2, 1, LAST), SAME(0), gemm,
   ATTRS(A(STRING, activation), A(FLOAT, activation_alpha), A(FLOAT, activation_beta),
         A(FLOAT, activation_gamma), A(FLOAT, alpha), A(FLOAT, beta), A(INT, transA),
         A(INT, transB)))
OP(FusedMatMul, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), SAME(0),
   fused_matmul,
   ATTRS(A(FLOAT, alpha), A(INT, transA), A(INT, transB), A(INT, transBatchA), A(INT, transBatchB)))
OP(FusedMatMulActivation, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), SAME(0),
   fused_matmul,
   ATTRS(NEED(STRING, activation), A(FLOAT, activation_alpha), A(INT, activation_axis),
         A(FLOAT, activation_beta), A(FLOAT, activation_gamma), A(FLOAT, alpha), A(INT, transA),
         A(INT, transB), A(INT, transBatchA), A(INT, transBatchB)))
OP(GatedAdd, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(GatedDeltaNet, SINCE(1), IN(1, 11), OUT(1, 3), NO_DATA, EACH("0 4|float 4|float"), none,
   ATTRS(A(STRING, beta_activation), A(INT, chunk_size), A(STRING, gate_activation),
         A(INT, qk_l2_norm), A(FLOAT, scale), A(INT, state_update_capacity),
         A(STRING, update_rule)))
OP(GatedRMSNorm, SINCE(1), IN(3, 3), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(STRING, activation), A(FLOAT, epsilon)))
OP(GatedRelativePositionBias, SINCE(1), IN(6, 7), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, num_heads)))
OP(GatherBlockQuantized, SINCE(1), IN(3, 4), OUT(1, 1), LAYER(0, 0, NONE, NONE, NONE), SAME(2),
   gather_block_quantized,
   ATTRS(A(INT, bits), A(INT, block_size), A(INT, gather_axis), A(INT, quantize_axis)))
OP(GatherND, SINCE(1), IN(2, 2), OUT(1, 1), DATA(FIRST), SAME(0), gather_nd, NO_ATTRS)
OP(Gelu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(GemmFastGelu, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(FIRST, 1, 2, LAST, LAST), SAME(0), matmul,
   NO_ATTRS)
OP(GemmFloat8, SINCE(1), IN(2, 6), OUT(1, 1), LAYER(BOTH, 1, 2, 1, LAST), ATTR(dtype, FLOAT), gemm,
   ATTRS(A(STRING, activation), A(FLOAT, alpha), A(FLOAT, beta), A(INT, dtype), A(INT, transA),
         A(INT, transB)))
OP(GemmaRotaryEmbedding, SINCE(1), IN(5, 5), OUT(2, 2), NO_DATA, SAME(1), none, NO_ATTRS)
OP(GreedySearch, SINCE(1), IN(2, 7), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(GRAPH, decoder), A(INT, decoder_start_token_id), A(GRAPH, encoder),
         NEED(INT, eos_token_id), A(GRAPH, init_decoder), A(INT, model_type),
         A(INT, no_repeat_ngram_size), NEED(INT, pad_token_id), A(INT, vocab_size)))
OP(GridSample, SINCE(1), IN(2, 2), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), grid_sample,
   ATTRS(A(INT, align_corners), A(STRING, mode), A(STRING, padding_mode)))
OP(GroupNorm, SINCE(1), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, 1), SAME(0), same,
   ATTRS(NEED(INT, activation), A(INT, channels_last), A(FLOAT, epsilon), NEED(INT, groups)))
OP(GroupQueryAttention, SINCE(1), IN_BUT(7, 16, SLOT(1) | SLOT(2) | SLOT(3) | SLOT(4)), OUT(1, 4), DATA(FIRST | SECOND | THIRD),
   EACH("0 3|0 4|0 0"), group_query_attention,
   ATTRS(A(INT, causal), A(INT, do_rotary), A(STRING, k_quant_type), A(INT, kv_cache_bit_width),
         NEED(INT, kv_num_heads), A(INT, local_window_size), NEED(INT, num_heads),
         A(FLOAT, qk_norm_epsilon), A(INT, qk_output), A(INT, rotary_interleaved), A(FLOAT, scale),
         A(INT, sliding_window_cache), A(INT, smooth_softmax), A(FLOAT, softcap),
         A(STRING, v_quant_type)))
OP(HyperConnectionPostMix, SINCE(1), IN(3, 4), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, num_branches)))
OP(HyperConnectionPreMix, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, num_branches), A(FLOAT, reduction_scale)))
OP(Inverse, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Irfft, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, normalized), A(INT, onesided), NEED(INT, signal_ndim)))
OP(IsAllFinite, SINCE(1), IN(1, ANY), OUT(1, 1), NO_DATA, FIXED(BOOL), scalar,
   ATTRS(A(INT, isinf_only), A(INT, isnan_only)))
OP(LinearAttention, SINCE(1), IN(3, 6), OUT(2, 2), DATA(FIRST | SECOND | THIRD), EACH("0 3|0"),
   none,
   ATTRS(A(INT, chunk_size), NEED(INT, kv_num_heads), NEED(INT, q_num_heads), A(FLOAT, scale),
         A(INT, state_window), A(STRING, update_rule)))
OP(LinearAttentionGate, SINCE(1), IN(3, 4), OUT(1, 2), NO_DATA, SAME(0), none, NO_ATTRS)
OP(LongformerAttention, SINCE(1), IN(7, 7), OUT(1, 1), DATA(FIRST), SAME(0), none,
   ATTRS(NEED(INT, num_heads), NEED(INT, window)))
OP(MRotaryEmbedding, SINCE(1), IN(4, 4), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, interleaved), A(INT, is_packed_batching), A(INT, mrope_layout),
         NEED(INTS, mrope_section), A(INT, num_heads), A(INT, rotary_embedding_dim),
         A(FLOAT, scale)))
OP(MatMulBlockQuantizedFp4Weight, SINCE(1), IN(4, 6), OUT(1, 1), LAYER(FIRST, 1, 5, NONE, LAST),
   SAME(0), none,
   ATTRS(A(INT, block_size)))
OP(MatMulBlockQuantizedFp8Weight, SINCE(1), IN(3, 5), OUT(1, 1), LAYER(FIRST, 1, 4, 0, LAST),
   SAME(0), none,
   ATTRS(A(INT, block_size)))
OP(MatMulBnb4, SINCE(1), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, NONE, NONE, LAST), SAME(0),
   matmul_packed,
   ATTRS(NEED(INT, K), NEED(INT, N), NEED(INT, block_size), NEED(INT, quant_type),
         A(INT, training_mode), A(INT, transB)))
OP(MatMulFpQ4, SINCE(1), IN(3, 3), OUT(1, 1), LAYER(FIRST, 1, NONE, NONE, LAST), SAME(0), none,
   ATTRS(A(INT, blk_quant_type)))
OP(MatMulInteger16, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), NO_TYPE,
   matmul,
   NO_ATTRS)
OP(MatMulIntegerToFloat, SINCE(1), IN(4, 7), OUT(1, 1), LAYER(BOTH, 1, 6, LAST, LAST), SAME(2),
   matmul,
   NO_ATTRS)
OP(MatMulNBits, SINCE(1), IN(3, 6), OUT(1, 1), LAYER(FIRST, 1, 5, NONE, LAST), SAME(0),
   matmul_packed,
   ATTRS(NEED(INT, K), NEED(INT, N), A(INT, accuracy_level), A(INT, bits), NEED(INT, block_size),
         A(INT, weight_prepacked)))
OP(MatMulNBitsMlp, SINCE(1), IN_BUT(8, 9, SLOT(1) | SLOT(2) | SLOT(5)), OUT(1, 2), DATA(FIRST), SAME(0), none,
   ATTRS(NEED(INT, K), NEED(INT, N), A(INT, accuracy_level), NEED(STRING, activation), A(INT, bits),
         NEED(INT, block_size), A(FLOAT, epsilon)))
OP(MatMulNBitsQkv, SINCE(1), IN_BUT(11, 12, SLOT(1) | SLOT(5) | SLOT(8)), OUT(3, 4), DATA(FIRST), SAME(0), none,
   ATTRS(NEED(INT, K), NEED(INT, Nkv), NEED(INT, Nq), A(INT, accuracy_level), A(INT, bits),
         NEED(INT, block_size), A(FLOAT, epsilon)))
OP(MaxpoolWithMask, SINCE(1), IN(2, 2), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), pool,
   ATTRS(A(STRING, auto_pad), A(INTS, kernel_shape), A(INTS, pads), A(INT, storage_order),
         A(INTS, strides)))
OP(MoE, SINCE(1), IN_BUT(5, 8, SLOT(3)), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, activation_alpha), A(FLOAT, activation_beta), A(STRING, activation_type),
         A(INT, k), A(INT, normalize_routing_weights), A(INT, swiglu_fusion),
         A(FLOAT, swiglu_limit), A(INT, use_sparse_mixer)))
OP(MulInteger, SINCE(1), IN_BUT(3, 4, SLOT(1)), OUT(1, 1), NO_DATA, FIXED(INT32), qlinear_math, NO_ATTRS)
OP(MultiHeadAttention, SINCE(1), IN(1, 10), OUT(1, 4), DATA(FIRST | SECOND | THIRD),
   EACH("0 0 0 ?"), multi_head_attention,
   ATTRS(A(FLOAT, mask_filter_value), NEED(INT, num_heads), A(FLOAT, scale),
         A(INT, unidirectional)))
OP(MurmurHash3, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, NO_TYPE, same,
   ATTRS(A(INT, positive), A(INT, seed)))
OP(NGramHashMapping, SINCE(1), IN(3, 7), OUT(1, 2), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, max_ngram_size), NEED(INT, n_head_per_ngram), NEED(INT, pad_id),
         A(INT, reset_on_eos)))
OP(NGramRepeatBlock, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(1), none,
   ATTRS(NEED(INT, ngram_size)))
OP(NhwcConv, SINCE(1), IN(2, 3), OUT(1, 1), LAYER(FIRST, 1, 2, 0, LAST), SAME(0), none,
   ATTRS(A(STRING, auto_pad), A(INTS, dilations), A(INT, group), A(INTS, kernel_shape),
         A(INTS, pads), A(INTS, strides)))
OP(NhwcFusedConv, SINCE(1), IN(2, 4), OUT(1, 1), LAYER(FIRST | SLOT(3), 1, 2, 0, LAST), SAME(0),
   conv,
   ATTRS(A(STRING, activation), A(FLOATS, activation_params), A(STRING, auto_pad),
         A(INTS, dilations), A(INT, group), A(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(NhwcMaxPool, SINCE(1), IN(1, 1), OUT(1, 1), DATA_AXIS(FIRST, LAST), SAME(0), pool,
   ATTRS(A(STRING, auto_pad), A(INT, ceil_mode), A(INTS, dilations), NEED(INTS, kernel_shape),
         A(INTS, pads), A(INTS, strides)))
OP(PackedAttention, SINCE(1), IN(5, 6), OUT(1, 1), LAYER(FIRST, 1, 2, 1, LAST), SAME(0), none,
   ATTRS(NEED(INT, num_heads), A(INTS, qkv_hidden_sizes), A(FLOAT, scale)))
OP(PackedMultiHeadAttention, SINCE(1), IN_BUT(6, 7, SLOT(1) | SLOT(2) | SLOT(3)), OUT(1, 1), DATA(FIRST), SAME(0), none,
   ATTRS(A(FLOAT, mask_filter_value), NEED(INT, num_heads), A(FLOAT, scale)))
OP(PackedSparseAttentionIndexer, SINCE(1), IN_BUT(16, 18, SLOT(1) | SLOT(8) | SLOT(9) | SLOT(10) | SLOT(11) | SLOT(14)), OUT(6, 7), NO_DATA, EACH("6 6 0 0 0 6 0"),
   none,
   ATTRS(NEED(INT, compress_ratio), A(FLOAT, epsilon), A(FLOAT, head_weight_scale),
         A(INT, index_topk), NEED(STRING, policy_mode), A(FLOAT, scale), NEED(INT, state_capacity),
         A(INT, state_update_capacity), A(INT, token_budget)))
OP(Pad, SINCE(1), IN(2, 3), OUT(1, 1), DATA(FIRST), SAME(0), pad, ATTRS(A(STRING, mode)))
OP(PagedAttention, SINCE(1), IN_BUT(8, 17, SLOT(1) | SLOT(2) | SLOT(4)), OUT(1, 3), DATA(FIRST | SECOND | THIRD), EACH("0 3 4"),
   none,
   ATTRS(A(INT, do_rotary), A(INT, is_causal), A(STRING, k_cache_dtype), A(STRING, k_quant_type),
         A(STRING, kv_cache_layout), NEED(INT, kv_num_heads), A(INT, local_window_size),
         NEED(INT, num_heads), A(FLOAT, qk_norm_epsilon), A(INT, rotary_interleaved),
         A(INT, rotary_offset), A(FLOAT, scale), A(FLOAT, softcap), A(STRING, v_cache_dtype),
         A(INT, v_head_size), A(STRING, v_quant_type)))
OP(QAttention, SINCE(1), IN(5, 9), OUT(1, 2), LAYER(FIRST, 1, 2, 1, LAST), SAME(2), ms_attention,
   ATTRS(A(INT, do_rotary), A(FLOAT, mask_filter_value), NEED(INT, num_heads),
         A(INT, past_present_share_buffer), A(FLOAT, scale), A(INT, unidirectional)))
OP(QEmbedLayerNormalization, SINCE(1), IN_BUT(18, 18, SLOT(1) | SLOT(4) | SLOT(7) | SLOT(10) | SLOT(15)), OUT(2, 2), LAYER(0, 2, NONE, NONE, LAST),
   EACH("8 0"), embed_layer_norm,
   ATTRS(A(FLOAT, epsilon)))
OP(QGemm, SINCE(1), IN(6, 9), OUT(1, 1), LAYER(FIRST | SLOT(3), 3, 6, 1, LAST), EACH("8|float"),
   gemm,
   ATTRS(A(FLOAT, alpha), A(INT, transA), A(INT, transB)))
OP(QLinearAdd, SINCE(1), IN_BUT(7, 8, SLOT(2) | SLOT(5)), OUT(1, 1), DATA(FIRST | SLOT(3)), SAME(0), qlinear_math,
   NO_ATTRS)
OP(QLinearAveragePool, SINCE(1), IN_BUT(4, 5, SLOT(2)), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0), pool,
   ATTRS(A(STRING, auto_pad), A(INT, ceil_mode), A(INT, channels_last), A(INT, count_include_pad),
         NEED(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(QLinearConcat, SINCE(1), IN(3, ANY), OUT(1, 1), DATA(EVERY), SAME(1), qlinear_concat,
   ATTRS(NEED(INT, axis)))
OP(QLinearConv, SINCE(1), IN(8, 9), OUT(1, 1), LAYER(FIRST, 3, 8, 0, 1), SAME(7), conv,
   ATTRS(A(STRING, auto_pad), A(INT, channels_last), A(INTS, dilations), A(INT, group),
         A(INTS, kernel_shape), A(INTS, pads), A(INTS, strides)))
OP(QLinearGlobalAveragePool, SINCE(1), IN(5, 5), OUT(1, 1), DATA_AXIS(FIRST, 1), SAME(0),
   global_pool,
   ATTRS(A(INT, channels_last)))
OP(QLinearLeakyRelu, SINCE(1), IN_BUT(4, 5, SLOT(2)), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(FLOAT, alpha)))
OP(QLinearMul, SINCE(1), IN_BUT(7, 8, SLOT(2) | SLOT(5)), OUT(1, 1), DATA(FIRST | SLOT(3)), SAME(0), qlinear_math,
   NO_ATTRS)
OP(QLinearReduceMean, SINCE(1), IN_BUT(4, 5, SLOT(2)), OUT(1, 1), DATA(FIRST), SAME(0), reduce,
   ATTRS(NEED(INTS, axes), NEED(INT, keepdims)))
OP(QLinearSigmoid, SINCE(1), IN_BUT(4, 5, SLOT(2)), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(QLinearSoftmax, SINCE(1), IN_BUT(5, 5, SLOT(2)), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, axis), NEED(INT, opset)))
OP(QLinearWhere, SINCE(1), IN(9, 9), OUT(1, 1), DATA(SECOND | SLOT(4)), SAME(1), qlinear_math,
   NO_ATTRS)
OP(QMoE, SINCE(1), IN_BUT(6, 21, SLOT(3) | SLOT(4)), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, accuracy_level), A(FLOAT, activation_alpha), A(FLOAT, activation_beta),
         A(STRING, activation_type), A(INT, block_size), A(INT, expert_weight_bits),
         A(INT, fc1_expert_weight_bits), A(INT, fc2_expert_weight_bits),
         A(INT, fc3_expert_weight_bits), A(INT, k), A(INT, normalize_routing_weights),
         A(STRING, quant_type), A(INT, swiglu_fusion), A(FLOAT, swiglu_limit),
         A(INT, use_sparse_mixer), A(INT, weights_prepacked)))
OP(QOrderedAttention, SINCE(1), IN_BUT(17, 20, SLOT(14) | SLOT(15)), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, num_heads), NEED(INT, order_input), NEED(INT, order_output),
         NEED(INT, order_weight), A(INTS, qkv_hidden_sizes), A(INT, unidirectional)))
OP(QOrderedGelu, SINCE(1), IN(3, 3), OUT(1, 1), NO_DATA, SAME(0), same,
   ATTRS(A(INT, order_X), A(INT, order_Y)))
OP(QOrderedLayerNormalization, SINCE(1), IN_BUT(5, 5, SLOT(3)), OUT(1, 1), NO_DATA, SAME(0), same,
   ATTRS(A(INT, axis), A(FLOAT, epsilon), A(INT, order_X), A(INT, order_Y)))
OP(QOrderedLongformerAttention, SINCE(1), IN(14, 14), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, num_heads), NEED(INT, order_global_weight), NEED(INT, order_input),
         NEED(INT, order_output), NEED(INT, order_weight), NEED(INT, window)))
OP(QOrderedMatMul, SINCE(1), IN(5, 8), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, order_A), NEED(INT, order_B), NEED(INT, order_Y)))
OP(QuantizeBFP, SINCE(1), IN(1, 1), OUT(3, 3), NO_DATA, EACH("uint8 int64 int64"), none,
   ATTRS(NEED(INT, bfp_type), A(INT, block_dim)))
OP(QuantizeLinear, SINCE(1), IN(2, 3), OUT(1, 1), DATA(FIRST), SPECIAL, quantize,
   ATTRS(A(INT, axis)))
OP(QuantizeWithOrder, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, FIXED(INT8), same,
   ATTRS(NEED(INT, order_input), NEED(INT, order_output)))
OP(QuickGelu, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(Range, SINCE(1), IN(2, 3), OUT(1, 1), NO_DATA, SAME(0), range, NO_ATTRS)
OP(ReduceSumInteger, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, NO_TYPE, reduce,
   ATTRS(NEED(INTS, axes), NEED(INT, keepdims)))
OP(RelativePositionBias, SINCE(1), IN(3, 3), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, is_bidirectional), NEED(INT, max_distance)))
OP(RemovePadding, SINCE(1), IN(2, 2), OUT(4, 4), NO_DATA, EACH("0 1 1 1"), none, NO_ATTRS)
OP(RestorePadding, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(0), none, NO_ATTRS)
OP(Rfft, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, normalized), A(INT, onesided), A(INT, signal_ndim)))
OP(RotaryEmbedding, SINCE(1), IN(4, 4), OUT(1, 1), DATA(FIRST), SAME(0), same,
   ATTRS(A(INT, interleaved), A(INT, is_packed_batching), A(INT, num_heads),
         A(INT, rotary_embedding_dim), A(FLOAT, scale)))
OP(SampleOp, SINCE(1), IN(1, 1), OUT(1, 1), DATA(FIRST), SAME(0), same, NO_ATTRS)
OP(Sampling, SINCE(1), IN(2, 9), OUT(1, 2), NO_DATA, EACH("0 3|float"), none,
   ATTRS(A(INT, custom), NEED(GRAPH, decoder), A(INT, decoder_start_token_id), A(GRAPH, encoder),
         NEED(INT, eos_token_id), A(FLOAT, filter_value), A(GRAPH, init_decoder),
         A(INT, min_tokens_to_keep), A(INT, model_type), A(INT, no_repeat_ngram_size),
         NEED(INT, pad_token_id), A(FLOAT, presence_penalty), A(FLOAT, temperature),
         A(FLOAT, top_p), A(INT, vocab_size)))
OP(ScaledSiLU, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(FLOAT, alpha)))
OP(SkipGroupNorm, SINCE(1), IN(4, 5), OUT(1, 2), LAYER(FIRST | SLOT(3), 1, 2, 0, 1), SAME(0), same,
   ATTRS(NEED(INT, activation), A(INT, channels_last), A(FLOAT, epsilon), NEED(INT, groups)))
OP(SkipLayerNormalization, SINCE(1), IN(3, 5), OUT(1, 4), LAYER(BOTH, 2, 3, 0, LAST),
   EACH("0 float float 0"), skip_layer_norm,
   ATTRS(A(FLOAT, epsilon)))
OP(SkipSimplifiedLayerNormalization, SINCE(1), IN(3, 4), OUT(1, 4), LAYER(BOTH, 2, NONE, 0, LAST),
   EACH("0 float float 0"), skip_layer_norm,
   ATTRS(A(FLOAT, epsilon)))
OP(Snpe, SINCE(1), IN(1, ANY), OUT(1, ANY), NO_DATA, NO_TYPE, none,
   ATTRS(NEED(STRING, DLC), A(STRING, notes), A(STRING, snpe_version), A(STRING, target_device)))
OP(SparseAttention, SINCE(1), IN_BUT(9, 11, SLOT(1) | SLOT(2)), OUT(3, 3), DATA(FIRST), SAME(0), none,
   ATTRS(A(INT, do_rotary), NEED(INT, kv_num_heads), NEED(INT, num_heads),
         A(INT, rotary_interleaved), A(FLOAT, scale), NEED(INT, sparse_block_size)))
OP(SparseAttentionIndexer, SINCE(1), IN_BUT(8, 14, SLOT(1) | SLOT(6)), OUT(2, 3), NO_DATA, EACH("int32 0 0"), none,
   ATTRS(NEED(INT, compress_ratio), A(FLOAT, epsilon), A(FLOAT, head_weight_scale),
         A(INT, index_topk), NEED(STRING, policy_mode), A(FLOAT, scale), A(INT, token_budget)))
OP(SparsePagedAttention, SINCE(1), IN_BUT(11, 22, SLOT(1) | SLOT(2) | SLOT(8)), OUT(1, 3), DATA(FIRST | SECOND | THIRD),
   EACH("0 3 4"), none,
   ATTRS(A(STRING, attention_mode), A(STRING, auxiliary_cache_layout), A(INT, auxiliary_kv_shared),
         A(INT, do_rotary), A(INT, is_causal), A(STRING, k_quant_type), NEED(INT, kv_num_heads),
         A(INT, local_window_size), NEED(INT, num_heads), A(FLOAT, qk_norm_epsilon),
         A(INT, rotary_interleaved), A(INT, rotary_offset), A(FLOAT, scale),
         A(STRING, selected_kv_source), A(FLOAT, softcap), A(STRING, v_quant_type)))
OP(SparseToDenseMatMul, SINCE(1), IN(2, 2), OUT(1, 1), NO_DATA, SAME(1), none,
   ATTRS(A(FLOAT, alpha), A(INT, transA), A(INT, transB)))
OP(Tokenizer, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(NEED(INT, mark), NEED(INT, mincharnum), NEED(STRING, pad_value), A(STRINGS, separators),
         A(STRING, tokenexp)))
OP(TorchEmbedding, SINCE(1), IN(2, 4), OUT(1, 1), LAYER(FIRST, 0, NONE, NONE, NONE), SAME(0),
   gather,
   NO_ATTRS)
OP(TransposeMatMul, SINCE(1), IN(2, 2), OUT(1, 1), LAYER(BOTH, 1, NONE, LAST, LAST), SAME(0),
   fused_matmul,
   ATTRS(A(FLOAT, alpha), A(INT, transA), A(INT, transB)))
OP(Trilu, SINCE(1), IN(1, 2), OUT(1, 1), DATA(FIRST), SAME(0), same, ATTRS(A(INT, upper)))
OP(UnfoldTensor, SINCE(1), IN(1, 1), OUT(1, 1), NO_DATA, SAME(0), none,
   ATTRS(A(INT, dim), NEED(INT, size), A(INT, step)))
OP(Unique, SINCE(1), IN(1, 1), OUT(3, 3), NO_DATA, EACH("0 int64 int64"), none, NO_ATTRS)
OP(VarlenCausalConvWithState, SINCE(1), IN_BUT(5, 6, SLOT(3)), OUT(2, 3), LAYER(FIRST, 1, 2, 0, 1), SAME(0),
   none,
   ATTRS(A(STRING, activation), A(INT, dilation), A(INT, state_update_capacity)))
OP(VarlenNGramHashMapping, SINCE(1), IN(4, 10), OUT(1, 4), NO_DATA, EACH("0 0 3 0"), none,
   ATTRS(NEED(INT, max_ngram_size), NEED(INT, n_head_per_ngram), NEED(INT, pad_id),
         A(INT, reset_on_eos), A(INT, state_update_capacity)))
OP(WhisperBeamSearch, SINCE(1), IN_BUT(5, 15, SLOT(2)), OUT(1, 5), NO_DATA,
   EACH("1 5|float 5|float float 5|float"), none,
   ATTRS(A(INT, beginning_timestamp_token_id), NEED(GRAPH, decoder),
         A(INT, decoder_output_cross_qk), A(INT, decoder_start_token_id), A(INT, early_stopping),
         A(GRAPH, encoder), NEED(INT, eos_token_id), A(GRAPH, init_decoder), A(INT, model_type),
         A(INT, no_repeat_ngram_size), A(INT, no_speech_token_id), A(INT, no_timestamps_token_id),
         NEED(INT, pad_token_id), A(INT, start_of_lm_token_id), A(INT, transcribe_token_id),
         A(INT, translate_token_id), A(INT, vocab_size)))
OP(WordConvEmbedding, SINCE(1), IN(4, 4), OUT(1, 1), NO_DATA, SAME(1), none,
   ATTRS(A(INT, char_embedding_size), A(INT, conv_window_size), A(INT, embedding_size)))
