/* Quark's accurate presets: ranges that leave out a millionth of the values, and rounding that is
 * solved on samples. */
#include "preset/presets.h"

static const struct by_preset_value values[] = {
    {"activation-method", "percentile"},
    {"percentile", "99.9999"},
    {"rounding", "descent"},
    {0},
};

static const struct by_preset_value whole[] = {
    {"activation-method", "percentile"},
    {"percentile", "99.9999"},
    {"moving-average", "false"}, /* of whole ranges alone */
    {"rounding", "descent"},
    {0},
};

#define ACCURATE(symbol, title, text, list)                                                        \
    const struct by_preset by_preset_##symbol##_accurate = {                                       \
        .name = title "_ACCURATE",                                                                 \
        .help = text ", with rounding reconstruction",                                             \
        .base = &by_preset_##symbol,                                                               \
        .values = list,                                                                            \
    }

ACCURATE(int8_cnn, "INT8_CNN",
         "Convolutional networks: uint8 activations, int8 weights per channel", values);
ACCURATE(int16_cnn, "INT16_CNN", "Convolutional networks: uint16 activations, int16 weights",
         values);
ACCURATE(int8_transformer, "INT8_TRANSFORMER",
         "Transformers: matrix products with uint8 activations, int8 weights per channel", whole);
ACCURATE(int16_transformer, "INT16_TRANSFORMER",
         "Transformers: matrix products with uint16 activations, int16 weights", whole);
