/* Runs several samples at once and returns their results in order. */
#include "calibrate/lanes.h"

#include "base/mem.h"
#include "base/thread.h"
#include "calibrate/key.h"

#include <pthread.h>

#define LANES_MAX 256u

struct lane {
    struct by_lanes *lanes;
    struct by_watch_lane *watch;
    pthread_t thread;
};

struct by_lanes {
    struct by_watch *watch;
    size_t port_count;
    struct by_gate *gate;
    struct lane lane[LANES_MAX];
    unsigned count;       /* lanes */
    unsigned threads;     /* 0, or as many as lanes */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool closing, paused;
    unsigned running;
    double since, busy; /* the first began to run; seconds before that */
    /* One place more than lanes, so that none waits for the one whose turn it is. */
    struct by_lane_job ring[LANES_MAX + 1];
    size_t places, first, used;
};

/* --- Running --- */

static void run_lane_job(struct by_lanes *lanes, struct by_watch_lane *lane,
                         struct by_lane_job *job)
{
    struct by_job_done *done = &job->done;
    const struct by_array *arrays = job->held.arrays;
    by_err_clear(&done->error);
    by_gate_enter(lanes->gate);
    done->status = by_watch_sample(lane, arrays, lanes->port_count, job->sample, &done->nonfinite,
                                   &done->error) < 0 ||
                           by_sample_hash(&done->content, arrays, lanes->port_count, job->sample,
                                          &done->error) < 0
                       ? -1
                       : 0;
    by_gate_leave(lanes->gate);
}

/* These two are called with the lock held. */
static void begin_lane_job(struct by_lanes *lanes, struct by_lane_job *job)
{
    job->state = BY_JOB_RUNNING;
    if (!lanes->running++)
        lanes->since = by_seconds();
}

static void finish_lane_job(struct by_lanes *lanes, struct by_lane_job *job)
{
    job->state = BY_JOB_DONE;
    if (!--lanes->running)
        lanes->busy += by_seconds() - lanes->since;
    pthread_cond_broadcast(&lanes->changed);
}

static struct by_lane_job *next_job(struct by_lanes *lanes)
{
    for (size_t i = 0; !lanes->paused && i < lanes->used; i++) {
        struct by_lane_job *job = &lanes->ring[(lanes->first + i) % lanes->places];
        if (job->state == BY_JOB_READY)
            return job;
    }
    return NULL;
}

static void *work_in_lane(void *argument)
{
    const struct lane *lane = argument;
    struct by_lanes *lanes = lane->lanes;
    pthread_mutex_lock(&lanes->lock);
    while (!lanes->closing) {
        struct by_lane_job *job = next_job(lanes);
        if (!job) {
            pthread_cond_wait(&lanes->changed, &lanes->lock);
            continue;
        }
        begin_lane_job(lanes, job);
        pthread_mutex_unlock(&lanes->lock);
        run_lane_job(lanes, lane->watch, job);
        pthread_mutex_lock(&lanes->lock);
        finish_lane_job(lanes, job);
    }
    pthread_mutex_unlock(&lanes->lock);
    return NULL;
}

/* --- The ring --- */

struct by_lane_job *by_lanes_place(struct by_lanes *lanes)
{
    if (lanes->used == lanes->places)
        return NULL;
    struct by_lane_job *job = &lanes->ring[(lanes->first + lanes->used) % lanes->places];
    job->unread = false;
    job->done = (struct by_job_done){0};
    by_sample_init(&job->held);
    return job;
}

void by_lanes_give(struct by_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    struct by_lane_job *job = &lanes->ring[(lanes->first + lanes->used) % lanes->places];
    job->state = job->unread || !job->held.arrays ? BY_JOB_DONE : BY_JOB_READY;
    lanes->used++;
    pthread_cond_broadcast(&lanes->changed);
    pthread_mutex_unlock(&lanes->lock);
}

/* Nobody else would do it. */
static void do_alone(struct by_lanes *lanes, struct by_lane_job *job)
{
    begin_lane_job(lanes, job);
    run_lane_job(lanes, lanes->lane[0].watch, job);
    finish_lane_job(lanes, job);
}

struct by_lane_job *by_lanes_first(struct by_lanes *lanes)
{
    struct by_lane_job *job = lanes->used ? &lanes->ring[lanes->first] : NULL;
    if (!job)
        return NULL;
    pthread_mutex_lock(&lanes->lock);
    if (!lanes->threads && !lanes->paused && job->state == BY_JOB_READY)
        do_alone(lanes, job);
    while (job->state != BY_JOB_DONE && !(lanes->paused && job->state == BY_JOB_READY))
        pthread_cond_wait(&lanes->changed, &lanes->lock);
    pthread_mutex_unlock(&lanes->lock);
    return job;
}

void by_lanes_release(struct by_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    struct by_lane_job *job = &lanes->ring[lanes->first];
    by_sample_release(&job->held);
    job->state = BY_JOB_FREE;
    lanes->first = (lanes->first + 1) % lanes->places;
    lanes->used--;
    pthread_mutex_unlock(&lanes->lock);
}

void by_lanes_pause(struct by_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    lanes->paused = true;
    while (lanes->running)
        pthread_cond_wait(&lanes->changed, &lanes->lock);
    pthread_mutex_unlock(&lanes->lock);
}

void by_lanes_resume(struct by_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    lanes->paused = false;
    pthread_cond_broadcast(&lanes->changed);
    pthread_mutex_unlock(&lanes->lock);
}

double by_lanes_busy(struct by_lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
    const double busy = lanes->busy + (lanes->running ? by_seconds() - lanes->since : 0);
    pthread_mutex_unlock(&lanes->lock);
    return busy;
}

/* --- Opening --- */

static int add_lane(struct by_lanes *lanes, struct baryon_error *err)
{
    struct lane *lane = &lanes->lane[lanes->count];
    lane->lanes = lanes;
    if (by_watch_lane_open(&lane->watch, lanes->watch, err) < 0)
        return -1;
    lanes->count++;
    return 0;
}

int by_lanes_open(struct by_lanes **out, struct by_watch *watch, size_t port_count,
                  struct by_gate *gate, struct baryon_error *err)
{
    struct by_lanes *lanes = by_alloc_zero(1, sizeof *lanes, err);
    *out = NULL;
    if (!lanes)
        return -1;
    pthread_mutex_init(&lanes->lock, NULL);
    pthread_cond_init(&lanes->changed, NULL);
    lanes->watch = watch;
    lanes->port_count = port_count;
    lanes->gate = gate;
    lanes->places = 1;
    if (add_lane(lanes, err) < 0) {
        by_lanes_close(lanes);
        return -1;
    }
    *out = lanes;
    return 0;
}

/* What there is no room for is left out: the result is the same. */
void by_lanes_grow(struct by_lanes *lanes, unsigned count)
{
    if (count > LANES_MAX)
        count = LANES_MAX;
    while (lanes->count < count && add_lane(lanes, NULL) == 0)
        continue;
    if (lanes->count < 2)
        return;
    lanes->first = 0;
    while (lanes->threads < lanes->count) {
        struct lane *lane = &lanes->lane[lanes->threads];
        if (by_thread_start(&lane->thread, work_in_lane, lane, "a worker", NULL) < 0)
            break;
        lanes->threads++;
    }
    lanes->places = lanes->threads + 1;
}

void by_lanes_close(struct by_lanes *lanes)
{
    if (!lanes)
        return;
    pthread_mutex_lock(&lanes->lock);
    lanes->closing = true;
    pthread_cond_broadcast(&lanes->changed);
    pthread_mutex_unlock(&lanes->lock);
    for (unsigned i = 0; i < lanes->threads; i++)
        pthread_join(lanes->lane[i].thread, NULL);
    while (lanes->used)
        by_lanes_release(lanes);
    for (unsigned i = 0; i < lanes->count; i++)
        by_watch_lane_close(lanes->lane[i].watch);
    pthread_cond_destroy(&lanes->changed);
    pthread_mutex_destroy(&lanes->lock);
    by_free(lanes);
}
