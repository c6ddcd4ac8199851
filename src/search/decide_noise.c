/* Keeps errors at the outputs as vectors of few places, and multiplies them. */
#include "search/decision_internal.h"

#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#define PLACES     ((size_t)8192)      /* of a vector at most */
#define BYTES      ((size_t)128 << 20) /* of all vectors at most */
#define FEWEST     ((size_t)16)        /* places of an output and sample */
#define LOST_TIMES 1e3                 /* energy over signal of what is not finite */
#define CHUNK      1024

/* --- Room --- */

static void set_places(struct by_decide_noise *noise)
{
    const size_t most = BYTES / sizeof(float) / noise->room;
    const size_t all = most < PLACES ? most : PLACES;
    const size_t each = all / (noise->outputs * noise->samples);
    for (size_t k = 0; k < noise->outputs; k++) {
        noise->bins[k] = each > FEWEST ? each : FEWEST;
        noise->begin[k + 1] = noise->begin[k] + noise->bins[k] * noise->samples;
    }
    noise->dims = noise->begin[noise->outputs];
}

int by_decide_noise_open(struct by_decisions *d, size_t groups, struct baryon_error *err)
{
    struct by_decide_noise *noise = &d->work->noise;
    by_decide_noise_close(noise);
    *noise = (struct by_decide_noise){
        .outputs = d->output_count, .samples = d->samples, .room = groups + 1};
    set_places(noise);
    size_t all;
    if (by_mul_overflow(noise->room, noise->dims, &all))
        return by_err_nomem(err, SIZE_MAX);
    noise->errors = by_alloc_zero(all, sizeof *noise->errors, err);
    noise->energy = by_alloc_zero(noise->room, sizeof *noise->energy, err);
    noise->rested = by_alloc_zero(noise->room, sizeof *noise->rested, err);
    noise->products =
        by_alloc(noise->room * noise->room * noise->outputs + 1, sizeof *noise->products, err);
    noise->lost = by_alloc_zero(noise->room, sizeof *noise->lost, err);
    noise->group_of = by_alloc_zero(d->source_count + 1, sizeof *noise->group_of, err);
    noise->share_of = by_alloc_zero(d->source_count + 1, sizeof *noise->share_of, err);
    noise->each = by_alloc_zero(d->source_count * noise->outputs * noise->samples + 1,
                                sizeof *noise->each, err);
    noise->first_group = by_alloc_zero(d->source_count + 1, sizeof *noise->first_group, err);
    noise->first_share = by_alloc_zero(d->source_count + 1, sizeof *noise->first_share, err);
    noise->total = by_alloc_zero(noise->dims, sizeof *noise->total, err);
    noise->none = by_alloc_zero(noise->dims, sizeof *noise->none, err);
    noise->rest = by_alloc_zero(noise->dims, sizeof *noise->rest, err);
    for (size_t i = 0; noise->products && i < noise->room * noise->room * noise->outputs; i++)
        noise->products[i] = NAN;
    return noise->errors && noise->energy && noise->rested && noise->products && noise->lost &&
                   noise->group_of && noise->share_of && noise->each && noise->first_group &&
                   noise->first_share && noise->none && noise->total && noise->rest
               ? 0
               : -1;
}

void by_decide_noise_close(struct by_decide_noise *noise)
{
    by_free(noise->errors);
    by_free(noise->energy);
    by_free(noise->rested);
    by_free(noise->products);
    by_free(noise->lost);
    by_free(noise->group_of);
    by_free(noise->share_of);
    by_free(noise->each);
    by_free(noise->first_group);
    by_free(noise->first_share);
    by_free(noise->none);
    by_free(noise->total);
    by_free(noise->rest);
    *noise = (struct by_decide_noise){0};
}

/* --- Folding --- */

static uint64_t mix(uint64_t value)
{
    value *= 0x9e3779b97f4a7c15u;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93u;
    return value ^ value >> 32;
}

/* Values of a piece from `begin` on, of `size` in all. */
static void fold_values(const double *values, size_t begin, size_t count, size_t size, size_t bins,
                        double *places)
{
    for (size_t i = 0; i < count; i++) {
        if (size <= bins) {
            places[begin + i] += values[i];
            continue;
        }
        const uint64_t bits = mix(begin + i + 1);
        places[bits % bins] += bits >> 63 ? values[i] : -values[i];
    }
}

static int fold_piece(const struct by_judge_piece *piece, size_t bins, double *places,
                      struct baryon_error *err)
{
    double values[CHUNK];
    const struct by_array *array = piece->array;
    const struct by_joined_blocks *blocks = &piece->blocks;
    const size_t all = blocks->count * blocks->size;
    const bool centred = piece->row > 0 && piece->row <= CHUNK;
    const size_t step = centred ? CHUNK / piece->row * piece->row : CHUNK;
    for (size_t i = 0; i < blocks->count; i++)
        for (size_t begin = 0; begin < blocks->size; begin += step) {
            const size_t left = blocks->size - begin, size = left < step ? left : step;
            if (by_elem_to_doubles(array->elem, array->data,
                                   blocks->first + i * blocks->step + begin, size, values, err) < 0)
                return -1;
            if (centred)
                by_judge_centre(values, size, piece->row);
            fold_values(values, i * blocks->size + begin, size, all, bins, places);
        }
    return 0;
}

int by_decide_noise_fold(const struct by_decisions *d, const struct by_array *outputs, size_t count,
                         size_t sample, size_t index, double *places, struct baryon_error *err)
{
    const struct by_decide_noise *noise = &d->work->noise;
    struct by_judge_piece pieces[BY_JUDGED_MOST];
    const size_t found = by_judge_pieces(d->judge, sample, outputs, count, pieces);
    for (size_t k = 0; k < found && k < noise->outputs; k++)
        if (fold_piece(&pieces[k], noise->bins[k],
                       places + noise->begin[k] + index * noise->bins[k], err) < 0)
            return -1;
    return 0;
}

/* --- Groups --- */

#define LANES 8 /* sums side by side, which a vector unit holds */

double by_decide_noise_dot(const struct by_decide_noise *noise, size_t output, const float *one,
                           const float *other)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = noise->begin[output];
    const size_t end = noise->begin[output + 1];
    for (; i + LANES <= end; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += (double)one[i + k] * (double)other[i + k];
    for (; i < end; i++)
        sum += (double)one[i] * (double)other[i];
    for (size_t k = 0; k < LANES; k++)
        sum += sums[k];
    return sum;
}

double by_decide_noise_of_sample(const struct by_decide_noise *noise, size_t group, size_t output,
                                 size_t sample)
{
    const float *errors =
        noise->errors + group * noise->dims + noise->begin[output] + sample * noise->bins[output];
    double sum = 0;
    if (noise->lost[group])
        return noise->energy[group][output] / (double)noise->samples;
    for (size_t i = 0; i < noise->bins[output]; i++)
        sum += (double)errors[i] * (double)errors[i];
    return sum;
}

static double *product_place(const struct by_decide_noise *noise, size_t output, size_t one,
                             size_t other)
{
    return &noise->products[(output * noise->room + one) * noise->room + other];
}

double by_decide_noise_product(const struct by_decide_noise *noise, size_t output, size_t one,
                               size_t other)
{
    double *place = product_place(noise, output, one, other);
    if (isnan(*place))
        *place = *product_place(noise, output, other, one) = by_decide_noise_dot(
            noise, output, noise->errors + one * noise->dims, noise->errors + other * noise->dims);
    return *place;
}

static void forget_products(struct by_decide_noise *noise, size_t group)
{
    for (size_t k = 0; k < noise->outputs; k++)
        for (size_t i = 0; i < noise->room; i++)
            *product_place(noise, k, group, i) = *product_place(noise, k, i, group) = NAN;
}

size_t by_decide_noise_most(const struct by_decisions *d)
{
    return (size_t)sqrt((double)BYTES / sizeof(double) / (double)(d->output_count + 1));
}

size_t by_decide_noise_add(struct by_decisions *d)
{
    return d->work->noise.groups++;
}

void by_decide_noise_set(struct by_decisions *d, size_t group, const double *with,
                         const double *without, bool mean)
{
    struct by_decide_noise *noise = &d->work->noise;
    float *errors = noise->errors + group * noise->dims;
    bool finite = !mean || !noise->lost[group];
    for (size_t i = 0; i < noise->dims; i++) {
        const double error = with[i] - without[i];
        errors[i] = (float)(mean ? ((double)errors[i] + error) / 2 : error);
        finite = finite && isfinite(errors[i]);
    }
    noise->lost[group] = !finite;
    if (!finite)
        memset(errors, 0, noise->dims * sizeof *errors);
    forget_products(noise, group);
    for (size_t k = 0; k < noise->outputs; k++)
        noise->energy[group][k] = finite ? by_decide_noise_dot(noise, k, errors, errors)
                                         : LOST_TIMES * (d->signal[k] > 0 ? d->signal[k] : 1);
}
