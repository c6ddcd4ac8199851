/* Sums of products of 16-bit integers, exact. */
#ifndef BY_OPS_DOT_H
#define BY_OPS_DOT_H

#include <stddef.h>
#include <stdint.h>

int64_t by_dot(const int16_t *a, const int16_t *b, size_t count);
/* The definition. */
int64_t by_dot_plain(const int16_t *a, const int16_t *b, size_t count);

#endif
