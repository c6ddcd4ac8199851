/* c - a * b as a unit computes it that multiplies in bf16 and adds aligned terms of 24 bits. */
#ifndef BY_OPS_VARIANCE_H
#define BY_OPS_VARIANCE_H

float by_less_product(float a, float b, float c);

#endif
