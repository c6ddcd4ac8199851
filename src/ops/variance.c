/* Computes c - a * b as hardware does that multiplies in bf16 and adds in 24 bits. */
#include "ops/variance.h"

#include "ops/bf16.h"

#define PARTS 3
#define BIAS  127

static int exponent_of(float value)
{
    return (int)(by_bits_of(value) >> 23 & 0xff);
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

/* What is left of a term that is added where the greatest has that exponent: a power of two of it
 * goes in and out again. */
static float aligned(float value, int exponent)
{
    const uint32_t sign_and_own = by_bits_of(value) & 0xff800000;
    const float anchor =
        by_float_of(sign_and_own + ((uint32_t)(exponent - exponent_of(value)) << 23));
    return (value + anchor) - anchor;
}

static int product_exponent(float a, float b)
{
    return exponent_of(a) + exponent_of(b) - BIAS;
}

/* sum + a * b */
static float add_product(float sum, float a, float b)
{
    const int exponent = greater(product_exponent(a, b), exponent_of(sum));
    return aligned(sum, exponent) + aligned(a * b, exponent);
}

/* Numbers of bf16 that add up to the value. */
static void split(float value, float parts[PARTS])
{
    parts[0] = by_to_bf16(value);
    parts[1] = by_to_bf16(value - parts[0]);
    parts[2] = by_to_bf16(value - parts[0] - parts[1]);
}

float by_less_product(float a, float b, float c)
{
    static const struct {
        int left, right;
    } order[] = {{2, 1}, {1, 2}, {0, 2}, {1, 1}, {2, 0}, {1, 0}, {0, 1}};
    float left[PARTS], right[PARTS];
    split(a, left);
    split(-b, right);
    float small = left[2] * right[2];
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        small = add_product(small, left[order[i].left], right[order[i].right]);
    const int exponent =
        greater(greater(product_exponent(left[0], right[0]), exponent_of(small)), exponent_of(c));
    return aligned(small, exponent) + aligned(c, exponent) + aligned(left[0] * right[0], exponent);
}
