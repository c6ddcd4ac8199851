/* Finds the range of 16-bit floats by their bits. */
#include "array/elem.h"
#include "base/half.h"
#include "llm/scheme/rows.h"

#include <math.h>

static float value_of_key(int64_t elem, int16_t key)
{
    const uint16_t bits = (uint16_t)by_half_key((uint16_t)key);
    return elem == BY_ELEM_FLOAT16 ? by_f16_to_f32_one(bits) : by_bf16_to_f32_one(bits);
}

/* Infinities and NaN are at the ends of the order. */
bool by_llm_look_halves(struct by_llm_range *range, int64_t elem, const uint16_t *values,
                        size_t count)
{
    int16_t least, most;
    if (!count)
        return true;
    by_half_extremes(values, count, &least, &most);
    const struct by_llm_range own = {
        .min = value_of_key(elem, least), .max = value_of_key(elem, most), .known = true};
    if (!isfinite(own.min) || !isfinite(own.max))
        return false;
    by_llm_range_join(range, &own);
    return true;
}
