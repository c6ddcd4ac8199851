/*
 * How a rule is written.
 *
 * A rule is a struct by_model_rule at the end of its part of a file and one row in check_rules.h.
 * Its hooks are called for the messages of the model in the order of the file. A hook looks at one
 * message, and says what is wrong by filling err and ending with
 *
 *     return by_report(check, BY_FINDING_ERROR, &message->msg, err);
 *
 * Places are given from that message on ("input[2]"); by_report() puts the way to it
 * before them, and its offset. A hook that returns -1 without by_report() ends the
 * whole check with its error: out of memory.
 *
 * Severity: what the onnx checker or ONNX Runtime refuse is an error, except where it
 * has no meaning for a program; what is suspicious is a warning; a notice is a fact that
 * is worth knowing. Time and memory are linear in the size of the model.
 */
#ifndef BY_CHECK_RULE_H
#define BY_CHECK_RULE_H

#include "ir/functions.h"
#include "ir/opinfo.h"
#include "onnx/check.h"

struct by_check;

enum by_info_role { BY_INFO_INPUT, BY_INFO_OUTPUT, BY_INFO_VALUE };

struct by_model_rule {
    enum by_severity worst; /* nothing above that: skipped where only errors count */
    bool linked;            /* sees the linked model, and of it only the main graph and those
                               nested in it; without this, training graphs and functions too */
    size_t state_size;      /* zeroed bytes for the rule alone: check->state */

    int (*start)(struct by_check *check, struct baryon_error *err);
    int (*function)(struct by_check *check, const struct by_function *function,
                    struct baryon_error *err);
    int (*graph)(struct by_check *check, const struct baryon_graph *graph,
                 struct baryon_error *err);
    int (*info)(struct by_check *check, const struct by_value_info *info, enum by_info_role role,
                struct baryon_error *err);
    int (*node)(struct by_check *check, const struct baryon_node *node, struct baryon_error *err);
    /* node NULL: the default of a function's attribute */
    int (*attribute)(struct by_check *check, const struct baryon_node *node,
                     const struct baryon_attribute *attr, struct baryon_error *err);
    int (*tensor)(struct by_check *check, const struct baryon_tensor *tensor,
                  struct baryon_error *err);
    int (*sparse)(struct by_check *check, const struct by_sparse_tensor *sparse,
                  struct baryon_error *err);
    int (*finish)(struct by_check *check, struct baryon_error *err);
    void (*release)(void *state);
};

/* A step on the way from the model to the message in hand. */
struct by_spot {
    const struct by_spot *outer;
    const char *field;
    size_t index; /* BY_NO_SLOT: the field is not repeated */
};

/* Where a message stands. */
struct by_scope {
    const struct by_function *function; /* NULL: in a graph of the model */
    const struct baryon_graph *graph;   /* the innermost; NULL directly in a function */
    unsigned depth;                     /* of the graph; 0 is the outermost */
    bool training;                      /* in a training graph */
    const struct by_map *imports;       /* domain -> struct by_opset */
};

struct by_node_facts {
    const struct by_opinfo *info;   /* NULL: the operator is not known */
    const struct by_callee *callee; /* the function that it calls, NULL: an operator */
    const struct by_opset *opset;   /* the import of its domain, NULL: there is none */
};

struct by_check {
    struct baryon_model *model;
    const struct by_check_options *options;
    struct by_scope scope;
    const struct by_spot *spot;

    struct by_node_facts node; /* about the node in hand */

    struct by_arena arena; /* for the time of the check */
    struct by_function_table functions;
    void *state; /* of the rule whose hook runs */

    /* Kept by check.c. */
    size_t rule;
    void **states;
    by_finding_fn *visit;
    void *context;
    struct baryon_error *first; /* the first error; its code is BARYON_OK before */
};

/* Gives a finding to the caller. Returns -1 when nothing more is wanted. */
int by_report(struct by_check *check, enum by_severity severity, const struct by_msg *msg,
              struct baryon_error *err);

/* A place for later: for findings that sum up. */
struct by_mark {
    char place[sizeof((struct baryon_error *)0)->place];
    int64_t offset;
    size_t count; /* of what was found, place and offset are the first's */
};

/* Counts, and keeps the place of the first; more (may be NULL) is the end of the place. */
void by_mark(const struct by_check *check, struct by_mark *mark, const struct by_msg *msg,
             const char *more);
int by_report_mark(struct by_check *check, enum by_severity severity, const struct by_mark *mark,
                   struct baryon_error *err);

/* Version of the opset that the node in hand is read by, 0: none. */
int64_t by_check_opset(const struct by_check *check);
/* "node 'conv1' (Conv)"; buf has BY_LABEL_MAX bytes. */
#define BY_LABEL_MAX (BY_QUOTE_MAX + 80)
const char *by_check_label(const struct by_check *check, const struct baryon_node *node,
                           char buf[BY_LABEL_MAX]);

/* --- the walk (check_walk.c) --- */

/* Goes through the model with the rules that are linked or not. */
int by_check_walk(struct by_check *check, bool linked, struct baryon_error *err);
/* Makes the rule the one in hand; NULL when it has no part in this walk. */
const struct by_model_rule *by_check_begin(struct by_check *check, size_t rule, bool linked);
size_t by_rule_count(void);

#endif
