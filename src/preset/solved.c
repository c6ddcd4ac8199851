/* Presets that are solved on samples, on top of those without: rounding, and scales with it. */
#include "preset/presets.h"

static const struct by_preset_value rounding[] = {{"rounding", "descent"}, {0}};
static const struct by_preset_value scales[] = {
    {"rounding", "descent"}, {"rounding-scales", "true"}, {0}};

#define SOLVED(plain, title)                                                                       \
    const struct by_preset by_preset_##plain##_adaround = {                                        \
        .name = title "_ADAROUND",                                                                 \
        .help = "As " title ", with rounding reconstruction",                                      \
        .base = &by_preset_##plain,                                                                \
        .values = rounding,                                                                        \
    };                                                                                             \
    const struct by_preset by_preset_##plain##_adaquant = {                                        \
        .name = title "_ADAQUANT",                                                                 \
        .help = "As " title ", with rounding reconstruction and optimized scales",                 \
        .base = &by_preset_##plain,                                                                \
        .values = scales,                                                                          \
    }

/* Scales of floats and blocks follow from the values. */
#define SOLVED_VALUES(plain, title)                                                                \
    const struct by_preset by_preset_##plain##_adaquant = {                                        \
        .name = title "_ADAQUANT",                                                                 \
        .help = "As " title ", with rounding reconstruction",                                      \
        .base = &by_preset_##plain,                                                                \
        .values = rounding,                                                                        \
    }

SOLVED(xint8, "XINT8");
SOLVED(a8w8, "A8W8");
SOLVED(a16w8, "A16W8");
SOLVED(s8s8_aaws, "S8S8_AAWS");
SOLVED(u8s8_aaws, "U8S8_AAWS");
SOLVED(s16s8_asws, "S16S8_ASWS");
SOLVED(u16s8_aaws, "U16S8_AAWS");
SOLVED_VALUES(fp16, "FP16");
SOLVED_VALUES(bf16, "BF16");
SOLVED_VALUES(bfp16, "BFP16");
SOLVED_VALUES(mx4, "MX4");
SOLVED_VALUES(mx6, "MX6");
SOLVED_VALUES(mx9, "MX9");
SOLVED_VALUES(mxfp8_e5m2, "MXFP8E5M2");
SOLVED_VALUES(mxfp8_e4m3, "MXFP8E4M3");
SOLVED_VALUES(mxfp6_e3m2, "MXFP6E3M2");
SOLVED_VALUES(mxfp6_e2m3, "MXFP6E2M3");
SOLVED_VALUES(mxfp4_e2m1, "MXFP4E2M1");
SOLVED_VALUES(mxint8, "MXINT8");
SOLVED_VALUES(bf16_mixed_bfp16, "BF16_MIXED_BFP16");
SOLVED_VALUES(bf16_mixed_mxint8, "BF16_MIXED_MXINT8");
