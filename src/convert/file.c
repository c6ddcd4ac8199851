/* Files of passes as Quark's Shapeshifter has them. */
#include "convert/params.h"

#include "base/str.h"
#include "config/nodes.h"

#include <string.h>

struct reading {
    struct by_convert *convert;
    const struct by_log *log;
};

/* --- Which pass --- */

/* Ours may be written with _ for -. */
static bool same_name(const char *key, const char *name)
{
    for (; *key && *name; key++, name++)
        if (*key != *name && !(*key == '_' && *name == '-'))
            return false;
    return *key == *name;
}

static const struct by_pass *find_pass(const char *name)
{
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = 0; i < count; i++)
        if (same_name(name, passes[i]->name))
            return passes[i];
    return NULL;
}

#define NAMES_MAX 256

static int no_such_pass(const char *name, struct baryon_error *err)
{
    const char *names[NAMES_MAX];
    char quoted[BY_QUOTE_MAX];
    size_t rows, passes, count = 0;
    const struct by_convert_row *row = by_convert_rows(&rows);
    const struct by_pass *const *pass = by_passes(&passes);
    for (size_t i = 0; i < rows && count < NAMES_MAX; i++)
        names[count++] = row[i].name;
    for (size_t i = 0; i < passes && count < NAMES_MAX; i++)
        names[count++] = pass[i]->name;
    by_fail(err, BARYON_ERR_USAGE, "unknown pass %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near)
                : by_err_hint(err, "'baryon list passes' lists the passes");
}

/* --- Its parameters --- */

static int take_param(const struct by_convert_row *row, struct by_converting *at,
                      const struct by_doc_pair *pair, struct baryon_error *err)
{
    const char *names[BY_CONVERT_PARAMS_MAX + 1] = {NULL};
    for (size_t i = 0; i < BY_CONVERT_PARAMS_MAX && row->params[i].name; i++) {
        names[i] = row->params[i].name;
        if (strcmp(pair->key, names[i]) == 0)
            return row->params[i].take(at, pair->value, err);
    }
    return by_key_unknown(pair, names, err);
}

static int take_params(const struct by_convert_row *row, struct by_converting *at,
                       const struct by_doc_node *value, struct baryon_error *err)
{
    if (value->kind == BY_DOC_NULL)
        return 0;
    if (value->kind != BY_DOC_MAP)
        return by_node_fail(value, err, "expected a map of parameters");
    for (size_t i = 0; i < value->count; i++)
        if (take_param(row, at, &value->pairs[i], err))
            return -1;
    return 0;
}

static int refuse_row(const struct by_convert_row *row, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_UNSUPPORTED, "%s is not supported, %s", row->name, row->instead);
}

static int switch_row_on(struct by_convert_step *step, const struct by_convert_row *row,
                         struct baryon_error *err)
{
    step->work = row->work;
    for (const char *const *name = row->passes; name && *name; name++)
        if (by_convert_switch_on(step, *name, err))
            return -1;
    return 0;
}

static int take_row(const struct reading *reading, const struct by_convert_row *row,
                    const struct by_doc_pair *pair, struct baryon_error *err)
{
    struct by_converting at = {.convert = reading->convert};
    if (!row->passes && !row->work) {
        refuse_row(row, err);
        return by_err_in(err, "%zu:%zu", pair->line, pair->column);
    }
    if (!(at.step = by_convert_add(reading->convert, pair->key, err)) ||
        take_params(row, &at, pair->value, err))
        return -1;
    if (row->switched && !at.on) {
        by_log(reading->log, BY_LOG_WARNING, "%s: pass %s has no effect without '%s'",
               reading->convert->path, pair->key, row->params[0].name);
        reading->convert->steps.count--;
        return 0;
    }
    return switch_row_on(at.step, row, err);
}

/* One of ours without parameters: nothing, {} or true after its name. */
static int take_plain(const struct reading *reading, const struct by_pass *pass,
                      const struct by_doc_pair *pair, struct baryon_error *err)
{
    bool on = true;
    const struct by_doc_node *value = pair->value;
    if (value->kind == BY_DOC_SCALAR && by_node_flag(value, &on, err))
        return -1;
    if (value->kind == BY_DOC_LIST || (value->kind == BY_DOC_MAP && value->count))
        return by_node_fail(value, err, "the pass has no parameters");
    if (!on)
        return 0;
    struct by_convert_step *step = by_convert_add(reading->convert, pair->key, err);
    return step ? by_convert_switch_on(step, pass->name, err) : -1;
}

static int take_pass(const struct reading *reading, const struct by_doc_pair *pair,
                     struct baryon_error *err)
{
    const struct by_convert_row *row = by_convert_row_find(pair->key);
    const struct by_pass *pass = row ? NULL : find_pass(pair->key);
    if (!row && !pass) {
        no_such_pass(pair->key, err);
        return by_err_in(err, "%zu:%zu", pair->line, pair->column);
    }
    return row ? take_row(reading, row, pair, err) : take_plain(reading, pass, pair, err);
}

/* --- By its name alone --- */

/* What is to be known of it is in its name, or has a value of its own. */
static bool needs_params(const struct by_convert_row *row)
{
    return row->switched && row->params[0].take != by_take_on;
}

int by_convert_add_named(struct by_convert *convert, const char *name, struct baryon_error *err)
{
    const struct by_convert_row *row = by_convert_row_find(name);
    if (!row)
        return no_such_pass(name, err);
    if (!row->passes && !row->work)
        return refuse_row(row, err);
    if (needs_params(row)) {
        by_fail(err, BARYON_ERR_USAGE, "pass %s requires the parameter '%s'", row->name,
                row->params[0].name);
        return by_err_hint(err, "write it in a file of passes");
    }
    struct by_convert_step *step = by_convert_add(convert, row->name, err);
    return step ? switch_row_on(step, row, err) : -1;
}

/* --- The file --- */

static int take_passes(const struct reading *reading, const struct by_doc_node *map,
                       struct baryon_error *err)
{
    if (map->kind != BY_DOC_MAP || !map->count)
        return by_node_fail(map, err, "passes: expected a map of passes to their parameters");
    for (size_t i = 0; i < map->count; i++)
        if (take_pass(reading, &map->pairs[i], err))
            return -1;
    return 0;
}

static int take_path(const struct by_doc_pair *pair, const char **path, struct baryon_error *err)
{
    const struct by_doc_node *value = pair->value;
    if (value->kind != BY_DOC_SCALAR || !*value->text)
        return by_node_fail(value, err, "%s: expected a path", pair->key);
    if (*path)
        return by_node_fail(value, err, "%s: the path of the model is given twice", pair->key);
    *path = value->text;
    return 0;
}

/* The newer form of input_model_path. */
static int take_input(const struct reading *reading, const struct by_doc_node *map,
                      struct baryon_error *err)
{
    static const char *const known[] = {"model_type", "input_model_path", "weights_only",
                                        "map_location", NULL};
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "input_model_config: expected a map");
    for (size_t i = 0; i < map->count; i++) {
        const struct by_doc_pair *pair = &map->pairs[i];
        const bool scalar = pair->value->kind == BY_DOC_SCALAR;
        if (strcmp(pair->key, "input_model_path") == 0) {
            if (take_path(pair, &reading->convert->in, err))
                return -1;
        } else if (strcmp(pair->key, "model_type") == 0) {
            if (!scalar || strcmp(pair->value->text, "onnx") != 0)
                return by_node_fail(pair->value, err, "model_type: must be onnx");
        } else if (strcmp(pair->key, "weights_only") == 0 ||
                   strcmp(pair->key, "map_location") == 0) {
            if (pair->value->kind != BY_DOC_NULL)
                return by_node_fail(pair->value, err, "%s is valid for PyTorch models only",
                                    pair->key);
        } else {
            return by_key_unknown(pair, known, err);
        }
    }
    return 0;
}

static int take_engine(const struct by_doc_node *value, struct baryon_error *err)
{
    if (value->kind == BY_DOC_NULL || (value->kind == BY_DOC_MAP && !value->count))
        return 0;
    return by_node_fail(value, err, "engine: give the output model with output_model_path");
}

static int take_key(const struct reading *reading, const struct by_doc_pair *pair,
                    struct baryon_error *err)
{
    static const char *const known[] = {"input_model_path", "input_model_config", "engine",
                                        "passes",           "output_model_path",  NULL};
    struct by_convert *convert = reading->convert;
    if (strcmp(pair->key, "input_model_path") == 0)
        return take_path(pair, &convert->in, err);
    if (strcmp(pair->key, "output_model_path") == 0)
        return take_path(pair, &convert->out, err);
    if (strcmp(pair->key, "input_model_config") == 0)
        return take_input(reading, pair->value, err);
    if (strcmp(pair->key, "engine") == 0)
        return take_engine(pair->value, err);
    if (strcmp(pair->key, "passes") == 0)
        return take_passes(reading, pair->value, err);
    return by_key_unknown(pair, known, err);
}

/* --- Before quantization --- */

/* What such a file has to say of files, quantize says itself. */
static int take_front_key(const struct reading *reading, const struct by_doc_pair *pair,
                          struct baryon_error *err)
{
    static const char *const known[] = {"passes", "preprocess_passes", "postprocess_passes",
                                        "preprocessed_model_path", NULL};
    if (strcmp(pair->key, known[0]) == 0 || strcmp(pair->key, known[1]) == 0)
        return pair->value->kind == BY_DOC_NULL ? 0 : take_passes(reading, pair->value, err);
    if (strcmp(pair->key, known[2]) == 0) {
        if (pair->value->kind == BY_DOC_NULL ||
            (pair->value->kind == BY_DOC_MAP && !pair->value->count))
            return 0;
        return by_node_fail(pair->value, err,
                            "postprocess_passes: not supported after quantization; run them on the "
                            "written model with 'baryon convert'");
    }
    if (strcmp(pair->key, known[3]) == 0)
        return pair->value->kind == BY_DOC_NULL
                   ? 0
                   : by_node_fail(pair->value, err,
                                  "preprocessed_model_path: the float model is not written; write "
                                  "it with 'baryon convert', or with --dump-passes");
    if (strcmp(pair->key, "input_model_path") == 0 || strcmp(pair->key, "output_model_path") == 0)
        return by_node_fail(pair->value, err,
                            "%s: quantize takes the models from its own arguments; remove it",
                            pair->key);
    return by_key_unknown(pair, known, err);
}

static int take_front(const struct reading *reading, const struct by_doc_node *root,
                      struct baryon_error *err)
{
    if (root->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_USAGE,
                       "a file of passes must be a map of passes, or of preprocess_passes");
    for (size_t i = 0; i < root->count; i++)
        if (take_front_key(reading, &root->pairs[i], err))
            return -1;
    return by_doc_get(root, "passes") || by_doc_get(root, "preprocess_passes")
               ? 0
               : by_fail(err, BARYON_ERR_USAGE, "passes are missing");
}

/* --- The whole --- */

static int take_file(const struct reading *reading, const struct by_doc_node *root,
                     struct baryon_error *err)
{
    if (root->kind != BY_DOC_MAP)
        return by_fail(
            err, BARYON_ERR_USAGE,
            "a file of passes must be a map of input_model_path, passes, output_model_path");
    for (size_t i = 0; i < root->count; i++)
        if (take_key(reading, &root->pairs[i], err))
            return -1;
    return by_doc_get(root, "passes") ? 0 : by_fail(err, BARYON_ERR_USAGE, "passes are missing");
}

typedef int take_fn(const struct reading *reading, const struct by_doc_node *root,
                    struct baryon_error *err);

static int read_as(take_fn *take, struct by_convert *convert, const char *path,
                   const struct by_log *log, struct baryon_error *err)
{
    struct by_doc_node *root;
    const struct reading reading = {convert, log};
    convert->path = path;
    if (by_doc_load(convert->arena, path, &root, err))
        return -1;
    if (take(&reading, root, err) == 0)
        return 0;
    if (err && err->code == BARYON_ERR_USAGE)
        err->code = BARYON_ERR_INPUT;
    return by_err_file(err, path);
}

int by_convert_read(struct by_convert *convert, const char *path, const struct by_log *log,
                    struct baryon_error *err)
{
    return read_as(take_file, convert, path, log, err);
}

int by_convert_read_passes(struct by_convert *convert, const char *path, const struct by_log *log,
                           struct baryon_error *err)
{
    return read_as(take_front, convert, path, log, err);
}
