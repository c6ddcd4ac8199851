/*
 * Threads. by_par_for() cuts [0, count) into fixed pieces of `grain` items and
 * runs them on the pool; pieces do not depend on the number of threads, so what
 * a piece computes does not either. Whatever joins results does so by piece
 * index. The caller's thread works too. A call from inside a piece runs on that
 * worker alone, so that nesting cannot lock up.
 */
#ifndef BY_PAR_H
#define BY_PAR_H

#include "base/mem.h"

struct by_pool;

#define BY_THREADS_MAX 1024u

/* threads 0: as many as the process may use (affinity and cgroup quota count). */
int by_pool_open(struct by_pool **pool, unsigned threads, struct baryon_error *err);
void by_pool_close(struct by_pool *pool);
unsigned by_pool_threads(const struct by_pool *pool);
unsigned by_cpu_count(void);

/* One piece: items [begin, end), worker in [0, threads). 0, or -1 with err filled. */
typedef int by_piece_fn(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err);

/*
 * pool NULL runs on the caller alone. When pieces fail, the error of the lowest
 * failing piece index is reported, whatever the order of work was.
 */
int by_par_for(struct by_pool *pool, size_t count, size_t grain, by_piece_fn *piece, void *context,
               struct baryon_error *err);

#endif
