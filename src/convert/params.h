/* Parameters of passes: each takes a node of a file and sets what the step says. */
#ifndef BY_CONVERT_PARAMS_H
#define BY_CONVERT_PARAMS_H

#include "convert/rows.h"

typedef int by_take_fn(struct by_converting *at, const struct by_doc_node *value,
                       struct baryon_error *err);

by_take_fn by_take_on, by_take_opset, by_take_no_options, by_take_shared, by_take_biases,
    by_take_nhwc, by_take_shapes;
/* convert/attributes.c, convert/pairs.c, convert/equalize.c */
by_take_fn by_take_updates, by_take_between, by_take_replace, by_take_cle_steps,
    by_take_cle_threshold, by_take_cle_balance, by_take_cle_bias, by_take_cle_uses,
    by_take_cle_difference, by_take_only_nodes, by_take_only_ops;
/* convert/scales.c */
by_take_fn by_take_align, by_take_least_scale, by_take_adaptive, by_take_ratio, by_take_follow;
/* Of changes of types. */
by_take_fn by_take_regions, by_take_keep_io, by_take_clamp, by_take_exclude, by_take_exclude_ops,
    by_take_exclude_spans;

/* What options give as well. */
int by_convert_regions(struct by_convert *convert, struct by_convert_step *step,
                       const struct by_span_list *spans, struct baryon_error *err);
int by_convert_patterns(struct by_convert *convert, struct by_patterns *patterns,
                        const char *const *texts, size_t count, const char *origin,
                        struct baryon_error *err);

#endif
