/*
 * Samples side by side. Jobs stand in a ring in the order of their samples; lanes take the first
 * that was not begun, each on a thread of its own, and what they did is taken in in order. As
 * long as there are no threads, whoever waits for a job does it.
 */
#ifndef BY_CALIBRATE_LANES_H
#define BY_CALIBRATE_LANES_H

#include "base/gate.h"
#include "base/hash.h"
#include "calibrate/watch.h"
#include "input/input.h"

struct by_job_done {
    int status;                /* of reading or running; then there is an error */
    struct baryon_error error; /* without the sample's name */
    bool nonfinite;            /* as by_watch_sample() says */
    struct by_hash128 content;
};

struct by_lane_job {
    uint64_t sample;
    struct by_sample held; /* goes with the job; without arrays there is nothing to run */
    bool unread;           /* it could not be read: `done` is filled */
    struct by_job_done done;
    enum { BY_JOB_FREE, BY_JOB_READY, BY_JOB_RUNNING, BY_JOB_DONE } state;
};

struct by_lanes;

/* One lane, no thread. gate: that each run passes; NULL: none. */
int by_lanes_open(struct by_lanes **lanes, struct by_watch *watch, size_t port_count,
                  struct by_gate *gate, struct baryon_error *err);
/* Waits for what is running. */
void by_lanes_close(struct by_lanes *lanes);
/* So many lanes with threads, or as many as there can be. Once, between jobs. */
void by_lanes_grow(struct by_lanes *lanes, unsigned count);

/* The next place in the ring, to be filled and given; NULL: it is full. */
struct by_lane_job *by_lanes_place(struct by_lanes *lanes);
void by_lanes_give(struct by_lanes *lanes);
/* The first in the ring, NULL: it is empty; done when this returns, unless they pause. */
struct by_lane_job *by_lanes_first(struct by_lanes *lanes);
/* The first one's place is free again. */
void by_lanes_release(struct by_lanes *lanes);
/* Nothing more is begun, and what was is finished. */
void by_lanes_pause(struct by_lanes *lanes);
void by_lanes_resume(struct by_lanes *lanes);
/* Seconds in which at least one lane was running. */
double by_lanes_busy(struct by_lanes *lanes);

#endif
