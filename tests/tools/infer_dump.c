/*
 * Prints the types and shapes that by_model_infer() finds, for tests/diff/test_infer.py.
 *
 *   infer_dump < list        one path a line
 *
 * A line "MODEL path", then one a value, parts separated by tabs: "V", number of the
 * graph (main first, nested ones depth first), name, element type, rank (-1: unknown),
 * dimensions. "FAIL message" stands for a model that is refused. Last, "RESULT" with
 * values, typed, shaped, ruleless, conflicts.
 */
#include "ir/infer.h"
#include "onnx/load.h"

#include <stdio.h>
#include <string.h>

static void print_value(unsigned graph, const struct baryon_value *value)
{
    const struct by_shape *shape = value->shape;
    printf("V\t%u\t%s\t%lld\t%d", graph, value->name, (long long)value->elem,
           shape ? (int)shape->rank : -1);
    for (size_t i = 0; shape && i < shape->rank; i++) {
        if (by_extent_is_number(shape->dims[i]))
            printf("\t%lld", (long long)shape->dims[i].size);
        else
            printf("\t%s", shape->dims[i].symbol ? shape->dims[i].symbol : "?");
    }
    putchar('\n');
}

static int print_graph(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    unsigned *number = context;
    (void)depth;
    (void)err;
    for (size_t i = 0; i < graph->all_values.count; i++)
        if (graph->all_values.at[i])
            print_value(*number, graph->all_values.at[i]);
    ++*number;
    return 0;
}

static int dump(const char *path, struct baryon_error *err)
{
    struct baryon_model *model;
    struct by_infer_result result;
    unsigned number = 0;
    if (by_model_load(&model, path, NULL, err))
        return -1;
    int status = by_model_link(model, err);
    if (!status)
        status = by_model_infer(model, &result, err);
    if (!status)
        status = by_model_each_graph(model, print_graph, &number, err);
    if (!status)
        printf("RESULT\t%zu\t%zu\t%zu\t%zu\t%zu\n", result.values, result.typed, result.shaped,
               result.ruleless, result.conflicts);
    by_model_free(model);
    return status;
}

int main(void)
{
    char path[4096], text[2048];
    struct baryon_error err;
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        printf("MODEL\t%s\n", path);
        by_err_clear(&err);
        if (!dump(path, &err))
            continue;
        baryon_error_format(&err, text, sizeof text);
        printf("FAIL\t%s\n", text);
    }
    return 0;
}
