/* Allocates the working memory for adding samples to Gram matrices. */
#include "moments/moments_internal.h"

#include <string.h>

int by_scratch_room(void *block, size_t *room, size_t count, size_t size, struct baryon_error *err)
{
    void *old;
    if (count <= *room)
        return 0;
    memcpy(&old, block, sizeof old);
    by_free(old);
    void *new_block = by_alloc(count, size, err);
    memcpy(block, &new_block, sizeof new_block);
    *room = new_block ? count : 0;
    return new_block ? 0 : -1;
}

int by_fill_room_open(struct by_fill_room *room, struct baryon_error *err)
{
    room->stretches = by_alloc(BY_STRETCHES, sizeof *room->stretches, err);
    room->places = by_alloc(BY_CHUNK_ROWS, sizeof *room->places, err);
    room->sources = by_alloc(BY_CHUNK_ROWS, sizeof *room->sources, err);
    return room->stretches && room->places && room->sources ? 0 : -1;
}

void by_fill_room_close(struct by_fill_room *room)
{
    by_free(room->stretches);
    by_free(room->places);
    by_free(room->sources);
}

static int open_scratch(struct by_moments_scratch *scratch, unsigned workers,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < BY_MOMENTS_LOCKS; i++)
        pthread_mutex_init(&scratch->locks[i], NULL);
    if (by_chunk_room_open(&scratch->room, workers, err) < 0 ||
        by_blas_open(&scratch->blas, err) < 0)
        return -1;
    scratch->tiles = by_alloc_zero(scratch->room.workers, sizeof *scratch->tiles, err);
    for (unsigned i = 0; scratch->tiles && i < scratch->room.workers; i++) {
        /* Zeroed: some libraries multiply what is there by a zero beta, and it must be a number. */
        scratch->tiles[i] = by_alloc_zero(BY_MOMENTS_TILE * BY_MOMENTS_TILE, sizeof(float), err);
        if (!scratch->tiles[i])
            return -1;
    }
    return scratch->tiles ? 0 : -1;
}

int by_moments_scratch_open(struct by_moments_scratch **scratch, unsigned workers,
                            struct baryon_error *err)
{
    *scratch = by_alloc_zero(1, sizeof **scratch, err);
    if (!*scratch)
        return -1;
    if (!open_scratch(*scratch, workers, err))
        return 0;
    by_moments_scratch_close(*scratch);
    *scratch = NULL;
    return -1;
}

void by_moments_scratch_close(struct by_moments_scratch *scratch)
{
    if (!scratch)
        return;
    for (unsigned i = 0; scratch->tiles && i < scratch->room.workers; i++)
        by_free(scratch->tiles[i]);
    for (size_t i = 0; i < BY_MOMENTS_LOCKS; i++)
        pthread_mutex_destroy(&scratch->locks[i]);
    by_chunk_room_close(&scratch->room);
    by_free(scratch->tiles);
    by_free(scratch->values);
    by_free(scratch);
}
