/*
 * Sessions that show tensors to us while they run: operators of ours stand on chosen
 * values, and each calls a function with the tensor's bytes where they are, before
 * anything else is computed from them. Nothing is copied out or kept.
 *
 * With optimizations, the runtime optimizes the model first, and the taps go into what it made
 * of it: they cost it no step that it would not take without them. Where that cannot be
 * (tap_inside.c has the rules), they go into the model itself.
 *
 * A tap on one inner value stands on the edge: it hands the tensor through in place, so
 * that it is looked at right after it was made, whatever order the runtime prefers. A tap on an
 * input or an output stands beside: the runtime does that at the very end, and keeps the tensor
 * until then. So does one on several values, unless it is told which of them to hand on.
 * A tap hides its values from the runtime's fusions across them; choose values that no
 * fusion swallows (stats/targets.h).
 */
#ifndef BY_TAP_H
#define BY_TAP_H

#include "base/blocks.h"
#include "base/team.h"
#include "engine/session.h"

/* What a tap sees. */
struct by_tap_look {
    /* As many as the tap has, in its order. Where the runtime computes what the model calls
     * float16 in float32, it is that. */
    const struct by_array *values;
    size_t count;
    /* The first value's layout, when it is not its plain one; its dimensions are as if it were.
     * Only for taps that take any. NULL: plain. */
    const struct by_blocks *blocks;
    uint64_t sample;            /* what the run was given */
    void *lane;                 /* the context of the lane that runs; NULL: none has one */
    const struct by_team *team; /* threads that are free to help, the runtime's own */
};

/* Called once a run and tap, for each lane by itself. A failure ends the run. */
typedef int by_tap_fn(void *context, const struct by_tap_look *look, struct baryon_error *err);

struct by_tap {
    const char *const *values; /* names of values of the main graph; of any tensor type */
    size_t value_count;
    /* Of several values, so many, the first ones, are handed on to those that read them; none is
     * an output, all values are of one type, and none is computed from one that is handed on.
     * 0: the tap stands beside. */
    size_t hands;
    by_tap_fn *look;
    void *context;
    bool any_layout; /* images may come in blocks, as they lie; else they are put in order */
};

struct by_tapped;

/* As by_session_open_model(); the model is as it was afterwards. Names of values that do not
 * exist are refused, and those of constants. options->branches must be 0 or 1. */
int by_tapped_open(struct by_tapped **tapped, struct baryon_model *model, const struct by_tap *taps,
                   size_t tap_count, const struct by_session_options *options,
                   struct baryon_error *err);
void by_tapped_close(struct by_tapped *tapped);
/* For its ports, and to cancel. */
struct by_session *by_tapped_session(const struct by_tapped *tapped);
/*
 * Runs one sample for its taps; outputs come to nobody. An error of a tap's function
 * comes out as it was given.
 */
int by_tapped_run(struct by_tapped *tapped, const struct by_array *inputs, size_t input_count,
                  uint64_t sample, struct baryon_error *err);

/*
 * Samples side by side: each lane runs one at a time, on the thread that calls it, and several
 * may run at once. They may do so in a session of one thread (options->threads 1, no cuts); in
 * others lanes take turns. They are closed before the session.
 */
struct by_tap_lane;
int by_tap_lane_open(struct by_tap_lane **lane, struct by_tapped *tapped, void *context,
                     struct baryon_error *err);
void by_tap_lane_close(struct by_tap_lane *lane);
int by_tap_lane_run(struct by_tap_lane *lane, const struct by_array *inputs, size_t input_count,
                    uint64_t sample, struct baryon_error *err);

#endif
