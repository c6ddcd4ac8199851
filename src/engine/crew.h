/*
 * The threads of a session whose results must not depend on their number.
 *
 * ONNX Runtime cuts the work of a node for as many threads as it has, and some kernels give other
 * bits for other cuts (MatMul of two computed matrices, ReduceMean over outer axes). So such a
 * session is told of a fixed number of threads, of which only some work: a thread of the runtime's
 * pool takes what the others have not begun, so nothing waits for those that do not. Only the
 * end of the pool does; then they all come. All threads are started before the runtime asks for
 * them, since it cannot bear that one is missing.
 */
#ifndef BY_CREW_H
#define BY_CREW_H

#include "engine/ort.h"

struct by_crew;

/* threads: how many work, the caller's with them; told: how many the runtime believes. */
int by_crew_open(struct by_crew **crew, unsigned threads, unsigned told, struct baryon_error *err);
/* After the session that it is for. */
void by_crew_close(struct by_crew *crew);
int by_crew_put(struct by_crew *crew, const struct by_ort *ort, OrtSessionOptions *built,
                struct baryon_error *err);

#endif
