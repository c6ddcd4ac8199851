/*
 * Lists the weights of a model that take the most bytes.
 *
 *   cc weights.c -o weights $(pkg-config --cflags --libs baryon)
 *   ./weights model.onnx
 */
#include <baryon.h>

#include <stdio.h>
#include <stdlib.h>

struct weight {
    const char *name, *type;
    size_t bytes;
};

static int by_size(const void *a, const void *b)
{
    size_t x = ((const struct weight *)a)->bytes, y = ((const struct weight *)b)->bytes;
    return (x < y) - (x > y);
}

static int list(struct baryon_model *model, struct baryon_error *err)
{
    struct baryon_graph *graph = baryon_model_graph(model);
    size_t values = baryon_graph_value_count(graph), count = 0;
    struct weight *weights = calloc(values + 1, sizeof *weights);
    if (!weights)
        return -1;
    for (size_t i = 0; i < values; i++) {
        struct baryon_tensor *tensor = baryon_value_tensor(baryon_graph_value(graph, i));
        const void *bytes;
        size_t size;
        if (!tensor)
            continue;
        if (baryon_tensor_bytes(model, tensor, &bytes, &size, err)) {
            free(weights);
            return -1;
        }
        weights[count++] = (struct weight){baryon_tensor_name(tensor),
                                           baryon_type_name(baryon_tensor_type(tensor)), size};
    }
    qsort(weights, count, sizeof *weights, by_size);
    for (size_t i = 0; i < count && i < 10; i++)
        printf("%10zu  %-8s  %s\n", weights[i].bytes, weights[i].type, weights[i].name);
    free(weights);
    return 0;
}

int main(int argc, char **argv)
{
    struct baryon_error err;
    struct baryon_model *model;
    char text[1024];
    if (argc != 2)
        return 2;
    if (!baryon_model_load(&model, argv[1], NULL, &err)) {
        int failed = list(model, &err);
        baryon_model_free(model);
        if (!failed)
            return 0;
    }
    baryon_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return baryon_code_exit(err.code);
}
