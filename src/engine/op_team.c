/* Runs loops of a custom operator on the threads of ONNX Runtime. */
#include "engine/op_team.h"

#include "base/job.h"

struct shift {
    struct by_job *job;
    const struct by_op_team *team;
};

static void work_in_op_team(void *context, size_t worker)
{
    const struct shift *shift = context;
    by_job_work(shift->job, shift->team, (unsigned)worker);
}

/* As many calls as workers: each is one, whichever thread makes it, and takes pieces. */
static int share(const struct by_op_team *team, struct by_job *job, struct baryon_error *err)
{
    struct shift shift = {job, team};
    size_t workers = job->pieces < team->team.workers ? job->pieces : team->team.workers;
    return by_ort_status(team->ort,
                         team->ort->api->KernelContext_ParallelFor(team->context, work_in_op_team,
                                                                   workers, workers, &shift),
                         "distribute work", err);
}

static int run_on_runtime(const struct by_team *team, size_t count, size_t grain,
                          by_piece_fn *piece, void *context, struct baryon_error *err)
{
    const struct by_op_team *self = (const struct by_op_team *)team;
    struct by_job job;
    unsigned worker;
    int failed = 0;
    if (!count)
        return 0;
    by_job_begin(&job, count, grain, piece, context);
    if (by_job_inside(self, &worker) || team->workers == 1 || job.pieces == 1)
        by_job_work(&job, NULL, worker);
    else
        failed = share(self, &job, err);
    return by_job_end(&job, failed ? NULL : err) || failed ? -1 : 0;
}

void by_op_team(struct by_op_team *team, const struct by_ort *ort, const OrtKernelContext *context,
                unsigned workers)
{
    *team = (struct by_op_team){{workers, run_on_runtime}, ort, context};
}
