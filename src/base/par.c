/* Runs loops on a pool of threads. */
#include "base/par.h"

#include "base/format.h"
#include "base/job.h"
#include "base/thread.h"

struct worker {
    struct by_pool *pool;
    unsigned number; /* from 1; the caller's thread is 0 */
    pthread_t thread;
};

struct by_pool {
    pthread_mutex_t turn; /* one job at a time, whoever brings it */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t start, done;
    struct by_job *job;
    uint64_t jobs;    /* brought so far: tells a worker that there is a new one */
    unsigned working; /* workers that have not finished the current job */
    bool closing;
    unsigned threads; /* with the caller's */
    struct worker workers[];
};

static void *work_in_pool(void *argument)
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
        struct by_job *job = pool->job;
        pthread_mutex_unlock(&pool->lock);
        by_job_work(job, pool, self->number);
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
        return by_fail(err, BARYON_ERR_USAGE, "%u threads, must be at most %u", threads,
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
        if (by_thread_start(&worker->thread, work_in_pool, worker, what, err) < 0) {
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

static void run_on_pool(struct by_pool *pool, struct by_job *job)
{
    pthread_mutex_lock(&pool->turn);
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->jobs++;
    pool->working = pool->threads - 1;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    by_job_work(job, pool, 0);
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
    struct by_job job;
    unsigned worker;
    by_job_begin(&job, count, grain, piece, context);
    if (by_job_inside(pool, &worker))
        by_job_work(&job, NULL, worker);
    else if (!pool || pool->threads == 1 || job.pieces == 1)
        by_job_work(&job, NULL, 0);
    else
        run_on_pool(pool, &job);
    return by_job_end(&job, err);
}
