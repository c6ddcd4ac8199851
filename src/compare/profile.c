/* Goes through a model and gathers its tensors and layers; finds what it gathered. */
#include "compare/profile.h"

#include "ir/tensor.h"

#include <stdlib.h>
#include <string.h>

/* --- Values and tensors --- */

struct by_profile_type by_profile_elem(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return (struct by_profile_type){by_elem_name(elem), info ? info->bits : 0};
}

static void *as_mark(size_t place)
{
    return (void *)(uintptr_t)(place + 1);
}

static size_t stored_place(const void *number)
{
    return number ? (size_t)(uintptr_t)number - 1 : BY_NO_ROW;
}

size_t by_profile_holds(const struct by_profile *profile, const struct baryon_value *value)
{
    return value ? stored_place(by_map_get_bytes(&profile->by_value, &value, sizeof value))
                 : BY_NO_ROW;
}

int by_profile_set_holds(struct by_profile *profile, const struct baryon_value *value,
                         size_t tensor, struct baryon_error *err)
{
    const struct baryon_value **key =
        BY_ARENA_NEW(&profile->arena, const struct baryon_value *, err);
    if (!key)
        return -1;
    *key = value;
    return by_map_put_bytes(&profile->by_value, key, sizeof *key, as_mark(tensor), err);
}

size_t by_profile_find(const struct by_profile *profile, const char *name)
{
    return stored_place(by_map_get(&profile->by_name, name));
}

static bool is_same_tensor(const struct by_profile_tensor *one,
                           const struct by_profile_tensor *other)
{
    if (one->role != other->role || strcmp(one->type.name, other->type.name) != 0 ||
        one->params.count != other->params.count || one->block != other->block)
        return false;
    for (size_t i = 0; i < one->params.count; i++)
        if (one->params.scales[i] != other->params.scales[i])
            return false;
    return true;
}

int by_profile_add(struct by_profile *profile, const struct by_profile_tensor *tensor, size_t *at,
                   struct baryon_error *err)
{
    size_t last = BY_NO_ROW;
    for (size_t i = by_profile_find(profile, tensor->name); i != BY_NO_ROW;
         i = profile->tensors.at[i].next) {
        if (is_same_tensor(&profile->tensors.at[i], tensor)) {
            *at = i;
            return 0;
        }
        last = i;
    }
    *at = profile->tensors.count;
    if (by_list_reserve(&profile->arena, &profile->tensors, 1, sizeof *tensor, err) < 0)
        return -1;
    profile->tensors.at[*at] = *tensor;
    profile->tensors.at[*at].next = BY_NO_ROW;
    profile->tensors.count++;
    if (last == BY_NO_ROW)
        return by_map_put(&profile->by_name, tensor->name, as_mark(*at), err);
    profile->tensors.at[last].next = *at;
    return 0;
}

/* --- Operators --- */

static int count_operator(struct by_profile *profile, const struct baryon_node *node,
                          struct baryon_error *err)
{
    char key[256];
    const char *domain = by_domain(node->domain), *op_type = node->op_type ? node->op_type : "";
    const size_t domain_size = strlen(domain), size = domain_size + 1 + strlen(op_type);
    if (size >= sizeof key)
        return 0;
    memcpy(key, domain, domain_size + 1);
    memcpy(key + domain_size + 1, op_type, size - domain_size - 1);
    size_t at = stored_place(by_map_get_bytes(&profile->by_op, key, size));
    if (at == BY_NO_ROW) {
        at = profile->ops.count;
        char *kept = by_arena_text(&profile->arena, key, size, err);
        if (!kept ||
            by_list_reserve(&profile->arena, &profile->ops, 1, sizeof *profile->ops.at, err) < 0 ||
            by_map_put_bytes(&profile->by_op, kept, size, as_mark(at), err) < 0)
            return -1;
        profile->ops.at[profile->ops.count++] = (struct by_profile_op){domain, op_type, 0};
    }
    profile->ops.at[at].nodes++;
    return 0;
}

static int by_nodes(const void *left, const void *right)
{
    const struct by_profile_op *one = left, *other = right;
    if (one->nodes != other->nodes)
        return one->nodes > other->nodes ? -1 : 1;
    const int order = strcmp(one->op_type, other->op_type);
    return order ? order : strcmp(one->domain, other->domain);
}

/* --- The walk --- */

static int gather_tensors(void *context, struct baryon_graph *graph, unsigned depth,
                          struct baryon_error *err)
{
    struct by_profile *profile = context;
    (void)depth;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (!node || !node->op_type)
            continue;
        const enum by_quant_form form = by_quant_form_of(node);
        if (form != BY_QUANT_FORMS)
            profile->forms[form]++;
        profile->nodes++;
        if (count_operator(profile, node, err) < 0 || by_profile_pair(profile, node, err) < 0 ||
            by_profile_block(profile, node, err) < 0 || by_profile_operator(profile, node, err) < 0)
            return -1;
    }
    return 0;
}

static int gather_layers(void *context, struct baryon_graph *graph, unsigned depth,
                         struct baryon_error *err)
{
    (void)depth;
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (node && node->op_type && by_profile_add_layer(context, node, err) < 0)
            return -1;
    }
    return 0;
}

int by_profile_open(struct by_profile *profile, struct baryon_model *model,
                    struct baryon_error *err)
{
    *profile = (struct by_profile){.model = model};
    by_arena_init(&profile->arena, 0);
    by_map_init(&profile->by_name);
    by_map_init(&profile->by_value);
    by_map_init(&profile->by_op);
    if (by_model_each_graph(model, gather_tensors, profile, err) < 0 ||
        by_model_each_graph(model, gather_layers, profile, err) < 0) {
        by_profile_close(profile);
        return -1;
    }
    if (profile->ops.count)
        qsort(profile->ops.at, profile->ops.count, sizeof *profile->ops.at, by_nodes);
    return 0;
}

void by_profile_close(struct by_profile *profile)
{
    by_map_release(&profile->by_name);
    by_map_release(&profile->by_value);
    by_map_release(&profile->by_op);
    by_arena_release(&profile->arena);
    *profile = (struct by_profile){0};
}

bool by_profile_is_quantized(const struct by_profile *profile)
{
    return profile->tensors.count > 0;
}
