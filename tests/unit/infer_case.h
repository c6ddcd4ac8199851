/*
 * One operator and what has to come out of it, in a line.
 *
 *   {"Conv", "float32[N,3,8,8] float32[4,3,3,3]", "pads=[1,1,1,1]", "float32[N,4,8,8]"}
 *
 * Inputs: type[dimensions], type without brackets for an unknown rank, type{1,2} for a
 * constant list, type=5 for a constant scalar, "-" for one left out. Attributes: name:1,
 * name=[1,2], name~1.5, name~[1,2], name=text. Outputs: type and shape as
 * by_shape_text() has it, "0[...]" when nothing is known; or "!" and the message.
 */
#ifndef INFER_CASE_H
#define INFER_CASE_H

#include "graph_build.h"

#include "base/str.h"
#include "ir/infer.h"

struct infer_case {
    const char *op, *inputs, *attributes, *outputs;
};

/* The next part of a text at blanks, outside of brackets; false at the end. */
static inline bool next_part(const char **text, char *part, size_t size)
{
    size_t used = 0;
    int depth = 0;
    while (**text == ' ')
        ++*text;
    for (; **text && (depth || **text != ' '); ++*text) {
        depth += (**text == '[' || **text == '{') - (**text == ']' || **text == '}');
        assert_true(used + 1 < size);
        part[used++] = **text;
    }
    part[used] = '\0';
    return used > 0;
}

/* "1,2,3" up to a bracket; returns how many. */
static inline size_t read_numbers(const char *text, double *numbers, size_t most)
{
    size_t count = 0;
    while (*text && *text != ']' && *text != '}') {
        char *end;
        assert_true(count < most);
        numbers[count++] = strtod(text, &end);
        assert_true(end != text);
        text = end + (*end == ',');
    }
    return count;
}

static inline struct by_shape_msg *read_dims(struct baryon_model *model, const char *text)
{
    struct by_shape_msg *shape = BY_ARENA_NEW(&model->arena, struct by_shape_msg, &err);
    assert_non_null(shape);
    while (*text && *text != ']') {
        const size_t size = strcspn(text, ",]");
        struct by_dim *dim = BY_ARENA_NEW(&model->arena, struct by_dim, &err);
        push(model, &shape->dims, dim);
        if ((*text >= '0' && *text <= '9') || *text == '-') {
            dim->value = strtoll(text, NULL, 10);
            dim->msg.has = BY_HAS_DIM_VALUE;
        } else if (*text != '?') {
            dim->param = by_intern(&model->names, text, size, &err);
        }
        text += size + (text[size] == ',');
    }
    return shape;
}

static inline struct by_value_info *new_info(struct baryon_model *model, const char *name,
                                             int64_t elem, const char *dims)
{
    struct by_value_info *info = BY_ARENA_NEW(&model->arena, struct by_value_info, &err);
    assert_non_null(info);
    info->name = name_of(model, name);
    info->type = by_type_tensor(model, elem, NULL, &err);
    assert_non_null(info->type);
    info->type->tensor->shape = dims ? read_dims(model, dims) : NULL;
    return info;
}

static inline void put_constant(struct baryon_graph *graph, const char *name, int64_t elem,
                                const char *text, bool scalar)
{
    double numbers[80];
    int64_t ints[80], dims[1];
    float floats[80];
    const size_t count = read_numbers(text, numbers, 80);
    for (size_t i = 0; i < count; i++) {
        ints[i] = elem == BY_ELEM_INT64 ? (int64_t)numbers[i] : 0;
        floats[i] = (float)numbers[i];
    }
    dims[0] = (int64_t)count;
    assert_true(elem == BY_ELEM_INT64 || elem == BY_ELEM_FLOAT);
    const bool real = elem == BY_ELEM_FLOAT;
    push(graph->model, &graph->initializer,
         by_tensor_new(graph->model, name, elem, dims, scalar ? 0 : 1,
                       real ? (const void *)floats : ints, count * (real ? 4 : 8), &err));
}

/* Defines the value that `spec` describes. */
static inline void put_value(struct baryon_graph *graph, const char *name, const char *spec)
{
    char type[32];
    const size_t size = strcspn(spec, "[{=");
    assert_true(size < sizeof type);
    memcpy(type, spec, size);
    type[size] = '\0';
    const int64_t elem = by_elem_by_name(type);
    assert_true(elem > 0);
    if (spec[size] == '{' || spec[size] == '=')
        put_constant(graph, name, elem, spec + size + 1, spec[size] == '=');
    else
        push(graph->model, &graph->input,
             new_info(graph->model, name, elem, spec[size] ? spec + size + 1 : NULL));
}

static inline struct baryon_attribute *put_attr(struct baryon_model *model,
                                                struct baryon_node *node, const char *name,
                                                enum by_attr_type type)
{
    struct baryon_attribute *attr = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    push(model, &node->attribute, attr);
    attr->name = name_of(model, name);
    attr->type = (int64_t)type;
    return attr;
}

static inline void put_attr_ints(struct baryon_model *model, struct baryon_node *node,
                                 const char *name, const char *text)
{
    double numbers[32];
    const size_t count = read_numbers(text, numbers, 32);
    struct baryon_attribute *attr = put_attr(model, node, name, BY_ATTR_INTS);
    assert_ok(by_list_reserve(&model->arena, &attr->ints, count, sizeof(int64_t), &err));
    for (size_t i = 0; i < count; i++)
        attr->ints.at[attr->ints.count++] = (int64_t)numbers[i];
}

static inline void put_attr_floats(struct baryon_model *model, struct baryon_node *node,
                                   const char *name, const char *text)
{
    double numbers[32];
    const size_t count = read_numbers(text, numbers, 32);
    struct baryon_attribute *attr = put_attr(model, node, name, BY_ATTR_FLOATS);
    assert_ok(by_list_reserve(&model->arena, &attr->floats, count, sizeof(float), &err));
    for (size_t i = 0; i < count; i++)
        attr->floats.at[attr->floats.count++] = (float)numbers[i];
}

static inline void put_attr_text(struct baryon_model *model, struct baryon_node *node,
                                 const char *name, const char *text)
{
    struct baryon_attribute *attr = put_attr(model, node, name, BY_ATTR_STRING);
    attr->s.size = strlen(text);
    attr->s.data = (const uint8_t *)by_arena_text(&model->arena, text, attr->s.size, &err);
}

static inline void put_attribute(struct baryon_model *model, struct baryon_node *node, char *spec)
{
    char *sign = strpbrk(spec, ":=~"), *value = sign + 1;
    assert_non_null(sign);
    const char kind = *sign;
    *sign = '\0';
    if (kind == ':')
        put_attr(model, node, spec, BY_ATTR_INT)->i = strtoll(value, NULL, 10);
    else if (kind == '~' && *value == '[')
        put_attr_floats(model, node, spec, value + 1);
    else if (kind == '~')
        put_attr(model, node, spec, BY_ATTR_FLOAT)->f = strtof(value, NULL);
    else if (*value == '[')
        put_attr_ints(model, node, spec, value + 1);
    else
        put_attr_text(model, node, spec, value);
}

/* "DOMAIN/Operator" with inputs i0, i1, ... and outputs o0, o1, ... */
static inline struct baryon_node *put_case_node(struct baryon_graph *graph,
                                                const struct infer_case *one)
{
    const char *slash = strchr(one->op, '/'), *rest = one->inputs;
    char part[512], name[16];
    struct by_str inputs, outputs;
    by_str_init(&inputs);
    by_str_init(&outputs);
    for (int i = 0; next_part(&rest, part, sizeof part); i++) {
        const bool given = strcmp(part, "-") != 0;
        snprintf(name, sizeof name, "i%d", i);
        by_str_printf(&inputs, "%s%s", i ? "," : "", given ? name : "");
        if (given)
            put_value(graph, name, part);
    }
    rest = one->outputs;
    for (int i = 0; next_part(&rest, part, sizeof part); i++)
        by_str_printf(&outputs, "%so%d", i ? "," : "", i);
    if (one->outputs[0] == '!')
        by_str_clear(&outputs), by_str_puts(&outputs, "o0");
    struct baryon_node *node =
        put_node(graph, "n", slash ? slash + 1 : one->op,
                 *one->inputs ? by_str_text(&inputs) : NULL, by_str_text(&outputs));
    if (slash)
        node->domain = by_intern(&graph->model->names, one->op, (size_t)(slash - one->op), &err);
    by_str_release(&inputs);
    by_str_release(&outputs);
    return node;
}

/* Type and shape of a value, "float32[N,3]". */
static inline const char *found_text(const struct baryon_graph *graph, const char *name)
{
    static char text[320];
    char shape[256];
    const struct baryon_value *value = value_of(graph, name);
    snprintf(text, sizeof text, "%s%s", value->elem ? by_elem_name(value->elem) : "0",
             by_shape_text(value->shape, shape, sizeof shape));
    return text;
}

/* Says which case it is before it fails. */
static inline void expect_text(const struct infer_case *one, const char *found, const char *wanted)
{
    if (strcmp(found, wanted))
        print_error("in the case %s %s\n", one->op, one->inputs);
    assert_string_equal(found, wanted);
}

static inline void check_case(const struct infer_case *one, int64_t opset)
{
    struct baryon_model *model = new_model();
    const char *rest = one->attributes;
    char part[512], name[16];
    struct by_opset *import = model->opset_import.at[0];
    import->version = opset;
    struct baryon_node *node = put_case_node(model->graph, one);
    while (rest && next_part(&rest, part, sizeof part))
        put_attribute(model, node, part);
    assert_ok(by_model_link(model, &err));
    const int failed = by_model_infer(model, NULL, &err);
    if (one->outputs[0] == '!') {
        expect_text(one, failed ? "refused" : "accepted", "refused");
        assert_true(err.code == BARYON_ERR_INPUT || err.code == BARYON_ERR_UNSUPPORTED);
        if (!strstr(err.message, one->outputs + 1))
            expect_text(one, err.message, one->outputs + 1);
        assert_string_equal(err.place, "graph.node[0]");
        by_err_clear(&err);
    } else {
        assert_ok(failed);
        rest = one->outputs;
        for (int i = 0; next_part(&rest, part, sizeof part); i++) {
            snprintf(name, sizeof name, "o%d", i);
            expect_text(one, found_text(model->graph, name), part);
        }
    }
    by_model_free(model);
}

#define check_cases(cases, opset)                                                                  \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < sizeof(cases) / sizeof *(cases); i_++) {                          \
            check_case(&(cases)[i_], (opset));                                                     \
        }                                                                                          \
    } while (0)

#endif
