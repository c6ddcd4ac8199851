/* Takes the figures of each row of a plan from statistics or from the constant. */
#include "report/tensors.h"

#include "base/decibels.h"
#include "quant/floats.h"
#include "quant/own_sqnr.h"
#include "quant/rounded.h"

#include <math.h>

/* --- Levels --- */

static const char *granularity_of(const struct by_tensor_spec *spec)
{
    static const char *const names[] = {
        [BY_PER_TENSOR] = "tensor", [BY_PER_CHANNEL] = "channel", [BY_PER_GROUP] = "group"};
    return by_spec_is_block(spec) ? "block" : names[spec->granularity];
}

/* Of the scale with the widest range. */
static void reach_levels(struct by_report_tensor *out, const struct by_params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        const double scale = (double)params->scales[i];
        const int64_t zero = params->zeros ? params->zeros[i] : 0;
        const double low = (double)(out->levels[0] - zero) * scale;
        const double high = (double)(out->levels[1] - zero) * scale;
        if (i && high - low <= out->high - out->low)
            continue;
        out->low = low;
        out->high = high;
    }
}

static void take_levels(struct by_report_tensor *out, const struct by_quant_plan *plan,
                        size_t index)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct by_params *params = by_quant_params(plan, index);
    out->granularity = granularity_of(&row->spec);
    if (!by_spec_is_integer(&row->spec) || !params || !params->count)
        return;
    out->has_levels = true;
    by_spec_levels(&row->spec, &out->levels[0], &out->levels[1]);
    reach_levels(out, params);
}

/* --- Activations --- */

static int take_activation(struct by_report_tensor *out, const struct by_quantization *q,
                           size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    const struct by_params *params = by_quant_params(q->plan, index);
    const struct by_tensor_stats *seen =
        q->stats ? by_stats_find(q->stats, row->value->name) : NULL;
    bool known = false;
    double alone;
    if (!seen || !by_sketch_finite(&seen->sketch))
        return 0;
    const struct by_sketch *sketch = &seen->sketch;
    out->min = (double)sketch->min;
    out->max = (double)sketch->max;
    out->rms = by_sketch_rms(sketch);
    out->zeros = (double)sketch->zeros / (double)by_sketch_finite(sketch);
    if (by_report_bins_of_sketch(&out->bins, sketch, err) < 0 ||
        by_quant_own_sqnr(q->plan, index, q->stats, &alone, &known, err) < 0)
        return -1;
    if (known)
        out->alone = alone;
    if (!out->has_levels || params->count != 1)
        return 0;
    const double half = (double)params->scales[0] / 2;
    return by_sketch_outside(sketch, out->low - half, out->high + half, &out->clipped, err);
}

/* --- Constants --- */

/* Which scale a value has. */
struct scale_of {
    const struct by_params *params;
    size_t axis_inner, axis_size, group_inner, group_size, group_axis_size;
};

static void find_scale_axes(struct scale_of *of, const struct by_quant_row *row,
                            const struct by_params *params)
{
    const struct by_ints *dims = by_quant_dims(row);
    *of = (struct scale_of){.params = params};
    for (int axis = 0; axis < (int)dims->count; axis++) {
        size_t inner = 1;
        for (size_t i = (size_t)axis + 1; i < dims->count; i++)
            inner *= (size_t)dims->at[i];
        if (axis == params->axis) {
            of->axis_inner = inner;
            of->axis_size = (size_t)dims->at[axis];
        }
        if (params->groups > 1 && axis == params->group_axis) {
            of->group_inner = inner;
            of->group_axis_size = (size_t)dims->at[axis];
            of->group_size = (size_t)row->spec.group;
        }
    }
}

static size_t scale_place(const struct scale_of *of, size_t element)
{
    size_t place = of->axis_size ? element / of->axis_inner % of->axis_size : 0;
    if (of->group_size)
        place = place * of->params->groups +
                element / of->group_inner % of->group_axis_size / of->group_size;
    return place < of->params->count ? place : 0;
}

/* rounded: a solver's integers; NULL: the nearest. */
static void add_integer(const struct scale_of *of, const struct by_report_tensor *out, double value,
                        size_t element, const int32_t *rounded, double *noise, uint64_t *clipped)
{
    const size_t place = scale_place(of, element);
    const double scale = (double)of->params->scales[place];
    const double zero = of->params->zeros ? (double)of->params->zeros[place] : 0;
    const double nearest = nearbyint(value / scale) + zero;
    const double least = (double)out->levels[0], most = (double)out->levels[1];
    double level = fmin(fmax(nearest, least), most);
    *clipped += nearest < least || nearest > most;
    if (rounded)
        level = (double)rounded[element];
    const double difference = (level - zero) * scale - value;
    *noise += difference * difference;
}

static double noise_of_integers(struct by_report_tensor *out, const struct by_quant_row *row,
                                const struct by_params *params, const struct by_floats_view *floats)
{
    struct scale_of of;
    double noise = 0;
    uint64_t clipped = 0;
    find_scale_axes(&of, row, params);
    for (size_t i = 0; i < floats->count; i++)
        add_integer(&of, out, (double)floats->values[i], i, row->rounded, &noise, &clipped);
    out->clipped = (double)clipped / (double)floats->count;
    return noise;
}

static int noise_of_floats(const struct by_quantization *q, size_t index,
                           const struct by_floats_view *floats, double *noise,
                           struct baryon_error *err)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    float *rounded = by_alloc(floats->count, sizeof *rounded, err);
    const float *from = row->solved ? row->solved : floats->values;
    int status = rounded ? by_quant_round(q->plan, index, from, NULL, rounded, err) : -1;
    for (size_t i = 0; status == 0 && i < floats->count; i++) {
        const double difference = (double)rounded[i] - (double)floats->values[i];
        *noise += difference * difference;
    }
    by_free(rounded);
    return status;
}

static int take_values(struct by_report_tensor *out, const struct by_quantization *q, size_t index,
                       const struct by_floats_view *floats, struct baryon_error *err)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    double squares = 0, noise = 0;
    size_t zeros = 0;
    if (!floats->count)
        return 0;
    for (size_t i = 0; i < floats->count; i++) {
        squares += (double)floats->values[i] * (double)floats->values[i];
        zeros += floats->values[i] == 0;
    }
    by_report_bins_of_values(&out->bins, floats->values, floats->count);
    out->min = out->bins.low;
    out->max = out->bins.high;
    out->rms = sqrt(squares / (double)floats->count);
    out->zeros = (double)zeros / (double)floats->count;
    if (out->has_levels)
        noise = noise_of_integers(out, row, by_quant_params(q->plan, index), floats);
    else if (!row->spec.format)
        return 0;
    else if (noise_of_floats(q, index, floats, &noise, err) < 0)
        return -1;
    out->alone = by_decibels(squares, noise);
    return 0;
}

static int take_constant(struct by_report_tensor *out, const struct by_quantization *q,
                         size_t index, struct baryon_error *err)
{
    struct by_floats_view floats;
    if (by_floats_open(&floats, q->plan->rows.at[index].value->initializer, err) < 0)
        return -1;
    const int status = take_values(out, q, index, &floats, err);
    by_floats_close(&floats);
    return status;
}

/* --- All --- */

struct taking {
    struct by_report_tensors *tensors;
    const struct by_quantization *q;
};

static int take_rows(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct taking *taking = context;
    const struct by_quant_plan *plan = taking->q->plan;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct by_report_tensor *out = &taking->tensors->at[i];
        const double unknown = (double)NAN;
        *out = (struct by_report_tensor){.low = plan->rows.at[i].range.low,
                                         .high = plan->rows.at[i].range.high,
                                         .min = unknown,
                                         .max = unknown,
                                         .rms = unknown,
                                         .zeros = unknown,
                                         .clipped = unknown,
                                         .alone = unknown,
                                         .whole = unknown};
        take_levels(out, plan, i);
        const bool constant = plan->rows.at[i].value->initializer != NULL;
        if ((constant ? take_constant : take_activation)(out, taking->q, i, err) < 0)
            return -1;
    }
    return 0;
}

int by_report_tensors_take(struct by_report_tensors *tensors, const struct by_quantization *q,
                           struct baryon_error *err)
{
    struct taking taking = {tensors, q};
    tensors->count = q->plan->rows.count;
    tensors->at = by_alloc_zero(tensors->count + 1, sizeof *tensors->at, err);
    if (!tensors->at)
        return -1;
    if (q->stats)
        by_stats_find(q->stats, ""); /* makes the list of names, which threads then only read */
    return by_par_for(q->pool, tensors->count, 1, take_rows, &taking, err);
}

void by_report_tensors_release(struct by_report_tensors *tensors)
{
    by_free(tensors->at);
    *tensors = (struct by_report_tensors){0};
}
