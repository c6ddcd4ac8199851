/*
 * NaN and infinities in tensors. What is not finite is found by its bits, in blocks of
 * a fixed number of bytes, which compilers turn into vector code; the places are looked
 * for only where there are some.
 */
#include "ir/tensor.h"

#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

#define BLOCK           4096u
#define BIG_ENDIAN_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* (bits & mask) == value: not finite; then (bits & mantissa) != 0: NaN, else an infinity. */
struct special {
    int64_t elem;
    uint64_t mask, value, mantissa;
};

static const struct special specials[] = {
    {BY_ELEM_FLOAT, 0x7f800000, 0x7f800000, 0x7fffff},
    {BY_ELEM_FLOAT16, 0x7c00, 0x7c00, 0x3ff},
    {BY_ELEM_BFLOAT16, 0x7f80, 0x7f80, 0x7f},
    {BY_ELEM_DOUBLE, 0x7ff0000000000000, 0x7ff0000000000000, 0xfffffffffffff},
    {BY_ELEM_FLOAT8E4M3FN, 0x7f, 0x7f, 0x7},
    {BY_ELEM_FLOAT8E4M3FNUZ, 0xff, 0x80, 0x80},
    {BY_ELEM_FLOAT8E5M2, 0x7c, 0x7c, 0x3},
    {BY_ELEM_FLOAT8E5M2FNUZ, 0xff, 0x80, 0x80},
    {BY_ELEM_FLOAT8E8M0, 0xff, 0xff, 0xff},
};

#define DEFINE_BLOCK(type)                                                                         \
    static bool has_some_##type(const uint8_t *bytes, const struct special *special)               \
    {                                                                                              \
        const type mask = (type)special->mask, value = (type)special->value;                       \
        type hits = 0;                                                                             \
        for (size_t i = 0; i < BLOCK; i += sizeof(type)) {                                         \
            type bits;                                                                             \
            memcpy(&bits, bytes + i, sizeof bits);                                                 \
            hits |= (type)((bits & mask) == value);                                                \
        }                                                                                          \
        return hits;                                                                               \
    }

DEFINE_BLOCK(uint8_t)
DEFINE_BLOCK(uint16_t)
DEFINE_BLOCK(uint32_t)
DEFINE_BLOCK(uint64_t)

static bool block_has_some(const uint8_t *bytes, size_t width, const struct special *special)
{
    switch (width) {
    case 1:
        return has_some_uint8_t(bytes, special);
    case 2:
        return has_some_uint16_t(bytes, special);
    case 4:
        return has_some_uint32_t(bytes, special);
    default:
        return has_some_uint64_t(bytes, special);
    }
}

struct specials_found {
    size_t nans, infinities, first;
    bool first_is_nan;
};

static void look_for_special(const uint8_t *bytes, size_t from, size_t to, size_t width,
                             const struct special *special, struct specials_found *found)
{
    for (size_t i = from; i < to; i++) {
        uint64_t bits = 0;
        for (size_t k = width; k-- > 0;)
            bits = bits << 8 | bytes[i * width + k];
        if ((bits & special->mask) != special->value)
            continue;
        bool nan = bits & special->mantissa;
        if (!found->nans && !found->infinities) {
            found->first = i;
            found->first_is_nan = nan;
        }
        found->nans += nan;
        found->infinities += !nan;
    }
}

static struct specials_found find_specials(struct by_span bytes, size_t width,
                                           const struct special *special)
{
    struct specials_found found = {0};
    const size_t count = bytes.size / width, step = BLOCK / width;
    size_t i = 0;
    for (; count - i >= step; i += step)
        if (BIG_ENDIAN_HOST || block_has_some(bytes.data + i * width, width, special))
            look_for_special(bytes.data, i, i + step, width, special, &found);
    look_for_special(bytes.data, i, count, width, special, &found);
    return found;
}

/* "[3,0,1]" of an element. */
static const char *index_text(const struct baryon_tensor *tensor, size_t element, char *buf,
                              size_t size)
{
    size_t index[BY_RANK_MAX] = {0}, used = 0;
    for (size_t i = tensor->dims.count; i-- > 0;) {
        index[i] = element % (size_t)tensor->dims.at[i];
        element /= (size_t)tensor->dims.at[i];
    }
    used += (size_t)snprintf(buf, size, "[");
    for (size_t i = 0; i < tensor->dims.count && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%zu", i ? "," : "", index[i]);
    if (used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

/* "3 NaN and 1 infinity" */
static void say_found(const struct specials_found *found, char *buf, size_t size)
{
    const char *infinite = found->infinities == 1 ? "infinity" : "infinities";
    if (!found->infinities)
        snprintf(buf, size, "%zu NaN", found->nans);
    else if (!found->nans)
        snprintf(buf, size, "%zu %s", found->infinities, infinite);
    else
        snprintf(buf, size, "%zu NaN and %zu %s", found->nans, found->infinities, infinite);
}

static int report_specials(struct by_check *check, const struct baryon_tensor *tensor,
                           const struct specials_found *found, size_t count,
                           struct baryon_error *err)
{
    char place[160], what[80];
    say_found(found, what, sizeof what);
    const char *which = found->nans + found->infinities == 1 ? "at"
                        : !found->nans || !found->infinities ? "the first at"
                        : found->first_is_nan                ? "the first is NaN at"
                                                             : "the first is infinite at";
    by_fail(err, BARYON_ERR_INPUT, "%s among %zu elements, %s %s", what, count, which,
            index_text(tensor, found->first, place, sizeof place));
    by_err_tensor(err, tensor);
    return by_report(check, BY_FINDING_WARNING, &tensor->msg, err);
}

static const struct special *special_of(int64_t elem)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].elem == elem)
            return &specials[i];
    return NULL;
}

/* A single infinity is a constant that somebody wanted, as a limit or a mask. */
static int check_finite(struct by_check *check, const struct baryon_tensor *tensor,
                        struct baryon_error *err)
{
    const struct special *special = special_of(tensor->data_type);
    struct by_arena scratch;
    struct by_span bytes;
    size_t count;
    if (!special || by_tensor_check(tensor, NULL) || by_tensor_count(tensor, &count, NULL) ||
        (by_tensor_is_external(tensor) && !tensor->external.data))
        return 0;
    by_arena_init(&scratch, 0);
    int result = by_tensor_bytes(tensor, &scratch, &bytes, err);
    if (!result) {
        const size_t width = by_elem_info(tensor->data_type)->bits / 8;
        const struct specials_found found = find_specials(bytes, width, special);
        if (found.nans || (found.infinities && count > 1))
            result = report_specials(check, tensor, &found, count, err);
    }
    by_arena_release(&scratch);
    return result;
}

const struct by_model_rule by_rule_finite = {.worst = BY_FINDING_WARNING, .tensor = check_finite};
