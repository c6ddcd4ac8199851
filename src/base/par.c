#include "base/par.h"

#include "base/format.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <string.h>

struct job {
    size_t count, grain, pieces;
    by_piece_fn *piece;
    void *context;
    _Atomic size_t next;   /* pieces are taken in order */
    _Atomic size_t failed; /* the lowest that failed, `pieces`: none */
    pthread_mutex_t lock;  /* of error */
    struct baryon_error error;
};

struct worker {
    struct by_pool *pool;
    unsigned number; /* from 1; the caller's thread is 0 */
    pthread_t thread;
};

struct by_pool {
    pthread_mutex_t turn; /* one job at a time, whoever brings it */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t start, done;
    struct job *job;
    uint64_t jobs;    /* brought so far: tells a worker that there is a new one */
    unsigned working; /* workers that have not finished the current job */
    bool closing;
    unsigned threads; /* with the caller's */
    struct worker workers[];
};

/* Set while a piece runs on this thread: a call from inside it must not wait for the pool. */
static _Thread_local const struct by_pool *inside_pool;
static _Thread_local unsigned inside_worker;

static void note_failure(struct job *job, size_t piece, const struct baryon_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (piece < atomic_load(&job->failed)) {
        atomic_store(&job->failed, piece);
        job->error = *error;
    }
    pthread_mutex_unlock(&job->lock);
}

/* Pieces are taken in order, so all below a failing one run and may be the one to report. */
static void run_pieces(struct job *job, unsigned worker)
{
    for (;;) {
        size_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->pieces || i > atomic_load(&job->failed))
            return;
        struct baryon_error error;
        by_err_clear(&error);
        size_t begin = i * job->grain;
        size_t end = job->count - begin < job->grain ? job->count : begin + job->grain;
        if (job->piece(job->context, begin, end, worker, &error))
            note_failure(job, i, &error);
    }
}

static void run_share(const struct by_pool *pool, unsigned worker, struct job *job)
{
    inside_pool = pool;
    inside_worker = worker;
    run_pieces(job, worker);
    inside_pool = NULL;
}

static void *work(void *argument)
{
    const struct worker *self = argument;
    struct by_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->closing && pool->jobs == seen)
            pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->closing)
            break;
        seen = pool->jobs;
        struct job *job = pool->job;
        pthread_mutex_unlock(&pool->lock);
        run_share(pool, self->number, job);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int by_pool_open(struct by_pool **pool, unsigned threads, struct baryon_error *err)
{
    if (!threads)
        threads = by_cpu_count();
    if (threads > BY_THREADS_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "%u threads, at most %u are possible", threads,
                       BY_THREADS_MAX);
    struct by_pool *fresh = by_alloc_zero(1, sizeof *fresh + threads * sizeof *fresh->workers, err);
    if (!fresh)
        return -1;
    pthread_mutex_init(&fresh->turn, NULL);
    pthread_mutex_init(&fresh->lock, NULL);
    pthread_cond_init(&fresh->start, NULL);
    pthread_cond_init(&fresh->done, NULL);
    for (fresh->threads = 1; fresh->threads < threads; fresh->threads++) {
        struct worker *worker = &fresh->workers[fresh->threads];
        worker->pool = fresh;
        worker->number = fresh->threads;
        char what[64];
        by_format(what, sizeof what, "thread %u of %u", worker->number + 1, threads);
        if (by_thread_start(&worker->thread, work, worker, what, err) < 0) {
            by_pool_close(fresh);
            return -1;
        }
    }
    *pool = fresh;
    return 0;
}

void by_pool_close(struct by_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    by_free(pool);
}

unsigned by_pool_threads(const struct by_pool *pool)
{
    return pool ? pool->threads : 1;
}

static void run_on_pool(struct by_pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->turn);
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->jobs++;
    pool->working = pool->threads - 1;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    run_share(pool, 0, job);
    pthread_mutex_lock(&pool->lock);
    while (pool->working)
        pthread_cond_wait(&pool->done, &pool->lock);
    pool->job = NULL;
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}

int by_par_for(struct by_pool *pool, size_t count, size_t grain, by_piece_fn *piece, void *context,
               struct baryon_error *err)
{
    if (!count)
        return 0;
    if (!grain)
        grain = 1;
    size_t pieces = count / grain + (count % grain != 0);
    struct job job = {.count = count,
                      .grain = grain,
                      .pieces = pieces,
                      .piece = piece,
                      .context = context,
                      .failed = pieces,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    if (inside_pool)
        run_pieces(&job, pool == inside_pool ? inside_worker : 0);
    else if (!pool || pool->threads == 1 || pieces == 1)
        run_pieces(&job, 0);
    else
        run_on_pool(pool, &job);
    pthread_mutex_destroy(&job.lock);
    if (atomic_load(&job.failed) == pieces)
        return 0;
    if (err)
        *err = job.error;
    return -1;
}
