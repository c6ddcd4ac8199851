/* Counts the threads that have passed a gate. */
#include "base/gate.h"

void by_gate_open(struct by_gate *gate, unsigned room)
{
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->left, NULL);
    gate->room = room;
}

void by_gate_close(struct by_gate *gate)
{
    pthread_cond_destroy(&gate->left);
    pthread_mutex_destroy(&gate->lock);
}

void by_gate_enter(struct by_gate *gate)
{
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    while (!gate->room)
        pthread_cond_wait(&gate->left, &gate->lock);
    gate->room--;
    pthread_mutex_unlock(&gate->lock);
}

void by_gate_leave(struct by_gate *gate)
{
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    gate->room++;
    pthread_cond_signal(&gate->left);
    pthread_mutex_unlock(&gate->lock);
}
