/*
 * A quantization in progress: what it was asked for, and the state that its stages share.
 */
#ifndef BY_TRIAL_QUANTIZATION_H
#define BY_TRIAL_QUANTIZATION_H

#include "base/par.h"
#include "calibrate/calibrate.h"
#include "onnx/frame.h"
#include "pass/pass.h"
#include "quant/plan.h"
#include "reconstruct/reconstruct.h"

struct by_quantization;
struct by_judge;

struct by_quantize_options {
    const struct by_recipe *recipe;
    const char *data;  /* samples as by_input_open() takes them; NULL where none are needed */
    const char *stats; /* statistics of an earlier run instead of samples; NULL: none */
    struct by_calibrate_options
        calibrate;          /* of samples, session, progress; not what is looked at */
    const char *folder;     /* for temporary files; NULL: the system's */
    const char *checkpoint; /* of solved layers, taken up by the same run; NULL: none */
    /* Statistics of other quantizations with the same samples, for calibrate.store; NULL: none. */
    struct by_stats_store *store;
    /* What chooses q->recipe.factors, by a layer above (search/ranges.h); NULL: nothing. Parameters
     * are found again where they are on then. */
    int (*choose_ranges)(struct by_quantization *q, struct baryon_error *err);
    bool tries_all;           /* however good the model is: a goal may be higher */
    bool keeps_float;         /* as it is before biases make up for anything */
    const char *dump_passes;  /* folder for the model after each pass; NULL: none */
    const struct by_log *log; /* may be NULL */
};

#define BY_STAGES_MAX  20
#define BY_CHOICES_MAX 8

/* What held-out samples changed of the config. */
struct by_choice_made {
    const char *choice; /* "wide" */
    char text[64];      /* "16 bits below 35 dB" */
    double gain;        /* dB on those samples */
    size_t samples;
    bool undone;       /* these did not confirm it */
    size_t tensors;    /* that change; 0: not counted */
    double macs_share; /* of multiply-adds that read them */
};

/* Nodes between layers that stay float, and what held-out samples say of that. */
struct by_excluded {
    size_t nodes, samples; /* no samples: there was no trial */
    double gain, error;    /* dB, and its standard error */
};

/* An activation or a weight that has the wider type. */
struct by_mixed_change {
    const char *name, *type; /* of the tensor, or of the weight's layer */
    bool weight;
    double macs; /* of the layers that read it */
};

/* Layers in a narrower type, and what held-out samples say of that. */
struct by_mixed_report {
    const char *narrow; /* NULL: nothing was searched for */
    double goal, sqnr;  /* dB on those samples */
    double narrow_sqnr; /* of all layers in the narrower type */
    bool met;
    size_t samples;
    double wide_share; /* of multiply-adds in the wider type */
    struct by_mixed_change *changes;
    size_t change_count;
};

/* Seconds by stage, and figures for the report. */
struct by_quantize_report {
    struct {
        const char *stage;
        double seconds;
    } stages[BY_STAGES_MAX];
    size_t stage_count;
    struct by_calibrate_report calibration; /* all zero when there was none */
    struct by_choice_made choices[BY_CHOICES_MAX];
    size_t choice_count;
    struct by_solved solved;
    struct by_excluded excluded;
    struct by_mixed_report mixed;
    enum by_cle_mode equalized; /* what samples chose, or was asked for; off: nothing */
    double equalized_range;     /* times that of its tensor, 0: any */
};

/* A model on its way; it is edited from the beginning. */
struct by_quantization {
    struct baryon_model *model;
    const struct by_quantize_options *options;
    struct by_origins *origins;
    struct by_quant_plan *plan;
    struct by_quantize_options settled; /* options, and their recipe, as they are for the model */
    struct by_recipe recipe;
    struct by_frame exact;      /* the model before passes that simulate hardware; or empty */
    struct by_frame floats;     /* what options->keeps_float asks for; or empty */
    struct by_hash128 original; /* of the model as it came, where options->stats is given */
    struct by_trial *trial;     /* of choices, which equalization goes on with; or NULL */
    struct by_judge *judge;     /* of the last trial, with what the float model gave; or NULL */
    size_t judge_referenced;    /* for so many of its samples */
    uint64_t judge_weights;     /* bytes of the float model, where it is open for the others */
    struct by_recall *recall;   /* what those samples said of candidates; or NULL */
    struct by_stats *begun;     /* of the first samples, as equalization left it; or NULL */
    bool begun_by_channel;      /* what is observed then has channels, too */
    unsigned lanes;             /* samples that calibration runs at once; 0: not known yet */
    struct by_known *known;     /* parameters of the model's constants */
    struct by_stats *stats;     /* NULL: none needed */
    struct by_stats *part;      /* without the last samples, which choices are judged on; or NULL */
    struct by_own_sqnr *own;    /* what recipe.own lists; or NULL */
    const char **joins;         /* what recipe.float_joins lists; or NULL */
    struct by_range_factor *factors; /* what recipe.factors lists; or NULL */
    bool corrects;                   /* biases, as asked for or as samples said */
    struct by_pool *pool;
    struct by_quantize_report report;
};

/* Samples that ranges come from. */
uint64_t by_quantization_samples(const struct by_quantization *quantization);

#endif
