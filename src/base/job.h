/*
 * One loop in pieces, for whoever brings threads (par, team): by_job_work() is called
 * by each of them, with a number of its own.
 */
#ifndef BY_JOB_H
#define BY_JOB_H

#include "base/par.h"

#include <pthread.h>
#include <stdatomic.h>

struct by_job {
    size_t count, grain, pieces;
    by_piece_fn *piece;
    void *context;
    _Atomic size_t next;   /* pieces are taken in order */
    _Atomic size_t failed; /* the lowest that failed, `pieces`: none */
    pthread_mutex_t lock;  /* of error */
    struct baryon_error error;
};

/* grain 0 is 1. */
void by_job_begin(struct by_job *job, size_t count, size_t grain, by_piece_fn *piece,
                  void *context);
/*
 * Does pieces until none is left. Meanwhile this thread is inside the owner; NULL: it is
 * where it was.
 */
void by_job_work(struct by_job *job, const void *owner, unsigned worker);
/* When all have come back: how it went. */
int by_job_end(struct by_job *job, struct baryon_error *err);

/* True when this thread is inside a piece, and so has to work alone; as that worker. */
bool by_job_inside(const void *owner, unsigned *worker);

#endif
