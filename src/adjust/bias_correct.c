/* Cancels the mean output error of weight rounding in the biases of layers. */
#include "adjust/bias_correct.h"

#include "adjust/bias_reach.h"
#include "base/mem.h"
#include "ir/shape.h"
#include "ir/tensor.h"
#include "quant/floats.h"
#include "quant/params.h"
#include "quant/rounded.h"

#include <math.h>

/* --- Which layers --- */

static size_t elements(const struct baryon_value *value)
{
    size_t count;
    return by_tensor_count(value->initializer, &count, NULL) ? 0 : count;
}

bool by_bias_is_own(const struct baryon_value *bias, size_t outs)
{
    return bias && bias->initializer && !bias->is_input && !bias->pinned && bias->use_count == 1 &&
           bias->initializer->data_type == BY_ELEM_FLOAT && elements(bias) == outs;
}

static bool is_coarse_weight(const struct by_quant_row *row)
{
    return row->role == BY_ROLE_WEIGHT &&
           (row->spec.format || by_elem_info(row->spec.elem)->bits <= 8) &&
           row->value->initializer->data_type == BY_ELEM_FLOAT && !row->rounded;
}

/* Weights as [group][out of the group][in of the group][inside]. */
struct shape {
    size_t groups, outs, ins, inside; /* outs, ins: of a group */
    size_t out_stride, in_stride;     /* inside has 1 */
};

static bool conv_shape(const struct baryon_node *node, const struct by_ints *dims,
                       struct shape *shape)
{
    const int64_t groups = by_node_int(node, "group", 1);
    if (dims->count < 3 || groups < 1 || dims->at[0] % groups)
        return false;
    *shape = (struct shape){
        .groups = (size_t)groups,
        .outs = (size_t)(dims->at[0] / groups),
        .ins = (size_t)dims->at[1],
        .inside = 1,
    };
    for (size_t i = 2; i < dims->count; i++)
        shape->inside *= (size_t)dims->at[i];
    shape->in_stride = shape->inside;
    shape->out_stride = shape->ins * shape->inside;
    return true;
}

static bool gemm_shape(const struct baryon_node *node, const struct by_ints *dims,
                       struct shape *shape)
{
    const bool turned = by_node_int(node, "transB", 0) != 0;
    if (dims->count != 2 || by_node_int(node, "transA", 0) || by_node_float(node, "beta", 1) == 0)
        return false;
    const size_t ins = (size_t)dims->at[turned ? 1 : 0], outs = (size_t)dims->at[turned ? 0 : 1];
    *shape = (struct shape){1, outs, ins, 1, turned ? ins : 1, turned ? 1 : outs};
    return true;
}

static bool shape_of(const struct baryon_node *node, struct shape *shape)
{
    const struct baryon_value *weight = by_node_in(node, 1);
    const struct by_ints *dims = &weight->initializer->dims;
    if (by_node_is(node, "Conv"))
        return conv_shape(node, dims, shape);
    return by_node_is(node, "Gemm") && gemm_shape(node, dims, shape);
}

static void take_shape(struct by_bias_input *input, const struct by_shape *shape)
{
    if (!shape || shape->rank > BY_RANK_MAX)
        return;
    input->rank = shape->rank;
    for (size_t i = 0; i < shape->rank; i++) {
        const struct by_extent extent = shape->dims[i];
        input->dims[i] = by_extent_is_number(extent) ? extent.size : -1;
    }
}

static size_t input_place(struct by_bias_job *job, const struct baryon_value *value,
                          size_t channels, struct baryon_error *err)
{
    for (size_t i = job->input_count; i-- > 0;)
        if (job->inputs[i].name == value->name)
            return i;
    struct by_bias_input *input = &job->inputs[job->input_count];
    *input = (struct by_bias_input){
        .name = value->name,
        .channels = channels,
        .means = by_arena_alloc(&job->arena, channels, sizeof(double), err),
    };
    take_shape(input, value->shape);
    return input->means ? job->input_count++ : SIZE_MAX;
}

static int add_layer(struct by_quant_plan *plan, struct by_bias_job *job, struct baryon_node *node,
                     struct baryon_error *err)
{
    struct shape shape;
    struct baryon_value *input = by_node_in(node, 0), *bias = by_node_in(node, 2);
    const size_t weight = by_quant_find(plan, by_node_in(node, 1));
    if (!input || input->initializer || input->elem != BY_ELEM_FLOAT || weight == BY_NO_ROW ||
        !is_coarse_weight(&plan->rows.at[weight]) || !shape_of(node, &shape) ||
        !by_bias_is_own(bias, shape.groups * shape.outs))
        return 0;
    const size_t place = input_place(job, input, shape.groups * shape.ins, err);
    if (place == SIZE_MAX)
        return -1;
    if (job->inputs[place].channels == shape.groups * shape.ins)
        job->layers[job->layer_count++] =
            (struct by_bias_layer){node, weight, by_quant_find(plan, bias), place};
    return 0;
}

int by_bias_survey(struct by_quant_plan *plan, struct by_bias_job *job, struct baryon_error *err)
{
    *job = (struct by_bias_job){0};
    by_arena_init(&job->arena, 0);
    job->inputs = by_arena_alloc(&job->arena, plan->node_count, sizeof *job->inputs, err);
    job->layers = by_arena_alloc(&job->arena, plan->node_count, sizeof *job->layers, err);
    if (!job->inputs || !job->layers)
        return -1;
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_QUANTIZED &&
            add_layer(plan, job, plan->nodes[i].node, err) < 0)
            return -1;
    return 0;
}

void by_bias_close(struct by_bias_job *job)
{
    by_arena_release(&job->arena);
    *job = (struct by_bias_job){0};
}

/* --- What rounding does --- */

/* The weights as the quantized model has them; by_free() it. */
static float *rounded_weights(const struct by_quant_plan *plan, size_t row,
                              const struct by_floats_view *exact, struct by_pool *pool,
                              struct baryon_error *err)
{
    float *rounded = by_alloc(exact->count, sizeof *rounded, err);
    if (!rounded || by_quant_round(plan, row, exact->values, pool, rounded, err) == 0)
        return rounded;
    by_free(rounded);
    return NULL;
}

/* One layer, and what its weights are multiplied with. */
struct rounding {
    const double *means, *reach; /* of input channels; of elements of the kernel */
    const float *exact, *rounded;
};

static double lost(const struct shape *shape, const struct rounding *rounding, size_t first_in,
                   size_t first)
{
    double sum = 0;
    for (size_t in = 0; in < shape->ins; in++) {
        const float *exact = rounding->exact + first + in * shape->in_stride;
        const float *rounded = rounding->rounded + first + in * shape->in_stride;
        double error = 0;
        for (size_t k = 0; k < shape->inside; k++)
            error += rounding->reach[k] * ((double)exact[k] - (double)rounded[k]);
        sum += error * rounding->means[first_in + in];
    }
    return sum;
}

/* Units of what the weights give in units of the bias. */
static double factor(const struct baryon_node *node)
{
    return by_node_is(node, "Gemm")
               ? (double)by_node_float(node, "alpha", 1) / (double)by_node_float(node, "beta", 1)
               : 1;
}

static void add_lost(const struct by_bias_layer *layer, const struct shape *shape,
                     const struct rounding *rounding, float *bias)
{
    const double unit = factor(layer->node);
    for (size_t out = 0; out < shape->groups * shape->outs; out++) {
        const size_t first_in = out / shape->outs * shape->ins;
        const double more = unit * lost(shape, rounding, first_in, out * shape->out_stride);
        if (isfinite((float)(bias[out] + more)))
            bias[out] = (float)(bias[out] + more);
    }
}

/* The layer's new biases; by_free() them. */
static float *corrected(struct by_quant_plan *plan, const struct by_bias_job *job,
                        const struct by_bias_layer *layer, struct by_pool *pool,
                        struct baryon_error *err)
{
    const struct by_quant_row *row = &plan->rows.at[layer->weight];
    struct by_floats_view exact;
    struct shape shape;
    if (!shape_of(layer->node, &shape) || by_floats_open(&exact, row->value->initializer, err) < 0)
        return NULL;
    float *rounded = rounded_weights(plan, layer->weight, &exact, pool, err);
    const struct by_bias_input *input = &job->inputs[layer->input];
    double *reach =
        rounded ? by_bias_reach(layer->node, input->dims, input->rank, shape.inside, err) : NULL;
    const struct rounding rounding = {input->means, reach, exact.values, rounded};
    float *biases =
        reach ? by_floats_copy(by_node_in(layer->node, 2)->initializer, NULL, err) : NULL;
    if (biases)
        add_lost(layer, &shape, &rounding, biases);
    by_free(reach);
    by_free(rounded);
    by_floats_close(&exact);
    return biases;
}

/* --- All layers --- */

/* Of so many elements on, weights are rounded by all threads together, one after the other. */
#define BIG_ELEMENTS ((size_t)1 << 20)

struct work {
    struct by_quant_plan *plan;
    const struct by_bias_job *job;
    float **biases; /* by layer; NULL: nothing is known of its input */
};

static bool is_big(const struct work *work, const struct by_bias_layer *layer)
{
    return elements(work->plan->rows.at[layer->weight].value) >= BIG_ELEMENTS;
}

static int find(const struct work *work, size_t place, struct by_pool *pool,
                struct baryon_error *err)
{
    const struct by_bias_layer *layer = &work->job->layers[place];
    if (!work->job->inputs[layer->input].means)
        return 0;
    work->biases[place] = corrected(work->plan, work->job, layer, pool, err);
    return work->biases[place] ? 0 : -1;
}

static int find_small(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (!is_big(work, &work->job->layers[i]) && find(work, i, NULL, err) < 0)
            return -1;
    return 0;
}

static int find_all(struct work *work, struct by_pool *pool, struct baryon_error *err)
{
    for (size_t i = 0; i < work->job->layer_count; i++)
        if (is_big(work, &work->job->layers[i]) && find(work, i, pool, err) < 0)
            return -1;
    return by_par_for(pool, work->job->layer_count, 1, find_small, work, err);
}

static int settle_bias(struct by_quant_plan *plan, const struct by_bias_layer *layer,
                       struct by_pool *pool, struct baryon_error *err)
{
    if (layer->bias == BY_NO_ROW)
        return 0;
    if (by_quant_find_constant(plan, layer->bias, pool, err) < 0)
        return -1;
    return by_quant_remark(plan, layer->bias, "bias-correction", err,
                           "cancels the mean output error of rounding the weight '%s'",
                           plan->rows.at[layer->weight].value->name);
}

static int settle(const struct work *work, size_t place, struct by_pool *pool,
                  struct baryon_error *err)
{
    const struct by_bias_layer *layer = &work->job->layers[place];
    const struct baryon_value *bias = by_node_in(layer->node, 2);
    if (!work->biases[place])
        return 0;
    if (by_floats_write(work->plan->model, bias->initializer, work->biases[place], elements(bias),
                        err) < 0)
        return -1;
    return settle_bias(work->plan, layer, pool, err);
}

int by_bias_correct(struct by_quant_plan *plan, const struct by_bias_job *job, struct by_pool *pool,
                    struct baryon_error *err)
{
    struct work work = {plan, job, by_alloc_zero(job->layer_count, sizeof *work.biases, err)};
    int status = work.biases ? find_all(&work, pool, err) : -1;
    for (size_t i = 0; work.biases && i < job->layer_count; i++) {
        if (status == 0)
            status = settle(&work, i, pool, err);
        by_free(work.biases[i]);
    }
    by_free(work.biases);
    return status;
}
