/*
 * Turns for sessions that are being opened.
 *
 * ONNX Runtime looks whether it knows a domain of operators and then notes it down, in a table of
 * the process without a lock. Of two sessions that bring the same domain at once the second fails,
 * and any other may read the table while it changes. So whoever brings what no session brought
 * before opens alone; all others open side by side.
 */
#ifndef BY_OPENING_H
#define BY_OPENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a session brings, 0 nothing, and something more: a name of operators, for one runtime. */
uint64_t by_opening_add(uint64_t brings, const void *runtime, const char *name);

/* Around the call that makes a session. Safe from several threads, not inside one another. */
void by_opening_begin(uint64_t brings);
void by_opening_end(uint64_t brings, bool opened);

#endif
