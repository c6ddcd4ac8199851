/* How far integers are from weights, by the Gram matrix alone. */
#include "base/blas.h"
#include "solve/descent_internal.h"
#include "solve/descent_path.h"

#include <string.h>

/* Of few outputs: differences, and after them their products with gram. */
static void find_distances(const struct by_descent *p, const struct by_blas *blas,
                           const int32_t *integers, float *differences, double *distances)
{
    const size_t columns = p->columns, count = p->outs * columns;
    float *products = differences + count;
    for (size_t i = 0; i < count; i++) {
        const size_t at = by_descent_scale_index(p, i / columns, i % columns);
        differences[i] = by_descent_value(p, at, integers[i]) - p->weights[i];
    }
    memset(products, 0, count * sizeof *products);
    blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, (int)p->outs, (int)columns,
                (int)columns, 1, differences, (int)columns, p->gram, (int)columns, 0, products,
                (int)columns);
    for (size_t out = 0; out < p->outs; out++) {
        double lanes[BY_DESCENT_LANES] = {0};
        for (size_t i = 0; i < columns; i++)
            lanes[i % BY_DESCENT_LANES] +=
                (double)differences[out * columns + i] * (double)products[out * columns + i];
        distances[out] = by_descent_join(lanes);
    }
}

int by_descent_distance(const struct by_descent *p, const int32_t *integers, double *distances,
                        struct baryon_error *err)
{
    const struct by_blas *blas;
    if (by_blas_open(&blas, err) < 0)
        return -1;
    float *room = by_alloc(2 * p->outs * p->columns, sizeof *room, err);
    if (!room)
        return -1;
    find_distances(p, blas, integers, room, distances);
    by_free(room);
    return 0;
}
