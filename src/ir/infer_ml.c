/* Classical machine learning and training: types mostly, and plain shapes. */
#include "ir/infer_internal.h"

#include <string.h>

/* Rows of the input: [N, features], or one row [features]. */
static struct by_extent rows(const struct by_shape *in)
{
    if (!in)
        return by_extent_unknown();
    return in->rank == 1 ? by_extent_of(1) : in->rank ? in->dims[0] : by_extent_unknown();
}

static bool has_attr(const struct baryon_node *node, const char *name)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && (attr->ints.count || attr->floats.count || attr->strings.count || attr->t);
}

int by_infer_array_feature_extractor(struct by_infer *infer, struct baryon_node *node,
                                     struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0), *taken = by_in_shape(node, 1);
    struct by_shape *out;
    if (!in || !in->rank)
        return 0;
    if (in->rank == 1) {
        const struct by_extent dims[] = {by_extent_of(1),
                                         taken ? by_extent_product(taken, 0, taken->rank)
                                               : by_extent_unknown()};
        return by_out_dims(infer, node, 0, dims, 2, err);
    }
    out = by_new_copy(infer, in, err);
    if (!out)
        return -1;
    out->dims[in->rank - 1] =
        taken ? by_extent_product(taken, 0, taken->rank) : by_extent_unknown();
    by_out_shape(node, 0, out);
    return 0;
}

int by_infer_cast_map(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const struct by_extent dims[] = {by_extent_of(1), by_extent_unknown()};
    by_out_elem(node, 0,
                by_attr_text_is(node, "cast_to", "TO_STRING")  ? BY_ELEM_STRING
                : by_attr_text_is(node, "cast_to", "TO_INT64") ? BY_ELEM_INT64
                                                               : BY_ELEM_FLOAT);
    return by_out_dims(infer, node, 0, dims, 2, err);
}

/* Texts to numbers, numbers to texts. */
int by_infer_category_mapper(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const int64_t elem = by_in_elem(node, 0);
    if (elem)
        by_out_elem(node, 0, elem == BY_ELEM_STRING ? BY_ELEM_INT64 : BY_ELEM_STRING);
    return by_infer_same(infer, node, err);
}

/* The elements are the map's values. */
int by_infer_dict_vectorizer(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_fact *map = by_in_fact(infer, node, 0);
    const struct baryon_attribute *texts = by_node_attr(node, "string_vocabulary");
    const struct baryon_attribute *ints = by_node_attr(node, "int64_vocabulary");
    const size_t words = texts ? texts->strings.count : ints ? ints->ints.count : 0;
    const struct by_extent dims[] = {by_extent_of(1), by_extent_of((int64_t)words)};
    if (map && map->kind == BY_KIND_MAP)
        by_out_elem(node, 0, map->elem);
    return by_out_dims(infer, node, 0, dims, 2, err);
}

int by_infer_feature_vectorizer(struct by_infer *infer, struct baryon_node *node,
                                struct baryon_error *err)
{
    const struct by_ints *sizes = by_attr_ints(node, "inputdimensions");
    int64_t sum = sizes && sizes->count ? 0 : -1;
    for (size_t i = 0; sizes && i < sizes->count; i++)
        if (sizes->at[i] < 0 || __builtin_add_overflow(sum, sizes->at[i], &sum))
            return by_infer_fail(node, err, "inputdimensions[%zu] is %lld, must not be negative", i,
                                 (long long)sizes->at[i]);
    const struct by_extent dims[] = {rows(by_in_shape(node, 0)), by_extent_of(sum)};
    return by_out_dims(infer, node, 0, dims, 2, err);
}

int by_infer_label_encoder(struct by_infer *infer, struct baryon_node *node,
                           struct baryon_error *err)
{
    const struct baryon_attribute *tensor = by_node_attr(node, "values_tensor");
    int64_t elem = 0;
    if (tensor && tensor->t)
        elem = tensor->t->data_type;
    else if (has_attr(node, "values_strings"))
        elem = BY_ELEM_STRING;
    else if (has_attr(node, "values_int64s"))
        elem = BY_ELEM_INT64;
    else if (has_attr(node, "values_floats"))
        elem = BY_ELEM_FLOAT;
    else if (has_attr(node, "classes_strings") && by_in_elem(node, 0))
        elem = by_in_elem(node, 0) == BY_ELEM_STRING ? BY_ELEM_INT64 : BY_ELEM_STRING;
    by_out_elem(node, 0, elem);
    return by_infer_same(infer, node, err);
}

/* The label of each row, and its scores. */
int by_infer_ml_classifier(struct by_infer *infer, struct baryon_node *node,
                           struct baryon_error *err)
{
    const struct by_extent dims[] = {rows(by_in_shape(node, 0)), by_extent_unknown()};
    by_out_elem(node, 0, has_attr(node, "classlabels_strings") ? BY_ELEM_STRING : BY_ELEM_INT64);
    by_out_elem(node, 1, BY_ELEM_FLOAT);
    return by_out_dims(infer, node, 0, dims, 1, err) || by_out_dims(infer, node, 1, dims, 2, err)
               ? -1
               : 0;
}

int by_infer_ml_regressor(struct by_infer *infer, struct baryon_node *node,
                          struct baryon_error *err)
{
    const int64_t targets = by_node_int(node, "n_targets", by_node_int(node, "targets", 1));
    const struct by_extent dims[] = {rows(by_in_shape(node, 0)), by_extent_of(targets)};
    return by_out_dims(infer, node, 0, dims, 2, err);
}

/* One axis more, of the categories. */
int by_infer_one_hot_encoder(struct by_infer *infer, struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_shape *in = by_in_shape(node, 0);
    const struct by_ints *ints = by_attr_ints(node, "cats_int64s");
    const struct baryon_attribute *texts = by_node_attr(node, "cats_strings");
    const size_t count = ints && ints->count ? ints->count : texts ? texts->strings.count : 0;
    struct by_extent dims[BY_RANK_MAX + 1];
    if (!in)
        return 0;
    memcpy(dims, in->dims, in->rank * sizeof *dims);
    dims[in->rank] = by_extent_of((int64_t)count);
    return by_out_dims(infer, node, 0, dims, in->rank + 1, err);
}

/* A sequence of maps, which no operator of ours looks into. */
int by_infer_zip_map(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    (void)err;
    by_out_kind(infer, node, 0, BY_KIND_MAP, BY_ELEM_FLOAT, NULL);
    return 0;
}

/*
 * Inputs: rate, count, then groups of as many tensors each: the parameters, their
 * gradients, and what the method remembers. All but the gradients come out again.
 */
int by_infer_optimizer(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    const size_t groups = strcmp(node->op_type, "Adam") == 0 ? 4 : 3;
    const size_t outputs = node->output.count;
    if (node->input.count < 2 || (node->input.count - 2) % groups ||
        outputs != (node->input.count - 2) / groups * (groups - 1))
        return by_infer_fail(node, err,
                             "%zu inputs and %zu outputs, must be 2 and %zu for each "
                             "parameter, and %zu",
                             node->input.count, outputs, groups, groups - 1);
    const size_t each = (node->input.count - 2) / groups;
    for (size_t i = 0; i < outputs; i++) {
        by_out_same(infer, node, i, by_node_in(node, 2 + i + (i >= each ? each : 0)));
        by_out_content(infer, node, i, NULL);
    }
    return 0;
}

/* Gradients have the types and shapes of what they are of. */
int by_infer_gradient(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    (void)err;
    for (size_t i = 0; i < node->output.count; i++) {
        by_out_same(infer, node, i, by_node_in(node, i));
        by_out_content(infer, node, i, NULL);
    }
    return 0;
}
