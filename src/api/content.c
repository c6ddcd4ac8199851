/* The public interface: what attributes and tensors hold. */
#include "api/need.h"
#include "ir/tensor.h"

#include <string.h>

/* --- attributes --- */

const char *baryon_attribute_name(const struct baryon_attribute *attribute)
{
    return attribute && attribute->name ? attribute->name : "";
}

enum baryon_attribute_kind baryon_attribute_kind(const struct baryon_attribute *attribute)
{
    if (!attribute)
        return BARYON_ATTRIBUTE_UNKNOWN;
    bool listed = attribute->type > 0 && attribute->type <= BARYON_ATTRIBUTE_GRAPHS;
    if (attribute->ref_attr_name && *attribute->ref_attr_name)
        listed = false;
    return listed ? (enum baryon_attribute_kind)attribute->type : BARYON_ATTRIBUTE_UNKNOWN;
}

size_t baryon_attribute_count(const struct baryon_attribute *attribute)
{
    switch (baryon_attribute_kind(attribute)) {
    case BARYON_ATTRIBUTE_FLOATS:
        return attribute->floats.count;
    case BARYON_ATTRIBUTE_INTS:
        return attribute->ints.count;
    case BARYON_ATTRIBUTE_TEXTS:
        return attribute->strings.count;
    case BARYON_ATTRIBUTE_TENSORS:
        return attribute->tensors.count;
    case BARYON_ATTRIBUTE_GRAPHS:
        return attribute->graphs.count;
    case BARYON_ATTRIBUTE_UNKNOWN:
        return 0;
    default:
        return 1;
    }
}

/* The element is there, and of one of the two kinds. */
static bool has(const struct baryon_attribute *attribute, size_t place,
                enum baryon_attribute_kind one, enum baryon_attribute_kind list)
{
    enum baryon_attribute_kind kind = baryon_attribute_kind(attribute);
    return (kind == one || kind == list) && place < baryon_attribute_count(attribute);
}

int64_t baryon_attribute_int(const struct baryon_attribute *attribute, size_t place)
{
    if (!has(attribute, place, BARYON_ATTRIBUTE_INT, BARYON_ATTRIBUTE_INTS))
        return 0;
    return attribute->type == BY_ATTR_INT ? attribute->i : attribute->ints.at[place];
}

float baryon_attribute_float(const struct baryon_attribute *attribute, size_t place)
{
    if (!has(attribute, place, BARYON_ATTRIBUTE_FLOAT, BARYON_ATTRIBUTE_FLOATS))
        return 0;
    return attribute->type == BY_ATTR_FLOAT ? attribute->f : attribute->floats.at[place];
}

struct baryon_text baryon_attribute_text(const struct baryon_attribute *attribute, size_t place)
{
    if (!has(attribute, place, BARYON_ATTRIBUTE_TEXT, BARYON_ATTRIBUTE_TEXTS))
        return (struct baryon_text){0};
    struct by_span text =
        attribute->type == BY_ATTR_STRING ? attribute->s : attribute->strings.at[place];
    return (struct baryon_text){(const char *)text.data, text.size};
}

struct baryon_tensor *baryon_attribute_tensor(const struct baryon_attribute *attribute,
                                              size_t place)
{
    if (!has(attribute, place, BARYON_ATTRIBUTE_TENSOR, BARYON_ATTRIBUTE_TENSORS))
        return NULL;
    return attribute->type == BY_ATTR_TENSOR ? attribute->t : attribute->tensors.at[place];
}

struct baryon_graph *baryon_attribute_graph(const struct baryon_attribute *attribute, size_t place)
{
    if (!has(attribute, place, BARYON_ATTRIBUTE_GRAPH, BARYON_ATTRIBUTE_GRAPHS))
        return NULL;
    return attribute->type == BY_ATTR_GRAPH ? attribute->g : attribute->graphs.at[place];
}

/* --- tensors --- */

const char *baryon_tensor_name(const struct baryon_tensor *tensor)
{
    return tensor && tensor->name ? tensor->name : "";
}

int baryon_tensor_type(const struct baryon_tensor *tensor)
{
    return tensor ? (int)tensor->data_type : 0;
}

int baryon_tensor_rank(const struct baryon_tensor *tensor)
{
    return tensor ? (int)tensor->dims.count : -1;
}

int64_t baryon_tensor_dim(const struct baryon_tensor *tensor, int axis)
{
    return tensor && axis >= 0 && (size_t)axis < tensor->dims.count ? tensor->dims.at[axis] : -1;
}

int baryon_tensor_bytes(struct baryon_model *model, const struct baryon_tensor *tensor,
                        const void **bytes, size_t *size, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(tensor, err) || BY_NEED(bytes, err) || BY_NEED(size, err))
        return -1;
    struct by_span span;
    if (by_tensor_bytes(tensor, &model->arena, &span, err))
        return -1;
    *bytes = span.data;
    *size = span.size;
    return 0;
}

struct baryon_tensor *baryon_tensor_new(struct baryon_model *model, const char *name, int type,
                                        const int64_t *dims, size_t rank, const void *bytes,
                                        size_t size, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(name, err) || by_need_dims(dims, (int64_t)rank, err))
        return NULL;
    return by_tensor_new(model, name, type, dims, rank, bytes, size, err);
}

const char *baryon_type_name(int type)
{
    return by_elem_name(type);
}

int baryon_type_by_name(const char *name)
{
    return name ? by_elem_by_name(name) : -1;
}
