/* Numbers and texts of a .stats file. */
#include "stats/store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_little(struct by_str *out, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    by_str_add(out, bytes, size);
}

void by_store_put_byte(struct by_str *out, unsigned byte)
{
    put_little(out, byte, 1);
}

void by_store_put_u32(struct by_str *out, uint32_t value)
{
    put_little(out, value, 4);
}

void by_store_put_u64(struct by_str *out, uint64_t value)
{
    put_little(out, value, 8);
}

void by_store_put_float(struct by_str *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    by_store_put_u32(out, bits);
}

void by_store_put_varint(struct by_str *out, uint64_t value)
{
    uint8_t bytes[10];
    unsigned used = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[used++] = (uint8_t)(value | 0x80);
    bytes[used++] = (uint8_t)value;
    by_str_add(out, bytes, used);
}

void by_store_put_signed(struct by_str *out, int64_t value)
{
    by_store_put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void by_store_put_text(struct by_str *out, const char *text)
{
    size_t size = strlen(text);
    by_store_put_varint(out, size);
    by_str_add(out, text, size);
}

void by_store_put_hash(struct by_str *out, struct by_hash128 hash)
{
    by_store_put_u64(out, hash.low);
    by_store_put_u64(out, hash.high);
}

void by_store_put_counts(struct by_str *out, const uint64_t *counts, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t run = 0;
        while (i + run < count && !counts[i + run])
            run++;
        by_store_put_varint(out, counts[i]);
        if (run)
            by_store_put_varint(out, run - 1);
        i += run ? run : 1;
    }
}

/* --- Reading --- */

size_t by_store_left(const struct by_store_in *in)
{
    return in->failed ? 0 : in->end - in->at;
}

const uint8_t *by_store_take(struct by_store_in *in, size_t size)
{
    if (size > by_store_left(in)) {
        by_store_fail(in, "%zu bytes are required, but the record has %zu left", size,
                      by_store_left(in));
        return NULL;
    }
    const uint8_t *at = in->file + in->at;
    in->at += size;
    return at;
}

static uint64_t take_little(struct by_store_in *in, unsigned size)
{
    const uint8_t *bytes = by_store_take(in, size);
    uint64_t value = 0;
    for (unsigned i = 0; bytes && i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

unsigned by_store_take_byte(struct by_store_in *in, unsigned most)
{
    unsigned value = (unsigned)take_little(in, 1);
    if (value > most) {
        in->at--;
        by_store_fail(in, "is %u, must be at most %u", value, most);
        return 0;
    }
    return value;
}

uint64_t by_store_take_u64(struct by_store_in *in)
{
    return take_little(in, 8);
}

float by_store_take_float(struct by_store_in *in)
{
    uint32_t bits = (uint32_t)take_little(in, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value) && bits != 0x80000000u)
        return value;
    in->at -= 4;
    by_store_fail(in, "is %g, must be finite and not -0", (double)value);
    return 0;
}

static bool take_varint(struct by_store_in *in, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = by_store_take(in, 1);
        if (!byte)
            return false;
        if (shift == 63 && *byte > 1)
            break;
        *value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80)
            return *byte || !shift;
    }
    return false;
}

uint64_t by_store_take_varint(struct by_store_in *in, uint64_t most, const char *what)
{
    size_t start = in->at;
    uint64_t value;
    bool good = take_varint(in, &value);
    if (good && value <= most)
        return value;
    in->at = start;
    if (good)
        by_store_fail(in, "%s is %" PRIu64 ", must be at most %" PRIu64, what, value, most);
    else
        by_store_fail(in, "%s is not a number of at most 64 bits in its shortest form", what);
    return 0;
}

int64_t by_store_take_signed(struct by_store_in *in)
{
    uint64_t value = by_store_take_varint(in, UINT64_MAX, "a number");
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

size_t by_store_take_count(struct by_store_in *in, size_t least, const char *what)
{
    size_t start = in->at;
    uint64_t count = by_store_take_varint(in, SIZE_MAX, what);
    size_t left = by_store_left(in);
    if (count <= left / least)
        return (size_t)count;
    in->at = start;
    by_store_fail(in, "%s is %" PRIu64 ", more than the remaining %zu bytes can hold", what, count,
                  left);
    return 0;
}

const char *by_store_take_text(struct by_store_in *in)
{
    size_t start = in->at, size = by_store_take_count(in, 1, "the length of a text");
    const uint8_t *bytes = by_store_take(in, size);
    if (!bytes)
        return "";
    if (!by_utf8_valid(bytes, size) || memchr(bytes, 0, size)) {
        in->at = start;
        by_store_fail(in, "a text must be UTF-8 without NUL");
        return "";
    }
    const char *text = by_arena_text(in->arena, bytes, size, in->failed ? NULL : in->err);
    in->failed |= !text;
    return text ? text : "";
}

struct by_hash128 by_store_take_hash(struct by_store_in *in)
{
    struct by_hash128 hash = {.low = by_store_take_u64(in)};
    hash.high = by_store_take_u64(in);
    return hash;
}

void by_store_take_counts(struct by_store_in *in, uint64_t *counts, size_t count)
{
    bool after_zeros = false;
    for (size_t i = 0; i < count && !in->failed;) {
        uint64_t value = by_store_take_varint(in, UINT64_MAX, "a count");
        if (value) {
            counts[i++] = value;
            after_zeros = false;
            continue;
        }
        size_t run = (size_t)by_store_take_varint(in, count - i - 1, "a run of zeros") + 1;
        if (after_zeros)
            by_store_fail(in, "a run of zeros follows another one");
        memset(counts + i, 0, run * sizeof *counts);
        i += run;
        after_zeros = true;
    }
}

bool by_store_allow(struct by_store_in *in, size_t count, size_t size)
{
    size_t bytes;
    if (by_mul_overflow(count, size, &bytes) || bytes > in->budget)
        by_store_fail(in, "the contents require more memory than a file of this size may take");
    else
        in->budget -= bytes;
    return !in->failed;
}
