/* About how much work a layer is, in multiplications: for the time that is left. */
#include "reconstruct/reconstruct_internal.h"

/* As multiplications of a matrix product in that time: */
#define OPENING 1.5e8 /* two pieces */
#define PASSING                                                                                    \
    300             /* a value given: what other nodes do with it, and its way to a file and back  \
                     */
#define SWEEPS  1   /* descent, times outputs times columns squared */
#define TURNING 500 /* a weight, in an iteration of the relaxation, besides products */

/* Of finding an output's integers. */
static double search_of(const struct by_round_options *options, double columns)
{
    const unsigned starts = options->starts ? options->starts : 1;
    return options->relaxation ? options->relaxation * columns * (columns + TURNING)
                               : SWEEPS * starts * columns * columns;
}

static double cost_of(const struct by_reconstruction *all, const struct by_reconstruct_layer *layer)
{
    const struct by_reconstruct_model *model = all->model;
    const double columns = (double)layer->columns, outs = (double)layer->outs;
    const double samples = (double)(model->train + model->judging);
    const double places = layer->places < 1 ? 1 : layer->places;
    const double most = (double)by_rows_enough(layer->columns, model->train);
    const double rows = places < most ? places : most;
    const double sums = samples * rows * (columns * columns / 2 + columns * outs);
    const double runs = samples * places * outs * (columns * 2 + PASSING);
    const double search = outs * search_of(&all->options->round, columns);
    return OPENING + (double)layer->groups * (sums + runs + search);
}

double by_reconstruct_share(const struct by_reconstruction *all, size_t done)
{
    double before = 0, sum = 0;
    for (size_t i = 0; i < all->model->layer_count; i++) {
        const double cost = cost_of(all, &all->model->layers[i]);
        before += i < done ? cost : 0;
        sum += cost;
    }
    return sum > 0 ? before / sum : 0;
}
