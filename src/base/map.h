/*
 * Maps from names to pointers, and a table of names.
 *
 * Hashing is seeded per process, so that a file cannot choose names that collide;
 * there is no iteration, so that no result can depend on the seed.
 */
#ifndef BY_MAP_H
#define BY_MAP_H

#include "base/mem.h"

struct by_map_slot;

struct by_map {
    struct by_map_slot *slots;
    size_t cap, used; /* used counts removed entries too, until the next growth */
    size_t count;
};

void by_map_init(struct by_map *map);
void by_map_release(struct by_map *map);
/* NULL when the key is not there. */
void *by_map_get(const struct by_map *map, const char *key);
/* The map keeps the key pointer, not a copy. Replaces an older entry. value != NULL. */
int by_map_put(struct by_map *map, const char *key, void *value, struct baryon_error *err);
/* Returns what stood there, or NULL. */
void *by_map_remove(struct by_map *map, const char *key);
/* The same where keys are any bytes; a map has texts or such as keys. */
void *by_map_get_bytes(const struct by_map *map, const void *key, size_t size);
int by_map_put_bytes(struct by_map *map, const void *key, size_t size, void *value,
                     struct baryon_error *err);

/* Interned names: one copy a text, so equal bytes are equal pointers. */
struct by_names_table {
    struct by_arena *arena; /* not owned */
    struct by_map map;
};

void by_names_table_init(struct by_names_table *table, struct by_arena *arena);
void by_names_table_release(struct by_names_table *table);
const char *by_intern(struct by_names_table *table, const void *text, size_t size,
                      struct baryon_error *err);

/* 64-bit hash of bytes, the same in every process (for comparing, not for tables). */
uint64_t by_hash(const void *bytes, size_t size, uint64_t seed);

#endif
