/*
 * Quark's options for floats and blocks. Its attributes say which format a tensor of type QBFP or
 * QMX has; which tensors have these types is known only later, when the preset is there.
 */
#include "config/nodes.h"
#include "settings/notices.h"
#include "settings/quark/alias.h"

#include <stdio.h>
#include <string.h>

/* BF16QDQToCast, EnableVaimlBF16: the latter implies the former and goes further. */
int by_alias_float_form(const struct by_aliasing *at, struct baryon_error *err)
{
    bool flag;
    const bool casts = !strcmp(at->name, "BF16QDQToCast");
    if (by_node_flag(at->value, &flag, err) < 0 || !flag)
        return flag ? 0 : -1;
    if (casts && at->settings->float_form == BY_FLOATS_COMPILER)
        return 0;
    return by_config_set(at->config, by_config_find(at->config, "float-form"),
                         casts ? "cast" : "compiler", NULL, at->source, err);
}

/* --- Attributes --- */

struct attribute {
    const char *name;
    int (*take)(const struct by_aliasing *at, const struct by_doc_node *value,
                struct baryon_error *err);
};

static int number_of(const struct by_doc_node *value, int64_t *number, struct baryon_error *err)
{
    bool flag;
    if (value->kind == BY_DOC_SCALAR && by_parse_i64(value->text, number))
        return 0;
    if (by_node_flag(value, &flag, NULL) < 0)
        return by_node_fail(value, err, "expected a whole number");
    *number = flag;
    return 0;
}

static int set_number(const struct by_aliasing *at, const char *option, int64_t number,
                      struct baryon_error *err)
{
    char set[64];
    snprintf(set, sizeof set, "%s=%lld", option, (long long)number);
    return by_alias_set(at, set, err);
}

static int take_axis(const struct by_aliasing *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    int64_t axis;
    return number_of(value, &axis, err) < 0 ? -1 : set_number(at, "block-axis", axis, err);
}

static int take_size(const struct by_aliasing *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    int64_t size;
    return number_of(value, &size, err) < 0 ? -1 : set_number(at, "block-size", size, err);
}

static int take_ties(const struct by_aliasing *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    static const char *const sets[] = {"block-ties=away", "block-ties=up", "block-ties=even"};
    int64_t mode;
    if (number_of(value, &mode, err) < 0)
        return -1;
    if (mode < 0 || mode > 2)
        return by_node_fail(value, err, "rounding_mode must be 0, 1 or 2");
    return by_alias_set(at, sets[mode], err);
}

static int take_from_bf16(const struct by_aliasing *at, const struct by_doc_node *value,
                          struct baryon_error *err)
{
    int64_t flag;
    if (number_of(value, &flag, err) < 0)
        return -1;
    return by_alias_set(at, flag ? "block-from-bf16=true" : "block-from-bf16=false", err);
}

static int take_bits(const struct by_aliasing *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    int64_t bits;
    if (number_of(value, &bits, err) < 0)
        return -1;
    if (bits != 11 && bits != 13 && bits != 16)
        return by_node_fail(value, err,
                            "bit_width must be 11 (mx4), 13 (mx6) or 16 (mx9 or bfp16)");
    at->settings->quark_block.bits = (int)bits;
    return 0;
}

static int take_raised(const struct by_aliasing *at, const struct by_doc_node *value,
                       struct baryon_error *err)
{
    int64_t flag;
    if (number_of(value, &flag, err) < 0)
        return -1;
    at->settings->quark_block.raised = flag ? 1 : -1;
    return 0;
}

static int take_method(const struct by_aliasing *at, const struct by_doc_node *value,
                       struct baryon_error *err)
{
    const char *text = value->kind == BY_DOC_SCALAR ? value->text : "";
    if (strcmp(text, "to_bfp") != 0 && strcmp(text, "to_bfp_prime") != 0)
        return by_node_fail(value, err, "bfp_method must be to_bfp or to_bfp_prime");
    at->settings->quark_block.method = strcmp(text, "to_bfp") != 0 ? BY_TYPE_MX9 : BY_TYPE_BFP16;
    return 0;
}

/* Formats have pairs that share one bit of shift. */
static int take_sub_size(const struct by_aliasing *at, const struct by_doc_node *value,
                         struct baryon_error *err)
{
    int64_t size;
    (void)at;
    if (number_of(value, &size, err) < 0)
        return -1;
    return size == 2 ? 0 : by_node_fail(value, err, "must be 2");
}

static int take_shifts(const struct by_aliasing *at, const struct by_doc_node *value,
                       struct baryon_error *err)
{
    int64_t bits;
    (void)at;
    if (number_of(value, &bits, err) < 0)
        return -1;
    return bits == 1 ? 0 : by_node_fail(value, err, "must be 1");
}

static int take_element(const struct by_aliasing *at, const struct by_doc_node *value,
                        struct baryon_error *err)
{
    static const char *const names[] = {"int8",     "fp8_e5m2", "fp8_e4m3",
                                        "fp6_e3m2", "fp6_e2m3", "fp4_e2m1"};
    for (int i = 0; value->kind == BY_DOC_SCALAR && i < 6; i++)
        if (!strcmp(value->text, names[i])) {
            at->settings->quark_block.element = BY_TYPE_MXINT8 + i;
            return 0;
        }
    return by_node_fail(
        value, err,
        "element_dtype must be int8, fp8_e5m2, fp8_e4m3, fp6_e3m2, fp6_e2m3 or fp4_e2m1");
}

static int take_attributes(const struct by_aliasing *at, const struct attribute *attributes,
                           size_t count, struct baryon_error *err)
{
    const char *names[16] = {0};
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of attributes");
    for (size_t k = 0; k < count; k++)
        names[k] = attributes[k].name;
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (k < count && strcmp(names[k], map->pairs[i].key) != 0)
            k++;
        if (k == count)
            return by_key_unknown(&map->pairs[i], names, err);
        if (attributes[k].take(at, map->pairs[i].value, err) < 0)
            return -1;
    }
    return 0;
}

int by_alias_bfp(const struct by_aliasing *at, struct baryon_error *err)
{
    static const struct attribute attributes[] = {
        {"bfp_method", take_method},
        {"axis", take_axis},
        {"bit_width", take_bits},
        {"block_size", take_size},
        {"rounding_mode", take_ties},
        {"sub_block_size", take_sub_size},
        {"sub_block_shift_bits", take_shifts},
        {"convert_to_bfloat_before_bfp", take_from_bf16},
        {"use_compiler_version_cpu_kernel", take_raised},
    };
    return take_attributes(at, attributes, sizeof attributes / sizeof *attributes, err);
}

int by_alias_mx(const struct by_aliasing *at, struct baryon_error *err)
{
    static const struct attribute attributes[] = {
        {"element_dtype", take_element},
        {"axis", take_axis},
        {"block_size", take_size},
        {"rounding_mode", take_ties},
    };
    return take_attributes(at, attributes, sizeof attributes / sizeof *attributes, err);
}

/* --- Which format that is --- */

static bool is_bfp(int type)
{
    return type >= BY_TYPE_BFP16 && type <= BY_TYPE_MX9;
}

static int bits_of(int type)
{
    return type == BY_TYPE_MX4 ? 11 : type == BY_TYPE_MX6 ? 13 : 16;
}

/* What is not given stays as the type has it. */
static int settle_bfp(const struct by_recipe_settings *settings, int *type,
                      struct baryon_error *err)
{
    const bool shifts = settings->quark_block.method ? settings->quark_block.method == BY_TYPE_MX9
                                                     : *type >= BY_TYPE_MX4;
    const int bits = settings->quark_block.bits ? settings->quark_block.bits : bits_of(*type);
    const bool raised = settings->quark_block.raised ? settings->quark_block.raised > 0
                                                     : *type == BY_TYPE_BFP16_RAISED;
    if (!shifts && bits != 16)
        return by_fail(err, BARYON_ERR_USAGE,
                       "BFPAttributes: to_bfp requires a bit_width of 16, not %d", bits);
    if (shifts && raised)
        return by_fail(err, BARYON_ERR_USAGE,
                       "BFPAttributes: use_compiler_version_cpu_kernel requires to_bfp");
    *type = shifts   ? bits == 11   ? BY_TYPE_MX4
                       : bits == 13 ? BY_TYPE_MX6
                                    : BY_TYPE_MX9
            : raised ? BY_TYPE_BFP16_RAISED
                     : BY_TYPE_BFP16;
    return 0;
}

int by_alias_settle_blocks(struct by_config *config, struct by_recipe_settings *settings,
                           struct baryon_error *err)
{
    int *const types[] = {&settings->activation, &settings->weight};
    const bool bfp =
        settings->quark_block.method || settings->quark_block.bits || settings->quark_block.raised;
    bool used_bfp = false, used_mx = false;
    for (size_t i = 0; i < 2; i++) {
        if (is_bfp(*types[i]) && bfp && settle_bfp(settings, types[i], err) < 0)
            return -1;
        used_bfp |= is_bfp(*types[i]);
        if (*types[i] < BY_TYPE_MXINT8 || *types[i] >= BY_TYPE_BLOCKS_END)
            continue;
        used_mx = true;
        if (settings->quark_block.element)
            *types[i] = settings->quark_block.element;
    }
    if ((bfp && !used_bfp) || (settings->quark_block.element && !used_mx))
        return by_settings_note(config, settings, err,
                                "%s has no effect: neither activations nor weights are of type %s",
                                bfp && !used_bfp ? "BFPAttributes" : "MXAttributes",
                                bfp && !used_bfp ? "QBFP" : "QMX");
    return 0;
}
