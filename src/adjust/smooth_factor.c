/* Chooses factors of channels by the noise that they predict. */
#include "adjust/cle_internal.h"
#include "adjust/smooth_internal.h"
#include "quant/floats.h"

#include <math.h>
#include <string.h>

/* Shares of the peaks of activations that are tried. */
#define SHARES   11
#define SHARE(i) ((double)(i) / (SHARES - 1))
/* And tops that peaks are lowered to, each so many bits below the other. */
#define TOPS    12
#define TOP_BIT 0.5
/* Factors are no further from their mean than this, so that floats keep their precision. */
#define FARTHEST 1e4
/* A group whose noise falls by less is left alone. */
#define LEAST 0.1 /* dB */
#define LANES 16

/* Of an input channel, in the order of its elements. */
static void add_weights(struct by_smooth_view *view, size_t in, const float *weights, size_t count)
{
    double reach = view->reach[in], power = view->power[in];
    for (size_t i = 0; i < count; i++) {
        const double weight = (double)weights[i];
        reach = fabs(weight) > reach ? fabs(weight) : reach;
        power += weight * weight;
    }
    view->reach[in] = reach;
    view->power[in] = power;
}

static void read_weights(struct by_smooth_view *view)
{
    for (size_t l = 0; l < view->group->layers.count; l++) {
        const struct by_smooth_layer *layer = &view->group->layers.at[l];
        const float *weights = view->weights[l].values;
        const size_t inner = layer->inner, outs = layer->ins_first ? 1 : layer->outs;
        for (size_t out = 0; out < outs; out++)
            for (size_t in = 0; in < view->channels; in++)
                add_weights(view, in, weights + (out * layer->ins + in) * inner, inner);
    }
}

/* Where squares of channels are not known they are to each other as those of peaks; all of them
 * together are known. */
static void share_squares(struct by_smooth_view *view, const struct by_tensor_stats *tensor,
                          double peaks, double values)
{
    const double mean = by_exact_value(&tensor->sketch.squares) / values;
    for (size_t i = 0; i < view->channels; i++)
        view->square[i] = peaks > 0 ? mean * view->peak[i] * view->peak[i] / peaks : 0;
}

static void read_activations(struct by_smooth_view *view, const struct by_tensor_stats *tensor)
{
    double peaks = 0;
    for (size_t i = 0; i < view->channels; i++) {
        view->peak[i] = tensor->channels.seen[i] ? by_cle_magnitude(&tensor->channels, i) : 0;
        peaks += view->peak[i] * view->peak[i];
    }
    const double values =
        fmax(1, (double)tensor->sketch.count / (double)view->channels); /* of each channel */
    if (!tensor->channels.squares.count)
        share_squares(view, tensor, peaks, values);
    else
        for (size_t i = 0; i < view->channels; i++)
            view->square[i] = by_fold_value(&tensor->channels.squares, i) / values;
}

/* --- Factors --- */

static bool is_alive(const struct by_smooth_view *view, size_t channel)
{
    return view->peak[channel] > 0 && view->reach[channel] > 0;
}

/* Around a geometric mean of 1; those of dead channels are 1. */
static bool set_factors(const struct by_smooth_view *view, double alpha, double *factors)
{
    double mean = 0;
    size_t alive = 0;
    for (size_t i = 0; i < view->channels; i++) {
        factors[i] = 0;
        if (!is_alive(view, i))
            continue;
        factors[i] = alpha * log(view->peak[i]) - (1 - alpha) * log(view->reach[i]);
        mean += factors[i];
        alive++;
    }
    for (size_t i = 0; i < view->channels; i++) {
        const double factor = is_alive(view, i) ? exp(factors[i] - mean / (double)alive) : 1;
        factors[i] = (double)(float)fmin(fmax(factor, 1 / FARTHEST), FARTHEST);
    }
    return alive > 0;
}

/* Channels above a top are lowered to it, the others stay. */
static void lower_to(const struct by_smooth_view *view, double bits, double *factors)
{
    double greatest = 0;
    for (size_t i = 0; i < view->channels; i++)
        greatest = fmax(greatest, view->peak[i]);
    const double top = greatest * exp2(-bits);
    for (size_t i = 0; i < view->channels; i++)
        factors[i] = is_alive(view, i) && view->peak[i] > top
                         ? (double)(float)fmin(view->peak[i] / top, FARTHEST)
                         : 1;
}

/* --- Noise --- */

double by_smooth_step(const struct by_tensor_spec *spec, double low, double high)
{
    int64_t qmin, qmax;
    if (!by_spec_is_integer(spec))
        return 0;
    by_spec_levels(spec, &qmin, &qmax);
    const double width = spec->symmetric ? 2 * fmax(-low, high) : high - low;
    const double step = width / (double)(qmax - qmin);
    return spec->scale == BY_SCALE_POW2 && step > 0 ? exp2(ceil(log2(step))) : step;
}

/* What is rounded to zero loses no more than it has. */
static double noise_of_activations(const struct by_smooth_view *view, const double *factors)
{
    double low = 0, high = 0, noise = 0;
    const size_t row = by_quant_find(view->plan, view->group->tensor);
    for (size_t i = 0; i < view->channels; i++) {
        low = fmin(low, view->low[i] / factors[i]);
        high = fmax(high, view->high[i] / factors[i]);
    }
    const double step = by_smooth_step(&view->plan->rows.at[row].spec, low, high);
    for (size_t i = 0; i < view->channels; i++)
        noise += view->power[i] * fmin(step * step / 12 * factors[i] * factors[i], view->square[i]);
    return noise;
}

static float higher(float top, float weight, float factor)
{
    const float own = fabsf(weight) * factor;
    return own > top ? own : top;
}

/* So many at once, which compilers turn into vectors. */
static void raise_lanes(float *restrict tops, const float *restrict weights,
                        const float *restrict factors)
{
    for (size_t i = 0; i < LANES; i++)
        tops[i] = higher(tops[i], weights[i], factors[i]);
}

static void raise_tops(float *tops, const float *weights, size_t count, float factor)
{
    float factors[LANES];
    size_t i = 0;
    for (size_t k = 0; k < LANES; k++)
        factors[k] = factor;
    for (; i + LANES <= count; i += LANES)
        raise_lanes(tops + i, weights + i, factors);
    for (; i < count; i++)
        tops[i] = higher(tops[i], weights[i], factor);
}

/* Of a row of one element for each input channel. */
static float top_of_row(const float *weights, const float *factors, size_t count)
{
    float tops[LANES] = {0}, top = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        raise_lanes(tops, weights + i, factors + i);
    for (; i < count; i++)
        top = higher(top, weights[i], factors[i]);
    for (size_t k = 0; k < LANES; k++)
        top = tops[k] > top ? tops[k] : top;
    return top;
}

static float top_of(const float *weights, size_t count)
{
    float top = 0;
    for (size_t i = 0; i < count; i++)
        top = fabsf(weights[i]) > top ? fabsf(weights[i]) : top;
    return top;
}

static float top_of_kernels(const struct by_smooth_layer *layer, const float *weights, size_t out,
                            const float *factors)
{
    float most = 0;
    for (size_t in = 0; in < layer->ins; in++) {
        const float top =
            top_of(weights + (out * layer->ins + in) * layer->inner, layer->inner) * factors[in];
        most = top > most ? top : most;
    }
    return most;
}

static void find_tops(const struct by_smooth_view *view, size_t l, const double *factors)
{
    const struct by_smooth_layer *layer = &view->group->layers.at[l];
    const float *weights = view->weights[l].values;
    memset(view->tops, 0, layer->outs * sizeof *view->tops);
    for (size_t in = 0; layer->ins_first && in < view->channels; in++)
        raise_tops(view->tops, weights + in * layer->outs, layer->outs, (float)factors[in]);
    for (size_t in = 0; !layer->ins_first && in < view->channels; in++)
        view->lanes[in] = (float)factors[in];
    for (size_t out = 0; !layer->ins_first && out < layer->outs; out++)
        view->tops[out] = layer->inner == 1
                              ? top_of_row(weights + out * layer->ins, view->lanes, layer->ins)
                              : top_of_kernels(layer, weights, out, view->lanes);
}

static double noise_of_weights(const struct by_smooth_view *view, size_t l, const double *factors)
{
    const struct by_smooth_layer *layer = &view->group->layers.at[l];
    const size_t row = by_quant_read(view->plan, layer->node, 1);
    const struct by_tensor_spec *spec =
        row == BY_NO_ROW ? &view->plan->recipe->weight : &view->plan->rows.at[row].spec;
    double square = 0, greatest = 0, sum = 0;
    for (size_t i = 0; i < view->channels; i++)
        square += view->square[i] / (factors[i] * factors[i]);
    for (size_t i = 0; i < view->channels; i++)
        greatest = fmax(greatest, view->reach[i] * factors[i]);
    if (spec->granularity != BY_PER_TENSOR)
        find_tops(view, l, factors);
    for (size_t out = 0; out < layer->outs; out++) {
        const double top = spec->granularity == BY_PER_TENSOR ? greatest : (double)view->tops[out];
        const double step = by_smooth_step(spec, -top, top);
        sum += step * step / 12;
    }
    return sum * square * (double)(layer->ins_first ? 1 : layer->inner);
}

static double noise_of(const struct by_smooth_view *view, const double *factors)
{
    double noise = noise_of_activations(view, factors);
    for (size_t l = 0; l < view->group->layers.count; l++)
        noise += noise_of_weights(view, l, factors);
    return noise;
}

/* --- The best ones --- */

/* The i-th factors to try; false: there are none any more. */
static bool try_factors(const struct by_smooth_view *view, double alpha, int i, double *factors)
{
    if (alpha >= 0)
        return i == 0 && set_factors(view, alpha, factors);
    if (i < SHARES)
        return set_factors(view, SHARE(i), factors);
    lower_to(view, (i - SHARES + 1) * TOP_BIT, factors);
    return i < SHARES + TOPS;
}

static bool choose_factors(const struct by_smooth_view *view, double alpha, double *factors,
                           double *work, double *gain)
{
    bool any = false;
    for (size_t i = 0; i < view->channels; i++)
        factors[i] = 1;
    const double before = noise_of(view, factors);
    double best = before;
    for (int i = 0; try_factors(view, alpha, i, work); i++) {
        const double noise = noise_of(view, work);
        if (alpha < 0 && !(noise < best))
            continue;
        any = true;
        best = noise;
        memcpy(factors, work, view->channels * sizeof *factors);
    }
    *gain = best > 0 && before > 0 ? 10 * log10(before / best) : 0;
    return alpha >= 0 ? any : *gain >= LEAST;
}

static int open_view(struct by_smooth *smooth, struct by_smooth_view *view,
                     struct baryon_error *err)
{
    size_t outs = 1;
    const size_t count = view->group->layers.count;
    struct by_arena *arena = &smooth->arena;
    for (size_t l = 0; l < count; l++)
        outs = view->group->layers.at[l].outs > outs ? view->group->layers.at[l].outs : outs;
    view->peak = by_arena_alloc(arena, 4 * view->channels, sizeof *view->peak, err);
    view->tops = by_arena_alloc(arena, outs, sizeof *view->tops, err);
    view->lanes = by_arena_alloc(arena, view->channels, sizeof *view->lanes, err);
    view->weights = by_arena_alloc(arena, count, sizeof *view->weights, err);
    if (!view->peak || !view->tops || !view->lanes || !view->weights)
        return -1;
    view->reach = view->peak + view->channels;
    view->power = view->reach + view->channels;
    view->square = view->power + view->channels;
    memset(view->peak, 0, 4 * view->channels * sizeof *view->peak);
    for (size_t l = 0; l < count; l++)
        if (by_floats_open(&view->weights[l], view->group->layers.at[l].weight->initializer, err) <
            0) {
            while (l-- > 0)
                by_floats_close(&view->weights[l]);
            return -1;
        }
    return 0;
}

static const struct by_tensor_stats *usable_stats(const struct by_smooth_group *group,
                                                  struct by_stats *stats, const char **why)
{
    const struct by_tensor_stats *tensor = by_stats_find(stats, group->tensor->name);
    *why = NULL;
    if (!tensor || tensor->channels.count != group->channels ||
        tensor->channel_axis != (int)group->axis)
        *why = "its channels have no statistics";
    else if (tensor->sketch.nans || tensor->sketch.infinities)
        *why = "it has infinities or NaN";
    return *why ? NULL : tensor;
}

int by_smooth_view_open(struct by_smooth *smooth, const struct by_smooth_group *group,
                        struct by_stats *stats, struct by_smooth_view *view, const char **why,
                        struct baryon_error *err)
{
    const struct by_tensor_stats *tensor = usable_stats(group, stats, why);
    *view =
        (struct by_smooth_view){.group = group, .plan = smooth->plan, .channels = group->channels};
    if (!tensor)
        return 0;
    if (open_view(smooth, view, err) < 0)
        return -1;
    view->low = tensor->channels.min;
    view->high = tensor->channels.max;
    read_weights(view);
    read_activations(view, tensor);
    return 0;
}

void by_smooth_view_close(struct by_smooth_view *view)
{
    for (size_t l = 0; l < view->group->layers.count; l++)
        by_floats_close(&view->weights[l]);
}

int by_smooth_factors(struct by_smooth *smooth, const struct by_smooth_group *group,
                      struct by_stats *stats, double alpha, double *factors, double *gain,
                      const char **why, struct baryon_error *err)
{
    struct by_smooth_view view;
    *gain = 0;
    double *work = by_arena_alloc(&smooth->arena, group->channels, sizeof *work, err);
    if (!work || by_smooth_view_open(smooth, group, stats, &view, why, err) < 0)
        return -1;
    if (*why)
        return 0;
    if (!choose_factors(&view, alpha, factors, work, gain))
        *why = alpha < 0 ? "its channels differ too little" : "all of its channels are dead";
    by_smooth_view_close(&view);
    return 0;
}
