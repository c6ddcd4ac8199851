/* Levels of 2 and 3 bits, and codes of blocks, in wider types. */
#ifndef BY_QUANTIZE_NARROW_H
#define BY_QUANTIZE_NARROW_H

#include "quantize/quantize.h"

/* Tells what takes more bits in the file than was asked for, and what would take less. */
void by_quantize_tell_narrow(const struct by_quantization *q);

#endif
