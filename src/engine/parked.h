/*
 * Tensors that wait in a depot (base/depot.h).
 */
#ifndef BY_PARKED_H
#define BY_PARKED_H

#include "array/array.h"
#include "base/depot.h"

struct by_parked {
    struct by_array array; /* data NULL: in the file; the name is the caller's */
    struct by_deposit at;
};

/* Memory that tensors come back to from the file; zero in the beginning, used again and again. */
struct by_unpark_room {
    uint8_t *bytes;
    size_t size;
};

/* Texts stay in memory, whatever the budget. cold: as by_depot_put() has it. */
int by_park(struct by_depot *depot, const struct by_array *array, bool cold,
            struct by_parked *parked, struct baryon_error *err);
/* data lies in the depot, or in the room until that is used again. */
int by_unpark(struct by_depot *depot, const struct by_parked *parked, struct by_unpark_room *room,
              struct by_array *array, struct baryon_error *err);
void by_park_drop(struct by_depot *depot, struct by_parked *parked);
void by_unpark_room_release(struct by_unpark_room *room);

#endif
