/* Quark's options of equalization, of preferences and of channels, whose values mean more than one
 * option of ours, or nothing. */
#include "config/nodes.h"
#include "settings/quark/alias.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(const struct by_doc_node *node)
{
    return node->kind == BY_DOC_SCALAR ? node->text : "";
}

/* --- Cross-layer equalization --- */

int by_alias_cle_steps(const struct by_aliasing *at, struct baryon_error *err)
{
    char set[64];
    int64_t steps;
    if (!by_parse_i64(text_of(at->value), &steps) || steps < -1)
        return by_node_fail(at->value, err,
                            "a whole number from -1 (until nothing moves) up is expected");
    snprintf(set, sizeof set, "cle-steps=%lld", (long long)(steps < 0 ? 0 : steps));
    return by_alias_set(at, set, err);
}

int by_alias_cle_balance(const struct by_aliasing *at, struct baryon_error *err)
{
    return !strcmp(text_of(at->value), "max")
               ? 0
               : by_alias_note(at, NULL,
                               "channels are compared by their greatest weights; Quark "
                               "ignores other methods, too",
                               err);
}

int by_alias_cle_bias(const struct by_aliasing *at, struct baryon_error *err)
{
    return by_alias_note(at, NULL, "factors come from weights alone", err);
}

int by_alias_cle_threshold(const struct by_aliasing *at, struct baryon_error *err)
{
    bool on;
    if (by_node_flag(at->value, &on, err) < 0)
        return -1;
    return on ? 0 : by_alias_set(at, "cle-threshold=0", err);
}

int by_alias_cle_difference(const struct by_aliasing *at, struct baryon_error *err)
{
    return by_alias_note(at, NULL, "rounds end when nothing moves, or by CLESteps", err);
}

/* --- Calibration --- */

/* Of the method Distribution: values are what is normally distributed, or cubes of that. */
int by_alias_scenario(const struct by_aliasing *at, struct baryon_error *err)
{
    size_t count;
    const char *word = text_of(at->value);
    const char *method = by_calibrators(&count)[at->settings->activation_method]->name;
    if (strcmp(word, "same") != 0 && strcmp(word, "p3") != 0)
        return by_node_fail(at->value, err, "expected same or p3");
    if (strcmp(method, "distribution") != 0)
        return by_alias_note(at, word, "it is used only by the method Distribution", err);
    return !strcmp(word, "same")
               ? 0
               : by_config_set(at->config, by_config_find(at->config, "activation-method"),
                               "distribution-p3", NULL, at->source, err);
}

/* --- Preferences --- */

int by_alias_preference(const struct by_aliasing *at, struct baryon_error *err)
{
    const char *word = text_of(at->value);
    /* Where rounding is solved, biases are, too; ranges are searched with all values always. */
    if (!strcmp(word, "accuracy"))
        return by_alias_set(at, "?rounding-biases=true", err);
    if (!strcmp(word, "speed") || !strcmp(word, "resource_efficiency"))
        return by_alias_note(at, word,
                             "calibration stores no activations; --threads and "
                             "--max-memory limit what is used",
                             err);
    return by_node_fail(at->value, err, "accuracy, speed or resource_efficiency is expected");
}

/* --- Channels --- */

static bool is_own_axis(const char *op_type, int64_t axis)
{
    static const struct {
        const char *op_type;
        int64_t axes[3];
    } rows[] = {{"Conv", {0, 0, 0}},
                {"ConvTranspose", {1, 1, 1}},
                {"Gemm", {0, 1, -1}},
                {"MatMul", {1, -1, -1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 3; k++)
            if (!strcmp(op_type, rows[i].op_type) && axis == rows[i].axes[k])
                return true;
    return false;
}

/* {MatMul: 1}: kernels of integers take scales of output channels alone, which are those here. */
int by_alias_channel_axis(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "a map of operators to axes is expected");
    for (size_t i = 0; i < map->count; i++) {
        int64_t axis;
        const struct by_doc_node *value = map->pairs[i].value;
        if (!by_parse_i64(text_of(value), &axis))
            return by_node_fail(value, err, "an axis is a whole number");
        if (!is_own_axis(map->pairs[i].key, axis))
            return by_node_fail(value, err,
                                "%s: scales are those of output channels, which axis %lld is not; "
                                "a rule for the tensor takes another axis",
                                map->pairs[i].key, (long long)axis);
    }
    return 0;
}
