/* Looks up operators in the tables and checks their attributes and versions. */
#include "ir/opinfo.h"

#include "ir/infer_internal.h"

#include <stdlib.h>
#include <string.h>

/* The notation of the tables, in the order of struct by_opinfo. */
#define OP(op_type, opsets, in, out, roles, types, rule, attrs)                                    \
    {#op_type, DOMAIN, opsets, in, out, roles, types, by_infer_##rule, attrs},

#define SINCE(opset)              opset, 0
#define BETWEEN(first, last)      first, last
#define IN(least, most)           least, most, 0
#define IN_BUT(least, most, gaps) least, most, gaps
#define OUT(least, most)          least, most
#define ANY                       (-1)

#define NONE                                       (-1)
#define LAST                                       BY_AXIS_LAST
#define SLOT(slot)                                 (1u << (slot))
#define FIRST                                      SLOT(0)
#define SECOND                                     SLOT(1)
#define THIRD                                      SLOT(2)
#define BOTH                                       (FIRST | SECOND)
#define EVERY                                      (~0u)
#define NO_DATA                                    0, NONE, NONE, NONE, NONE
#define DATA(slots)                                slots, NONE, NONE, NONE, NONE
#define DATA_AXIS(slots, axis)                     slots, NONE, NONE, NONE, axis
#define LAYER(slots, weight, bias, axis, channels) slots, weight, bias, axis, channels

#define SAME(slot)               BY_TYPE_SAME, slot, NULL
#define FIXED(elem)              BY_TYPE_FIXED, BY_ELEM_##elem, NULL
#define ATTR(name, elem)         BY_TYPE_ATTR, BY_ELEM_##elem, #name
#define ATTR_OR_SAME(name, slot) BY_TYPE_ATTR_OR_SAME, slot, #name
#define EACH(words)              BY_TYPE_EACH, 0, words
#define SPECIAL                  BY_TYPE_SPECIAL, 0, NULL
#define NO_TYPE                  BY_TYPE_NONE, 0, NULL

/* clang-format off */
#define NO_ATTRS                              NULL
#define ATTRS(...)                            (const struct by_op_attr[]){__VA_ARGS__, {0}}
#define A(type, name)                         {#name, BY_ATTR_##type, false, 0, 0}
#define A_FROM(type, name, first)             {#name, BY_ATTR_##type, false, first, 0}
#define A_UNTIL(type, name, last)             {#name, BY_ATTR_##type, false, 0, last}
#define NEED(type, name)                      {#name, BY_ATTR_##type, true, 0, 0}
#define NEED_UNTIL(type, name, last)          {#name, BY_ATTR_##type, true, 0, last}
/* clang-format on */

#define by_infer_none NULL

static const struct by_opinfo rows[] = {
#include "ir/opinfo_table.h"
};

#define ROWS (sizeof rows / sizeof *rows)

struct key {
    const char *op_type, *domain;
};

static int compare_opinfo_row(const void *key, const void *row)
{
    const struct key *wanted = key;
    const struct by_opinfo *info = row;
    int order = strcmp(wanted->domain, info->domain);
    return order ? order : strcmp(wanted->op_type, info->op_type);
}

const struct by_opinfo *by_opinfo(const char *op_type, const char *domain)
{
    if (!op_type)
        return NULL;
    const struct key key = {op_type, by_domain(domain)};
    return bsearch(&key, rows, ROWS, sizeof *rows, compare_opinfo_row);
}

const struct by_opinfo *by_node_opinfo(const struct baryon_node *node)
{
    return by_opinfo(node->op_type, node->domain);
}

const struct by_opinfo *by_opinfo_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

static bool in_range(int since, int until, int64_t opset)
{
    return opset >= since && (!until || opset <= until);
}

const struct by_op_attr *by_op_attr(const struct by_opinfo *info, const char *name, int64_t opset)
{
    for (const struct by_op_attr *attr = info->attrs; attr && attr->name; attr++)
        if (strcmp(attr->name, name) == 0 && in_range(attr->since, attr->until, opset))
            return attr;
    return NULL;
}

bool by_opinfo_in_opset(const struct by_opinfo *info, int64_t opset)
{
    return in_range(info->since, info->until, opset);
}

bool by_op_keeps_places(const struct by_opinfo *info)
{
    return info->infer == by_infer_math || info->infer == by_infer_same ||
           info->infer == by_infer_same_along;
}

const char *by_attr_type_name(int64_t type)
{
    static const char *const names[] = {
        "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
        "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
        "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
    return type >= 0 && type < (int64_t)(sizeof names / sizeof *names) ? names[type] : "unknown";
}

/* Rank of a value from what is known of it, -1 when nothing is. */
static int value_rank(const struct baryon_value *value)
{
    if (!value)
        return -1;
    if (value->initializer)
        return (int)value->initializer->dims.count;
    return value->shape ? (int)value->shape->rank : -1;
}

int by_node_channel_axis(const struct baryon_node *node)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    if (!info || info->weight == BY_SLOT_NONE || info->channel_axis == BY_AXIS_NONE)
        return BY_AXIS_NONE;
    const int rank = value_rank(by_node_in(node, (size_t)info->weight));
    const bool transposed = by_op_attr(info, "transB", INT32_MAX) && by_node_int(node, "transB", 0);
    if (info->channel_axis == BY_AXIS_LAST)
        return rank < 2 ? BY_AXIS_NONE : transposed ? rank - 2 : rank - 1;
    if (transposed)
        return 0;
    /* Axis 1 of a grouped transposed convolution counts the channels of one group. */
    if (info->infer == by_infer_conv_transpose && by_node_int(node, "group", 1) != 1)
        return BY_AXIS_NONE;
    return rank >= 0 && info->channel_axis >= rank ? BY_AXIS_NONE : info->channel_axis;
}
