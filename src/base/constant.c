/* Keeps one copy of constants that several models and sessions have. */
#include "base/constant.h"

#include "base/hash.h"

#include <pthread.h>
#include <string.h>

struct by_constant {
    struct by_hash128 key;
    size_t size;
    unsigned users;
    struct by_constant *next;
    uint8_t *bytes; /* behind, on a cache line of its own */
};

#define LINE 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct by_constant *all; /* some hundreds at most */

/* It may be one of them already. */
static struct by_constant *find_same(const void *bytes, size_t size)
{
    struct by_constant *at = all;
    while (at && !(at->bytes == bytes && at->size == size))
        at = at->next;
    return at;
}

static struct by_constant *find_equal(struct by_hash128 key, size_t size)
{
    struct by_constant *at = all;
    while (at && !(at->size == size && by_hash128_equal(at->key, key)))
        at = at->next;
    return at;
}

static struct by_constant *keep_copy(struct by_hash128 key, const void *bytes, size_t size,
                                     struct baryon_error *err)
{
    size_t whole;
    if (by_add_overflow(size, sizeof(struct by_constant) + LINE, &whole)) {
        by_err_nomem(err, size);
        return NULL;
    }
    struct by_constant *made = by_alloc(1, whole, err);
    if (!made)
        return NULL;
    uint8_t *behind = (uint8_t *)(made + 1);
    *made = (struct by_constant){.key = key, .size = size, .next = all};
    made->bytes = behind + (LINE - (uintptr_t)behind % LINE) % LINE;
    memcpy(made->bytes, bytes, size);
    all = made;
    return made;
}

int by_constant_take(const struct by_constant **constant, const void *bytes, size_t size,
                     struct baryon_error *err)
{
    pthread_mutex_lock(&lock);
    struct by_constant *found = find_same(bytes, size);
    if (!found) {
        pthread_mutex_unlock(&lock);
        const struct by_hash128 key = by_hash128(bytes, size);
        pthread_mutex_lock(&lock);
        found = find_equal(key, size);
        if (!found)
            found = keep_copy(key, bytes, size, err);
    }
    if (found)
        found->users++;
    pthread_mutex_unlock(&lock);
    *constant = found;
    return found ? 0 : -1;
}

const void *by_constant_bytes(const struct by_constant *constant)
{
    return constant->bytes;
}

void by_constant_leave(const struct by_constant *constant)
{
    if (!constant)
        return;
    pthread_mutex_lock(&lock);
    struct by_constant **at = &all;
    while (*at != constant)
        at = &(*at)->next;
    struct by_constant *left = *at;
    if (--left->users == 0) {
        *at = left->next;
        by_free(left);
    }
    pthread_mutex_unlock(&lock);
}
