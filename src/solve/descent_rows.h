/*
 * Descent (descent.h) where rows stand for the Gram matrix: what a layer of many columns and few
 * outputs, or on few samples, is solved with in less time and memory. Instead of the gradient of
 * all columns each output keeps what its weights give at every row; the gradient of a column is a
 * sum over rows, taken when its turn comes.
 */
#ifndef BY_DESCENT_ROWS_H
#define BY_DESCENT_ROWS_H

#include "solve/descent.h"

/* What by_descent_run() and by_descent_error() do for problems with rows. */
int by_descent_rows_run(const struct by_descent *problem, struct by_pool *pool, int32_t *integers,
                        double *errors, struct baryon_error *err);
int by_descent_rows_error(const struct by_descent *problem, const int32_t *integers, double *errors,
                          struct baryon_error *err);

/* The mean of the diagonal. */
double by_descent_rows_size(const struct by_descent_rows *rows, size_t columns);
/* gram times the weights of each output, [outs][columns] as these. */
int by_descent_rows_product(const struct by_descent_rows *rows, size_t columns, size_t outs,
                            const float *weights, struct by_pool *pool, float *products,
                            struct baryon_error *err);

#endif
