/* Moves tensors into a depot and back. */
#include "engine/parked.h"

#include <string.h>

/* Pointers, and after them what they point to. */
static int park_texts(struct by_depot *depot, const struct by_array *array,
                      struct by_deposit *deposit, struct baryon_error *err)
{
    const char *const *texts = array->data;
    const size_t count = array->size / sizeof *texts;
    size_t size = array->size;
    for (size_t i = 0; i < count; i++)
        size += strlen(texts[i]) + 1;
    if (by_depot_keep(depot, size, deposit, err) < 0)
        return -1;
    const char **to = (const char **)(void *)deposit->bytes;
    char *at = (char *)deposit->bytes + array->size;
    for (size_t i = 0; i < count; i++) {
        to[i] = at;
        memcpy(at, texts[i], strlen(texts[i]) + 1);
        at += strlen(at) + 1;
    }
    return 0;
}

int by_park(struct by_depot *depot, const struct by_array *array, bool cold,
            struct by_parked *parked, struct baryon_error *err)
{
    struct by_deposit deposit;
    const int status = array->elem == BY_ELEM_STRING
                           ? park_texts(depot, array, &deposit, err)
                           : by_depot_put(depot, array->data, array->size, cold, &deposit, err);
    if (status < 0)
        return -1;
    *parked = (struct by_parked){.array = *array, .at = deposit};
    parked->array.data = deposit.bytes;
    return 0;
}

int by_unpark(struct by_depot *depot, const struct by_parked *parked, struct by_unpark_room *room,
              struct by_array *array, struct baryon_error *err)
{
    *array = parked->array;
    if (array->data)
        return 0;
    if (room->size < parked->at.size) {
        by_unpark_room_release(room);
        room->bytes = by_alloc(parked->at.size, 1, err);
        if (!room->bytes)
            return -1;
        room->size = parked->at.size;
    }
    array->data = room->bytes;
    return by_depot_get(depot, &parked->at, room->bytes, err);
}

void by_park_drop(struct by_depot *depot, struct by_parked *parked)
{
    by_depot_drop(depot, &parked->at);
    *parked = (struct by_parked){0};
}

void by_unpark_room_release(struct by_unpark_room *room)
{
    by_free(room->bytes);
    *room = (struct by_unpark_room){0};
}
