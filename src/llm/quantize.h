/*
 * Quantizes the linear layers of a checkpoint, one tensor after the other: a slab of rows of it is
 * floats in memory, and its codes. What is not quantized is copied. The same bytes come out for any
 * number of threads.
 */
#ifndef BY_LLM_QUANTIZE_H
#define BY_LLM_QUANTIZE_H

#include "base/log.h"
#include "base/option.h"
#include "llm/layout/source.h"
#include "llm/solve/group.h"

/* What is done to channels between layers before weights are rounded. */
enum by_llm_scaling { BY_LLM_SCALING_NONE, BY_LLM_SCALING_SMOOTH, BY_LLM_SCALING_AWQ };

struct by_llm_layer_scheme {
    const char *pattern, *scheme;
};

struct by_llm_quantize_options {
    const char *scheme, *layout;
    const char *const *exclude; /* patterns of layers, as by_llm_match() has them */
    size_t exclude_count;
    const struct by_llm_layer_scheme *layers; /* the first that matches counts */
    size_t layer_count;
    const char *linears; /* pattern of layers to quantize; NULL: by their names' parts */
    int64_t group_size;  /* 0: the scheme's */
    enum by_llm_stacks stacks;
    const char *report;     /* a file in JSON, or a page that ends in .html; NULL: none */
    const char *repeat;     /* the command that the report has; NULL: not known */
    const char *importance; /* a file of an importance matrix, for layout gguf; NULL: none */
    enum by_llm_search search;
    bool quark; /* Quark 0.13's arithmetic */
    bool allow_nonfinite, dry_run;
    uint64_t shard_size; /* bytes of a file of the output; 0: as in the source */
    unsigned threads;
    /* A method that solves, what it is solved on, and what is done to layers before; method NULL or
     * one that does not solve: each tensor by itself. */
    struct by_llm_solver solver;
    struct by_setting_texts texts;
    uint64_t length, windows; /* tokens of a window; windows at most */
    enum by_llm_scaling scaling;
    double alpha;           /* of BY_LLM_SCALING_SMOOTH; below 0: chosen for each input */
    unsigned rotate;        /* enum by_llm_rotations, or'd; 0: none */
    size_t rotate_size;     /* of R4's matrix; 0: all inputs of a layer */
    bool spills;            /* hidden states of the texts lie in a file beside the output */
    uint64_t max_memory;    /* bytes while texts are solved on; 0: no limit */
    bool halved;            /* they are bf16, not float32 */
    enum by_llm_kept cache; /* what keys and values are kept as, by scales that texts give */
    void (*progress)(void *context, size_t done, size_t all); /* layers; NULL: nobody asks */
    void *context;
};

/* What becomes of a weight. */
struct by_llm_item {
    double seconds; /* of reading, searching and rounding */
    bool resumed;   /* an earlier run has written it, nothing was measured */
    const struct by_llm_weight *weight;
    const struct by_llm_scheme *scheme; /* NULL: it stays */
    const char *reason;                 /* why it stays; NULL: it is no linear layer */
    struct by_llm_tensor tensor;
    struct by_llm_fields fields;
    size_t cache;  /* its last so many outputs are keys or values whose scale it has; 0: none */
    size_t shares; /* the item whose range it has, too: the first of them */
    struct by_llm_range range; /* of all that share it; at the first */
    struct by_llm_errors sums;
    /* Where layers are solved: how this one was, what came of it. */
    const char *method;                /* NULL: each tensor by itself */
    const struct by_ggml_type *blocks; /* instead of a scheme; their bytes are the only field */
    double shrink, damping;
    uint64_t tokens;
    struct by_llm_linear_errors output;
};

struct by_llm_plan {
    const struct by_llm_layout *layout;
    struct by_llm_item *items; /* one for each of source->weights */
    size_t count, quantized;
    const struct by_llm_scheme **schemes; /* that are used; the first is the general one */
    size_t scheme_count;
    bool tied;          /* the embedding is the head as well */
    bool static_inputs; /* items have the scales of their inputs, where the scheme is static */
    const struct by_dtype *cache; /* as in the options */
    bool cache_fused;             /* queries, keys and values are one layer */
};

struct by_llm_quantized {
    uint64_t weights, kept;       /* parameters of quantized and of other tensors */
    uint64_t layers;              /* that are quantized */
    uint64_t bytes_in, bytes_out; /* of tensors */
    uint64_t resumed;             /* files that were there already */
    struct by_llm_errors sums;    /* with search */
    uint64_t solved, unreached;   /* linear layers; of the others, experts without a token */
    double nearest, output;       /* sums of relative errors of the solved ones' outputs */
    bool held_out;                /* those are of held-out windows */
};

/* How scales are chosen, of options that go together. */
enum by_llm_search by_llm_plan_search(const struct by_llm_quantize_options *options);
/* Memory comes from the arena. */
int by_llm_plan(struct by_llm_plan *plan, const struct by_llm_source *source,
                const struct by_llm_quantize_options *options, struct by_arena *arena,
                struct baryon_error *err);
/* Takes bytes of a field, from any thread. */
struct by_llm_sink {
    int (*put)(void *context, size_t field, uint64_t at, const void *bytes, size_t size,
               struct baryon_error *err);
    void *context;
};

/* Finds what an item's tensor shares, then fills its fields: those of by_llm_field_in_rows() go to
 * the sink piece by piece and have no data, data of the others was zeros. */
int by_llm_item_quantize(struct by_llm_plan *plan, const struct by_llm_source *source,
                         struct by_llm_item *item, const struct by_llm_quantize_options *options,
                         struct by_pool *pool, uint8_t *const data[BY_LLM_FIELDS_MAX],
                         const struct by_llm_sink *sink, struct baryon_error *err);
/* Rows of a weight that are done at once. */
size_t by_llm_slab_rows(const struct by_llm_weight *weight);

int by_llm_quantize(const char *in, const char *out, const struct by_llm_quantize_options *options,
                    struct by_log *log, struct by_llm_quantized *result, struct baryon_error *err);
/* The same into a GGUF file, whose schemes are llama-quantize's mixtures. */
int by_llm_quantize_gguf(const char *in, const char *out,
                         const struct by_llm_quantize_options *options, struct by_log *log,
                         struct by_llm_quantized *result, struct baryon_error *err);
/* Writes options->report. */
int by_llm_report(const struct by_llm_plan *plan, const char *in, const char *out,
                  const struct by_llm_quantize_options *options, struct baryon_error *err);
/* Back to floats of type `elem` (bf16, fp16, float32; 0: what the source suggests). */
int by_llm_dequantize(const char *in, const char *out, int64_t elem,
                      const struct by_llm_quantize_options *options, struct by_log *log,
                      struct by_llm_quantized *result, struct baryon_error *err);

#endif
