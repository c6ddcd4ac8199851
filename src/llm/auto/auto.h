/*
 * Bits for each linear layer of a language model, under a budget: the types of least divergence
 * from the float model, predicted from what each layer loses alone, and measured on windows of text
 * that took no part.
 *
 *   look    the moments of each layer's inputs; of some rows, the output's error with each type
 *   probe   of some layers, the model's divergence with one kind of linear rounded: what an error
 *           there counts
 *   choose  a type for each unit, so that predictions sum to least within the size
 *   judge   the model is quantized and measured, beside the best single type of that size; a goal
 *           is approached by the size that measurements, not predictions, ask for
 *
 * The same result for any number of threads.
 */
#ifndef BY_LLM_AUTO_H
#define BY_LLM_AUTO_H

#include "llm/eval.h"
#include "llm/quantize.h"

/* What has one type. */
enum by_llm_auto_unit {
    BY_LLM_UNIT_LAYOUT, /* as loaders of the layout ask */
    BY_LLM_UNIT_LINEAR, /* each linear; the experts of a layer by kind */
    BY_LLM_UNIT_FUSED,  /* q, k, v; o; gate, up; down; all experts of a layer */
};

struct by_llm_auto_options {
    struct by_llm_quantize_options quantize; /* of the model; scheme and layers are chosen */
    struct by_setting_texts types;           /* none: all of the layout */
    double bits;                             /* a weight of the linears; 0: another budget */
    uint64_t max_size;                       /* bytes of all tensors; 0: another budget */
    double kl;                               /* at most, nats a token; below 0: another budget */
    enum by_llm_auto_unit unit;
    uint64_t judge_windows;               /* to choose by, and as many to report */
    uint64_t probe_windows, probe_layers; /* layers 0: all */
    uint64_t corrections;                 /* choices that measurements correct, within a size */
    bool no_uniform;                      /* the best single type is not tried beside */
    void (*progress)(void *context, const char *stage, size_t done, size_t all); /* or NULL */
    void *context;
};

/* A linear layer of the result. */
struct by_llm_auto_linear {
    const char *layer, *type;
    double bits;
    double predicted; /* divergence, by itself */
    double *by_type;  /* the same in each type; infinite: not possible */
    size_t decoder;   /* the decoder's layer that it is in */
};

struct by_llm_auto_measured {
    struct by_llm_mean kl, agree;
    double perplexity;
    double predicted; /* divergence */
    double bits;      /* a weight of the linears */
    uint64_t bytes;   /* of linears */
};

struct by_llm_auto_result {
    struct by_llm_auto_linear *linears;
    size_t count;
    double *layer_kl; /* of each of the decoder's layers, quantized alone: measured */
    size_t layers;
    const char *uniform; /* the single type; NULL: none has that size */
    bool single_wins;    /* it is what was chosen */
    struct by_llm_auto_measured chosen, single;
    double perplexity; /* of the float model */
    uint64_t weights;  /* of linears */
    uint64_t rest;     /* bytes of other tensors */
    uint64_t length, solve_windows, judge_windows;
    size_t types, trials;
    const char **type_names; /* [types] */
    bool missed;             /* a goal */
    double reached;          /* divergence on the windows that choose */
    double goal;
    struct by_llm_quantized quantized;
    const char *recipe; /* path */
    const char *layout; /* of the options */
    struct by_arena arena;
};

/* Writes the model to `out`, and beside it the recipe. */
int by_llm_auto(const char *in, const char *out, const struct by_llm_auto_options *options,
                struct by_log *log, struct by_llm_auto_result *result, struct baryon_error *err);
/* BARYON_ERR_GOAL where the goal is missed. */
int by_llm_auto_judge(const struct by_llm_auto_result *result, struct baryon_error *err);
/* The whole result, for programs and the page of a report. repeat: the command; NULL: not known. */
void by_llm_auto_json(const struct by_llm_auto_result *result, const char *model, const char *out,
                      const char *repeat, struct by_str *text);
void by_llm_auto_release(struct by_llm_auto_result *result);

#endif
