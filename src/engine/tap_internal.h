/*
 * What the files of the taps share.
 */
#ifndef BY_TAP_INTERNAL_H
#define BY_TAP_INTERNAL_H

#include "engine/optimized.h"
#include "engine/session_internal.h"
#include "engine/tap.h"

#include <pthread.h>

#define BY_TAP_DOMAIN  "baryon.taps"
#define BY_TAP_THROUGH "Through" /* value -> value: on the edge */
#define BY_TAP_SEVERAL "Several" /* values -> the first of them: on their edges */
#define BY_TAP_BESIDE  "Beside"  /* values -> token */
#define BY_TAP_DONE    "Done"    /* -> token: an output that a run can ask for */
#define BY_TAP_HANDS   8         /* most that one tap hands on */
#define BY_TAP_INDEX   "tap"     /* attribute: which tap */

/* One tap. What stands in the runtime's graph for it finds it by its index. */
struct by_tap_point {
    struct by_tapped *tapped;
    by_tap_fn *look;
    void *context;
    struct by_array *values; /* named; the rest is of a run, which has a copy */
    size_t count;
    size_t hands; /* of several */
    bool through; /* hands on what it was told to, or its only value */
    bool any_layout;
    /* In the graph that the runtime gets: the value that holds the first one in blocks of so many
     * channels. NULL: under its own name, as it is. */
    const char *blocked;
    size_t channels, block;
};

/* Operators of ours, as the runtime takes them. */
struct by_tap_op {
    OrtCustomOp op;
    struct by_tapped *tapped;
};

/* What belongs to one run at a time. */
struct by_tap_lane {
    struct by_tapped *tapped;
    void *context;
    uint64_t sample;
    float *plain; /* room for values that are put in order */
    size_t plain_room;
    bool failed; /* in this run; then there is an error */
    struct baryon_error error;
};

/* The lane whose run this thread is in: nodes run on the thread that began the run. */
extern _Thread_local struct by_tap_lane *by_tap_lane_here;

struct by_tapped {
    struct by_arena arena;
    struct by_session *session;
    const struct by_ort *ort;
    struct by_tap_op through, several, beside, done;
    struct by_tap_point *taps;
    size_t count;
    const char *done_name; /* the output that is asked for */
    unsigned threads;
    bool side_by_side;       /* lanes need not take turns */
    struct by_tap_lane lane; /* of by_tapped_run() */
    pthread_mutex_t turn;    /* to use it, or any other where they take turns */
    bool failed;             /* on opening; then there is an error */
    struct baryon_error error;
};

/* --- tap_op.c --- */

/* Fills the operators and adds them to the options of a session that is being opened. */
int by_tap_ops_add(struct by_tapped *tapped, struct by_session *session, OrtSessionOptions *built,
                   struct baryon_error *err);

/* --- tap_graph.c --- */

struct by_renamed_list {
    struct by_renamed {
        const char **place;
        const char *old;
    } * at;
    size_t count, cap;
};

/* What the model said before. */
struct by_tap_edit {
    struct by_arena arena;
    struct baryon_model *model; /* NULL: nothing was done yet */
    struct by_ptrs opsets, nodes, outputs;
    struct by_renamed_list renamed;
};

/* The values that taps name are there and can be looked at. model is linked and settled. */
int by_taps_check(const struct by_tapped *tapped, const struct baryon_model *model,
                  struct baryon_error *err);
/* The name of a tap's value in the graph that the runtime gets. */
const char *by_tap_source(const struct by_tap_point *tap, size_t index);
/* As by_taps_put_in(), but the values of the taps are made outputs, after those that there
 * are. */
int by_taps_show(struct by_tap_edit *edit, const struct by_tapped *tapped,
                 struct baryon_model *model, struct baryon_error *err);
/*
 * The model's messages, but not its links, say that there are taps, until they are taken
 * out, which has to follow also when this fails.
 */
int by_taps_put_in(struct by_tap_edit *edit, struct by_tapped *tapped, struct baryon_model *model,
                   struct baryon_error *err);
void by_taps_take_out(struct by_tap_edit *edit);

/* --- tap_inside.c --- */

/* Points the taps to their values in the model as the runtime optimizes it, and drops what stood in
 * their way. No model: taps have to go into the given one. */
int by_tap_inside_open(struct by_optimized *inside, struct by_tapped *tapped,
                       struct baryon_model *model, const struct by_session_options *options,
                       struct baryon_error *err);

#endif
