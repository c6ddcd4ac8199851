/* Lets no more than so many threads run at once, of all that pass it: what each holds meanwhile is
 * in memory no more than so many times. */
#ifndef BY_GATE_H
#define BY_GATE_H

#include <pthread.h>

struct by_gate {
    pthread_mutex_t lock;
    pthread_cond_t left;
    unsigned room;
};

void by_gate_open(struct by_gate *gate, unsigned room);
void by_gate_close(struct by_gate *gate);
/* NULL: everybody passes. Each that enters leaves. */
void by_gate_enter(struct by_gate *gate);
void by_gate_leave(struct by_gate *gate);

#endif
