/* Refuses arguments of public functions that are NULL and must not be. */
#include "api/need.h"

#include "ir/tensor.h"

int by_need(const void *argument, const char *name, struct baryon_error *err)
{
    if (argument)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "the argument %s is NULL, a value is required", name);
}

int by_need_list(const void *list, size_t count, const char *name, struct baryon_error *err)
{
    if (list || !count)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "the argument %s is NULL, with a count of %zu", name,
                   count);
}

int by_need_each(const void *list, size_t count, const char *name, struct baryon_error *err)
{
    const void *const *elements = list;
    if (by_need_list(list, count, name, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!elements[i])
            return by_fail(err, BARYON_ERR_USAGE, "%s[%zu] is NULL, a value is required", name, i);
    return 0;
}

int by_need_dims(const int64_t *dims, int64_t rank, struct baryon_error *err)
{
    if (rank < 0 || rank > BY_RANK_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "rank %lld, must be 0 to %d", (long long)rank,
                       BY_RANK_MAX);
    return by_need_list(dims, (size_t)rank, "dims", err);
}
