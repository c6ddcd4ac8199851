/* Presets that are solved on samples, on top of those without: rounding, and scales with it. */
#include "preset/presets.h"

static const struct by_preset_value rounding[] = {{"rounding", "descent"}, {0}};
static const struct by_preset_value scales[] = {
    {"rounding", "descent"}, {"rounding-scales", "true"}, {0}};

#define SOLVED(plain, title)                                                                       \
    const struct by_preset by_preset_##plain##_adaround = {                                        \
        .name = title "_ADAROUND",                                                                 \
        .help = "As " title ", with rounding solved on samples",                                   \
        .base = &by_preset_##plain,                                                                \
        .values = rounding,                                                                        \
    };                                                                                             \
    const struct by_preset by_preset_##plain##_adaquant = {                                        \
        .name = title "_ADAQUANT",                                                                 \
        .help = "As " title ", with rounding and scales solved on samples",                        \
        .base = &by_preset_##plain,                                                                \
        .values = scales,                                                                          \
    }

SOLVED(xint8, "XINT8");
SOLVED(a8w8, "A8W8");
SOLVED(a16w8, "A16W8");
SOLVED(s8s8_aaws, "S8S8_AAWS");
SOLVED(u8s8_aaws, "U8S8_AAWS");
SOLVED(s16s8_asws, "S16S8_ASWS");
SOLVED(u16s8_aaws, "U16S8_AAWS");
