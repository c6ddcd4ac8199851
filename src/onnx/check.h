/*
 * All rules that a model has to keep, each finding with its place and byte offset.
 * The list of rules is in check.c, one row and one function each.
 */
#ifndef BY_CHECK_H
#define BY_CHECK_H

#include "onnx/load.h"

enum by_severity { BY_FINDING_NOTICE, BY_FINDING_WARNING, BY_FINDING_ERROR };

struct by_finding {
    const char *rule; /* "ssa", "topology", ...: a row of the list */
    enum by_severity severity;
    struct baryon_error error; /* code, place, offset, message, hint */
};

/* Return false to stop early. */
typedef bool by_finding_fn(void *context, const struct by_finding *finding);

struct by_check_options {
    bool custom_ops; /* operators of unknown domains are fine: a library is loaded */
    bool any_order;  /* nodes are fine in any order: ONNX Runtime sorts them, or the caller does */
};

/*
 * Reports all findings to visit (may be NULL) and fails with the first error when
 * there is one. Links the model when it is not linked yet.
 */
int by_model_check(struct baryon_model *model, const struct by_check_options *options,
                   by_finding_fn *visit, void *context, struct baryon_error *err);

struct by_check_rule {
    const char *name;
    const char *text; /* one line: what has to hold */
};
const struct by_check_rule *by_check_rules(size_t *count);

/*
 * Recognises files that are not ONNX (zip, Git LFS pointer, HTML, ...) and says so in
 * err with a hint; 0 when the bytes could be a model.
 */
int by_sniff_model(const uint8_t *bytes, size_t size, struct baryon_error *err);

#endif
