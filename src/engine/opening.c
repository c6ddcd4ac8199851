/* Serializes opening sessions that register the same operator domains. */
#include "engine/opening.h"

#include "base/map.h"

#include <pthread.h>
#include <string.h>

#define KNOWN_MAX 64 /* what does not find room opens alone every time */

/* Changed by who holds the lock for writing, which is who opens alone. */
static pthread_rwlock_t openings = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t known[KNOWN_MAX];
static size_t known_count;
static bool is_alone;

uint64_t by_opening_add(uint64_t brings, const void *runtime, const char *name)
{
    return by_hash(name, strlen(name), brings ^ (uint64_t)(uintptr_t)runtime) | 1;
}

static bool is_known(uint64_t brings)
{
    for (size_t i = 0; i < known_count; i++)
        if (known[i] == brings)
            return true;
    return false;
}

void by_opening_begin(uint64_t brings)
{
    pthread_rwlock_rdlock(&openings);
    if (!brings || is_known(brings))
        return;
    pthread_rwlock_unlock(&openings);
    pthread_rwlock_wrlock(&openings);
    is_alone = true;
}

void by_opening_end(uint64_t brings, bool opened)
{
    if (is_alone) {
        if (opened && known_count < KNOWN_MAX && !is_known(brings))
            known[known_count++] = brings;
        is_alone = false;
    }
    pthread_rwlock_unlock(&openings);
}
