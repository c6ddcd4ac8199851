/* Implements hash maps from bytes to pointers, and a table of interned names. */
#include "base/map.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

struct by_map_slot {
    const char *key; /* NULL: never used */
    void *value;     /* NULL: removed */
    uint64_t hash;
    size_t size; /* of the key: an interned text may hold a NUL */
};

static uint64_t process_seed(void)
{
    static _Atomic uint64_t seed;
    uint64_t now = atomic_load_explicit(&seed, memory_order_relaxed);
    if (now)
        return now;
    uint64_t fresh;
    if (getrandom(&fresh, sizeof fresh, GRND_NONBLOCK) != (ssize_t)sizeof fresh) {
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        fresh = (uint64_t)ts.tv_nsec ^ (uint64_t)(uintptr_t)&seed;
    }
    fresh |= 1;
    /* Another thread may have been first: all have to use the same one. */
    if (atomic_compare_exchange_strong(&seed, &now, fresh))
        return fresh;
    return now;
}

uint64_t by_hash(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

void by_map_init(struct by_map *map)
{
    *map = (struct by_map){0};
}

void by_map_release(struct by_map *map)
{
    by_free(map->slots);
    *map = (struct by_map){0};
}

/* The slot with that key, or the one where it would go. */
static struct by_map_slot *find_slot(const struct by_map *map, const char *key, size_t size,
                                     uint64_t hash)
{
    struct by_map_slot *grave = NULL;
    for (size_t i = (size_t)hash & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        struct by_map_slot *slot = &map->slots[i];
        if (!slot->key)
            return grave ? grave : slot;
        if (!slot->value) {
            if (!grave)
                grave = slot;
            continue;
        }
        if (slot->hash == hash && slot->size == size && memcmp(slot->key, key, size) == 0)
            return slot;
    }
}

static uint64_t hash_key(const void *key, size_t size)
{
    return by_hash(key, size, process_seed());
}

static struct by_map_slot *lookup(const struct by_map *map, const char *key, size_t size)
{
    if (!map->cap)
        return NULL;
    struct by_map_slot *slot = find_slot(map, key, size, hash_key(key, size));
    return slot->key && slot->value ? slot : NULL;
}

void *by_map_get_bytes(const struct by_map *map, const void *key, size_t size)
{
    struct by_map_slot *slot = lookup(map, key, size);
    return slot ? slot->value : NULL;
}

void *by_map_get(const struct by_map *map, const char *key)
{
    return by_map_get_bytes(map, key, strlen(key));
}

static int rehash(struct by_map *map, struct baryon_error *err)
{
    size_t cap = 16;
    while (cap < map->count * 2)
        cap *= 2;
    struct by_map_slot *slots = by_alloc_zero(cap, sizeof *slots, err);
    if (!slots)
        return -1;
    struct by_map grown = {.slots = slots, .cap = cap, .used = map->count, .count = map->count};
    for (size_t i = 0; i < map->cap; i++) {
        const struct by_map_slot *old = &map->slots[i];
        if (old->key && old->value)
            *find_slot(&grown, old->key, old->size, old->hash) = *old;
    }
    by_free(map->slots);
    *map = grown;
    return 0;
}

int by_map_put_bytes(struct by_map *map, const void *key, size_t size, void *value,
                     struct baryon_error *err)
{
    uint64_t hash = hash_key(key, size);
    if (map->used * 4 >= map->cap * 3 && rehash(map, err))
        return -1;
    struct by_map_slot *slot = find_slot(map, key, size, hash);
    if (!slot->key)
        map->used++;
    if (!slot->value)
        map->count++;
    *slot = (struct by_map_slot){key, value, hash, size};
    return 0;
}

int by_map_put(struct by_map *map, const char *key, void *value, struct baryon_error *err)
{
    return by_map_put_bytes(map, key, strlen(key), value, err);
}

void *by_map_remove(struct by_map *map, const char *key)
{
    struct by_map_slot *slot = lookup(map, key, strlen(key));
    if (!slot)
        return NULL;
    void *value = slot->value;
    slot->value = NULL;
    map->count--;
    return value;
}

void by_names_table_init(struct by_names_table *table, struct by_arena *arena)
{
    table->arena = arena;
    by_map_init(&table->map);
}

void by_names_table_release(struct by_names_table *table)
{
    by_map_release(&table->map);
}

const char *by_intern(struct by_names_table *table, const void *text, size_t size,
                      struct baryon_error *err)
{
    struct by_map_slot *slot = lookup(&table->map, text, size);
    if (slot)
        return slot->key;
    char *copy = by_arena_text(table->arena, text, size, err);
    if (!copy || by_map_put_bytes(&table->map, copy, size, copy, err))
        return NULL;
    return copy;
}
