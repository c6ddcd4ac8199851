/* Formats whose elements share an exponent, of activations and weights alike. */
#include "preset/presets.h"

#define BLOCKS(type, title, text)                                                                  \
    static const struct by_preset_value type##_values[] = {                                        \
        {"activation", #type},                                                                     \
        {"weight", #type},                                                                         \
        {"keep-float-weights", "true"},                                                            \
        {"operators", "npu"},                                                                      \
        {"hardware", "extended"},                                                                  \
        {"keep-unquantized-chains", "true"},                                                       \
        {0},                                                                                       \
    };                                                                                             \
    const struct by_preset by_preset_##type = {                                                    \
        .name = title,                                                                             \
        .help = "No samples needed: " text,                                                        \
        .values = type##_values,                                                                   \
    }

BLOCKS(bfp16, "BFP16", "8 values with sign and 7 bits share an exponent");
BLOCKS(mx4, "MX4", "micro-exponents, 4 bits per value");
BLOCKS(mx6, "MX6", "micro-exponents, 6 bits per value");
BLOCKS(mx9, "MX9", "micro-exponents, 9 bits per value");
BLOCKS(mxfp8_e5m2, "MXFP8E5M2", "OCP MX with elements of fp8_e5m2");
BLOCKS(mxfp8_e4m3, "MXFP8E4M3", "OCP MX with elements of fp8_e4m3");
BLOCKS(mxfp6_e3m2, "MXFP6E3M2", "OCP MX with elements of fp6_e3m2");
BLOCKS(mxfp6_e2m3, "MXFP6E2M3", "OCP MX with elements of fp6_e2m3");
BLOCKS(mxfp4_e2m1, "MXFP4E2M1", "OCP MX with elements of fp4_e2m1");
BLOCKS(mxint8, "MXINT8", "OCP MX with elements of int8");
