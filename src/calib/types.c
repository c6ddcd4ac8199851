/* The number formats that ranges are chosen for. To add one: a row in both lists. */
#include "calib/calib.h"

#include "ir/tensor.h"

#include <string.h>

static const struct by_calib_type types[] = {
    {"int4", {.qmin = -8, .qmax = 7, .symmetric = true}, 0.5},
    {"uint4", {.qmin = 0, .qmax = 15}, 0.5},
    {"int8", {.qmin = -128, .qmax = 127, .symmetric = true}, 0.5},
    {"uint8", {.qmin = 0, .qmax = 255}, 0.5},
    {"int16", {.qmin = -32768, .qmax = 32767, .symmetric = true}, 0.5},
    {"uint16", {.qmin = 0, .qmax = 65535}, 0.5},
    {"float8e4m3fn", {.is_float = true, .symmetric = true, .value_max = 448}, 16},
    {"float8e5m2", {.is_float = true, .symmetric = true, .value_max = 57344}, 4096},
};

const struct by_choice by_calib_type_names[] = {
    {"int4", 0, "-8 to 7"},           {"uint4", 1, "0 to 15"},          {"int8", 2, "-128 to 127"},
    {"uint8", 3, "0 to 255"},         {"int16", 4, "-32768 to 32767"},  {"uint16", 5, "0 to 65535"},
    {"float8e4m3fn", 6, "up to 448"}, {"float8e5m2", 7, "up to 57344"}, {0},
};

const struct by_calib_type *by_calib_types(size_t *count)
{
    *count = sizeof types / sizeof *types;
    return types;
}

const struct by_calib_type *by_calib_type_find(const char *name)
{
    const char *known = by_elem_name(by_elem_by_name(name));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, known))
            return &types[i];
    return NULL;
}
