/*
 * Bytes that wait: in memory as far as a budget goes, beyond it in a file without a name, which is
 * written and read, not mapped, so that it is in nobody's resident memory. Any number of threads
 * may call at once.
 */
#ifndef BY_DEPOT_H
#define BY_DEPOT_H

#include "base/mem.h"

struct by_depot;

/* What waits. */
struct by_deposit {
    uint8_t *bytes; /* NULL: in the file */
    uint64_t at;    /* of the file */
    size_t size;
};

struct by_depot_options {
    const char
        *folder;     /* of the file, which is made when it is needed; NULL: for temporary files */
    uint64_t budget; /* bytes in memory */
};

int by_depot_open(struct by_depot **depot, const struct by_depot_options *options,
                  struct baryon_error *err);
/* Once all deposits were dropped; NULL is fine. */
void by_depot_close(struct by_depot *depot);

/* A copy of the bytes. cold: asked for once or twice, so that it takes a quarter of the budget at
 * most. */
int by_depot_put(struct by_depot *depot, const void *bytes, size_t size, bool cold,
                 struct by_deposit *deposit, struct baryon_error *err);
/* Memory to be filled, whatever the budget: for what cannot be in a file. */
int by_depot_keep(struct by_depot *depot, size_t size, struct by_deposit *deposit,
                  struct baryon_error *err);
/* Into memory for deposit->size bytes. */
int by_depot_get(struct by_depot *depot, const struct by_deposit *deposit, void *to,
                 struct baryon_error *err);
/* Memory is free again, and its place in the file is for others. */
void by_depot_drop(struct by_depot *depot, struct by_deposit *deposit);

uint64_t by_depot_in_memory(struct by_depot *depot);
uint64_t by_depot_in_file(struct by_depot *depot);
/* The most that was in the file at once, and what lay between. */
uint64_t by_depot_file_size(struct by_depot *depot);

#endif
