/* Levels of integer types: facts that every stage shares. */
#include "ir/tensor.h"
#include "quant/recipe.h"

struct levels {
    int64_t low, high;                 /* all of the type */
    int64_t symmetric_low;             /* signed types lose their lowest level */
    int64_t reduced_low, reduced_high; /* one bit less */
};

static struct levels levels_of(int64_t elem)
{
    switch (elem) {
    case BY_ELEM_UINT2:
        return (struct levels){0, 3, 0, 0, 1};
    case BY_ELEM_INT4:
        return (struct levels){-8, 7, -7, -4, 4};
    case BY_ELEM_UINT4:
        return (struct levels){0, 15, 0, 0, 7};
    case BY_ELEM_INT8:
        return (struct levels){-128, 127, -127, -64, 64};
    case BY_ELEM_UINT8:
        return (struct levels){0, 255, 0, 0, 127};
    case BY_ELEM_INT16:
        return (struct levels){-32768, 32767, -32767, -16384, 16384};
    case BY_ELEM_UINT16:
        return (struct levels){0, 65535, 0, 0, 32767};
    case BY_ELEM_INT32:
        return (struct levels){INT32_MIN, INT32_MAX, -INT32_MAX, -(1 << 30), 1 << 30};
    case BY_ELEM_UINT32:
        return (struct levels){0, UINT32_MAX, 0, 0, INT32_MAX};
    default:
        return (struct levels){0};
    }
}

void by_spec_levels(const struct by_tensor_spec *spec, int64_t *qmin, int64_t *qmax)
{
    const struct levels levels = levels_of(spec->elem);
    *qmin = levels.low;
    *qmax = levels.high;
    if (spec->reduce_range) {
        *qmin = levels.reduced_low;
        *qmax = levels.reduced_high;
    } else if (spec->symmetric) {
        *qmin = levels.symmetric_low;
    }
}

void by_spec_target(const struct by_tensor_spec *spec, struct by_calib_target *target)
{
    *target = (struct by_calib_target){.symmetric = spec->symmetric,
                                       .power_of_two = spec->scale == BY_SCALE_POW2};
    by_spec_levels(spec, &target->qmin, &target->qmax);
}
