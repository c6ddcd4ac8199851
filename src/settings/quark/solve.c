/*
 * Quark's dictionaries of fast fine-tuning, of GPTQ and of mixed precision. The first two say how
 * integers of weights are found: the first trains them, which is solved here, so that most of its
 * keys say how to do something that is not done. These are taken with a notice; where they would
 * give the user something else than asked for, they are refused.
 */
#include "config/nodes.h"
#include "settings/notices.h"
#include "settings/quark/alias.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum key_kind {
    KEY_TAKEN, /* `take` reads it */
    KEY_IDLE,  /* changes nothing: `why` */
    KEY_CPU,   /* the same for anything but the CPU */
    KEY_ONLY,  /* `only` is all that is done here, because of `why` */
};

struct key {
    const char *name;
    enum key_kind kind;
    int (*take)(const struct by_aliasing *at, struct baryon_error *err);
    const char *why, *only;
};

struct keys {
    const struct key *rows;
    size_t count;
};

#define TAKEN(key, function)                                                                       \
    {                                                                                              \
        .name = (key), .kind = KEY_TAKEN, .take = (function)                                       \
    }
#define IDLE(key, reason)                                                                          \
    {                                                                                              \
        .name = (key), .kind = KEY_IDLE, .why = (reason)                                           \
    }
#define CPU(key, reason)                                                                           \
    {                                                                                              \
        .name = (key), .kind = KEY_CPU, .why = (reason)                                            \
    }
#define ONLY(key, value, reason)                                                                   \
    {                                                                                              \
        .name = (key), .kind = KEY_ONLY, .why = (reason), .only = (value)                          \
    }

/* --- Reading keys --- */

/* "perc_damp" is PercDamp: the fields of Quark's classes, and the keys of its dictionaries. */
static bool is_key(const char *text, const char *name)
{
    for (; *text; text++) {
        if (*text == '_')
            continue;
        if (tolower((unsigned char)*text) != tolower((unsigned char)*name))
            return false;
        name++;
    }
    return !*name;
}

static const struct key *find_key(const struct keys *keys, const char *text)
{
    for (size_t i = 0; i < keys->count; i++)
        if (is_key(text, keys->rows[i].name))
            return &keys->rows[i];
    return NULL;
}

static int unknown_solve_key(const struct keys *keys, const struct by_doc_pair *pair,
                             struct baryon_error *err)
{
    const char *names[64] = {0};
    for (size_t i = 0; i < keys->count; i++)
        names[i] = keys->rows[i].name;
    return by_key_unknown(pair, names, err);
}

static bool is_none(const struct by_doc_node *value)
{
    return value->kind == BY_DOC_NULL ||
           (value->kind == BY_DOC_SCALAR && !strcmp(value->text, "None"));
}

static bool is_idle(const struct key *key, const struct by_doc_node *value)
{
    if (key->kind == KEY_CPU)
        return value->kind != BY_DOC_SCALAR || strcmp(value->text, "cpu") != 0;
    return key->kind == KEY_IDLE;
}

static int take_only(const struct key *key, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    double number, wanted;
    const bool numbers = value->kind == BY_DOC_SCALAR && key->only &&
                         by_parse_double(value->text, &number) &&
                         by_parse_double(key->only, &wanted);
    if (numbers && number == wanted)
        return 0;
    by_node_fail(value, err, "%s: must be %s", key->name, key->only ? key->only : "None");
    return by_err_hint(err, "%s", key->why);
}

static int take_key(const struct by_aliasing *at, const struct key *key,
                    const struct by_doc_node *value, struct baryon_error *err)
{
    const struct by_aliasing one = {.config = at->config,
                                    .settings = at->settings,
                                    .name = key->name,
                                    .value = value,
                                    .source = at->source,
                                    .origin = at->origin};
    if (key->kind == KEY_ONLY)
        return take_only(key, value, err);
    return key->kind == KEY_TAKEN ? key->take(&one, err) : 0;
}

/* One notice for all keys with the same reason. */
static int note_idle(const struct by_aliasing *at, const struct keys *keys, const char *why,
                     struct baryon_error *err)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < at->value->count; i++) {
        const struct by_doc_pair *pair = &at->value->pairs[i];
        const struct key *key = find_key(keys, pair->key);
        if (key && key->why == why && !is_none(pair->value) && is_idle(key, pair->value) &&
            used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     key->name);
    }
    return used ? by_alias_note(at, list, why, err) : 0;
}

static int note_all(const struct by_aliasing *at, const struct keys *keys, struct baryon_error *err)
{
    for (size_t i = 0; i < keys->count; i++) {
        size_t first = 0;
        while (keys->rows[first].why != keys->rows[i].why)
            first++;
        if (first == i && keys->rows[i].why && note_idle(at, keys, keys->rows[i].why, err) < 0)
            return -1;
    }
    return 0;
}

static int take_keys(const struct by_aliasing *at, const struct keys *keys,
                     struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of %s, %s, ...", keys->rows[0].name,
                            keys->rows[1].name);
    for (size_t i = 0; i < map->count; i++) {
        const struct key *key = find_key(keys, map->pairs[i].key);
        if (!key)
            return unknown_solve_key(keys, &map->pairs[i], err);
        if (!is_none(map->pairs[i].value) && take_key(at, key, map->pairs[i].value, err) < 0)
            return -1;
    }
    return note_all(at, keys, err);
}

static int set(const struct by_aliasing *at, const char *option, const char *value,
               struct baryon_error *err)
{
    char text[512];
    snprintf(text, sizeof text, "%s=%s", option, value);
    return by_alias_set(at, text, err);
}

static int number_of(const struct by_aliasing *at, double *number, struct baryon_error *err)
{
    if (at->value->kind == BY_DOC_SCALAR && by_parse_double(at->value->text, number))
        return 0;
    return by_node_fail(at->value, err, "%s: expected a number", at->name);
}

/* --- FastFinetune --- */

static int take_algorithm(const struct by_aliasing *at, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *text = at->value->kind == BY_DOC_SCALAR ? at->value->text : "";
    if (is_key(text, "adaround"))
        return by_alias_set(at, "rounding=descent;rounding-scales=false", err);
    at->settings->quark_adaquant = is_key(text, "adaquant");
    if (at->settings->quark_adaquant)
        return by_alias_set(at, "rounding=descent;rounding-scales=true", err);
    return by_node_fail(at->value, err, "%s: %s, must be adaround or adaquant", at->name,
                        by_quote(quoted, text));
}

/* Quark means "all of them" by numbers such as 1e9: no more are taken by that than by default. */
static int take_data_size(const struct by_aliasing *at, struct baryon_error *err)
{
    char text[32];
    double count;
    if (number_of(at, &count, err) < 0)
        return -1;
    if (!(count >= 1))
        return by_node_fail(at->value, err, "%s: %s samples, must be at least 1", at->name,
                            at->value->text);
    if (count >= BY_ROUNDING_SAMPLES)
        return 0;
    snprintf(text, sizeof text, "%lld", (long long)count);
    return set(at, "?rounding-samples", text, err);
}

static int take_target(const struct by_aliasing *at, struct baryon_error *err)
{
    char solved[256] = "", left[256] = "";
    const char **names;
    size_t count, every = 0;
    if (by_node_texts(&at->config->arena, at->value, &names, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const bool can = by_rounding_op(names[i]);
        char *list = can ? solved : left;
        const size_t used = strlen(list);
        every += can;
        snprintf(list + used, sizeof solved - used, "%s%s", used ? "," : "", names[i]);
    }
    if (!every)
        return by_node_fail(at->value, err, "%s: rounding reconstruction supports only %s",
                            at->name, BY_ROUNDING_OPS);
    if (*left && by_alias_note(at, left, "their weights are rounded to nearest", err) < 0)
        return -1;
    return every < BY_ROUNDING_OP_COUNT ? set(at, "?rounding-op-types", solved, err) : 0;
}

static const char trained[] = "rounding reconstruction solves without training";
static const char machine[] = "use --threads, --max-memory and --provider";
static const char judged[] =
    "layers and all outputs of the model are always judged on held-out samples";
static const char biases[] = "biases are always solved together with the weights";
static const char in_front[] = "outputs of layers are compared before their Q/DQ pairs";
static const char in_order[] = "layers are solved one after the other";

static const struct key fast_keys[] = {
    TAKEN("OptimAlgorithm", take_algorithm),
    TAKEN("DataSize", take_data_size),
    TAKEN("TargetOpType", take_target),
    IDLE("BatchSize", trained),
    IDLE("NumBatches", trained),
    IDLE("NumIterations", trained),
    IDLE("LearningRate", trained),
    IDLE("LRAdjust", trained),
    IDLE("EarlyStop", trained),
    IDLE("RegParam", trained),
    IDLE("BetaRange", trained),
    IDLE("WarmStart", trained),
    IDLE("FixedSeed", trained),
    IDLE("LogPeriod", trained),
    CPU("OptimDevice", machine),
    CPU("InferDevice", machine),
    IDLE("MemOptLevel", machine),
    IDLE("CacheDir", machine),
    IDLE("SelectMaxMemLayer", machine),
    IDLE("NumWorkers", machine),
    IDLE("PinMemory", machine),
    IDLE("UseGDS", machine),
    IDLE("DynamicBatch", machine),
    IDLE("SelectiveUpdate", judged),
    IDLE("OutputIndex", judged),
    IDLE("UpdateBias", biases),
    IDLE("OutputQDQ", in_front),
    IDLE("Parallel", in_order),
    ONLY("DropRatio", "1", "layers are solved on their inputs in the quantized model"),
    ONLY("RefModelPath", NULL, "the float model provides the target outputs of layers"),
};

static const struct keys all_fast_keys = {fast_keys, sizeof fast_keys / sizeof *fast_keys};

int by_alias_finetune(const struct by_aliasing *at, struct baryon_error *err)
{
    if (by_alias_set(at, "rounding=descent", err) < 0)
        return -1;
    return take_keys(at, &all_fast_keys, err);
}

void by_alias_show_finetune(const struct by_recipe_settings *settings, struct by_str *out)
{
    struct by_tensor_spec weight = {0};
    by_spec_set_type(&weight, settings->weight);
    if (settings->rounding == BY_ROUNDING_DESCENT)
        by_str_printf(out, "{\"OptimAlgorithm\": \"%s\"}",
                      settings->rounding_scales || weight.format ? "adaquant" : "adaround");
}

/* --- GPTQParams --- */

static int take_bits(const struct by_aliasing *at, struct baryon_error *err)
{
    double bits;
    if (number_of(at, &bits, err) < 0)
        return -1;
    if (bits == 8)
        return by_alias_set(at, "?weight=int8", err);
    if (bits == 4)
        return by_alias_set(at, "weight=int4", err);
    if (bits == 3)
        return by_alias_set(at, "weight=int3", err);
    if (bits == 2)
        return by_alias_set(at, "weight=int2", err);
    return by_node_fail(at->value, err, "%s: must be 2, 3, 4 or 8", at->name);
}

static int take_group_size(const struct by_aliasing *at, struct baryon_error *err)
{
    double size;
    if (number_of(at, &size, err) < 0)
        return -1;
    if (size == -1)
        return 0;
    if (by_alias_set(at, "weight-granularity=group", err) < 0)
        return -1;
    return set(at, "group-size", at->value->text, err);
}

static int take_damping(const struct by_aliasing *at, struct baryon_error *err)
{
    double share;
    if (number_of(at, &share, err) < 0)
        return -1;
    return set(at, "?rounding-damping", at->value->text, err);
}

static int take_switch(const struct by_aliasing *at, const char *on, const char *off,
                       struct baryon_error *err)
{
    bool flag;
    if (by_node_flag(at->value, &flag, err) < 0)
        return -1;
    return by_alias_set(at, flag ? on : off, err);
}

static int take_per_channel(const struct by_aliasing *at, struct baryon_error *err)
{
    return take_switch(at, "weight-granularity=channel", NULL, err);
}

static int take_symmetric(const struct by_aliasing *at, struct baryon_error *err)
{
    return take_switch(at, NULL, "weight-symmetric=false", err);
}

static int take_mse(const struct by_aliasing *at, struct baryon_error *err)
{
    return take_switch(at, "weight-method=minmse", NULL, err);
}

static const char columns[] =
    "the integers do not depend on the block size, and columns of large inputs always come first";

static const struct key gptq_keys[] = {
    TAKEN("Bits", take_bits),        TAKEN("GroupSize", take_group_size),
    TAKEN("PercDamp", take_damping), TAKEN("PerChannel", take_per_channel),
    TAKEN("MSE", take_mse),          TAKEN("WeightSymmetric", take_symmetric),
    IDLE("BlockSize", columns),      IDLE("ActOrder", columns),
};

static const struct keys all_gptq_keys = {gptq_keys, sizeof gptq_keys / sizeof *gptq_keys};

/* Options that the keys set. */
static const char *const gptq_options[] = {"weight",        "weight-granularity",
                                           "group-size",    "rounding-damping",
                                           "weight-method", "weight-symmetric"};
#define GPTQ_OPTIONS (sizeof gptq_options / sizeof *gptq_options)

int by_alias_gptq(const struct by_aliasing *at, struct baryon_error *err)
{
    bool before[GPTQ_OPTIONS];
    for (size_t i = 0; i < GPTQ_OPTIONS; i++)
        before[i] = by_config_given(at->config, gptq_options[i]);
    if (take_keys(at, &all_gptq_keys, err) < 0)
        return -1;
    for (size_t i = 0; i < GPTQ_OPTIONS; i++)
        if (!before[i] && by_config_given(at->config, gptq_options[i]))
            at->settings->quark_gptq |= 1u << i;
    return 0;
}

int by_alias_settle_gptq(struct by_config *config, struct by_recipe_settings *settings,
                         struct baryon_error *err)
{
    if (!settings->quark_gptq || settings->rounding == BY_ROUNDING_GPTQ)
        return 0;
    for (size_t i = 0; i < GPTQ_OPTIONS; i++) {
        const struct by_option *option = by_config_find(config, gptq_options[i]);
        if (settings->quark_gptq >> i & 1 && by_config_reset(config, option, err) < 0)
            return -1;
    }
    return by_settings_note(config, settings, err, "GPTQParams has no effect: UseGPTQ is not set");
}

/* --- AutoMixprecision --- */

static const char *mixed_type(const struct by_doc_node *value)
{
    static const char *const types[] = {"int8", "bfp16", "mxint8"};
    const char *text = value->kind == BY_DOC_SCALAR ? value->text : "";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_key(text, types[i]))
            return types[i];
    return is_key(text, "bfp") ? "bfp16" : is_key(text, "mx") ? "mxint8" : NULL;
}

static int set_mixed(const struct by_aliasing *at, const struct by_doc_node *value,
                     const char **type, struct baryon_error *err)
{
    const char *found = mixed_type(value);
    if (!found || (*type && strcmp(*type, found) != 0)) {
        by_node_fail(value, err, "%s: must be one type for inputs and weights: Int8, BFP16, MXInt8",
                     at->name);
        return by_err_hint(err, "rules (nodes:, op_types:) give single layers other types");
    }
    *type = found;
    return set(at, "mixed", found, err);
}

/* A type, or a map of inputs and weight to it. */
static int take_layer_config(const struct by_aliasing *at, struct baryon_error *err)
{
    const char *type = NULL;
    const struct by_doc_node *map = at->value;
    static const char *const keys[] = {"activation", "input_tensors", "input", "weight", NULL};
    if (map->kind != BY_DOC_MAP)
        return set_mixed(at, map, &type, err);
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (keys[k] && !is_key(map->pairs[i].key, keys[k]))
            k++;
        if (!keys[k])
            return by_key_unknown(&map->pairs[i], keys, err);
        if (!is_none(map->pairs[i].value) && set_mixed(at, map->pairs[i].value, &type, err) < 0)
            return -1;
    }
    return 0;
}

static int take_targets(const struct by_aliasing *at, struct baryon_error *err)
{
    const char **names;
    size_t count, every = 0;
    if (by_node_texts(&at->config->arena, at->value, &names, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        every += by_rounding_op(names[i]);
    if (every == count && (!count || count == BY_ROUNDING_OP_COUNT))
        return 0;
    by_node_fail(at->value, err, "%s: must be %s", at->name, BY_ROUNDING_OPS);
    return by_err_hint(err, "rules (op_types:) give operators another type");
}

/* Quark's SQNR is the less the better, so it comes with a minus. 0 means all layers. */
static int take_threshold(const struct by_aliasing *at, struct baryon_error *err)
{
    char text[32];
    double threshold;
    if (number_of(at, &threshold, err) < 0)
        return -1;
    if (threshold > 0)
        return by_node_fail(at->value, err,
                            "%s: %s, must be 0 for all layers, or minus the SQNR in dB", at->name,
                            at->value->text);
    snprintf(text, sizeof text, "%.17g", -threshold);
    return set(at, "mixed-goal", threshold < 0 ? text : "0", err);
}

/* check_measure() has seen it. */
static int take_metric(const struct by_aliasing *at, struct baryon_error *err)
{
    (void)at, (void)err;
    return 0;
}

static int take_object(const struct by_aliasing *at, struct baryon_error *err)
{
    if (at->value->kind == BY_DOC_SCALAR && is_key(at->value->text, "speed"))
        return 0;
    by_node_fail(at->value, err, "%s: must be speed", at->name);
    return by_err_hint(err, "the search gives as many layers the narrower type as the goal allows; "
                            "--mixed-share limits the others");
}

static int take_dual(const struct by_aliasing *at, struct baryon_error *err)
{
    return take_switch(at, "dual-pairs=true", "dual-pairs=false", err);
}

static const char held_out[] =
    "held-out samples judge: the last quarter of the samples, at most 24";
static const char names_layers[] =
    "give layers their types by rules: nodes: {NAME: {input: int16, weight: int16}}";
static const char measures[] = "the SQNR of all outputs is the measure; 'baryon auto' knows others "
                               "and takes a command (--goal-command)";
static const char shares[] = "a weight that several layers share has one type";

static const struct key mixed_keys[] = {
    TAKEN("TargetLayerConfig", take_layer_config),
    TAKEN("MetricThreshold", take_threshold),
    TAKEN("TargetOpType", take_targets),
    TAKEN("MetricOptimizeObject", take_object),
    TAKEN("DualQuantNodes", take_dual),
    TAKEN("MetricDefault", take_metric),
    IDLE("MetricOutputIndex", measures),
    IDLE("DataSize", held_out),
    IDLE("SensitivityCacheFile", "nothing is kept between runs"),
    IDLE("WorkerNum", machine),
    IDLE("NoInputQDQShared", "a tensor that several layers read has one pair, or --dual-pairs"),
    IDLE("SharedParamMode", shares),
    ONLY("IncludeLayers", NULL, names_layers),
    ONLY("ExcludeLayers", NULL, names_layers),
    ONLY("SubgraphJson", NULL, names_layers),
    ONLY("MetricDistanceFn", NULL, measures),
    ONLY("MetricEvaluateFn", NULL, measures),
};

static const struct keys all_mixed_keys = {mixed_keys, sizeof mixed_keys / sizeof *mixed_keys};

/* A threshold of a measure that is not available would mean something else in dB; without one
 * nothing would be changed. */
static int check_measure(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *metric = NULL, *threshold = NULL;
    double number = 0;
    for (size_t i = 0; i < at->value->count; i++) {
        const struct by_doc_pair *pair = &at->value->pairs[i];
        metric = is_key(pair->key, "MetricDefault") ? pair->value : metric;
        threshold = is_key(pair->key, "MetricThreshold") ? pair->value : threshold;
    }
    if (threshold && is_none(threshold)) {
        by_node_fail(threshold, err, "MetricThreshold: None asks for an analysis alone");
        return by_err_hint(err, "use 'baryon sensitivity --decompose'");
    }
    const bool all = threshold && threshold->kind == BY_DOC_SCALAR &&
                     by_parse_double(threshold->text, &number) && number == 0;
    const struct by_doc_node *place = threshold ? threshold : metric;
    if (all || !place || (metric && metric->kind == BY_DOC_SCALAR && is_key(metric->text, "sqnr")))
        return 0;
    by_node_fail(place, err,
                 threshold ? "MetricThreshold: requires MetricDefault sqnr"
                           : "MetricDefault: must be sqnr");
    return by_err_hint(err, "%s", measures);
}

int by_alias_mixprecision(const struct by_aliasing *at, struct baryon_error *err)
{
    if (at->value->kind == BY_DOC_MAP && check_measure(at, err) < 0)
        return -1;
    return take_keys(at, &all_mixed_keys, err);
}

void by_alias_show_mixed(const struct by_recipe_settings *settings, struct by_str *out)
{
    static const char *const types[] = {
        [BY_MIXED_INT8] = "Int8", [BY_MIXED_BFP16] = "BFP16", [BY_MIXED_MXINT8] = "MXInt8"};
    if (settings->mixed == BY_MIXED_OFF)
        return;
    by_str_printf(out, "{\"TargetLayerConfig\": \"%s\", \"MetricDefault\": \"sqnr\", ",
                  types[settings->mixed]);
    by_str_printf(out, "\"MetricThreshold\": %g}",
                  settings->mixed_goal > 0 ? -settings->mixed_goal : 0);
}

bool by_alias_key(const char *option, size_t place, struct by_alias_key *key)
{
    const struct keys *keys = !strcmp(option, "FastFinetune")       ? &all_fast_keys
                              : !strcmp(option, "GPTQParams")       ? &all_gptq_keys
                              : !strcmp(option, "AutoMixprecision") ? &all_mixed_keys
                                                                    : NULL;
    if (!keys || place >= keys->count)
        return false;
    const struct key *row = &keys->rows[place];
    *key = (struct by_alias_key){
        .name = row->name,
        .idle = row->kind == KEY_IDLE || row->kind == KEY_CPU,
        .only = row->kind != KEY_ONLY ? NULL
                : row->only           ? row->only
                                      : "None",
        .why = row->why,
    };
    return true;
}
