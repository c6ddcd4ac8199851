/* The C library's tanhf, many at a time. */
#ifndef BY_OPS_TANH_H
#define BY_OPS_TANH_H

#include <stddef.h>

/* In place; the bits are always those of tanhf. */
void by_tanh(float *values, size_t count);

#endif
