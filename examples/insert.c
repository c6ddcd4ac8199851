/*
 * Puts an Identity in front of the first input of every Conv, and saves.
 *
 *   cc insert.c -o insert $(pkg-config --cflags --libs baryon)
 *   ./insert model.onnx edited.onnx
 */
#include <baryon.h>

#include <stdio.h>
#include <string.h>

static int edit(struct baryon_model *model, struct baryon_error *err)
{
    struct baryon_graph *graph = baryon_model_graph(model);
    size_t count = baryon_graph_node_count(graph), inserted = 0;
    for (size_t i = 0; i < count; i++) {
        struct baryon_node *node = baryon_graph_node(graph, i);
        if (strcmp(baryon_node_op_type(node), "Conv") != 0)
            continue;
        if (!baryon_graph_insert_on_edge(node, 0, "Identity", NULL, NULL, 0, err))
            return -1;
        inserted++;
    }
    printf("%zu nodes inserted\n", inserted);
    return 0;
}

int main(int argc, char **argv)
{
    struct baryon_error err;
    struct baryon_model *model = NULL;
    char text[1024];
    if (argc != 3)
        return 2;
    int failed = baryon_model_load(&model, argv[1], NULL, &err) || edit(model, &err) ||
                 baryon_model_save(model, argv[2], NULL, &err);
    baryon_model_free(model);
    if (!failed)
        return 0;
    baryon_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return baryon_code_exit(err.code);
}
