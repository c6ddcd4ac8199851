/* Floats of 8 bits: those of OCP (E4M3 without infinity), and those with one zero and one NaN. */
#include "dtype/family.h"

#include "array/elem.h"

#define ROW(type, elem_, help_, ...)                                                               \
    const struct by_dtype by_dtype_##type = {.name = #type,                                        \
                                             .help = help_,                                        \
                                             .bits = 8,                                            \
                                             .elem = BY_ELEM_##elem_,                              \
                                             .does = &by_family_float,                             \
                                             .element = {__VA_ARGS__}}

ROW(fp8_e4m3, FLOAT8E4M3FN, "4 exponent bits, 3 fraction bits, up to 448, NaN but no infinity", 4,
    3, 7, BY_SPECIAL_NAN);
ROW(fp8_e5m2, FLOAT8E5M2, "5 exponent bits, 2 fraction bits, up to 57344, infinity and NaN", 5, 2,
    15, BY_SPECIAL_IEEE);
ROW(fp8_e4m3fnuz, FLOAT8E4M3FNUZ, "4 exponent bits, 3 fraction bits, up to 240, one zero, one NaN",
    4, 3, 8, BY_SPECIAL_NAN_ZERO);
ROW(fp8_e5m2fnuz, FLOAT8E5M2FNUZ,
    "5 exponent bits, 2 fraction bits, up to 57344, one zero, one NaN", 5, 2, 16,
    BY_SPECIAL_NAN_ZERO);
