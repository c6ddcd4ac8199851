/* What the model says about itself: versions, metadata, devices. */
#include "onnx/check_rule.h"
#include "onnx/schema.h"

#include <string.h>

/* --- IR version --- */

static int check_ir_version(struct by_check *check, struct baryon_error *err)
{
    long long version = (long long)check->model->ir_version;
    if (version >= BY_ONNX_IR_MIN && version <= BY_ONNX_IR_MAX)
        return 0;
    if (version == 0)
        by_fail(err, BARYON_ERR_INPUT, "no IR version is given, must be %d to %d", BY_ONNX_IR_MIN,
                BY_ONNX_IR_MAX);
    else
        by_fail(err, version < 0 ? BARYON_ERR_INPUT : BARYON_ERR_UNSUPPORTED,
                "IR version %lld, must be %d to %d", version, BY_ONNX_IR_MIN, BY_ONNX_IR_MAX);
    if (version > BY_ONNX_IR_MAX)
        by_err_hint(err, "save the model for an older version of ONNX");
    by_err_in(err, "ir_version");
    return by_report(check, BY_FINDING_ERROR, &check->model->msg, err);
}

const struct by_model_rule by_rule_ir_version = {.worst = BY_FINDING_ERROR,
                                                 .start = check_ir_version};

/* --- opsets --- */

/* "domain 'ai.onnx'": the domain with the name "" is known by that one. */
static const char *quote_domain(char out[BY_QUOTE_MAX], const char *domain)
{
    return by_quote(out, *by_domain(domain) ? domain : "ai.onnx");
}

static int check_twice(struct by_check *check, const struct by_ptrs *imports,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < imports->count; i++) {
        const struct by_opset *opset = imports->at[i];
        if (!opset)
            continue;
        const struct by_opset *first = by_map_get(check->scope.imports, by_domain(opset->domain));
        if (first == opset)
            continue;
        by_fail(err, BARYON_ERR_INPUT,
                "domain %s is imported twice (opset %lld and %lld), must appear once",
                quote_domain(quoted, opset->domain), (long long)first->version,
                (long long)opset->version);
        by_err_in(err, "opset_import[%zu]", i);
        if (by_report(check,
                      opset->version == first->version ? BY_FINDING_WARNING : BY_FINDING_ERROR,
                      &opset->msg, err))
            return -1;
    }
    return 0;
}

static int check_model_imports(struct by_check *check, struct baryon_error *err)
{
    if (check->model->opset_import.count)
        return check_twice(check, &check->model->opset_import, err);
    by_fail(err, BARYON_ERR_INPUT, "no opset is imported, every domain in use must be imported");
    by_err_in(err, "opset_import");
    return by_report(check, BY_FINDING_ERROR, &check->model->msg, err);
}

static int check_function_imports(struct by_check *check, const struct by_function *function,
                                  struct baryon_error *err)
{
    return check_twice(check, &function->opset_import, err);
}

struct last_missing {
    const char *domain;
    const struct by_function *function; /* NULL: in a graph of the model */
};

/* Once for nodes in a row that lack the same. */
static int check_imported(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    struct last_missing *last = check->state;
    const char *domain = by_domain(node->domain);
    char label[BY_LABEL_MAX], quoted[BY_QUOTE_MAX];
    if (check->node.opset || !check->model->opset_import.count)
        return 0;
    if (last->function == check->scope.function && last->domain && !strcmp(last->domain, domain))
        return 0;
    *last = (struct last_missing){domain, check->scope.function};
    by_fail(err, BARYON_ERR_INPUT, "%s has the domain %s, which is not imported",
            by_check_label(check, node, label), quote_domain(quoted, node->domain));
    by_err_hint(err, "add the domain to opset_import");
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

const struct by_model_rule by_rule_opset_import = {
    .worst = BY_FINDING_ERROR,
    .state_size = sizeof(struct last_missing),
    .start = check_model_imports,
    .function = check_function_imports,
    .node = check_imported,
};

struct opset_range {
    const char *domain;
    int64_t min, max;
};

static const struct opset_range ranges[] = {
    {"", BY_ONNX_OPSET_MIN, BY_ONNX_OPSET_MAX},
    {"ai.onnx.ml", 1, BY_ONNX_ML_OPSET_MAX},
    {"ai.onnx.preview", 1, 1},
    {"ai.onnx.preview.training", 1, 1},
};

static int wrong_version(const struct by_opset *opset, const struct opset_range *range,
                         struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    long long version = (long long)opset->version;
    if (version < 1)
        return by_fail(err, BARYON_ERR_INPUT, "opset %lld of domain %s, must be at least 1",
                       version, quote_domain(quoted, opset->domain));
    by_fail(err, BARYON_ERR_UNSUPPORTED, "opset %lld of domain %s, must be %lld to %lld", version,
            quote_domain(quoted, opset->domain), (long long)range->min, (long long)range->max);
    return by_err_hint(err, version < range->min ? "convert the model with onnx.version_converter"
                                                 : "export the model for an older opset");
}

static int check_versions(struct by_check *check, const struct by_ptrs *imports,
                          struct baryon_error *err)
{
    for (size_t i = 0; i < imports->count; i++) {
        const struct by_opset *opset = imports->at[i];
        struct opset_range range = {"", 1, INT64_MAX};
        if (!opset)
            continue;
        for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
            if (strcmp(ranges[k].domain, by_domain(opset->domain)) == 0)
                range = ranges[k];
        if (opset->version >= range.min && opset->version <= range.max)
            continue;
        wrong_version(opset, &range, err);
        by_err_in(err, "opset_import[%zu]", i);
        if (by_report(check, BY_FINDING_ERROR, &opset->msg, err))
            return -1;
    }
    return 0;
}

static int check_model_versions(struct by_check *check, struct baryon_error *err)
{
    return check_versions(check, &check->model->opset_import, err);
}

static int check_function_versions(struct by_check *check, const struct by_function *function,
                                   struct baryon_error *err)
{
    return check_versions(check, &function->opset_import, err);
}

const struct by_model_rule by_rule_opset_version = {
    .worst = BY_FINDING_ERROR,
    .start = check_model_versions,
    .function = check_function_versions,
};

/* --- metadata --- */

static int check_keys(struct by_check *check, struct by_map *seen, struct baryon_error *err)
{
    const struct by_ptrs *list = &check->model->metadata;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < list->count; i++) {
        struct by_pair *pair = list->at[i];
        const char *key = pair && pair->key ? pair->key : "";
        if (!pair)
            continue;
        if (!by_map_get(seen, key)) {
            if (by_map_put(seen, key, pair, err))
                return -1;
            continue;
        }
        by_fail(err, BARYON_ERR_INPUT, "key %s is given twice, must appear once",
                by_quote(quoted, key));
        by_err_in(err, "metadata_props[%zu]", i);
        if (by_report(check, BY_FINDING_WARNING, &pair->msg, err))
            return -1;
    }
    return 0;
}

static int check_metadata(struct by_check *check, struct baryon_error *err)
{
    struct by_map seen;
    by_map_init(&seen);
    int result = check_keys(check, &seen, err);
    by_map_release(&seen);
    return result;
}

const struct by_model_rule by_rule_metadata = {.worst = BY_FINDING_WARNING,
                                               .start = check_metadata};
