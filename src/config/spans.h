/* Parts of a graph by their first and last nodes, out of configuration files. */
#ifndef BY_CONFIG_SPANS_H
#define BY_CONFIG_SPANS_H

#include "base/doc.h"
#include "quant/recipe.h"

struct by_span_list {
    struct by_span_rule *at;
    size_t count, cap;
};

/* [[STARTS, ENDS], ...] or one such pair; starts and ends are a name or a list of names. open: one
 * of the two may be empty. */
int by_spans_read(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                  bool open, struct by_span_list *spans, struct baryon_error *err);

#endif
