/* Computes 128-bit content hashes with XXH3. */
#include "base/hash.h"

#include "base/fault.h"

#include <string.h>
#include <xxhash.h>

static struct by_hash128 from_xxh(XXH128_hash_t hash)
{
    return (struct by_hash128){.low = hash.low64, .high = hash.high64};
}

struct by_hash128 by_hash128(const void *bytes, size_t size)
{
    return from_xxh(XXH3_128bits(bytes, size));
}

bool by_hash128_equal(struct by_hash128 a, struct by_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

const char *by_hash128_text(struct by_hash128 hash, char out[33])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 32; i++)
        out[i] = digits[(i < 16 ? hash.high : hash.low) >> (4 * (15 - i % 16)) & 15];
    out[32] = '\0';
    return out;
}

struct by_hash128 by_hash128_sum(struct by_hash128 a, struct by_hash128 b)
{
    struct by_hash128 sum = {.low = a.low + b.low, .high = a.high + b.high};
    sum.high += sum.low < a.low;
    return sum;
}

/* The state's size is the library's secret, so that it comes from there. */
struct by_hasher {
    XXH3_state_t *state;
};

int by_hasher_open(struct by_hasher **hasher, struct baryon_error *err)
{
    struct by_hasher *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    fresh->state = by_fault(BY_FAULT_ALLOC) ? NULL : XXH3_createState();
    if (!fresh->state) {
        by_free(fresh);
        return by_err_nomem(err, 1024);
    }
    XXH3_128bits_reset(fresh->state);
    *hasher = fresh;
    return 0;
}

void by_hasher_add(struct by_hasher *hasher, const void *bytes, size_t size)
{
    XXH3_128bits_update(hasher->state, bytes, size);
}

void by_hasher_number(struct by_hasher *hasher, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    by_hasher_add(hasher, bytes, sizeof bytes);
}

void by_hasher_text(struct by_hasher *hasher, const char *text)
{
    size_t size = strlen(text);
    by_hasher_number(hasher, size);
    by_hasher_add(hasher, text, size);
}

struct by_hash128 by_hasher_value(const struct by_hasher *hasher)
{
    return from_xxh(XXH3_128bits_digest(hasher->state));
}

void by_hasher_close(struct by_hasher *hasher)
{
    if (!hasher)
        return;
    XXH3_freeState(hasher->state);
    by_free(hasher);
}
