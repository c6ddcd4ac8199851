/*
 * Conversions of models: steps, one after the other, each of some passes and of what they are
 * told. Steps come from a file, where they have the names of Quark's Shapeshifter or of our passes,
 * or from options.
 */
#ifndef BY_CONVERT_H
#define BY_CONVERT_H

#include "adjust/cle.h"
#include "config/spans.h"
#include "pass/retype.h"
#include "quant/spread.h"

struct by_doc_node;

/* Attributes that a node gets, as the file has them. */
struct by_convert_update {
    const struct by_doc_node *name, *attributes;
};

struct by_convert_step;
/* What a step does that is none of the passes. */
typedef int by_convert_work(const struct by_convert_step *step, struct by_pass_context *context,
                            struct baryon_error *err);
by_convert_work by_convert_attributes, by_convert_equalize, by_convert_casts, by_convert_clips,
    by_convert_no_casts, by_convert_between, by_convert_align, by_convert_bias_scales,
    by_convert_bound, by_convert_xint8;

struct by_convert_pair {
    const char *from, *to; /* operators */
};

struct by_convert_step {
    const char *name;            /* as the user has it; NULL: from options */
    by_convert_work *work;       /* NULL: passes */
    bool *on;                    /* by the places in by_passes() */
    struct by_pass_context with; /* what single passes are told */
    struct by_retype_options retype;
    struct by_patterns nodes, op_types; /* only these are equalized; none: all */
    struct by_patterns exclude, exclude_op_types;
    struct by_span_list exclude_spans;
    struct by_convert_update *updates;
    size_t update_count;
    struct by_convert_pair *between; /* no pairs stay there */
    size_t between_count;
    struct by_cle_options equalize;
    bool equalize_all; /* no channel is too small */
    struct by_spread_bound bound;
    bool leave_biases; /* theirs stay when scales of weights are bounded */
};

struct by_convert {
    struct by_arena *arena;
    const char *path;     /* of the file; NULL: none */
    const char *in, *out; /* of the file; NULL: not said */
    struct {
        struct by_convert_step *at;
        size_t count, cap;
    } steps;
};

/* A new last step with no pass on; NULL when it cannot be made. */
struct by_convert_step *by_convert_add(struct by_convert *convert, const char *name,
                                       struct baryon_error *err);
/* Adds a step by a name that files have for it: one that needs no parameters, and that has a row.
 */
int by_convert_add_named(struct by_convert *convert, const char *name, struct baryon_error *err);
/* Switches on a pass by its name, "fp16-to-fp32". */
int by_convert_switch_on(struct by_convert_step *step, const char *name, struct baryon_error *err);
/* Narrowing passes find weights where they look for them. */
int by_convert_to(struct by_convert_step *step, int64_t elem, struct baryon_error *err);

/* convert/file.c: input_model_path, passes, output_model_path. log gets what does nothing. */
int by_convert_read(struct by_convert *convert, const char *path, const struct by_log *log,
                    struct baryon_error *err);

/* The same before quantization: passes, or preprocess_passes, alone. */
int by_convert_read_passes(struct by_convert *convert, const char *path, const struct by_log *log,
                           struct baryon_error *err);

/* The model as all steps leave it. report (may be NULL) adds up what became of types. */
int by_convert_run(const struct by_convert *convert, struct baryon_model *model,
                   const struct by_session_options *session, const struct by_log *log,
                   struct by_retype_report *report, struct baryon_error *err);

#endif
