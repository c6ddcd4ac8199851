/*
 * Lists the weights of a model that take the most bytes.
 *
 *   cc weights.c -o weights $(pkg-config --cflags --libs baryon)
 *   ./weights model.onnx
 */
#include <baryon.h>

#include <stdio.h>

enum { TOP = 10 };

struct weight {
    const char *name, *type;
    size_t bytes;
};

/* Keeps the biggest ones, in order. */
static void keep(struct weight top[TOP], struct weight weight)
{
    for (size_t i = 0; i < TOP; i++)
        if (weight.bytes > top[i].bytes) {
            struct weight smaller = top[i];
            top[i] = weight;
            weight = smaller;
        }
}

static int list(struct baryon_model *model, struct baryon_error *err)
{
    struct weight top[TOP] = {0};
    struct baryon_graph *graph = baryon_model_graph(model);
    for (size_t i = 0; i < baryon_graph_value_count(graph); i++) {
        struct baryon_tensor *tensor = baryon_value_tensor(baryon_graph_value(graph, i));
        const void *bytes;
        size_t size;
        if (!tensor)
            continue;
        if (baryon_tensor_bytes(model, tensor, &bytes, &size, err))
            return -1;
        const char *type = baryon_type_name(baryon_tensor_type(tensor));
        keep(top, (struct weight){baryon_tensor_name(tensor), type, size});
    }
    for (size_t i = 0; i < TOP && top[i].bytes; i++)
        printf("%10zu  %-8s  %s\n", top[i].bytes, top[i].type, top[i].name);
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
