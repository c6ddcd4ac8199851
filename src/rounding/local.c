/* The scale of what a layer reads, chosen by what the layer gives: before its weights are rounded,
 * and before anything was computed with it. */
#include "rounding/rounding_internal.h"

#include <math.h>

#define SAMPLES 8    /* of those that are solved on */
#define WORTH   0.98 /* of the error, or less, or the scale stays */

struct scaling {
    struct by_rounding_run *run;
    const struct by_rounding_layer *layer;
    struct baryon_node *quantize;
    struct baryon_value *exact;    /* what it reads */
    struct baryon_value *integers; /* what it gives */
    size_t row;                    /* of the plan */
    struct by_rounding_target target;
    struct by_round_choice choice; /* float weights and biases */
    float low, high, zero;         /* of the integers */
};

/* --- What may change --- */

static bool reads_as_layer(const struct by_use *use)
{
    static const char *const layers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};
    return use->node && use->slot == 0 && by_node_is_one_of(use->node, layers);
}

static bool is_for_layers(const struct baryon_value *integers)
{
    for (size_t i = 0; i < integers->use_count; i++) {
        const struct baryon_node *pair = integers->uses[i].node;
        if (!pair || !by_node_dequantizes(pair))
            return false;
        const struct baryon_value *out = by_node_out(pair, 0);
        for (size_t k = 0; k < out->use_count; k++)
            if (!reads_as_layer(&out->uses[k]))
                return false;
    }
    return true;
}

static bool is_alone(const struct by_quant_plan *plan, size_t row)
{
    const struct by_quant_row *own = &plan->rows.at[row];
    if (by_quant_owner(plan, row) != row || !by_rounding_may_move(own) || own->params.count != 1 ||
        own->role != BY_ROLE_ACTIVATION)
        return false;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (i != row && plan->rows.at[i].shares == row)
            return false;
    return true;
}

static bool find_scale(struct scaling *scaling)
{
    const struct by_quant_plan *plan = scaling->run->q->plan;
    const struct baryon_value *read =
        by_node_in(by_rounding_node_in_copy(scaling->run, scaling->layer), 0);
    const struct baryon_node *pair = read->producer;
    if (!pair || !by_node_dequantizes(pair))
        return false;
    scaling->integers = by_node_in(pair, 0);
    scaling->quantize = scaling->integers->producer;
    if (!scaling->quantize || !by_node_quantizes(scaling->quantize) ||
        by_stages_has(scaling->run->rounded, scaling->integers))
        return false;
    scaling->exact = by_node_in(scaling->quantize, 0);
    scaling->row = by_quant_read(plan, scaling->layer->node, 0);
    return scaling->row != BY_NO_ROW && is_for_layers(scaling->integers) &&
           is_alone(plan, scaling->row);
}

static bool set_levels(struct scaling *scaling)
{
    const struct by_quant_row *row = &scaling->run->q->plan->rows.at[scaling->row];
    const struct by_elem_info *info = by_elem_info(row->spec.elem);
    const bool is_signed = by_elem_is_signed(row->spec.elem);
    if (!info || info->bits > 16)
        return false;
    const float count = (float)(1u << info->bits);
    scaling->zero = row->params.zeros ? (float)row->params.zeros[0] : 0;
    scaling->low = (is_signed ? -count / 2 : 0) - scaling->zero;
    scaling->high = scaling->low + count - 1;
    return true;
}

/* --- What a scale costs --- */

struct requantizing {
    const struct scaling *scaling;
    float scale;
};

static void requantize(void *context, float *values, size_t count)
{
    const struct requantizing *job = context;
    const float low = job->scaling->low, high = job->scaling->high, scale = job->scale;
    for (size_t i = 0; i < count; i++) {
        const float level = nearbyintf(values[i] / scale);
        values[i] = scale * (level < low ? low : level > high ? high : level);
    }
}

/* Samples that are kept from the first scale on are not read again. */
static int look_at_samples(const struct scaling *scaling, struct by_round_errors *errors,
                           struct baryon_error *err)
{
    struct by_rounding_run *run = scaling->run;
    const struct by_rounding_source source = {.value = scaling->exact};
    const struct by_round_target *target = &scaling->target.target;
    if (by_round_errors_look_kept(errors, run->scratch, target, err) < 0)
        return -1;
    for (size_t i = by_round_kept_samples(run->scratch); i < run->train && i < SAMPLES; i++) {
        const struct by_array *x, *y;
        if (by_rounding_sample(run, scaling->layer, &source, i, &x, &y, err) < 0 ||
            by_round_errors_look(errors, run->scratch, target, x, y, i, err) < 0)
            return -1;
    }
    return 0;
}

static int cost(const struct scaling *scaling, float scale, double *noise, struct baryon_error *err)
{
    struct requantizing job = {scaling, scale};
    struct by_round_errors errors = {.choices = &scaling->choice,
                                     .count = 1,
                                     .noise = noise,
                                     .edit = requantize,
                                     .context = &job};
    const uint64_t left_out = by_round_left_out(scaling->run->scratch);
    *noise = 0;
    const int status = look_at_samples(scaling, &errors, err);
    by_round_set_left_out(scaling->run->scratch, left_out);
    return status;
}

static int search(const struct scaling *scaling, float *best, struct baryon_error *err)
{
    static const float twos[] = {0.5f, 2}, others[] = {0.7f, 0.8f, 0.9f, 1.1f, 1.25f};
    const struct by_quant_row *row = &scaling->run->q->plan->rows.at[scaling->row];
    const bool pow2 = row->spec.scale == BY_SCALE_POW2;
    const float *factors = pow2 ? twos : others, scale = row->params.scales[0];
    const size_t count = pow2 ? sizeof twos / sizeof *twos : sizeof others / sizeof *others;
    double least, noise;
    *best = scale;
    if (cost(scaling, scale, &least, err) < 0)
        return -1;
    least *= WORTH;
    for (size_t i = 0; i < count; i++) {
        if (cost(scaling, scale * factors[i], &noise, err) < 0)
            return -1;
        if (noise < least) {
            least = noise;
            *best = scale * factors[i];
        }
    }
    return 0;
}

/* --- Changing it --- */

static int patch(const struct scaling *scaling, float scale, struct baryon_error *err)
{
    struct baryon_model *model = scaling->run->copy.model;
    const struct baryon_tensor *like = by_node_in(scaling->quantize, 1)->initializer;
    const char *name = by_model_fresh_name(model, "scale", err);
    struct baryon_tensor *tensor = name ? by_tensor_new(model, name, BY_ELEM_FLOAT, like->dims.at,
                                                        like->dims.count, &scale, sizeof scale, err)
                                        : NULL;
    struct baryon_value *value =
        tensor ? by_graph_add_initializer(model->graph, tensor, err) : NULL;
    if (!value || by_node_set_input(scaling->quantize, 1, value, err) < 0)
        return -1;
    for (size_t i = 0; i < scaling->integers->use_count; i++)
        if (by_node_set_input(scaling->integers->uses[i].node, 1, value, err) < 0)
            return -1;
    return 0;
}

static int remark(const struct scaling *scaling, float old, float scale, struct baryon_error *err)
{
    return by_quant_remark(scaling->run->q->plan, scaling->row, "rounding", err,
                           "scale %g instead of %g, for a better output of '%s' on samples",
                           (double)scale, (double)old,
                           scaling->layer->node->name ? scaling->layer->node->name
                                                      : scaling->layer->rows.name);
}

static int choose_scale(struct scaling *scaling, struct baryon_error *err)
{
    const float old = scaling->run->q->plan->rows.at[scaling->row].params.scales[0];
    float best;
    if (by_rounding_target_open(&scaling->target, scaling->run->q->plan, scaling->layer,
                                scaling->run->q->pool, err) < 0 ||
        by_round_exact(&scaling->target.target, &scaling->choice, err) < 0 ||
        search(scaling, &best, err) < 0)
        return -1;
    if (best == old)
        return 0;
    struct by_rounding_run *run = scaling->run;
    if (by_rounding_move(&run->move, run->q->plan, scaling->row, &best, err) < 0)
        return -1;
    if (!run->move.moved)
        return 0;
    run->moved++;
    return patch(scaling, best, err) < 0 || remark(scaling, old, best, err) < 0 ? -1 : 0;
}

int by_rounding_scale(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                      struct baryon_error *err)
{
    struct scaling scaling = {.run = run, .layer = layer};
    if (!find_scale(&scaling) || !set_levels(&scaling) ||
        by_node_in(scaling.quantize, 1)->initializer->data_type != BY_ELEM_FLOAT)
        return 0;
    if (by_stages_reach(run->rounded, &scaling.exact, 1, err) < 0)
        return -1;
    by_round_keep(run->scratch, BY_ROUND_KEPT);
    const int status = choose_scale(&scaling, err);
    by_round_keep(run->scratch, 0);
    by_round_choice_release(&scaling.choice);
    by_rounding_target_close(&scaling.target);
    by_stages_let_go(run->rounded, scaling.exact);
    return status;
}
