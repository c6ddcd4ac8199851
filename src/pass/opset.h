/* What changed between versions of ONNX's operators, and what to do about it in a model. */
#ifndef BY_PASS_OPSET_H
#define BY_PASS_OPSET_H

#include "pass/pass.h"

#define BY_OPSET_FIRST 7  /* of those that conversion starts from */
#define BY_OPSET_LAST  25 /* of those whose changes the table knows */

/* Makes a node of the version before into one of the row's. */
typedef int by_opset_fn(struct baryon_node *node, struct baryon_error *err);

/* Changes that only add types, attributes with the old behaviour as default, or optional inputs
 * have no row. */
struct by_opset_change {
    int64_t version;
    const char *op_type;
    by_opset_fn *convert;
};

/* Ends with a NULL op_type; versions ascend. */
extern const struct by_opset_change by_opset_changes[];

#endif
