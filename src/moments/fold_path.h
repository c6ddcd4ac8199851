/*
 * The loops of fold.c for one width of vectors: WIDTH doubles, in functions with TARGET.
 * Included once for each; the names end in SUFFIX.
 */
#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix)  JOIN_(name, suffix)
#define NAME(name)          JOIN(name, SUFFIX)

typedef float NAME(floats) __attribute__((vector_size(WIDTH * 4)));
typedef double NAME(doubles) __attribute__((vector_size(WIDTH * 8)));
typedef int64_t NAME(longs) __attribute__((vector_size(WIDTH * 8)));
typedef int32_t NAME(ints) __attribute__((vector_size(WIDTH * 4)));

/* Bits of the greatest magnitude: they order as the floats do. */
TARGET static uint32_t NAME(greatest)(const float *values, size_t count)
{
    NAME(ints) most = {0}, bits;
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        memcpy(&bits, values + i, sizeof bits);
        bits &= 0x7fffffff;
        const NAME(ints) greater = bits > most;
        most = (bits & greater) | (most & ~greater);
    }
    uint32_t result = greatest_one(values + i, count - i);
    for (size_t k = 0; k < WIDTH; k++)
        result = (uint32_t)most[k] > result ? (uint32_t)most[k] : result;
    return result;
}

TARGET static void NAME(add)(int64_t *high, int64_t *low, const float *values, size_t count,
                             double scale)
{
    const NAME(doubles) shift = (NAME(doubles)){0} + ROUNDER;
    const NAME(longs) base = (NAME(longs))shift;
    size_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        NAME(floats) value;
        NAME(longs) sum;
        memcpy(&value, values + i, sizeof value);
        const NAME(doubles) scaled = __builtin_convertvector(value, NAME(doubles)) * scale;
        const NAME(doubles) upper = scaled + shift;
        memcpy(&sum, high + i, sizeof sum);
        sum += (NAME(longs))upper - base;
        memcpy(high + i, &sum, sizeof sum);
        const NAME(doubles) lower = (scaled - (upper - shift)) * CELL + shift;
        memcpy(&sum, low + i, sizeof sum);
        sum += (NAME(longs))lower - base;
        memcpy(low + i, &sum, sizeof sum);
    }
    add_ones(high + i, low + i, values + i, count - i, scale);
}

#undef JOIN_
#undef JOIN
#undef NAME
#undef TARGET
#undef WIDTH
#undef SUFFIX
