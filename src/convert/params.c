/* Parameters of passes, from nodes of a file. */
#include "convert/params.h"

#include "base/str.h"
#include "config/nodes.h"

#include <stdio.h>
#include <string.h>

int by_take_on(struct by_converting *at, const struct by_doc_node *value, struct baryon_error *err)
{
    return by_node_flag(value, &at->on, err);
}

int by_take_opset(struct by_converting *at, const struct by_doc_node *value,
                  struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (value->kind == BY_DOC_SCALAR && by_parse_i64(value->text, &at->step->with.opset) &&
        at->step->with.opset > 0) {
        at->on = true;
        return 0;
    }
    return by_node_fail(value, err, "%s, must be an opset, a whole number such as 17",
                        by_quote(quoted, value->kind == BY_DOC_SCALAR ? value->text : ""));
}

int by_take_no_options(struct by_converting *at, const struct by_doc_node *value,
                       struct baryon_error *err)
{
    (void)at;
    if (value->kind == BY_DOC_NULL || (value->kind == BY_DOC_MAP && !value->count))
        return 0;
    return by_node_fail(value, err, "options of another simplification tool are not supported");
}

static int take_names(struct by_converting *at, const struct by_doc_node *value,
                      struct by_names *names, struct baryon_error *err)
{
    at->on = true;
    if (value->kind == BY_DOC_NULL)
        return 0;
    return by_node_texts(at->convert->arena, value, &names->at, &names->count, err);
}

int by_take_shared(struct by_converting *at, const struct by_doc_node *value,
                   struct baryon_error *err)
{
    return take_names(at, value, &at->step->with.copy_for, err);
}

int by_take_biases(struct by_converting *at, const struct by_doc_node *value,
                   struct baryon_error *err)
{
    return take_names(at, value, &at->step->with.copy_bias_for, err);
}

/* True, or the inputs. */
int by_take_nhwc(struct by_converting *at, const struct by_doc_node *value,
                 struct baryon_error *err)
{
    if (value->kind == BY_DOC_SCALAR && by_node_flag(value, &at->on, NULL) == 0)
        return 0;
    return take_names(at, value, &at->step->with.nhwc, err);
}

static int write_shape(const struct by_doc_pair *pair, struct by_str *text,
                       struct baryon_error *err)
{
    int64_t size;
    if (pair->value->kind != BY_DOC_LIST)
        return by_node_fail(pair->value, err, "expected a list of sizes: [1, 3, 224, 224]");
    by_str_printf(text, "%s%s:[", text->size ? ";" : "", pair->key);
    for (size_t i = 0; i < pair->value->count; i++) {
        const struct by_doc_node *item = pair->value->items[i];
        if (item->kind != BY_DOC_SCALAR || !by_parse_i64(item->text, &size) || size < 0)
            return by_node_fail(item, err, "a size must be a whole number, 0 or more");
        by_str_printf(text, "%s%s", i ? "," : "", item->text);
    }
    by_str_puts(text, "]");
    return 0;
}

int by_take_shapes(struct by_converting *at, const struct by_doc_node *value,
                   struct baryon_error *err)
{
    struct by_str text;
    int failed = 0;
    if (value->kind != BY_DOC_MAP)
        return by_node_fail(value, err, "expected a map of names to sizes");
    by_str_init(&text);
    for (size_t i = 0; !failed && i < value->count; i++)
        failed = write_shape(&value->pairs[i], &text, err);
    if (!failed && !(failed = by_str_error(&text, err)) &&
        !(at->step->with.fix_shapes =
              by_arena_text(at->convert->arena, by_str_text(&text), text.size, err)))
        failed = -1;
    by_str_release(&text);
    at->on = true;
    return failed;
}

/* --- Changes of types --- */

int by_take_regions(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    struct by_span_list spans = {0};
    if (value->kind == BY_DOC_NULL)
        return 0;
    if (by_spans_read(at->convert->arena, value, at->convert->path, true, &spans, err))
        return -1;
    return by_convert_regions(at->convert, at->step, &spans, err);
}

int by_convert_regions(struct by_convert *convert, struct by_convert_step *step,
                       const struct by_span_list *spans, struct baryon_error *err)
{
    struct by_pass_region *regions =
        by_arena_alloc(convert->arena, spans->count + 1, sizeof *regions, err);
    if (!regions)
        return -1;
    for (size_t i = 0; i < spans->count; i++)
        regions[i] = (struct by_pass_region){spans->at[i].starts, spans->at[i].ends,
                                             spans->at[i].start_count, spans->at[i].end_count};
    step->retype.regions = regions;
    step->retype.region_count = spans->count;
    return 0;
}

int by_take_keep_io(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    return by_node_flag(value, &at->step->retype.keep_io, err);
}

int by_take_clamp(struct by_converting *at, const struct by_doc_node *value,
                  struct baryon_error *err)
{
    return by_node_flag(value, &at->step->retype.clamp, err);
}

static int take_patterns(struct by_converting *at, const struct by_doc_node *value,
                         struct by_patterns *patterns, struct baryon_error *err)
{
    const char **texts;
    size_t count;
    if (value->kind == BY_DOC_NULL)
        return 0;
    if (by_node_texts(at->convert->arena, value, &texts, &count, err))
        return -1;
    return by_convert_patterns(at->convert, patterns, texts, count, NULL, err);
}

int by_convert_patterns(struct by_convert *convert, struct by_patterns *patterns,
                        const char *const *texts, size_t count, const char *origin,
                        struct baryon_error *err)
{
    if (by_list_reserve(convert->arena, patterns, count, sizeof *patterns->at, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        patterns->at[patterns->count++] = (struct by_pattern){texts[i], origin};
    return 0;
}

int by_take_only_nodes(struct by_converting *at, const struct by_doc_node *value,
                       struct baryon_error *err)
{
    return take_patterns(at, value, &at->step->nodes, err);
}

int by_take_only_ops(struct by_converting *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    return take_patterns(at, value, &at->step->op_types, err);
}

int by_take_exclude(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    return take_patterns(at, value, &at->step->exclude, err);
}

int by_take_exclude_ops(struct by_converting *at, const struct by_doc_node *value,
                        struct baryon_error *err)
{
    return take_patterns(at, value, &at->step->exclude_op_types, err);
}

int by_take_exclude_spans(struct by_converting *at, const struct by_doc_node *value,
                          struct baryon_error *err)
{
    if (value->kind == BY_DOC_NULL)
        return 0;
    return by_spans_read(at->convert->arena, value, NULL, false, &at->step->exclude_spans, err);
}
