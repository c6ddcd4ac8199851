#include "ops/dot.h"

#include <string.h>

int64_t by_dot_plain(const int16_t *a, const int16_t *b, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (int32_t)a[i] * (int32_t)b[i];
    return sum;
}

#if defined(__x86_64__)

#define LANES 8
/* Two products are above -LEAST and at most 2^31: with LEAST added they are 32 bits without a sign.
 */
#define LEAST 0x7fff0000u

typedef short eight __attribute__((vector_size(16)));
typedef uint32_t pairs __attribute__((vector_size(16)));
typedef uint64_t sums __attribute__((vector_size(16)));

static sums products(const int16_t *a, const int16_t *b)
{
    eight x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (sums)((pairs)__builtin_ia32_pmaddwd128(x, y) + LEAST);
}

/* With what every processor of the kind has. */
int64_t by_dot(const int16_t *a, const int16_t *b, size_t count)
{
    const size_t whole = count - count % LANES;
    sums even = {0}, odd = {0};
    for (size_t i = 0; i < whole; i += LANES) {
        const sums both = products(a + i, b + i);
        even += both & 0xffffffff;
        odd += both >> 32;
    }
    const sums all = even + odd;
    const int64_t added = (int64_t)(whole / 2) * LEAST;
    return (int64_t)(all[0] + all[1]) - added + by_dot_plain(a + whole, b + whole, count - whole);
}

#else

int64_t by_dot(const int16_t *a, const int16_t *b, size_t count)
{
    return by_dot_plain(a, b, count);
}

#endif
