/* Rules from nodes of configuration files, and from short texts. */
#include "settings/rules.h"

#include "base/str.h"
#include "config/nodes.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

static const char *const spec_keys[] = {"type",        "symmetric", "reduce_range", "scale",
                                        "granularity", "group",     "method",       NULL};
static const char *const layer_keys[] = {"activation", "input",         "output",         "weight",
                                         "bias",       "input_tensors", "output_tensors", NULL};
static const char *const tensor_keys[] = {"type",       "symmetric", "reduce_range", "scale",
                                          "zero_point", "axis",      "range",        "granularity",
                                          "group",      "method",    "convert",      NULL};

/* --- One spec --- */

static bool picks_word(const struct by_doc_node *node, const char *const *words, size_t count,
                       size_t *index)
{
    for (*index = 0; node->kind == BY_DOC_SCALAR && *index < count; ++*index)
        if (words[*index] && !strcmp(node->text, words[*index]))
            return true;
    return false;
}

static int read_scale_kind(const struct by_doc_node *node, struct by_change *change,
                           struct baryon_error *err)
{
    static const char *const words[] = {[BY_SCALE_FLOAT32] = "float32",
                                        [BY_SCALE_FLOAT16] = "float16",
                                        [BY_SCALE_POW2] = "pow2",
                                        [BY_SCALE_INT16] = "int16"};
    size_t index;
    if (!picks_word(node, words, 4, &index))
        return by_node_fail(node, err, "scale must be float32, float16, pow2 or int16");
    change->spec.scale = (enum by_scale_type)index;
    change->set |= BY_CHANGE_SCALE;
    return 0;
}

static int read_granularity(const struct by_doc_node *node, struct by_change *change,
                            struct baryon_error *err)
{
    static const char *const words[] = {
        [BY_PER_TENSOR] = "tensor", [BY_PER_CHANNEL] = "channel", [BY_PER_GROUP] = "group"};
    size_t index;
    if (!picks_word(node, words, 3, &index))
        return by_node_fail(node, err, "granularity must be tensor, channel or group");
    change->spec.granularity = (enum by_granularity)index;
    change->set |= BY_CHANGE_GRANULARITY;
    return 0;
}

static int read_group(const struct by_doc_node *node, struct by_change *change,
                      struct baryon_error *err)
{
    int64_t group;
    if (node->kind != BY_DOC_SCALAR || !by_parse_i64(node->text, &group) || group < 2 ||
        group > 1 << 20)
        return by_node_fail(node, err, "group must be a whole number from 2 to 1048576");
    change->spec.group = group;
    change->spec.granularity = BY_PER_GROUP;
    change->set |= BY_CHANGE_GRANULARITY;
    return 0;
}

static int read_method(const struct by_doc_node *node, struct by_change *change,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    change->spec.method = node->kind == BY_DOC_SCALAR ? by_calibrator_find(node->text) : NULL;
    if (!change->spec.method) {
        by_node_fail(node, err, "unknown calibration method %s",
                     node->kind == BY_DOC_SCALAR ? by_quote(quoted, node->text) : "this");
        return by_err_hint(err, "'baryon list methods' lists them");
    }
    if (!change->spec.method->uses) {
        by_node_fail(node, err, "method %s is not for quantizing", change->spec.method->name);
        return by_err_hint(err, "%s", change->spec.method->instead);
    }
    by_calib_defaults(change->spec.method, &change->spec.calib);
    change->set |= BY_CHANGE_METHOD;
    return 0;
}

static int unknown_key(const struct by_doc_pair *pair, const char *const *keys,
                       struct baryon_error *err)
{
    const char *names[32 + BY_METHOD_OPTIONS_MAX];
    size_t count = 0, options;
    const struct by_option *rows = by_method_options(BY_FOR_ACTIVATIONS, &options);
    while (keys[count] && count < 31)
        names[count] = keys[count], count++;
    for (size_t i = 0; i < options; i++)
        names[count++] = rows[i].name;
    names[count] = NULL;
    return by_key_unknown(pair, names, err);
}

static int read_type(const struct by_doc_node *node, struct by_change *change,
                     struct baryon_error *err)
{
    change->set |= BY_CHANGE_ELEM;
    return by_rule_type(node, &change->spec, err);
}

static int read_member(struct by_arena *arena, const struct by_doc_pair *pair, unsigned use,
                       struct by_change *change, struct baryon_error *err)
{
    const struct by_doc_node *value = pair->value;
    const char *key = pair->key;
    if (!strcmp(key, "type"))
        return read_type(value, change, err);
    if (!strcmp(key, "symmetric")) {
        change->set |= BY_CHANGE_SYMMETRIC;
        return by_node_flag(value, &change->spec.symmetric, err);
    }
    if (!strcmp(key, "reduce_range")) {
        change->set |= BY_CHANGE_REDUCE;
        return by_node_flag(value, &change->spec.reduce_range, err);
    }
    if (!strcmp(key, "scale"))
        return read_scale_kind(value, change, err);
    if (!strcmp(key, "granularity"))
        return read_granularity(value, change, err);
    if (!strcmp(key, "group"))
        return read_group(value, change, err);
    if (!strcmp(key, "method"))
        return read_method(value, change, err);
    return by_method_option_find(key) ? by_rule_option(arena, pair, use, change, err)
                                      : unknown_key(pair, spec_keys, err);
}

/* What only makes sense together. */
static int check_spec(const struct by_doc_node *node, const struct by_change *change,
                      struct baryon_error *err)
{
    if ((change->set & BY_CHANGE_GRANULARITY) && change->spec.granularity == BY_PER_GROUP &&
        !change->spec.group)
        return by_node_fail(node, err, "granularity group requires 'group: SIZE'");
    if ((change->set & BY_CHANGE_ELEM) && !change->spec.elem && change->set != BY_CHANGE_ELEM)
        return by_node_fail(node, err, "type float accepts no other parameters");
    if ((change->set & BY_CHANGE_ELEM) && change->spec.format && change->set != BY_CHANGE_ELEM)
        return by_node_fail(node, err, "type %s has no scale and accepts no other parameters",
                            change->spec.format->name);
    return 0;
}

/* Methods come first, since options belong to them. */
static bool is_turn(const char *key, bool first)
{
    const size_t length = strlen(key);
    return (length >= 6 && !strcmp(key + length - 6, "method")) == first;
}

static int read_spec(struct by_arena *arena, const struct by_doc_node *node, unsigned use,
                     struct by_change *change, struct baryon_error *err)
{
    if (node->kind == BY_DOC_SCALAR)
        return read_type(node, change, err);
    if (node->kind != BY_DOC_MAP || !node->count)
        return by_node_fail(node, err, "expected a type, or a map of type, symmetric, scale, ...");
    for (size_t i = 0; i < 2 * node->count; i++) {
        const struct by_doc_pair *pair = &node->pairs[i % node->count];
        if (is_turn(pair->key, i < node->count) && read_member(arena, pair, use, change, err) < 0)
            return -1;
    }
    return check_spec(node, change, err);
}

/* --- Layers --- */

static void merge(struct by_change *change, const struct by_change *more)
{
    by_spec_apply(&change->spec, more);
    change->set |= more->set;
}

/* Changes that a key stands for; the list ends with NULL. */
static bool changes_of(struct by_rule *rule, const char *key, size_t length,
                       struct by_change *changes[3])
{
    const struct {
        const char *key;
        struct by_change *first, *second;
    } rows[] = {{"activation", &rule->input, &rule->output},
                {"input", &rule->input, NULL},
                {"input_tensors", &rule->input, NULL},
                {"output", &rule->output, NULL},
                {"output_tensors", &rule->output, NULL},
                {"weight", &rule->weight, NULL},
                {"bias", &rule->bias, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].key) == length && !strncmp(rows[i].key, key, length)) {
            changes[0] = rows[i].first;
            changes[1] = rows[i].second;
            changes[2] = NULL;
            return true;
        }
    return false;
}

/* "weight: SPEC" or "weight.type: VALUE". */
static int read_layer_part(struct by_arena *arena, struct by_rule *rule,
                           const struct by_doc_pair *pair, struct baryon_error *err)
{
    struct by_change *changes[3], change = {.set = 0};
    const size_t length = strcspn(pair->key, ".");
    if (!changes_of(rule, pair->key, length, changes))
        return by_key_unknown(pair, layer_keys, err);
    struct by_doc_pair member = *pair;
    member.key = pair->key + length + (pair->key[length] == '.');
    /* An option of a method needs to see the method that stood before it. */
    change.spec.method = changes[0]->spec.method;
    change.spec.calib = changes[0]->spec.calib;
    const bool constant = changes[0] == &rule->weight || changes[0] == &rule->bias;
    const unsigned use = constant ? BY_FOR_WEIGHTS : BY_FOR_ACTIVATIONS;
    const int status = *member.key ? read_member(arena, &member, use, &change, err)
                                   : read_spec(arena, pair->value, use, &change, err);
    if (status < 0)
        return -1;
    for (size_t i = 0; changes[i]; i++)
        merge(changes[i], &change);
    return 0;
}

/* Unsigned weights have a zero point unless symmetry is asked for. */
static void settle_symmetry(struct by_change *change)
{
    if (!(change->set & BY_CHANGE_ELEM) || (change->set & BY_CHANGE_SYMMETRIC))
        return;
    if (by_spec_is_unsigned(&change->spec)) {
        change->spec.symmetric = false;
        change->set |= BY_CHANGE_SYMMETRIC;
    }
}

static int read_layer(struct by_arena *arena, struct by_rule *rule, const struct by_doc_node *node,
                      struct baryon_error *err)
{
    if (node->kind == BY_DOC_SCALAR && !strcmp(node->text, "float")) {
        rule->keep_float = true;
        return 0;
    }
    if (node->kind != BY_DOC_MAP || !node->count)
        return by_node_fail(node, err,
                            "expected 'float', or a map of activation, weight, bias, ...");
    for (size_t i = 0; i < 2 * node->count; i++) {
        const struct by_doc_pair *pair = &node->pairs[i % node->count];
        if (is_turn(pair->key, i < node->count) && read_layer_part(arena, rule, pair, err) < 0)
            return -1;
    }
    const struct by_change *const all[] = {&rule->input, &rule->output, &rule->weight, &rule->bias};
    for (size_t i = 0; i < 4; i++)
        if (check_spec(node, all[i], err) < 0)
            return -1;
    settle_symmetry(&rule->weight);
    settle_symmetry(&rule->bias);
    return 0;
}

/* --- Tensors --- */

static int read_range(struct by_arena *arena, struct by_rule *rule, const struct by_doc_node *node,
                      struct baryon_error *err)
{
    char low[64];
    double *numbers;
    size_t count;
    const char *mark = node->kind == BY_DOC_SCALAR ? strchr(node->text, ':') : NULL;
    if (mark && (size_t)(mark - node->text) < sizeof low) {
        memcpy(low, node->text, (size_t)(mark - node->text));
        low[mark - node->text] = '\0';
        rule->has_range =
            by_parse_double(low, &rule->range[0]) && by_parse_double(mark + 1, &rule->range[1]);
    } else if (node->kind == BY_DOC_LIST && node->count == 2) {
        if (by_node_numbers(arena, node, &numbers, &count, err) < 0)
            return -1;
        memcpy(rule->range, numbers, sizeof rule->range);
        rule->has_range = true;
    }
    if (!rule->has_range || !isfinite(rule->range[0]) || !isfinite(rule->range[1]) ||
        !(rule->range[0] < rule->range[1]))
        return by_node_fail(node, err, "range must be [LOW, HIGH] with LOW below HIGH");
    return 0;
}

static bool is_number(const struct by_doc_node *node)
{
    double number;
    return node->kind == BY_DOC_LIST ||
           (node->kind == BY_DOC_SCALAR && by_parse_double(node->text, &number));
}

static int read_scales(struct by_arena *arena, struct by_rule *rule, const struct by_doc_node *node,
                       struct baryon_error *err)
{
    double *scales;
    if (by_node_numbers(arena, node, &scales, &rule->param_count, err) < 0)
        return -1;
    for (size_t i = 0; i < rule->param_count; i++)
        if (!((float)scales[i] > 0) || !isfinite((float)scales[i]))
            return by_node_fail(node, err, "scale must be a positive float32 number");
    rule->scales = scales;
    return 0;
}

static int read_zeros(struct by_arena *arena, const struct by_doc_node *node, int64_t **zeros,
                      size_t *count, struct baryon_error *err)
{
    double *numbers;
    if (by_node_numbers(arena, node, &numbers, count, err) < 0)
        return -1;
    *zeros = by_arena_alloc(arena, *count, sizeof **zeros, err);
    for (size_t i = 0; *zeros && i < *count; i++) {
        (*zeros)[i] = (int64_t)numbers[i];
        if (fabs(numbers[i]) > 1e9 || (double)(*zeros)[i] != numbers[i])
            return by_node_fail(node, err, "zero_point must be a whole number of the type");
    }
    return *zeros ? 0 : -1;
}

static int read_axis(struct by_rule *rule, const struct by_doc_node *node, struct baryon_error *err)
{
    int64_t axis;
    if (node->kind != BY_DOC_SCALAR || !by_parse_i64(node->text, &axis) || axis < 0 ||
        axis >= BY_RANK_MAX)
        return by_node_fail(node, err, "axis must be a whole number from 0 to %d", BY_RANK_MAX - 1);
    rule->axis = (int)axis;
    return 0;
}

/* What the pairs of a tensor's rule leave to be put together. */
struct tensor_rule {
    int64_t *zeros;
    size_t zero_count;
    bool has_axis;
};

static int read_conversion_nodes(struct by_arena *arena, struct by_conversion *convert,
                                 const struct by_doc_node *node, const char *origin,
                                 struct baryon_error *err)
{
    const char **names;
    size_t count;
    if (by_node_texts(arena, node, &names, &count, err) < 0 ||
        by_list_reserve(arena, &convert->nodes, count, sizeof *convert->nodes.at, err) < 0)
        return -1;
    if (!count)
        return by_node_fail(node, err, "nodes is empty; leave it out to convert for all nodes");
    for (size_t i = 0; i < count; i++)
        convert->nodes.at[convert->nodes.count++] = (struct by_pattern){names[i], origin};
    return 0;
}

/* A type, or {type: uint8, nodes: [conv1], ...}. */
static int read_conversion(struct by_arena *arena, struct by_rule *rule,
                           const struct by_doc_node *node, struct baryon_error *err)
{
    struct by_conversion *convert = &rule->convert;
    struct by_doc_node spec = *node;
    spec.count = 0;
    if (node->kind == BY_DOC_MAP) {
        spec.pairs = by_arena_alloc(arena, node->count + 1, sizeof *spec.pairs, err);
        if (!spec.pairs)
            return -1;
        for (size_t i = 0; i < node->count; i++)
            if (strcmp(node->pairs[i].key, "nodes") != 0)
                spec.pairs[spec.count++] = node->pairs[i];
            else if (read_conversion_nodes(arena, convert, node->pairs[i].value,
                                           rule->pattern.origin, err) < 0)
                return -1;
    }
    convert->on = true;
    if (node->kind != BY_DOC_MAP || spec.count)
        if (read_spec(arena, &spec, BY_FOR_ACTIVATIONS, &convert->change, err) < 0)
            return -1;
    if (!(convert->change.set & BY_CHANGE_ELEM) || !convert->change.spec.elem)
        return by_node_fail(node, err, "convert requires a type: {type: uint8, nodes: [conv1]}");
    return 0;
}

static int read_tensor_member(struct by_arena *arena, struct by_rule *rule,
                              struct tensor_rule *more, const struct by_doc_pair *pair,
                              struct baryon_error *err)
{
    const struct by_doc_node *value = pair->value;
    if (!strcmp(pair->key, "scale") && is_number(value))
        return read_scales(arena, rule, value, err);
    if (!strcmp(pair->key, "zero_point"))
        return read_zeros(arena, value, &more->zeros, &more->zero_count, err);
    if (!strcmp(pair->key, "range"))
        return read_range(arena, rule, value, err);
    if (!strcmp(pair->key, "convert"))
        return read_conversion(arena, rule, value, err);
    if (!strcmp(pair->key, "axis")) {
        more->has_axis = true;
        return read_axis(rule, value, err);
    }
    for (size_t i = 0; spec_keys[i]; i++)
        if (!strcmp(pair->key, spec_keys[i]))
            return read_member(arena, pair, 0, &rule->input, err);
    return by_method_option_find(pair->key) ? read_member(arena, pair, 0, &rule->input, err)
                                            : unknown_key(pair, tensor_keys, err);
}

static int check_zeros(const struct by_doc_node *node, const struct by_rule *rule,
                       struct baryon_error *err)
{
    char type[32];
    int64_t low, high;
    const struct by_tensor_spec spec = {.elem = rule->input.spec.elem,
                                        .bits = rule->input.spec.bits};
    by_spec_levels(&spec, &low, &high);
    if (rule->param_count && rule->input.spec.format)
        return by_node_fail(node, err, "%s has no scale", rule->input.spec.format->name);
    for (size_t i = 0; spec.elem && i < rule->param_count; i++)
        if (rule->zeros[i] < low || rule->zeros[i] > high)
            return by_node_fail(node, err, "zero point %lld, must be a value of %s",
                                (long long)rule->zeros[i], by_spec_type(&spec, type, sizeof type));
    return 0;
}

static int finish_tensor(struct by_arena *arena, struct by_rule *rule,
                         const struct tensor_rule *more, const struct by_doc_node *node,
                         struct baryon_error *err)
{
    if (more->zeros && !rule->param_count)
        return by_node_fail(node, err, "zero_point requires scale");
    if (rule->param_count && rule->has_range)
        return by_node_fail(node, err, "scale and range are both given, only one is allowed");
    if (rule->param_count && (rule->input.set & BY_CHANGE_METHOD))
        return by_node_fail(node, err, "scale and method are both given, only one is allowed");
    if (rule->has_range && (rule->input.set & BY_CHANGE_METHOD))
        return by_node_fail(node, err, "range and method are both given, only one is allowed");
    if (rule->param_count > 1 && !more->has_axis)
        return by_node_fail(node, err, "%zu scales require axis", rule->param_count);
    if (more->zeros && more->zero_count != rule->param_count)
        return by_node_fail(node, err, "%zu zero points for %zu scales, must be as many",
                            more->zero_count, rule->param_count);
    rule->zeros = more->zeros;
    if (rule->param_count && !rule->zeros)
        rule->zeros = by_arena_alloc(arena, rule->param_count, sizeof *rule->zeros, err);
    if (rule->param_count && !rule->zeros)
        return -1;
    return check_zeros(node, rule, err);
}

static int read_tensor(struct by_arena *arena, struct by_rule *rule, const struct by_doc_node *node,
                       struct baryon_error *err)
{
    struct tensor_rule more = {.zeros = NULL};
    if (node->kind == BY_DOC_SCALAR && !strcmp(node->text, "float")) {
        rule->keep_float = true;
        return 0;
    }
    if (node->kind != BY_DOC_MAP)
        return read_spec(arena, node, 0, &rule->input, err);
    for (size_t i = 0; i < 2 * node->count; i++) {
        const struct by_doc_pair *pair = &node->pairs[i % node->count];
        if (is_turn(pair->key, i < node->count) &&
            read_tensor_member(arena, rule, &more, pair, err) < 0)
            return -1;
    }
    if (check_spec(node, &rule->input, err) < 0)
        return -1;
    return finish_tensor(arena, rule, &more, node, err);
}

/* --- Lists of rules --- */

int by_rule_read(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                 const struct by_doc_node *node, const char *origin, struct by_rule_list *rules,
                 struct baryon_error *err)
{
    if (by_list_reserve(arena, rules, 1, sizeof *rules->at, err) < 0)
        return -1;
    struct by_rule *rule = &rules->at[rules->count];
    *rule = (struct by_rule){.kind = kind, .pattern = {name, origin}};
    const int status = kind == BY_RULE_TENSOR ? read_tensor(arena, rule, node, err)
                                              : read_layer(arena, rule, node, err);
    rules->count += status == 0;
    return status;
}

int by_rules_read(struct by_arena *arena, enum by_rule_kind kind, const struct by_doc_node *map,
                  const char *origin, struct by_rule_list *rules, struct baryon_error *err)
{
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of names to rules");
    for (size_t i = 0; i < map->count; i++)
        if (by_rule_read(arena, kind, map->pairs[i].key, map->pairs[i].value, origin, rules, err) <
            0)
            return -1;
    return 0;
}

static size_t count_spans(const struct by_rule_list *rules)
{
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++)
        count += rules->at[i].span != NULL;
    return count;
}

static int rule_between(struct by_arena *arena, const struct by_doc_node *item, const char *origin,
                        struct by_rule_list *rules, struct baryon_error *err)
{
    struct by_span_list spans = {0};
    if (item->kind != BY_DOC_LIST || item->count != 3)
        return by_node_fail(item, err, "a list of three is expected: [STARTS, ENDS, RULE]");
    if (count_spans(rules) == BY_RULE_SPANS_MAX)
        return by_node_fail(item, err, "at most %d spans can have rules", BY_RULE_SPANS_MAX);
    struct by_doc_node span = *item;
    span.count = 2;
    struct by_doc_node *one[] = {&span};
    const struct by_doc_node list = {.kind = BY_DOC_LIST, .items = one, .count = 1};
    if (by_spans_read(arena, &list, origin, false, &spans, err) < 0 ||
        by_rule_read(arena, BY_RULE_NODE, spans.at[0].starts[0], item->items[2], origin, rules,
                     err) < 0)
        return -1;
    rules->at[rules->count - 1].span = spans.at;
    return 0;
}

int by_rules_between(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                     struct by_rule_list *rules, struct baryon_error *err)
{
    if (list->kind != BY_DOC_LIST)
        return by_node_fail(list, err, "a list of [STARTS, ENDS, RULE] is expected");
    for (size_t i = 0; i < list->count; i++)
        if (rule_between(arena, list->items[i], origin, rules, err) < 0)
            return -1;
    return 0;
}

/* "a:1,b:[2,3]" as "{a: 1,b: [2,3]}". */
static void as_map(struct by_str *out, const char *text)
{
    size_t depth = 0;
    bool key = true;
    by_str_puts(out, "{");
    for (const char *at = text; *at; at++) {
        by_str_add(out, at, 1);
        depth += *at == '[';
        depth -= *at == ']' && depth;
        if (*at == ':' && key)
            by_str_puts(out, " ");
        key = (key && *at != ':') || (*at == ',' && !depth);
    }
    by_str_puts(out, "}");
}

static int parse_text(struct by_arena *arena, const char *text, struct by_doc_node **node,
                      struct baryon_error *err)
{
    struct by_str map;
    by_str_init(&map);
    if (strchr(text, ':') && *text != '{')
        as_map(&map, text);
    else
        by_str_puts(&map, text);
    int status = by_str_error(&map, err);
    if (status == 0)
        status = by_yaml_parse(arena, by_str_text(&map), map.size, "", node, err);
    if (status < 0 && err && err->code == BARYON_ERR_INPUT) {
        char quoted[BY_QUOTE_MAX];
        by_fail(err, BARYON_ERR_USAGE, "%s is not a list of KEY:VALUE", by_quote(quoted, text));
    }
    by_str_release(&map);
    if (status == 0)
        by_node_forget_places(*node);
    return status;
}

int by_rule_parse(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                  const char *text, const char *origin, struct by_rule_list *rules,
                  struct baryon_error *err)
{
    struct by_doc_node *node;
    if (parse_text(arena, text, &node, err) == 0 &&
        by_rule_read(arena, kind, name, node, origin, rules, err) == 0)
        return 0;
    return by_err_in(err, "%s %s", origin, name);
}
