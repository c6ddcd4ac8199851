/*
 * Starting threads of our own.
 */
#ifndef BY_THREAD_H
#define BY_THREAD_H

#include "base/err.h"

#include <pthread.h>

/*
 * Signals stay with the caller's threads, but for those that a thread causes itself (a
 * mapped file that became shorter). 0, or -1 with err filled; `what` names the thread.
 */
int by_thread_start(pthread_t *thread, void *(*work)(void *), void *argument, const char *what,
                    struct baryon_error *err);

/* Work in a thread of its own, whose result is waited for. All zero at first. */
struct by_task {
    pthread_t thread;
    int (*work)(void *context, struct baryon_error *err);
    void *context;
    bool started;
    int status;
    struct baryon_error error;
};

/* The one before has been waited for. `what` names the thread. */
int by_task_start(struct by_task *task, int (*work)(void *context, struct baryon_error *err),
                  void *context, const char *what, struct baryon_error *err);
/* The result of the work; 0 where none was started since. err may be NULL. */
int by_task_wait(struct by_task *task, struct baryon_error *err);

/* Seconds on a clock that does not jump. */
double by_seconds(void);

#endif
