/* Joins pairs of QuantizeLinear and DequantizeLinear. */
#include "engine/pair.h"
#include "ir/graph.h"
#include "ir/tensor.h"

#include <string.h>

struct joining {
    struct baryon_model *model;
    struct baryon_graph *graph;
    struct baryon_node **pairs; /* the first node of each */
    float *table;
    const char *name; /* of the table in the model */
    size_t count, joined;
};

/* --- Scales and zero points --- */

bool by_pair_is_only_constant(const struct baryon_value *value)
{
    return value && value->initializer && !value->is_input;
}

static bool read_floats(const struct baryon_value *value, float *out, size_t count)
{
    struct by_arena arena;
    struct by_span bytes;
    by_arena_init(&arena, 0);
    const bool good =
        by_tensor_bytes(value->initializer, &arena, &bytes, NULL) == 0 &&
        by_elem_to_floats(value->initializer->data_type, bytes.data, 0, count, out, NULL) == 0;
    by_arena_release(&arena);
    return good;
}

size_t by_pair_count_of(const struct baryon_value *value)
{
    size_t count;
    return by_tensor_count(value->initializer, &count, NULL) == 0 ? count : 0;
}

/* Of a tensor, or of its channels; not of blocks. */
bool by_pair_has_plain_params(const struct baryon_node *node)
{
    const struct baryon_value *scale = by_node_in(node, 1), *zero = by_node_in(node, 2);
    if (!by_pair_is_only_constant(scale) || scale->initializer->data_type != BY_ELEM_FLOAT ||
        by_node_int(node, "block_size", 0) || by_node_attr(node, "output_dtype") ||
        by_node_attr(node, "precision"))
        return false;
    return !zero ||
           (by_pair_is_only_constant(zero) && by_pair_count_of(zero) == by_pair_count_of(scale));
}

/* --- Pairs of activations --- */

static bool levels_of(int64_t elem, float *low, float *high)
{
    switch (elem) {
    case BY_ELEM_INT8:
        *low = INT8_MIN;
        *high = INT8_MAX;
        return true;
    case BY_ELEM_UINT8:
        *low = 0;
        *high = UINT8_MAX;
        return true;
    case BY_ELEM_INT16:
        *low = INT16_MIN;
        *high = INT16_MAX;
        return true;
    case BY_ELEM_UINT16:
        *low = 0;
        *high = UINT16_MAX;
        return true;
    default:
        return false;
    }
}

static bool read_row(const struct baryon_node *node, float *row)
{
    const struct baryon_value *zero = by_node_in(node, 2);
    float offset = 0;
    if (!levels_of(zero ? zero->initializer->data_type : BY_ELEM_UINT8, &row[1], &row[2]) ||
        !read_floats(by_node_in(node, 1), &row[0], 1) || (zero && !read_floats(zero, &offset, 1)))
        return false;
    row[1] -= offset;
    row[2] -= offset;
    row[3] = 0;
    return row[0] > 0;
}

static bool same_domain(const struct baryon_node *one, const struct baryon_node *other)
{
    return !strcmp(by_domain(one->domain), by_domain(other->domain));
}

/* All that read the integers make floats of them again, with the same parameters. */
static bool is_read_back(const struct baryon_node *node)
{
    const struct baryon_value *levels = by_node_out(node, 0);
    if (!levels || !levels->use_count || levels->pinned || by_value_is_output(levels) ||
        by_value_is_kept(levels))
        return false;
    for (size_t i = 0; i < levels->use_count; i++) {
        const struct baryon_node *reader = levels->uses[i].node;
        if (!reader || reader->graph != node->graph || !by_node_dequantizes(reader) ||
            !same_domain(node, reader) || levels->uses[i].slot != 0 || !by_node_out(reader, 0) ||
            by_node_in(reader, 1) != by_node_in(node, 1) ||
            by_node_in(reader, 2) != by_node_in(node, 2) || by_node_attr(reader, "output_dtype"))
            return false;
    }
    return true;
}

static bool is_pair(const struct baryon_node *node)
{
    const struct baryon_value *in = by_node_in(node, 0);
    return by_node_quantizes(node) && in && (!in->elem || in->elem == BY_ELEM_FLOAT) &&
           by_pair_has_plain_params(node) && by_pair_count_of(by_node_in(node, 1)) == 1 &&
           is_read_back(node);
}

static void find_pairs(struct joining *joining)
{
    for (size_t i = 0; i < joining->graph->node.count; i++) {
        struct baryon_node *node = joining->graph->node.at[i];
        if (node && is_pair(node) &&
            read_row(node, joining->table + joining->count * BY_PAIR_TABLE))
            joining->pairs[joining->count++] = node;
    }
}

int by_pair_drop(struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_value *constants[] = {by_node_in(node, 0), by_node_in(node, 1),
                                        by_node_in(node, 2)};
    if (by_graph_remove_node(node, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        struct baryon_value *value = constants[i];
        if (value && value->graph && value->initializer && !value->use_count && !value->is_input &&
            !value->pinned && !by_value_is_output(value) && !by_value_is_kept(value) &&
            by_graph_remove_initializer(value, err) < 0)
            return -1;
    }
    return 0;
}

static int drop(struct joining *joining, struct baryon_node *node, struct baryon_error *err)
{
    joining->joined++;
    return by_pair_drop(node, err);
}

static int join_pair(struct joining *joining, size_t place, struct baryon_value *table,
                     struct baryon_error *err)
{
    struct baryon_node *node = joining->pairs[place], *made;
    struct baryon_value *levels = by_node_out(node, 0), *value;
    struct baryon_value *inputs[] = {by_node_in(node, 0), table};
    const char *name = by_model_fresh_name(joining->model, levels->name, err);
    made = name ? by_graph_add_node(joining->graph, BY_PAIR_OP, BY_PAIR_DOMAIN, NULL, inputs, 2,
                                    &name, 1, err)
                : NULL;
    if (!made || by_node_set_int(made, BY_PAIR_INDEX, (int64_t)place, err) < 0)
        return -1;
    value = by_node_out(made, 0);
    value->elem = BY_ELEM_FLOAT;
    value->shape = inputs[0]->shape;
    while (levels->use_count) {
        struct baryon_node *back = levels->uses[0].node;
        if (by_value_replace_uses(by_node_out(back, 0), value, NULL, err) < 0 ||
            drop(joining, back, err) < 0)
            return -1;
    }
    return drop(joining, node, err);
}

static struct baryon_value *add_constant_table(const struct joining *joining, const char *name,
                                               struct baryon_error *err)
{
    const int64_t dims[] = {(int64_t)joining->count, BY_PAIR_TABLE};
    struct baryon_tensor *tensor =
        by_tensor_new(joining->model, name, BY_ELEM_FLOAT, dims, 2, joining->table,
                      joining->count * BY_PAIR_TABLE * sizeof(float), err);
    return tensor ? by_graph_add_initializer(joining->graph, tensor, err) : NULL;
}

static struct baryon_value *add_open_table(const struct joining *joining, const char *name,
                                           struct baryon_error *err)
{
    struct by_type *type = by_type_tensor(joining->model, BY_ELEM_FLOAT, NULL, err);
    return type ? by_graph_add_input(joining->graph, name, type, err) : NULL;
}

static int join_pairs(struct joining *joining, bool open, struct baryon_error *err)
{
    const char *name = by_model_fresh_name(joining->model, "pairs", err);
    struct baryon_value *table = !name  ? NULL
                                 : open ? add_open_table(joining, name, err)
                                        : add_constant_table(joining, name, err);
    if (!table || by_model_set_opset(joining->model, BY_PAIR_DOMAIN, 1, err) < 0)
        return -1;
    joining->name = name;
    for (size_t i = 0; i < joining->count; i++)
        if (join_pair(joining, i, table, err) < 0)
            return -1;
    return 0;
}

/* --- The whole --- */

static int find_and_join(struct joining *joining, struct baryon_model *model, bool open,
                         struct baryon_error *err)
{
    const size_t most = model->graph->node.count + 1;
    *joining = (struct joining){.model = model, .graph = model->graph};
    joining->pairs = by_alloc(most, sizeof *joining->pairs, err);
    joining->table = by_alloc(most, BY_PAIR_TABLE * sizeof *joining->table, err);
    if (!joining->pairs || !joining->table)
        return -1;
    find_pairs(joining);
    return joining->count ? join_pairs(joining, open, err) : 0;
}

static void release_joining(struct joining *joining)
{
    by_free(joining->pairs);
    by_free(joining->table);
}

int by_pairs_join(struct baryon_model *model, size_t *joined, struct baryon_error *err)
{
    struct joining joining;
    int status = find_and_join(&joining, model, false, err);
    *joined = joining.joined;
    if (status == 0)
        status = by_pairs_fold_small(model, joined, err);
    release_joining(&joining);
    return status == 0 ? by_model_settle(model, err) : -1;
}

static int fill_table(struct by_pair_table *table, const struct joining *joining,
                      struct baryon_error *err)
{
    const size_t size = strlen(joining->name) + 1;
    if (!(table->name = by_alloc(size, 1, err)))
        return -1;
    memcpy(table->name, joining->name, size);
    table->rows = joining->table;
    table->count = joining->count;
    table->array = (struct by_array){.name = table->name,
                                     .elem = BY_ELEM_FLOAT,
                                     .rank = 2,
                                     .dims = {(int64_t)table->count, BY_PAIR_TABLE},
                                     .data = table->rows,
                                     .size = table->count * BY_PAIR_TABLE * sizeof(float)};
    return 0;
}

int by_pairs_join_open(struct baryon_model *model, struct by_pair_table *table,
                       struct baryon_error *err)
{
    struct joining joining;
    *table = (struct by_pair_table){0};
    int status = find_and_join(&joining, model, true, err);
    if (status == 0 && joining.count)
        status = fill_table(table, &joining, err);
    if (table->rows)
        joining.table = NULL;
    release_joining(&joining);
    return status == 0 ? by_model_settle(model, err) : -1;
}

void by_pair_table_release(struct by_pair_table *table)
{
    by_free(table->name);
    by_free(table->rows);
    *table = (struct by_pair_table){0};
}
