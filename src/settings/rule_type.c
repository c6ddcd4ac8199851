/* Types for quantization by our names and by Quark's. */
#include "base/str.h"
#include "config/nodes.h"
#include "ir/tensor.h"
#include "settings/rules.h"

#include <ctype.h>
#include <string.h>

/* "QuantType.QInt8", "Int8" and "int8" are "int8". */
static void plain_type(char *out, size_t size, const char *text)
{
    const char *dot = strrchr(text, '.');
    const char *at = dot ? dot + 1 : text;
    if (*at == 'Q' && isupper((unsigned char)at[1]))
        at++;
    size_t used = 0;
    for (; *at && used + 1 < size; at++)
        out[used++] = (char)tolower((unsigned char)*at);
    out[used] = '\0';
}

static const struct {
    const char *name;
    int64_t type;
} types[] = {
    {"int2", BY_ELEM_INT2},
    {"uint2", BY_ELEM_UINT2},
    {"int3", BY_TYPE_INT3},
    {"uint3", BY_TYPE_UINT3},
    {"int4", BY_ELEM_INT4},
    {"uint4", BY_ELEM_UINT4},
    {"int8", BY_ELEM_INT8},
    {"uint8", BY_ELEM_UINT8},
    {"int16", BY_ELEM_INT16},
    {"uint16", BY_ELEM_UINT16},
    {"int32", BY_ELEM_INT32},
    {"float", BY_ELEM_UNDEFINED},
    {"bf16", BY_ELEM_BFLOAT16},
    {"fp16", BY_ELEM_FLOAT16},
    {"fp8_e4m3", BY_ELEM_FLOAT8E4M3FN},
    {"fp8_e5m2", BY_ELEM_FLOAT8E5M2},
    {"bfp16", BY_TYPE_BFP16},
    {"bfp16_raised", BY_TYPE_BFP16_RAISED},
    {"mx4", BY_TYPE_MX4},
    {"mx6", BY_TYPE_MX6},
    {"mx9", BY_TYPE_MX9},
    {"mxint8", BY_TYPE_MXINT8},
    {"mxfp8_e5m2", BY_TYPE_MXFP8_E5M2},
    {"mxfp8_e4m3", BY_TYPE_MXFP8_E4M3},
    {"mxfp6_e3m2", BY_TYPE_MXFP6_E3M2},
    {"mxfp6_e2m3", BY_TYPE_MXFP6_E2M3},
    {"mxfp4_e2m1", BY_TYPE_MXFP4_E2M1},
    {"bfloat16", BY_ELEM_BFLOAT16}, /* Quark's */
    {"float16", BY_ELEM_FLOAT16},
    {"bfp", BY_TYPE_BFP16},
    {"mx", BY_TYPE_MXINT8},
};

#define TYPES     (sizeof types / sizeof *types)
#define OUR_TYPES (TYPES - 4)

static int no_type(const struct by_doc_node *node, const char *plain, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[OUR_TYPES];
    for (size_t i = 0; i < OUR_TYPES; i++)
        names[i] = types[i].name;
    by_node_fail(node, err, "unknown type %s", by_node_kind(node, quoted));
    const char *near = *plain ? by_nearest(plain, names, OUR_TYPES) : NULL;
    return near ? by_err_hint(err, "did you mean '%s'?", near)
                : by_err_hint(err, "use a type of --weight, or float");
}

int by_rule_type(const struct by_doc_node *node, struct by_tensor_spec *spec,
                 struct baryon_error *err)
{
    char plain[32] = "";
    if (node->kind == BY_DOC_SCALAR)
        plain_type(plain, sizeof plain, node->text);
    for (size_t i = 0; i < TYPES; i++)
        if (!strcmp(plain, types[i].name)) {
            by_spec_set_type(spec, types[i].type);
            return 0;
        }
    return no_type(node, plain, err);
}
