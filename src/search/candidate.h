/*
 * A quantization by a config as text: the same that `baryon quantize --config` makes of it, on the
 * samples that calibrate.
 */
#ifndef BY_AUTO_CANDIDATE_H
#define BY_AUTO_CANDIDATE_H

#include "onnx/frame.h"
#include "quantize/quantize.h"
#include "search/samples.h"
#include "settings/recipe/take.h"

/* What all candidates of a search have in common. */
struct by_auto_base {
    const struct by_frame *frame;              /* of the float model */
    const struct by_running_settings *running; /* as the user gave them */
    const struct by_input_callback *samples;   /* those that calibrate; NULL: as the config says */
    bool from_caller;                          /* the config names no data */
    const char *folder;                        /* for temporary files */
    const char *solved; /* path where solved layers of the last config are kept; NULL: nowhere */
    struct by_stats_store *store; /* statistics of earlier candidates */
    uint64_t memory;
    bool (*progress)(void *context, const struct by_calibrate_progress *progress);
    void *context;
};

struct by_auto_candidate {
    struct by_config config;
    struct by_quantize_settings settings;
    struct by_quantize_options options;
    struct baryon_model *model;
    struct by_quantization q;
};

/* The model and the options, before anything is done with them. */
int by_auto_candidate_begin(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                            const char *yaml, bool keeps, struct baryon_error *err);
/* After it, up to the plan. */
int by_auto_candidate_plan(struct by_auto_candidate *candidate, struct baryon_error *err);
/* Both. keeps: for decisions about it. It has to stay where it is; whatever comes out,
 * by_auto_candidate_close() goes with it. */
int by_auto_candidate_open(struct by_auto_candidate *candidate, const struct by_auto_base *base,
                           const char *yaml, bool keeps, struct baryon_error *err);
/* Emits it: candidate->model is the quantized one. */
int by_auto_candidate_emit(struct by_auto_candidate *candidate, struct baryon_error *err);
/* The model is the caller's from then on. */
struct baryon_model *by_auto_candidate_take(struct by_auto_candidate *candidate);
void by_auto_candidate_close(struct by_auto_candidate *candidate);

/* The part of all configs that says which samples calibrate and how they are prepared. */
int by_auto_config_head(const struct by_config *given, const struct by_running_settings *running,
                        const struct by_auto_parts *parts, struct by_str *yaml,
                        struct baryon_error *err);

#endif
