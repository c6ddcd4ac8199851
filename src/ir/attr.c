/* Setting attributes. What is inside an attribute is never changed, it is replaced. */
#include "ir/links.h"

#include <string.h>

static size_t find_attribute_slot(const struct baryon_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute.count; i++) {
        const struct baryon_attribute *attr = node->attribute.at[i];
        if (attr && attr->name && strcmp(attr->name, name) == 0)
            return i;
    }
    return node->attribute.count;
}

/* An attribute that is not yet part of the node, with room for it there. */
static struct baryon_attribute *prepare_attribute(struct baryon_node *node, const char *name,
                                                  enum by_attr_type type, struct baryon_error *err)
{
    if (by_node_is_live(node, err))
        return NULL;
    struct by_arena *arena = by_graph_arena(node->graph);
    struct baryon_attribute *attr = BY_ARENA_NEW(arena, struct baryon_attribute, err);
    if (!attr || !(attr->name = by_model_name(node->graph->model, name, err)) ||
        by_list_reserve(arena, &node->attribute, 1, sizeof(void *), err))
        return NULL;
    attr->type = type;
    return attr;
}

static int put_attribute(struct baryon_node *node, struct baryon_attribute *attr)
{
    size_t slot = find_attribute_slot(node, attr->name);
    if (slot == node->attribute.count) {
        by_ptrs_add(&node->attribute, attr);
    } else {
        by_attr_detach(node->attribute.at[slot]);
        node->attribute.at[slot] = attr;
    }
    return 0;
}

int by_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                    struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_INT, err);
    if (!attr)
        return -1;
    attr->i = value;
    attr->msg.has = BY_HAS_ATTR_I;
    return put_attribute(node, attr);
}

int by_node_set_float(struct baryon_node *node, const char *name, float value,
                      struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_FLOAT, err);
    if (!attr)
        return -1;
    attr->f = value;
    attr->msg.has = BY_HAS_ATTR_F;
    return put_attribute(node, attr);
}

int by_node_set_text(struct baryon_node *node, const char *name, const char *value,
                     struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_STRING, err);
    if (!attr)
        return -1;
    size_t size = strlen(value);
    const char *copy = by_arena_text(by_graph_arena(node->graph), value, size, err);
    if (!copy)
        return -1;
    attr->s = (struct by_span){(const uint8_t *)copy, size};
    return put_attribute(node, attr);
}

int by_node_set_ints(struct baryon_node *node, const char *name, const int64_t *values,
                     size_t count, struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_INTS, err);
    if (!attr ||
        by_list_reserve(by_graph_arena(node->graph), &attr->ints, count, sizeof *values, err))
        return -1;
    if (count)
        memcpy(attr->ints.at, values, count * sizeof *values);
    attr->ints.count = count;
    return put_attribute(node, attr);
}

int by_node_set_floats(struct baryon_node *node, const char *name, const float *values,
                       size_t count, struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_FLOATS, err);
    if (!attr ||
        by_list_reserve(by_graph_arena(node->graph), &attr->floats, count, sizeof *values, err))
        return -1;
    if (count)
        memcpy(attr->floats.at, values, count * sizeof *values);
    attr->floats.count = count;
    return put_attribute(node, attr);
}

int by_node_set_tensor(struct baryon_node *node, const char *name, struct baryon_tensor *tensor,
                       struct baryon_error *err)
{
    struct baryon_attribute *attr = prepare_attribute(node, name, BY_ATTR_TENSOR, err);
    if (!attr)
        return -1;
    attr->t = tensor;
    return put_attribute(node, attr);
}

bool by_node_remove_attr(struct baryon_node *node, const char *name)
{
    struct by_ptrs *list = &node->attribute;
    size_t slot = find_attribute_slot(node, name);
    if (slot == list->count)
        return false;
    by_attr_detach(list->at[slot]);
    memmove(&list->at[slot], &list->at[slot + 1], (list->count - slot - 1) * sizeof(void *));
    list->count--;
    return true;
}
