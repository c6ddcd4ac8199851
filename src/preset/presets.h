/* The rows of presets.c, one a file. */
#ifndef BY_PRESETS_H
#define BY_PRESETS_H

#include "preset/preset.h"

extern const struct by_preset by_preset_xint8, by_preset_vint8, by_preset_a8w8, by_preset_a16w8,
    by_preset_s8s8_aaws, by_preset_u8s8_aaws, by_preset_u8u8_aawa, by_preset_s16s8_asws,
    by_preset_u16s8_aaws, by_preset_int8_cnn, by_preset_int16_cnn, by_preset_int8_transformer,
    by_preset_int16_transformer, by_preset_uint8_dynamic, by_preset_matmul_nbits,
    by_preset_s16s16_mixed;
/* In floats.c. */
extern const struct by_preset by_preset_fp16, by_preset_bf16;
/* In floats_mixed.c. */
extern const struct by_preset by_preset_bf16_bfp16, by_preset_bf16_mxint8, by_preset_mx9_int8,
    by_preset_bf16_mixed_bfp16, by_preset_bf16_mixed_mxint8;
/* In blocks.c. */
extern const struct by_preset by_preset_bfp16, by_preset_mx4, by_preset_mx6, by_preset_mx9,
    by_preset_mxfp8_e5m2, by_preset_mxfp8_e4m3, by_preset_mxfp6_e3m2, by_preset_mxfp6_e2m3,
    by_preset_mxfp4_e2m1, by_preset_mxint8;
/* In solved.c and accurate.c. */
extern const struct by_preset by_preset_xint8_adaround, by_preset_a8w8_adaround,
    by_preset_a16w8_adaround, by_preset_s8s8_aaws_adaround, by_preset_u8s8_aaws_adaround,
    by_preset_s16s8_asws_adaround, by_preset_u16s8_aaws_adaround, by_preset_xint8_adaquant,
    by_preset_a8w8_adaquant, by_preset_a16w8_adaquant, by_preset_s8s8_aaws_adaquant,
    by_preset_u8s8_aaws_adaquant, by_preset_s16s8_asws_adaquant, by_preset_u16s8_aaws_adaquant,
    by_preset_int8_cnn_accurate, by_preset_int16_cnn_accurate, by_preset_int8_transformer_accurate,
    by_preset_int16_transformer_accurate;
extern const struct by_preset by_preset_fp16_adaquant, by_preset_bf16_adaquant,
    by_preset_bfp16_adaquant, by_preset_mx4_adaquant, by_preset_mx6_adaquant,
    by_preset_mx9_adaquant, by_preset_mxfp8_e5m2_adaquant, by_preset_mxfp8_e4m3_adaquant,
    by_preset_mxfp6_e3m2_adaquant, by_preset_mxfp6_e2m3_adaquant, by_preset_mxfp4_e2m1_adaquant,
    by_preset_mxint8_adaquant, by_preset_bf16_mixed_bfp16_adaquant,
    by_preset_bf16_mixed_mxint8_adaquant;

#endif
