/*
 * Memory that ONNX Runtime may fall back on.
 *
 * It is not written for allocations that fail: the tables it is made of free what they do not have
 * when their own is refused, and the process dies. So 16 MiB of address space are set aside before
 * it is called. Where C++'s operator new finds nothing they are given up, and it tries again: the
 * many small pieces that follow are there. What is too big for that is refused as an exception,
 * which ONNX Runtime reports.
 *
 * The hook for that (std::set_new_handler) is the process's, so one that a caller has set stays,
 * and ours goes when the last library is closed. A library without that function gets the room
 * alone.
 */
#ifndef BY_SPARE_H
#define BY_SPARE_H

#include "base/err.h"

/* Learns how the library sets the hook; by_ort_open()'s lock is held. */
void by_spare_open(void *handle);
void by_spare_close(void);

/* Before ONNX Runtime is called for much: refused where what was given up cannot be set aside
 * again. Safe from several threads. */
int by_spare_take(struct baryon_error *err);
/* While so many threads of a session run: what starts them, their queues and their variables come
 * from malloc() or the loader, whose refusal ONNX Runtime does not look for. */
int by_spare_for_threads(unsigned threads, struct baryon_error *err);

#endif
