/* Nodes and constants that lowering puts into the place of others. */
#ifndef BY_LOWER_NODE_H
#define BY_LOWER_NODE_H

#include "ir/tensor.h"
#include "quant/plan.h"

#define BY_MICROSOFT "com.microsoft"

/* A node with one output instead of one that gave as much; the output keeps its name. Attributes
 * are the caller's. name: that of the node, may be NULL. */
struct baryon_node *by_lower_replace(struct baryon_node *old, const char *op_type,
                                     const char *domain, const char *name,
                                     struct baryon_value *const *inputs, size_t count,
                                     struct baryon_error *err);
/* A node with one output, which it gives; both get the name "STEM_SUFFIX" or one like it. */
struct baryon_value *by_lower_step(struct baryon_graph *graph, const char *op_type,
                                   const char *stem, const char *suffix,
                                   struct baryon_value *const *inputs, size_t count,
                                   struct baryon_error *err);
/* A constant called "STEM_SUFFIX" or like it; bytes NULL: zeros. */
struct baryon_value *by_lower_new(struct baryon_graph *graph, const char *stem, const char *suffix,
                                  int64_t elem, const int64_t *dims, size_t rank, const void *bytes,
                                  size_t size, struct baryon_error *err);
/* Room of such a constant, to be filled. */
static inline uint8_t *by_lower_room(const struct baryon_value *value)
{
    return (uint8_t *)(uintptr_t)value->initializer->raw_data.data;
}
/* Takes a constant out that nobody reads any more. */
int by_lower_drop(struct baryon_value *constant, struct baryon_error *err);
/* Numbers, lists of numbers and short texts. */
int by_lower_copy_attributes(const struct baryon_node *from, struct baryon_node *to,
                             struct baryon_error *err);
/* Imports com.microsoft where it is not yet. */
int by_lower_import_microsoft(struct baryon_model *model, struct baryon_error *err);

#endif
