/* About how much work a layer is, in multiplications: for the time that is left. */
#include "ir/shape.h"
#include "rounding/rounding_internal.h"

/* As multiplications of a matrix product in that time: */
#define OPENING 1.5e8 /* two pieces */
#define PASSING                                                                                    \
    300             /* a value given: what other nodes do with it, and its way to a file and back  \
                     */
#define SWEEPS  1   /* descent, times outputs times columns squared */
#define TURNING 500 /* a weight, in an iteration of the relaxation, besides products */

/* Where the layer gives something, in one sample. */
static double places_of(const struct by_solving *solving, const struct by_round_layer *layer)
{
    const struct baryon_value *out = by_rounding_wanted(solving, layer);
    double count = 1;
    for (size_t i = 0; out && out->shape && i < out->shape->rank; i++)
        if (out->shape->dims[i].size > 0)
            count *= (double)out->shape->dims[i].size;
    const double places = count / (double)(layer->groups * layer->outs);
    return places < 1 ? 1 : places;
}

/* Of finding an output's integers. */
static double search_of(const struct by_solving *solving, double columns)
{
    const struct by_recipe *recipe = &solving->recipe;
    return recipe->rounding == BY_ROUNDING_RELAXATION
               ? recipe->rounding_iterations * columns * (columns + TURNING)
               : SWEEPS * recipe->rounding_starts * columns * columns;
}

static double cost_of(const struct by_solving *solving, const struct by_round_layer *layer)
{
    const double columns = (double)layer->columns, outs = (double)layer->outs;
    const double samples = (double)(solving->train + solving->judging);
    const double places = places_of(solving, layer);
    const double most = (double)by_round_rows_most(layer->columns, solving->train);
    const double rows = places < most ? places : most;
    const double sums = samples * rows * (columns * columns / 2 + columns * outs);
    const double runs = samples * places * outs * (columns * 2 + PASSING);
    const double search = outs * search_of(solving, columns);
    return OPENING + (double)layer->groups * (sums + runs + search);
}

double by_rounding_share(const struct by_solving *solving, size_t done)
{
    double before = 0, all = 0;
    for (size_t i = 0; i < solving->layer_count; i++) {
        const double cost = cost_of(solving, &solving->layers[i]);
        before += i < done ? cost : 0;
        all += cost;
    }
    return all > 0 ? before / all : 0;
}
