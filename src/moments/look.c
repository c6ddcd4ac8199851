/* Adds one sample's input of a layer to its Gram matrix, or counts table rows. */
#include "moments/moments_internal.h"

/* Index i of a row of the table; negative ones count from its end. */
static int64_t index_at(const struct by_array *input, size_t i)
{
    if (input->elem == BY_ELEM_INT64)
        return ((const int64_t *)input->data)[i];
    return ((const int32_t *)input->data)[i];
}

static int count_indices(struct by_moments *moments, const struct by_moments_layer *layer,
                         const struct by_array *input, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    size_t count;
    if (input->elem != BY_ELEM_INT32 && input->elem != BY_ELEM_INT64)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "layer %s: indices of type %s, must be int32 or int64",
                       by_quote(name, layer->name), by_elem_name(input->elem));
    if (by_dims_count(input->dims, input->rank, &count, err))
        return -1;
    for (size_t i = 0; i < count; i++) {
        const int64_t index = index_at(input, i);
        if (index < -layer->columns || index >= layer->columns)
            return by_fail(
                err, BARYON_ERR_INPUT, "layer %s: index %lld, but the table has %lld rows",
                by_quote(name, layer->name), (long long)index, (long long)layer->columns);
    }
    for (size_t i = 0; moments->counts && i < count; i++) {
        const int64_t index = index_at(input, i);
        moments->counts[index < 0 ? index + layer->columns : index]++;
    }
    moments->rows += count;
    moments->samples++;
    return 0;
}

/* The values as floats: where they are, or converted. */
static int float_values(const struct by_moments_layer *layer, struct by_moments_scratch *scratch,
                        const struct by_array *input, const float **values,
                        struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    size_t count;
    *values = input->data;
    if (input->elem == BY_ELEM_FLOAT)
        return 0;
    if (input->elem != BY_ELEM_FLOAT16 && input->elem != BY_ELEM_BFLOAT16 &&
        input->elem != BY_ELEM_DOUBLE)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "layer %s: input of type %s, must be a float type",
                       by_quote(name, layer->name), by_elem_name(input->elem));
    if (by_dims_count(input->dims, input->rank, &count, err) ||
        by_scratch_room(&scratch->values, &scratch->values_room, count, sizeof **values, err) ||
        by_elem_to_floats(input->elem, input->data, 0, count, scratch->values, err))
        return -1;
    *values = scratch->values;
    return 0;
}

static int check_team(const struct by_moments_scratch *scratch, const struct by_team *team,
                      struct baryon_error *err)
{
    if (!team || team->workers <= scratch->room.workers)
        return 0;
    return by_fail(err, BARYON_ERR_INTERNAL, "a team of %u threads, but buffers for %u",
                   team->workers, scratch->room.workers);
}

static bool is_of(const struct by_moments_layer *layer, uint64_t sample)
{
    const bool judges = sample % BY_SHARE_STEP == BY_SHARE_STEP - 1;
    return layer->share == BY_SHARE_ALL || judges == (layer->share == BY_SHARE_JUDGES);
}

int by_moments_look(struct by_moments *moments, const struct by_moments_layer *layer,
                    struct by_moments_scratch *scratch, const struct by_array *input,
                    uint64_t sample, const struct by_team *team, struct baryon_error *err)
{
    struct by_columns columns;
    struct by_moments_rows rows;
    if (!is_of(layer, sample))
        return 0;
    if (layer->kind == BY_LAYER_GATHER)
        return count_indices(moments, layer, input, err);
    if (check_team(scratch, team, err) || by_columns_init(&columns, layer, input, err) ||
        float_values(layer, scratch, input, &columns.values, err))
        return -1;
    if (by_chunk_rows(&scratch->room, &columns, sample, &rows, team, err) ||
        by_moments_add(moments, &columns, &rows, scratch, team, err))
        return -1;
    moments->rows += rows.count;
    moments->nonfinite_rows += rows.left_out;
    moments->samples++;
    return 0;
}
