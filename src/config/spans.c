/* Parts of a graph by their first and last nodes, out of configuration files. */
#include "config/spans.h"

#include "config/nodes.h"

static int span_of(struct by_arena *arena, const struct by_doc_node *node, bool open,
                   struct by_span_rule *span, struct baryon_error *err)
{
    if (node->kind != BY_DOC_LIST || node->count != 2)
        return by_node_fail(node, err, "expected a list of two: [STARTS, ENDS]");
    if (by_node_texts(arena, node->items[0], &span->starts, &span->start_count, err) < 0 ||
        by_node_texts(arena, node->items[1], &span->ends, &span->end_count, err) < 0)
        return -1;
    if (open ? !span->start_count && !span->end_count : !span->start_count || !span->end_count)
        return by_node_fail(node, err, "a start %s an end %s required", open ? "or" : "and",
                            open ? "is" : "are");
    return 0;
}

static int add_span(struct by_arena *arena, const struct by_doc_node *node, const char *origin,
                    bool open, struct by_span_list *spans, struct baryon_error *err)
{
    if (by_list_reserve(arena, spans, 1, sizeof *spans->at, err) < 0)
        return -1;
    struct by_span_rule *span = &spans->at[spans->count];
    *span = (struct by_span_rule){.origin = origin};
    if (span_of(arena, node, open, span, err) < 0)
        return -1;
    spans->count++;
    return 0;
}

int by_spans_read(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                  bool open, struct by_span_list *spans, struct baryon_error *err)
{
    if (list->kind != BY_DOC_LIST)
        return by_node_fail(list, err, "expected a list of [STARTS, ENDS]");
    if (list->count == 2 && list->items[0]->kind == BY_DOC_SCALAR &&
        list->items[1]->kind == BY_DOC_SCALAR)
        return add_span(arena, list, origin, open, spans, err);
    for (size_t i = 0; i < list->count; i++)
        if (add_span(arena, list->items[i], origin, open, spans, err) < 0)
            return -1;
    return 0;
}
