/* Distributes the pieces of one loop over the threads that join it. */
#include "base/job.h"

/* Set while a piece runs on this thread: a call from inside it must not wait for others. */
static _Thread_local struct place {
    const void *owner;
    unsigned worker;
} inside;

void by_job_begin(struct by_job *job, size_t count, size_t grain, by_piece_fn *piece, void *context)
{
    if (!grain)
        grain = 1;
    const size_t pieces = count / grain + (count % grain != 0);
    *job = (struct by_job){.count = count,
                           .grain = grain,
                           .pieces = pieces,
                           .piece = piece,
                           .context = context,
                           .failed = pieces};
    pthread_mutex_init(&job->lock, NULL);
}

static void note_failure(struct by_job *job, size_t piece, const struct baryon_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (piece < atomic_load(&job->failed)) {
        atomic_store(&job->failed, piece);
        job->error = *error;
    }
    pthread_mutex_unlock(&job->lock);
}

/* Pieces are taken in order, so all below a failing one run and may be the one to report. */
static void run_pieces(struct by_job *job, unsigned worker)
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

void by_job_work(struct by_job *job, const void *owner, unsigned worker)
{
    const struct place before = inside;
    if (owner)
        inside = (struct place){owner, worker};
    run_pieces(job, worker);
    inside = before;
}

int by_job_end(struct by_job *job, struct baryon_error *err)
{
    pthread_mutex_destroy(&job->lock);
    if (atomic_load(&job->failed) == job->pieces)
        return 0;
    if (err)
        *err = job->error;
    return -1;
}

bool by_job_inside(const void *owner, unsigned *worker)
{
    *worker = inside.owner == owner ? inside.worker : 0;
    return inside.owner != NULL;
}
