/* Checks that a report has the members of docs/design/report.md, of their kinds. */
#include "report/html/shape.h"

#include "base/format.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum kind {
    TEXT,
    NUMBER,
    BOOL,
    TEXTS,
    NUMBERS,
    NUMBER_LISTS,
    NUMBERS_BY_NAME,
    TEXTS_BY_NAME,
    PART,
    PARTS
};

struct member {
    const char *name; /* NULL ends the list */
    enum kind kind;
    const struct member *of; /* of PART and PARTS */
    bool required;
};

static const struct member outcome[] = {
    {"text", TEXT, NULL, true},
    {"goal", TEXT, NULL, false},
    {"quality_db", NUMBER, NULL, false},
    {"low_bits_share", NUMBER, NULL, false},
    {0},
};

static const struct member goal[] = {
    {"metric", TEXT, NULL, true},  {"of", TEXT, NULL, false},
    {"output", TEXT, NULL, false}, {"least", NUMBER, NULL, false},
    {"most", NUMBER, NULL, false}, {"value", NUMBER, NULL, false},
    {"met", BOOL, NULL, false},    {0},
};

static const struct member step[] = {
    {"name", TEXT, NULL, true},
    {"text", TEXT, NULL, false},
    {"state", TEXT, NULL, false},
    {"choose", NUMBERS_BY_NAME, NULL, false},
    {"last", NUMBERS_BY_NAME, NULL, false},
    {"cost", NUMBER, NULL, false},
    {"widths", NUMBERS_BY_NAME, NULL, false},
    {"bytes", NUMBER, NULL, false},
    {"seconds", NUMBER, NULL, false},
    {"config", TEXT, NULL, false},
    {0},
};

static const struct member point[] = {
    {"step", NUMBER, NULL, true},
    {"cost", NUMBER, NULL, true},
    {"quality", NUMBER, NULL, true},
    {0},
};

static const struct member quality_output[] = {
    {"name", TEXT, NULL, true},          {"sqnr_db", NUMBER, NULL, false},
    {"error_db", NUMBER, NULL, false},   {"rows", NUMBER, NULL, false},
    {"same_class", NUMBER, NULL, false}, {"nonfinite", NUMBER, NULL, false},
    {"reshaped", NUMBER, NULL, false},   {0},
};

static const struct member quality[] = {
    {"samples", NUMBER, NULL, false},
    {"which", TEXT, NULL, false},
    {"random", BOOL, NULL, false},
    {"worst_db", NUMBER, NULL, false},
    {"cause", TEXT, NULL, false},
    {"next", TEXT, NULL, false},
    {"unmeasured", TEXT, NULL, false},
    {"outputs", PARTS, quality_output, false},
    {0},
};

static const struct member measured_state[] = {
    {"output", TEXT, NULL, true},        {"passes_db", NUMBER, NULL, false},
    {"weights_db", NUMBER, NULL, false}, {"activations_db", NUMBER, NULL, false},
    {"both_db", NUMBER, NULL, false},    {0},
};

static const struct member measured[] = {
    {"samples", NUMBER, NULL, false},
    {"held_out", BOOL, NULL, false},
    {"cause", TEXT, NULL, false},
    {"unmeasured", TEXT, NULL, false},
    {"states", PARTS, measured_state, false},
    {0},
};

static const struct member score[] = {
    {"output", TEXT, NULL, false},
    {"metric", TEXT, NULL, true},
    {"mean", NUMBER, NULL, false},
    {"worst", NUMBER, NULL, false},
    {"worst_sample", TEXT, NULL, false},
    {"samples", NUMBER, NULL, false},
    {0},
};

static const struct member missed[] = {
    {"output", TEXT, NULL, false},
    {"metric", TEXT, NULL, true},
    {"of", TEXT, NULL, false},
    {"least", NUMBER, NULL, false},
    {"most", NUMBER, NULL, false},
    {"value", NUMBER, NULL, false},
    {0},
};

static const struct member operator_row[] = {
    {"op_type", TEXT, NULL, true},
    {"nodes", NUMBER, NULL, false},
    {"quantized", NUMBER, NULL, false},
    {"multiply_adds", NUMBER, NULL, false},
    {"quantized_multiply_adds", NUMBER, NULL, false},
    {"activations", TEXT, NULL, false},
    {"weights", TEXT, NULL, false},
    {"biases", TEXT, NULL, false},
    {0},
};

static const struct member choice[] = {
    {"choice", TEXT, NULL, false},       {"text", TEXT, NULL, false},
    {"gain_db", NUMBER, NULL, false},    {"samples", NUMBER, NULL, false},
    {"undone", BOOL, NULL, false},       {"tensors", NUMBER, NULL, false},
    {"macs_share", NUMBER, NULL, false}, {0},
};

static const struct member layer[] = {
    {"name", TEXT, NULL, false},
    {"op_type", TEXT, NULL, true},
    {"state", TEXT, NULL, false},
    {"why", TEXT, NULL, false},
    {"multiply_adds", NUMBER, NULL, false},
    {"cost", NUMBER, NULL, false},
    {"activation", TEXT, NULL, false},
    {"weight", TEXT, NULL, false},
    {"inputs", NUMBERS, NULL, false},
    {"outputs", NUMBERS, NULL, false},
    {"weights_db", NUMBER, NULL, false},
    {"input_db", NUMBER, NULL, false},
    {"whole_db", NUMBER, NULL, false},
    {"shift", NUMBER, NULL, false},
    {"nested", BOOL, NULL, false},
    {0},
};

static const struct member histogram[] = {
    {"low", NUMBER, NULL, true},
    {"high", NUMBER, NULL, true},
    {"most", NUMBER, NULL, false},
    {"counts", NUMBERS, NULL, true},
    {0},
};

static const struct member tensor[] = {
    {"name", TEXT, NULL, true},
    {"role", TEXT, NULL, false},
    {"type", TEXT, NULL, false},
    {"why", TEXT, NULL, false},
    {"remarks", TEXT, NULL, false},
    {"shares", TEXT, NULL, false},
    {"scales", NUMBER, NULL, false},
    {"scale", NUMBER, NULL, false},
    {"last_scale", NUMBER, NULL, false},
    {"zero_point", NUMBER, NULL, false},
    {"low", NUMBER, NULL, false},
    {"high", NUMBER, NULL, false},
    {"levels", NUMBERS, NULL, false},
    {"min", NUMBER, NULL, false},
    {"max", NUMBER, NULL, false},
    {"rms", NUMBER, NULL, false},
    {"zeros", NUMBER, NULL, false},
    {"clipped", NUMBER, NULL, false},
    {"alone_db", NUMBER, NULL, false},
    {"whole_db", NUMBER, NULL, false},
    {"readers", NUMBER, NULL, false},
    {"histogram", PART, histogram, false},
    {0},
};

static const struct member picture[] = {
    {"width", NUMBER, NULL, true},   {"height", NUMBER, NULL, true},
    {"shrunk", NUMBER, NULL, false}, {"stretched", BOOL, NULL, false},
    {"png", TEXT, NULL, true},       {0},
};

static const struct member example_input[] = {
    {"name", TEXT, NULL, false},
    {"shape", NUMBERS, NULL, false},
    {"type", TEXT, NULL, false},
    {"min", NUMBER, NULL, false},
    {"max", NUMBER, NULL, false},
    {"mean", NUMBER, NULL, false},
    {"picture", PART, picture, false},
    {"values", NUMBERS, NULL, false},
    {0},
};

static const struct member example_output[] = {
    {"name", TEXT, NULL, true},
    {"shape", NUMBERS, NULL, false},
    {"quality_db", NUMBER, NULL, false},
    {"row", NUMBER, NULL, false},
    {"classes", NUMBER_LISTS, NULL, false},
    {"picture", PART, picture, false},
    {"values", NUMBER_LISTS, NULL, false},
    {0},
};

static const struct member boxes[] = {
    {"outputs", TEXTS, NULL, false},
    {"rule", TEXT, NULL, false},
    {"list", NUMBER_LISTS, NULL, true},
    {0},
};

static const struct member result[] = {
    {"model", TEXT, NULL, true},
    {"outputs", PARTS, example_output, false},
    {"boxes", PART, boxes, false},
    {0},
};

static const struct member example[] = {
    {"sample", TEXT, NULL, false},
    {"index", NUMBER, NULL, false},
    {"rank", TEXT, NULL, false},
    {"quality_db", NUMBER, NULL, false},
    {"inputs", PARTS, example_input, false},
    {"results", PARTS, result, false},
    {0},
};

static const struct member memory[] = {{"peak_bytes", NUMBER, NULL, false}, {0}};

static const struct member notice[] = {
    {"level", TEXT, NULL, false},
    {"text", TEXT, NULL, true},
    {0},
};

static const struct member coverage[] = {
    {"quantized", NUMBER, NULL, false},
    {"float", NUMBER, NULL, false},
    {"multiply_adds", NUMBER, NULL, false},
    {"quantized_multiply_adds", NUMBER, NULL, false},
    {0},
};

static const struct member samples_part[] = {{"count", NUMBER, NULL, false}, {0}};

static const struct member splits[] = {
    {"samples", NUMBER, NULL, false},
    {"calibrate", PART, samples_part, false},
    {"choose", PART, samples_part, false},
    {"last", PART, samples_part, false},
    {0},
};

/* Of language models: a quantization's weights, a search's linear layers. */
static const struct member weight[] = {
    {"name", TEXT, NULL, true},
    {"shape", NUMBERS, NULL, false},
    {"scheme", TEXT, NULL, false},
    {"type", TEXT, NULL, false},
    {"reason", TEXT, NULL, false},
    {"method", TEXT, NULL, false},
    {"bits", NUMBER, NULL, false},
    {"relative_error", NUMBER, NULL, false},
    {"output_error", NUMBER, NULL, false},
    {"nearest_output_error", NUMBER, NULL, false},
    {0},
};

static const struct member linear[] = {
    {"layer", TEXT, NULL, true},
    {"type", TEXT, NULL, false},
    {"bits_per_weight", NUMBER, NULL, false},
    {"predicted_kl", NUMBER, NULL, false},
    {0},
};

static const struct member divergence[] = {
    {"type", TEXT, NULL, false},
    {"bits_per_weight", NUMBER, NULL, false},
    {"kl", NUMBER, NULL, false},
    {"kl_error", NUMBER, NULL, false},
    {"perplexity", NUMBER, NULL, false},
    {"same_top", NUMBER, NULL, false},
    {0},
};

static const struct member report[] = {
    {"report", NUMBER, NULL, true},
    {"command", TEXT, NULL, true},
    {"version", TEXT, NULL, true},
    {"outcome", PART, outcome, true},
    {"model", TEXT, NULL, false},
    {"file", TEXT, NULL, false},
    {"preset", TEXT, NULL, false},
    {"data", TEXT, NULL, false},
    {"random", BOOL, NULL, false},
    {"repeat", TEXT, NULL, false},
    {"bytes_before", NUMBER, NULL, false},
    {"bytes", NUMBER, NULL, false},
    {"samples", NUMBER, NULL, false},
    {"splits", PART, splits, false},
    {"search_seconds", NUMBER, NULL, false},
    {"goals", PARTS, goal, false},
    {"steps", PARTS, step, false},
    {"frontier", PARTS, point, false},
    {"quality", PART, quality, false},
    {"measured", PART, measured, false},
    {"scores", PARTS, score, false},
    {"missed", PARTS, missed, false},
    {"coverage", PART, coverage, false},
    {"operators", PARTS, operator_row, false},
    {"choices", PARTS, choice, false},
    {"layers", PARTS, layer, false},
    {"tensors", PARTS, tensor, false},
    {"bits_per_weight", NUMBER, NULL, false},
    {"reference_perplexity", NUMBER, NULL, false},
    {"chosen", PART, divergence, false},
    {"uniform", PART, divergence, false},
    {"weights", PARTS, weight, false},
    {"linears", PARTS, linear, false},
    {"layers_kl", NUMBERS, NULL, false},
    {"labels", TEXTS_BY_NAME, NULL, false},
    {"examples", PARTS, example, false},
    {"seconds", NUMBERS_BY_NAME, NULL, false},
    {"memory", PART, memory, false},
    {"notices", PARTS, notice, false},
    {0},
};

/* --- Kinds --- */

static bool is_json_bool(const struct by_doc_node *node)
{
    return node->kind == BY_DOC_SCALAR && !node->quoted &&
           (!strcmp(node->text, "true") || !strcmp(node->text, "false"));
}

static bool is_json_number(const struct by_doc_node *node)
{
    return node->kind == BY_DOC_SCALAR && !node->quoted && !is_json_bool(node);
}

static const char *kind_found(const struct by_doc_node *node)
{
    switch (node->kind) {
    case BY_DOC_NULL:
        return *node->text ? "null" : "empty";
    case BY_DOC_LIST:
        return "a list";
    case BY_DOC_MAP:
        return "an object";
    case BY_DOC_SCALAR:
        break;
    }
    return node->quoted ? "a text" : is_json_bool(node) ? "true or false" : "a number";
}

static const char *kind_wanted(enum kind kind)
{
    switch (kind) {
    case TEXT:
        return "a text";
    case NUMBER:
        return "a number";
    case BOOL:
        return "true or false";
    case PART:
    case NUMBERS_BY_NAME:
    case TEXTS_BY_NAME:
        return "an object";
    default:
        return "a list";
    }
}

/* `where` is the member's path; it grows on the way down and is cut again on the way up. */
static int wrong_kind(const struct by_doc_node *node, const struct by_str *where,
                      const char *wanted, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "%s is %s, must be %s", by_quote(quoted, by_str_text(where)),
            kind_found(node), wanted);
    return by_err_in(err, "%zu:%zu", node->line, node->column);
}

static int check_part(const struct by_doc_node *node, const struct member *members,
                      struct by_str *where, struct baryon_error *err);
static int check_kind(const struct by_doc_node *node, enum kind kind, const struct member *of,
                      struct by_str *where, struct baryon_error *err);

static int check_items(const struct by_doc_node *list, enum kind kind, const struct member *of,
                       struct by_str *where, struct baryon_error *err)
{
    size_t size = where->size;
    if (list->kind != BY_DOC_LIST)
        return wrong_kind(list, where, "a list", err);
    for (size_t i = 0; i < list->count; i++) {
        if (kind == NUMBER && is_json_number(list->items[i]))
            continue;
        by_str_printf(where, "[%zu]", i);
        if (check_kind(list->items[i], kind, of, where, err))
            return -1;
        by_str_cut(where, size);
    }
    return 0;
}

static int check_values(const struct by_doc_node *map, enum kind kind, struct by_str *where,
                        struct baryon_error *err)
{
    size_t size = where->size;
    if (map->kind != BY_DOC_MAP)
        return wrong_kind(map, where, "an object", err);
    for (size_t i = 0; i < map->count; i++) {
        if (map->pairs[i].value->kind == BY_DOC_NULL)
            continue;
        by_str_printf(where, ".%s", map->pairs[i].key);
        if (check_kind(map->pairs[i].value, kind, NULL, where, err))
            return -1;
        by_str_cut(where, size);
    }
    return 0;
}

static int check_kind(const struct by_doc_node *node, enum kind kind, const struct member *of,
                      struct by_str *where, struct baryon_error *err)
{
    bool fits = true;
    switch (kind) {
    case PART:
        return check_part(node, of, where, err);
    case PARTS:
        return check_items(node, PART, of, where, err);
    case TEXTS:
        return check_items(node, TEXT, NULL, where, err);
    case NUMBERS:
        return check_items(node, NUMBER, NULL, where, err);
    case NUMBER_LISTS:
        return check_items(node, NUMBERS, NULL, where, err);
    case NUMBERS_BY_NAME:
        return check_values(node, NUMBER, where, err);
    case TEXTS_BY_NAME:
        return check_values(node, TEXT, where, err);
    case TEXT:
        fits = node->kind == BY_DOC_SCALAR && node->quoted;
        break;
    case NUMBER:
        fits = is_json_number(node) || node->kind == BY_DOC_NULL;
        break;
    case BOOL:
        fits = is_json_bool(node);
        break;
    }
    return fits ? 0 : wrong_kind(node, where, kind_wanted(kind), err);
}

static int missing(const struct by_doc_node *map, const struct by_str *where, const char *name,
                   struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (where->size)
        by_fail(err, BARYON_ERR_INPUT, "%s has no member '%s', which is required",
                by_quote(quoted, by_str_text(where)), name);
    else
        by_fail(err, BARYON_ERR_INPUT, "the report has no member '%s', which is required", name);
    by_err_hint(err, "give a file that --report wrote");
    return by_err_in(err, "%zu:%zu", map->line, map->column);
}

static int check_part(const struct by_doc_node *node, const struct member *members,
                      struct by_str *where, struct baryon_error *err)
{
    size_t size = where->size;
    if (node->kind != BY_DOC_MAP)
        return wrong_kind(node, where, "an object", err);
    for (; members->name; members++) {
        const struct by_doc_node *value = by_doc_get(node, members->name);
        if (!value || value->kind == BY_DOC_NULL) {
            if (members->required)
                return missing(node, where, members->name, err);
            continue;
        }
        by_str_printf(where, "%s%s", size ? "." : "", members->name);
        if (check_kind(value, members->kind, members->of, where, err))
            return -1;
        by_str_cut(where, size);
    }
    return 0;
}

static int check_version(const struct by_doc_node *root, struct baryon_error *err)
{
    double version = by_report_number(root, "report");
    const struct by_doc_node *node = by_doc_get(root, "report");
    char buf[BY_DOUBLE_MAX];
    if (isnan(version) || version == BY_REPORT_VERSION)
        return 0; /* a member that is missing or of another kind is found next */
    by_fail(err, BARYON_ERR_UNSUPPORTED, "a report of version %s, must be of version %d",
            by_format_double(buf, version), BY_REPORT_VERSION);
    by_err_hint(err, version > BY_REPORT_VERSION ? "a newer baryon reads it"
                                                 : "write it again with this baryon");
    return by_err_in(err, "%zu:%zu", node->line, node->column);
}

int by_report_check(const struct by_doc_node *root, struct baryon_error *err)
{
    struct by_str where;
    if (root->kind != BY_DOC_MAP) {
        by_fail(err, BARYON_ERR_INPUT, "the text is %s, must be a report", kind_found(root));
        return by_err_hint(err, "give a file that --report wrote");
    }
    if (check_version(root, err))
        return -1;
    by_str_init(&where);
    int status = check_part(root, report, &where, err);
    if (!status)
        status = by_str_error(&where, err);
    by_str_release(&where);
    return status;
}

/* --- Members --- */

const char *by_report_text(const struct by_doc_node *map, const char *key)
{
    const struct by_doc_node *node = by_doc_get(map, key);
    return node && node->kind == BY_DOC_SCALAR && *node->text ? node->text : NULL;
}

double by_report_value(const struct by_doc_node *scalar)
{
    double value = NAN;
    if (scalar && scalar->kind == BY_DOC_SCALAR && !scalar->quoted)
        by_parse_double(scalar->text, &value);
    return value;
}

double by_report_number(const struct by_doc_node *map, const char *key)
{
    return by_report_value(by_doc_get(map, key));
}

bool by_report_is_true(const struct by_doc_node *map, const char *key)
{
    const struct by_doc_node *node = by_doc_get(map, key);
    return node && node->kind == BY_DOC_SCALAR && !node->quoted && !strcmp(node->text, "true");
}

const struct by_doc_node *by_report_filled(const struct by_doc_node *map, const char *key)
{
    const struct by_doc_node *node = by_doc_get(map, key);
    return node && (node->kind == BY_DOC_LIST || node->kind == BY_DOC_MAP) && node->count ? node
                                                                                          : NULL;
}
