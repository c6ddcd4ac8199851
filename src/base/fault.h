/*
 * Fault injection: with -DBARYON_FAULTS every fallible call of the library asks
 * by_fault() first. A test counts the calls of one run, then makes the k-th one
 * fail, once or from then on, for every k. Without the macro it costs nothing.
 */
#ifndef BY_FAULT_H
#define BY_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum by_fault_kind { BY_FAULT_ALLOC, BY_FAULT_IO, BY_FAULT_KINDS };

#ifdef BARYON_FAULTS
/* Counts a call; true when it has to fail. IO faults set errno to EIO. */
bool by_fault(enum by_fault_kind kind);
/* The k-th call from now on (1 is the next) fails; forever: those after it too. 0: none. */
void by_fault_arm(enum by_fault_kind kind, uint64_t k, bool forever);
/* The k-th call ends the process at once, as kill -9 would. 0: none. */
void by_fault_arm_kill(enum by_fault_kind kind, uint64_t k);
uint64_t by_fault_count(enum by_fault_kind kind);
#else
static inline bool by_fault(enum by_fault_kind kind)
{
    (void)kind;
    return false;
}
#endif

#endif
