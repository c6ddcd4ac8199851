/*
 * Loads and saves many models in one process, for the round-trip tests.
 *
 *   resave MODE < list        lines "IN<tab>OUT"
 *
 * untouched  load, save
 * edit       put an Identity on an edge of every graph, take it out again, save
 * rewrite    write every message anew, in its old order
 * canonical  write every message anew, in the order of the schema
 *
 * Prints a line "FAIL IN: message" for each model that failed; exit 1 if any did.
 */
#include "ir/graph.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <string.h>

static void forget(const struct by_schema *schema, void *msg, bool source)
{
    struct by_msg *head = msg;
    head->hash = 0;
    if (source)
        head->src = NULL;
    for (size_t i = 0; i < schema->count; i++) {
        const struct by_field *row = &schema->fields[i];
        void *member = (char *)msg + row->offset;
        if (row->kind == BY_FIELD_MSG && *(void **)member)
            forget(row->child, *(void **)member, source);
        if (row->kind != BY_FIELD_MSGS)
            continue;
        const struct by_ptrs *list = member;
        for (size_t k = 0; k < list->count; k++)
            forget(row->child, list->at[k], source);
    }
}

static struct baryon_node *first_reader(struct baryon_graph *graph, size_t *slot)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        for (*slot = 0; *slot < node->input.count; ++*slot)
            if (node->links[*slot].value)
                return node;
    }
    return NULL;
}

static int edit_graph(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    (void)context, (void)depth;
    size_t slot, count = graph->node.count;
    struct baryon_node *reader = first_reader(graph, &slot);
    if (!reader)
        return 0;
    struct baryon_value *value = reader->links[slot].value;
    struct baryon_node *node = by_graph_insert_on_edge(reader, slot, "Identity", "", NULL, 0, err);
    if (!node || by_node_set_input(reader, slot, value, err) || by_graph_remove_node(node, err) ||
        by_graph_settle(graph, err))
        return -1;
    return graph->node.count == count ? 0 : by_fail(err, BARYON_ERR_INTERNAL, "node left over");
}

static int resave(const char *mode, const char *in, const char *out, struct baryon_error *err)
{
    struct baryon_model *model;
    if (by_model_load(&model, in, NULL, err))
        return -1;
    int failed = 0;
    if (strcmp(mode, "edit") == 0)
        failed = by_model_link(model, err) || by_model_each_graph(model, edit_graph, NULL, err);
    else if (strcmp(mode, "untouched") != 0)
        forget(&by_schema_model, model, strcmp(mode, "canonical") == 0);
    const struct by_save_options options = {.writer_flags = BY_WRITER_NO_SYNC};
    if (!failed)
        failed = by_model_save(model, out, &options, err);
    by_model_free(model);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    char line[8192];
    int status = 0;
    while (argc == 2 && fgets(line, sizeof line, stdin)) {
        struct baryon_error err;
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (!tab)
            return 2;
        *tab = '\0';
        if (resave(argv[1], line, tab + 1, &err)) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            printf("FAIL %s: %s\n", line, text);
            status = 1;
        }
    }
    return argc == 2 ? status : 2;
}
