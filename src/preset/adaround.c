/* Presets whose rounding is solved on samples, on top of those without. */
#include "preset/presets.h"

static const struct by_preset_value solved[] = {{"rounding", "descent"}, {0}};

#define SOLVED(symbol, plain, title)                                                               \
    const struct by_preset by_preset_##symbol##_adaround = {                                       \
        .name = title "_ADAROUND",                                                                 \
        .help = "As " title ", with rounding solved on samples",                                   \
        .base = &by_preset_##plain,                                                                \
        .values = solved,                                                                          \
    }

SOLVED(xint8, xint8, "XINT8");
SOLVED(a8w8, a8w8, "A8W8");
SOLVED(a16w8, a16w8, "A16W8");
SOLVED(s8s8_aaws, s8s8_aaws, "S8S8_AAWS");
SOLVED(u8s8_aaws, u8s8_aaws, "U8S8_AAWS");
SOLVED(s16s8_asws, s16s8_asws, "S16S8_ASWS");
SOLVED(u16s8_aaws, u16s8_aaws, "U16S8_AAWS");
