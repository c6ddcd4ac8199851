/*
 * The ranks of one run: copies of the program that mpirun or srun started together.
 *
 * Rank 0 speaks for all. A thread in each rank sends a pulse twice a second, to rank 0 and
 * back: it tells how far the rank is, that all shall stop, and that the rank is alive. Who was
 * not heard of for BY_RANKS_SILENCE seconds is named, and the run is ended.
 */
#ifndef BY_RANKS_H
#define BY_RANKS_H

#include "base/err.h"
#include "base/log.h"

#define BY_RANKS_SILENCE 15.0 /* seconds */

struct by_ranks;

/* *ranks NULL: the program runs alone. */
int by_ranks_open(struct by_ranks **ranks, const struct by_log *log, struct baryon_error *err);
/* For a program that runs alone: srun without an MPI has started several, each for itself. */
void by_ranks_warn_alone(const struct by_log *log);
/*
 * The end of the run, for better or worse: when one rank has failed, the others stop, and
 * rank 0 says its error, named, with json also on standard output. After that, errors have no
 * message. Gives the status that the program has to end with.
 */
int by_ranks_close(struct by_ranks *ranks, int status, bool json, struct baryon_error *err);
size_t by_ranks_rank(const struct by_ranks *ranks);
size_t by_ranks_size(const struct by_ranks *ranks);

/* Bytes between rank 0 and another; in order. Fail with BARYON_ERR_CANCELLED when all shall stop.
 */
int by_ranks_send(struct by_ranks *ranks, size_t to, const void *bytes, size_t size,
                  struct baryon_error *err);
int by_ranks_receive(struct by_ranks *ranks, size_t from, void *bytes, size_t size,
                     struct baryon_error *err);

/* Threads for this rank: its share of the processors that it and the others of its machine may
 * use. All ranks have to ask. */
int by_ranks_threads(struct by_ranks *ranks, unsigned *threads, struct baryon_error *err);

/* True when all shall stop. */
bool by_ranks_stopping(struct by_ranks *ranks);
/* How far this rank is; for rank 0 how far all are. */
void by_ranks_progress(struct by_ranks *ranks, uint64_t *done, uint64_t *total);
/* Called on rank 0 while it waits. */
void by_ranks_on_wait(struct by_ranks *ranks, void (*call)(void *context), void *context);

#endif
