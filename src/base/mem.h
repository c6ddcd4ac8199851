/*
 * Memory.
 *
 * Bulk memory comes from by_alloc() and goes back with by_free(). Small objects
 * that live and die together come from an arena: zeroed, never freed one by one,
 * all gone with by_arena_release(). An arena has a limit, so that a file cannot
 * make us take more memory than its size justifies.
 *
 * All functions that return a pointer give NULL and fill err when they fail.
 */
#ifndef BY_MEM_H
#define BY_MEM_H

#include "base/err.h"

#include <stdalign.h>

/* True on overflow, as the compiler's builtins have it. */
static inline bool by_mul_overflow(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

static inline bool by_add_overflow(size_t a, size_t b, size_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}

/* count * size bytes; by_alloc_zero clears them. Never NULL for count == 0. */
void *by_alloc(size_t count, size_t size, struct baryon_error *err);
void *by_alloc_zero(size_t count, size_t size, struct baryon_error *err);
/* On failure the old block stays valid. */
/* A fresh block that will be written here and there: in large pages, where the system has them. */
void by_spread(void *block, size_t size);
void *by_realloc(void *old, size_t count, size_t size, struct baryon_error *err);
char *by_strdup(const char *text, struct baryon_error *err);
void by_free(void *block);
/* What was freed goes back to the system, as far as the C library knows how. */
void by_trim_memory(void);
/* For a program that has this process to itself, before it starts threads. What was freed is kept
 * for the next run of a session, and threads share it: 8 of them one heap. */
void by_keep_memory(unsigned threads);

struct by_arena_block;

struct by_arena {
    struct by_arena_block *blocks;
    size_t used;  /* bytes handed out and reserved, all blocks */
    size_t limit; /* 0: none */
};

void by_arena_init(struct by_arena *arena, size_t limit);
void by_arena_release(struct by_arena *arena);
/* Zeroed and aligned for any type. */
void *by_arena_alloc(struct by_arena *arena, size_t count, size_t size, struct baryon_error *err);
/* A copy that ends with NUL. */
char *by_arena_text(struct by_arena *arena, const void *text, size_t size,
                    struct baryon_error *err);

#define BY_ARENA_NEW(arena, type, err) ((type *)by_arena_alloc((arena), 1, sizeof(type), (err)))

/*
 * Growing lists. Every list struct of the project has this layout, with a typed
 * `at`; by_list_reserve() works on any of them.
 */
struct by_list {
    void *at;
    size_t count, cap;
};

/* Makes room for `more` items of `size` bytes after list->count, from the arena. */
int by_list_reserve(struct by_arena *arena, void *list, size_t more, size_t size,
                    struct baryon_error *err);

#endif
