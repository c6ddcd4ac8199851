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

/* Seconds on a clock that does not jump. */
double by_seconds(void);

#endif
