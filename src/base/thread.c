/* Starts a thread with all signals blocked, and reads the clock. */
#include "base/thread.h"

#include "base/fault.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static void mask_signals(sigset_t *before)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&mask, own[i]);
    pthread_sigmask(SIG_SETMASK, &mask, before);
}

int by_thread_start(pthread_t *thread, void *(*work)(void *), void *argument, const char *what,
                    struct baryon_error *err)
{
    sigset_t before;
    mask_signals(&before);
    const int code =
        by_fault(BY_FAULT_ALLOC) ? EAGAIN : pthread_create(thread, NULL, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!code)
        return 0;
    errno = code;
    return by_fail_errno(err, BARYON_ERR_NOMEM, "cannot start %s", what);
}

static void *work_on_task(void *argument)
{
    struct by_task *task = argument;
    task->status = task->work(task->context, &task->error);
    return NULL;
}

int by_task_start(struct by_task *task, int (*work)(void *context, struct baryon_error *err),
                  void *context, const char *what, struct baryon_error *err)
{
    *task = (struct by_task){.work = work, .context = context};
    if (by_thread_start(&task->thread, work_on_task, task, what, err))
        return -1;
    task->started = true;
    return 0;
}

int by_task_wait(struct by_task *task, struct baryon_error *err)
{
    if (!task->started)
        return 0;
    pthread_join(task->thread, NULL);
    task->started = false;
    if (task->status && err)
        *err = task->error;
    return task->status;
}

double by_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
