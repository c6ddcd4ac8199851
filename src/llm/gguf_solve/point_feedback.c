/* Error feedback for types whose levels are points: four columns, or eight, one after the other. */
#include "llm/gguf_solve/point_choice.h"

#include <math.h>
#include <string.h>

#define FOUR BY_POINT_VALUES

/* A four with its targets, and what it costs as it is. */
struct fed_place {
    struct by_point_place place;
    float cost;
};

static struct fed_place place_near(const struct by_gguf_piece *piece, size_t row, size_t column,
                                   const float *wanted)
{
    const struct by_gguf_solving *s = piece->solving;
    const struct by_gguf_fed *fed = &s->fed[column / FOUR];
    const size_t at = row * s->problem->columns + column;
    float off[FOUR];
    struct fed_place found = {
        .place = {.form = &fed->form,
                  .points = s->form->points(),
                  .integers = piece->integers + at,
                  .scale = piece->scales[row * s->groups + column / s->form->group]}};
    for (size_t k = 0; k < FOUR; k++) {
        found.place.values[k] =
            found.place.scale * found.place.points->levels[found.place.integers[k]];
        off[k] = found.place.values[k] - piece->weights[at + k];
        for (size_t j = 0; j < FOUR; j++)
            off[k] -= fed->back[k][j] * (wanted[j] - piece->weights[at + j]);
    }
    for (size_t k = 0; k < FOUR; k++) {
        for (size_t j = 0; j < FOUR; j++)
            found.place.slopes[k] += fed->form.gram[k][j] * off[j];
        found.cost += found.place.slopes[k] * off[k];
    }
    return found;
}

/* The second four first; the first make up for its errors. Both have an odd number of negative
 * values, or neither: what is less in all. */
static void feed_eight(const struct by_gguf_piece *piece, size_t row, size_t column,
                       const float *wanted)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t at = row * s->problem->columns + column;
    const struct by_gguf_fed *fed = &s->fed[column / FOUR];
    const struct fed_place second = place_near(piece, row, column + FOUR, wanted + FOUR);
    struct by_point_choice best[2] = {{0}, {0}};
    float least = INFINITY;
    for (unsigned odd = 0; odd < 2; odd++) {
        const struct by_point_choice later = by_point_choose_signs(&second.place, odd);
        float moved[FOUR];
        memcpy(moved, wanted, sizeof moved);
        for (size_t i = 0; i < FOUR; i++) {
            const float value = second.place.values[i] + by_point_way(&second.place, &later, i);
            for (size_t k = 0; k < FOUR; k++)
                moved[k] += (piece->weights[at + FOUR + i] - value) * fed->ways[i][k];
        }
        const struct fed_place first = place_near(piece, row, column, moved);
        const struct by_point_choice sooner = by_point_choose_signs(&first.place, odd);
        const float cost = second.cost + later.change + first.cost + sooner.change;
        if (cost < least) {
            least = cost;
            best[0] = sooner;
            best[1] = later;
        }
    }
    by_point_keep(piece->integers + at, &best[0]);
    by_point_keep(piece->integers + at + FOUR, &best[1]);
}

static void feed(void *context, size_t row, size_t column, const float *wanted)
{
    const struct by_gguf_piece *piece = context;
    const struct by_gguf_solving *s = piece->solving;
    if (!(piece->scales[row * s->groups + column / s->form->group] > 0))
        return;
    if (s->form->points()->even) {
        feed_eight(piece, row, column, wanted);
        return;
    }
    const struct fed_place only = place_near(piece, row, column, wanted);
    const struct by_point_choice choice = by_point_choose(&only.place);
    by_point_keep(piece->integers + row * s->problem->columns + column, &choice);
}

int by_gguf_feed_points(struct by_gguf_piece *piece, const struct by_descent *problem,
                        struct baryon_error *err)
{
    const struct by_gptq_choice choice = {feed, piece};
    return by_gptq_round_together(problem, piece->solving->factor, &choice, NULL, piece->integers,
                                  err);
}
