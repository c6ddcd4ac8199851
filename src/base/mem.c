/* Allocates memory and arenas, with checked sizes and limits. */
#include "base/mem.h"

#include "base/fault.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool total_size(size_t count, size_t size, size_t *total, struct baryon_error *err)
{
    if (by_mul_overflow(count, size, total) || *total > PTRDIFF_MAX) {
        by_err_nomem(err, SIZE_MAX);
        return false;
    }
    if (*total == 0)
        *total = 1;
    return true;
}

void *by_alloc(size_t count, size_t size, struct baryon_error *err)
{
    return by_realloc(NULL, count, size, err);
}

void *by_alloc_zero(size_t count, size_t size, struct baryon_error *err)
{
    size_t total;
    if (!total_size(count, size, &total, err))
        return NULL;
    void *block = by_fault(BY_FAULT_ALLOC) ? NULL : calloc(1, total);
    if (!block)
        by_err_nomem(err, total);
    return block;
}

void by_spread(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21, from = (uintptr_t)block;
    const uintptr_t begin = (from + page - 1) / page * page, end = (from + size) / page * page;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)block, (void)size;
#endif
}

void *by_realloc(void *old, size_t count, size_t size, struct baryon_error *err)
{
    size_t total;
    if (!total_size(count, size, &total, err))
        return NULL;
    void *block = by_fault(BY_FAULT_ALLOC) ? NULL : realloc(old, total);
    if (!block)
        by_err_nomem(err, total);
    return block;
}

char *by_strdup(const char *text, struct baryon_error *err)
{
    size_t size = strlen(text) + 1;
    char *copy = by_alloc(size, 1, err);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void by_free(void *block)
{
    free(block);
}

void by_trim_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#define KEPT_BLOCK   (32 << 20)  /* bytes; larger ones come from the system each time */
#define KEPT_BYTES   (256 << 20) /* at the end of the heap */
#define HEAP_THREADS 8u

/* Sessions free all values of a run. Heaps of single threads go back to the system with them, and
 * their pages are cleared again for the next run: up to a fifth of a search. */
void by_keep_memory(unsigned threads)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_ARENA_MAX, 1 + (int)(threads / HEAP_THREADS));
#else
    (void)threads;
#endif
}

struct by_arena_block {
    struct by_arena_block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

#define BLOCK_FIRST   4096u
#define BLOCK_LARGEST (1u << 20)

void by_arena_init(struct by_arena *arena, size_t limit)
{
    *arena = (struct by_arena){.limit = limit};
}

void by_arena_release(struct by_arena *arena)
{
    struct by_arena_block *block = arena->blocks;
    while (block) {
        struct by_arena_block *next = block->next;
        by_free(block);
        block = next;
    }
    *arena = (struct by_arena){.limit = arena->limit};
}

static int over_limit(const struct by_arena *arena, struct baryon_error *err)
{
    return by_fail(
        err, BARYON_ERR_NOMEM,
        "the contents require more than %zu bytes of memory, the limit for a file of this size",
        arena->limit);
}

#define FRESH_LEAST (256u << 10) /* of an object that gets memory which is zero already */

/* Blocks double up to 1 MiB; a large object gets one of its own, after the current one. */
static struct by_arena_block *add_block(struct by_arena *arena, size_t need,
                                        struct baryon_error *err)
{
    struct by_arena_block *head = arena->blocks;
    size_t size = head ? head->size * 2 : BLOCK_FIRST;
    if (size > BLOCK_LARGEST)
        size = BLOCK_LARGEST;
    bool own = need > size / 4 && head;
    if (need > size || own)
        size = need;
    if (arena->limit && (size > arena->limit || arena->used > arena->limit - size))
        size = need;
    if (arena->limit && (size > arena->limit || arena->used > arena->limit - size)) {
        over_limit(arena, err);
        return NULL;
    }
    struct by_arena_block *block = need >= FRESH_LEAST ? by_alloc_zero(1, sizeof *block + size, err)
                                                       : by_alloc(1, sizeof *block + size, err);
    if (!block)
        return NULL;
    block->size = size;
    block->used = 0;
    arena->used += size;
    if (own) {
        block->next = head->next;
        head->next = block;
    } else {
        block->next = head;
        arena->blocks = block;
    }
    return block;
}

void *by_arena_alloc(struct by_arena *arena, size_t count, size_t size, struct baryon_error *err)
{
    size_t need;
    const size_t align = alignof(max_align_t);
    if (!total_size(count, size, &need, err))
        return NULL;
    need = (need + align - 1) & ~(align - 1);
    struct by_arena_block *block = arena->blocks;
    bool is_zero = false;
    if (by_fault(BY_FAULT_ALLOC)) {
        by_err_nomem(err, need);
        return NULL;
    }
    if (!block || block->size - block->used < need) {
        block = add_block(arena, need, err);
        if (!block)
            return NULL;
        is_zero = need >= FRESH_LEAST;
    }
    void *object = block->bytes + block->used;
    block->used += need;
    if (!is_zero)
        memset(object, 0, need);
    return object;
}

char *by_arena_text(struct by_arena *arena, const void *text, size_t size, struct baryon_error *err)
{
    size_t need;
    if (by_add_overflow(size, 1, &need)) {
        by_err_nomem(err, SIZE_MAX);
        return NULL;
    }
    char *copy = by_arena_alloc(arena, need, 1, err);
    if (copy && size)
        memcpy(copy, text, size);
    return copy;
}

int by_list_reserve(struct by_arena *arena, void *list, size_t more, size_t size,
                    struct baryon_error *err)
{
    struct by_list any;
    memcpy(&any, list, sizeof any);
    size_t need;
    if (by_add_overflow(any.count, more, &need))
        return by_err_nomem(err, SIZE_MAX);
    if (need <= any.cap)
        return 0;
    size_t cap = any.cap > SIZE_MAX / 2 ? need : any.cap * 2;
    if (cap < need)
        cap = need;
    void *grown = by_arena_alloc(arena, cap, size, err);
    if (!grown)
        return -1;
    if (any.count)
        memcpy(grown, any.at, any.count * size);
    any.at = grown;
    any.cap = cap;
    memcpy(list, &any, sizeof any);
    return 0;
}
