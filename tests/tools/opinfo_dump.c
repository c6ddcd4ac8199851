/*
 * Prints the rows of all operators.
 *
 *   opinfo_dump              lines for tests/diff/test_opinfo.py: "OP" domain, name, opsets,
 *                            arity, inputs that may lack; "A" name, type, required, opsets; parts
 * separated by tabs opinfo_dump --markdown   docs/operators.md
 */
#include "ir/opinfo.h"

#include <stdio.h>
#include <string.h>

static void print_row(const struct by_opinfo *row)
{
    printf("OP\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%u\n", row->domain, row->op_type, row->since,
           row->until, row->min_in, row->max_in, row->min_out, row->max_out,
           (unsigned)row->may_lack);
    for (const struct by_op_attr *attr = row->attrs; attr && attr->name; attr++)
        printf("A\t%s\t%s\t%d\t%d\t%d\n", attr->name, by_attr_type_name((int64_t)attr->type),
               attr->required, attr->since, attr->until);
}

static const char *slot_text(int slot, char *buf, size_t size)
{
    snprintf(buf, size, "%d", slot);
    return slot == BY_SLOT_NONE ? "" : buf;
}

static const char *axis_text(int axis, char *buf, size_t size)
{
    snprintf(buf, size, "%d", axis);
    return axis == BY_AXIS_NONE ? "" : axis == BY_AXIS_LAST ? "last" : buf;
}

static const char *slots_text(uint32_t slots, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    if (slots == UINT32_MAX)
        return "all";
    for (unsigned i = 0; i < 32 && used < size; i++)
        if (slots >> i & 1)
            used += (size_t)snprintf(buf + used, size - used, "%s%u", used ? ", " : "", i);
    return buf;
}

static const char *type_text(const struct by_opinfo *row, char *buf, size_t size)
{
    switch (row->type_rule) {
    case BY_TYPE_SAME:
        snprintf(buf, size, "as input %d", row->type_arg);
        return buf;
    case BY_TYPE_FIXED:
        return by_elem_name(row->type_arg);
    case BY_TYPE_ATTR:
        if (row->type_arg)
            snprintf(buf, size, "`%s`, else %s", row->type_text, by_elem_name(row->type_arg));
        else
            snprintf(buf, size, "`%s`", row->type_text);
        return buf;
    case BY_TYPE_ATTR_OR_SAME:
        snprintf(buf, size, "`%s`, else as input %d", row->type_text, row->type_arg);
        return buf;
    case BY_TYPE_EACH:
        snprintf(buf, size, "each: %s", row->type_text);
        for (char *bar = strchr(buf, '|'); bar; bar = strchr(bar, '|'))
            *bar = '/';
        return buf;
    case BY_TYPE_SPECIAL:
        return "own rule";
    case BY_TYPE_NONE:
        break;
    }
    return "";
}

static void print_markdown_row(const struct by_opinfo *row)
{
    char weight[16], bias[16], axis[16], data[128], types[128], opsets[32];
    snprintf(opsets, sizeof opsets, row->until ? "%d to %d" : "%d", row->since, row->until);
    printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", row->op_type, opsets,
           slot_text(row->weight, weight, sizeof weight), slot_text(row->bias, bias, sizeof bias),
           axis_text(row->channel_axis, axis, sizeof axis),
           slots_text(row->data_inputs, data, sizeof data), type_text(row, types, sizeof types),
           row->infer ? "yes" : "");
}

static void print_markdown(const struct by_opinfo *rows, size_t count)
{
    puts("# Operators\n\n"
         "What Baryon knows of each operator: one row in `src/ir/opinfo_*.h`. This page is made\n"
         "from the rows (`build/tests/tools/opinfo_dump --markdown`).\n\n"
         "- opset: the first of its domain with the operator, and the last when it is gone\n"
         "- weight, bias: the inputs that are parameters of a layer where they are constant\n"
         "- axis: of the weight, along which its output channels lie\n"
         "- data: the inputs that quantization looks at\n"
         "- types: how the element types of the outputs are found; `each` has one word an output,\n"
         "  an input's number or a type\n"
         "- shapes: whether there is a rule; without one, a traced run tells them");
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(rows[i - 1].domain, rows[i].domain))
            printf("\n## %s\n\n"
                   "| operator | opset | weight | bias | axis | data | types | shapes |\n"
                   "|---|---|---|---|---|---|---|---|\n",
                   *rows[i].domain ? rows[i].domain : "ai.onnx");
        print_markdown_row(&rows[i]);
    }
}

int main(int argc, char **argv)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    if (argc > 1 && strcmp(argv[1], "--markdown") == 0) {
        print_markdown(rows, count);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        print_row(&rows[i]);
    return 0;
}
