/* The views of 'inspect', as text and as JSON. */
#ifndef BY_INSPECT_H
#define BY_INSPECT_H

#include "base/json.h"
#include "cli/models.h"
#include "cli/summary.h"

/* Nodes to show: all of all graphs, or those of the main graph that are marked. */
struct by_node_view {
    struct baryon_model *model;
    const bool *marks; /* by node->index; NULL: all */
};

int by_inspect_text(struct by_out *out, const struct by_loaded *loaded,
                    const struct by_summary *summary, struct baryon_error *err);
void by_inspect_json(struct by_json *json, const struct by_loaded *loaded,
                     const struct by_summary *summary);
int by_nodes_text(struct by_out *out, const struct by_node_view *view, struct baryon_error *err);
int by_nodes_json(struct by_json *json, const struct by_node_view *view, struct baryon_error *err);

/* "float32 [N, 3, 224, 224]" of a declared type, in two parts; both return buf. */
const char *by_type_text(const struct by_type *type, char *buf, size_t size);
const char *by_dims_text(const struct by_type *type, char *buf, size_t size);
/* False for an input that has a value: an initializer, which old models list as inputs. */
bool by_is_port(const struct baryon_model *model, const struct by_value_info *info);
/* "main_graph", "main_graph.If_3.then_branch"; returns buf. */
const char *by_graph_path(const struct baryon_graph *graph, char *buf, size_t size);
/* The shape that a type declares; NULL when it is no tensor or has none. */
const struct by_shape_msg *by_type_shape(const struct by_type *type);

#endif
