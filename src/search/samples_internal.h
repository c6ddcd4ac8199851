/*
 * What the files of the samples of a search share.
 *
 *   samples.c          reads and keeps them, with the float model's outputs
 *   samples_measure.c  measures candidates on them
 */
#ifndef BY_SEARCH_SAMPLES_INTERNAL_H
#define BY_SEARCH_SAMPLES_INTERNAL_H

#include "onnx/frame.h"
#include "search/samples.h"
#include "trial/float_outputs.h"

/* Who reads what is kept: two may be in turns. */
enum by_auto_reading { READ_CALIBRATING, READ_OTHERS, READINGS };

struct by_auto_kept {
    char name[300];
    bool skipped;
    struct by_parked *inputs, *outputs;
};

/* Outputs of so many samples are in memory together, since measures add up in their order. */
#define BY_SAMPLES_TOGETHER 16

/* A model whose session stays open from one part of the samples to the next. */
struct by_auto_opened {
    const struct baryon_model *model; /* NULL: none */
    struct by_frame frame;
    struct baryon_model *joined; /* a copy for the session, whose pairs are one node each */
    struct by_session *session;
    struct by_fitted fitted;
    const char **names; /* of its outputs */
    /* Of the first part that was measured, where it is small: all seen ones have it again. */
    struct by_run *runs[BY_SAMPLES_TOGETHER];
    struct by_auto_range ran;
    struct by_arena arena;
};

struct by_auto_samples {
    const struct by_auto_source *source;
    const struct by_auto_goals *goals;
    struct by_pool *pool;
    struct by_arena arena;
    struct by_auto_parts parts;
    struct by_session *session; /* of the float model; NULL once its outputs are kept */
    struct by_depot *depot;
    size_t input_count;
    const char **input_names;
    struct by_float_outputs outputs; /* each part of which is measured */
    struct by_labels labels;
    size_t label_output, label_rows; /* of a sample */
    struct by_auto_kept *kept;       /* of all parts */
    size_t kept_count;
    struct by_evaluate_settings settings;
    struct by_input_callback first; /* those that calibrate */
    struct by_auto_reader reader;   /* where they are kept */
    size_t given;                   /* where they come from the caller again */
    struct by_array *shown[READINGS];
    struct by_unpark_room *rooms[READINGS];
    char text[1024];
    struct by_hash128 identity;
    double seconds;
    struct by_auto_opened opened;
};

/* Of one thread. */
struct by_session_options by_auto_lone_session(const struct by_auto_samples *samples);

#endif
