/* Finds where the windows of a layer lie in an input of a given shape. */
#include "moments/moments_internal.h"

#include "base/text.h"

#define SIZE_MOST ((int64_t)1 << 31) /* of an axis that a window slides over */

static int refuse_input_shape(const struct by_moments_layer *layer, const struct by_array *input,
                              const char *wanted, int64_t number, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX], shape[160];
    struct by_text text;
    by_text_init(&text, shape, sizeof shape);
    for (size_t i = 0; i < input->rank; i++)
        by_text_add(&text, "%s%lld", i ? "," : "", (long long)input->dims[i]);
    return by_fail(err, BARYON_ERR_INPUT, "the input of layer %s has the shape [%s], %s %lld",
                   by_quote(name, layer->name), shape, wanted, (long long)number);
}

static int64_t at_least_zero(int64_t value)
{
    return value > 0 ? value : 0;
}

/* Pads that sum to `total`: of an odd one SAME_UPPER has the greater half after. */
static int64_t before(int64_t total, bool upper)
{
    return upper ? total / 2 : total - total / 2;
}

void by_layer_windows(const struct by_moments_layer *layer, size_t axis, int64_t in, int64_t *pad,
                      int64_t *out)
{
    const int64_t stride = layer->stride[axis];
    const int64_t span = (layer->kernel[axis] - 1) * layer->dilation[axis] + 1;
    if (layer->auto_pad == BY_PADS_SAME_UPPER || layer->auto_pad == BY_PADS_SAME_LOWER) {
        *out = (in + stride - 1) / stride;
        *pad = before(at_least_zero((*out - 1) * stride + span - in),
                      layer->auto_pad == BY_PADS_SAME_UPPER);
        return;
    }
    const int64_t room = in + layer->pad_begin[axis] + layer->pad_end[axis] - span;
    *pad = layer->pad_begin[axis];
    *out = room < 0 ? 0 : room / stride + 1;
}

/*
 * As by_layer_windows() for ConvTranspose, where pads are cut from the output. SAME cuts it down
 * to in * stride; where it is smaller already, runtimes leave it at that.
 */
static void place_spread(const struct by_moments_layer *layer, size_t axis, int64_t in,
                         int64_t *pad, int64_t *out)
{
    const int64_t stride = layer->stride[axis];
    const bool upper = layer->auto_pad == BY_PADS_SAME_UPPER;
    const bool same = upper || layer->auto_pad == BY_PADS_SAME_LOWER;
    const int64_t whole = (in - 1) * stride + layer->output_pad[axis] +
                          (layer->kernel[axis] - 1) * layer->dilation[axis] + 1;
    *out = layer->output_size[axis];
    if (!*out && same)
        *out = whole < in * stride ? whole : in * stride;
    if (*out) {
        *pad = before(at_least_zero(whole - *out), upper);
        return;
    }
    *pad = layer->pad_begin[axis];
    *out = at_least_zero(whole - layer->pad_begin[axis] - layer->pad_end[axis]);
}

static int set_rows(struct by_columns *columns, struct baryon_error *err)
{
    if (by_mul_overflow(columns->images, columns->places, &columns->rows))
        return by_fail(err, BARYON_ERR_INPUT, "more than 2^64 positions of a window");
    return 0;
}

static int init_windows(struct by_columns *columns, const struct by_array *input,
                        struct baryon_error *err)
{
    const struct by_moments_layer *layer = columns->layer;
    if (input->rank != layer->spatial + 2)
        return refuse_input_shape(layer, input, "the rank must be", (int64_t)layer->spatial + 2,
                                  err);
    if (input->dims[1] != layer->channels)
        return refuse_input_shape(layer, input, "the channels must be", layer->channels, err);
    columns->spatial = layer->spatial;
    columns->spread = layer->kind == BY_LAYER_CONV_TRANSPOSE;
    columns->images = (size_t)input->dims[0];
    columns->channels = (size_t)layer->channels;
    columns->plane = columns->places = columns->kernel_size = 1;
    for (size_t i = 0; i < layer->spatial; i++) {
        const int64_t in = input->dims[i + 2];
        if (in > SIZE_MOST)
            return refuse_input_shape(layer, input, "an axis must not be longer than", SIZE_MOST,
                                      err);
        columns->in[i] = in;
        columns->kernel[i] = layer->kernel[i];
        columns->stride[i] = layer->stride[i];
        columns->dilation[i] = layer->dilation[i];
        (columns->spread ? place_spread : by_layer_windows)(layer, i, in, &columns->pad[i],
                                                            &columns->out[i]);
        if (!in)
            columns->out[i] = 0;
        columns->plane *= (size_t)in;
        columns->kernel_size *= (size_t)layer->kernel[i];
        if (by_mul_overflow(columns->places, (size_t)columns->out[i], &columns->places))
            return refuse_input_shape(layer, input, "too big for a window of", layer->kernel[i],
                                      err);
    }
    return set_rows(columns, err);
}

/* [..., columns, n]: as a window of one element that slides over n. */
static int init_transposed(struct by_columns *columns, size_t outer, size_t inner,
                           struct baryon_error *err)
{
    columns->spatial = columns->kernel_size = 1;
    columns->images = outer;
    columns->channels = (size_t)columns->layer->columns;
    columns->plane = columns->places = inner;
    columns->in[0] = columns->out[0] = (int64_t)inner;
    columns->kernel[0] = columns->stride[0] = columns->dilation[0] = 1;
    return set_rows(columns, err);
}

static int init_matrix(struct by_columns *columns, const struct by_array *input,
                       struct baryon_error *err)
{
    const struct by_moments_layer *layer = columns->layer;
    const bool transposed = layer->transposed && input->rank > 1;
    if (input->rank < 1)
        return refuse_input_shape(layer, input, "the rank must be at least", 1, err);
    const size_t axis = input->rank - (transposed ? 2 : 1);
    size_t outer = 1;
    if (input->dims[axis] != layer->columns)
        return refuse_input_shape(
            layer, input, transposed ? "the last size but one must be" : "the last size must be",
            layer->columns, err);
    for (size_t i = 0; i < axis; i++)
        outer *= (size_t)input->dims[i];
    if (transposed)
        return init_transposed(columns, outer, (size_t)input->dims[axis + 1], err);
    columns->in_rows = true;
    columns->rows = outer;
    return 0;
}

int by_columns_init(struct by_columns *columns, const struct by_moments_layer *layer,
                    const struct by_array *input, struct baryon_error *err)
{
    size_t count;
    *columns = (struct by_columns){.layer = layer};
    if (by_dims_count(input->dims, input->rank, &count, err))
        return -1;
    if (layer->kind == BY_LAYER_MATMUL)
        return init_matrix(columns, input, err);
    return init_windows(columns, input, err);
}

size_t by_columns_place(const struct by_columns *columns, size_t row, int64_t *place)
{
    for (size_t i = columns->spatial; i-- > 0;) {
        const size_t size = (size_t)columns->out[i];
        place[i] = (int64_t)(row % size);
        row /= size;
    }
    return row;
}

bool by_columns_source(const struct by_columns *columns, const int64_t *place, const int64_t *at,
                       size_t *element)
{
    *element = 0;
    for (size_t i = 0; i < columns->spatial; i++) {
        const int64_t stride = columns->stride[i], reach = at[i] * columns->dilation[i];
        int64_t index = columns->spread ? place[i] + columns->pad[i] - reach
                                        : place[i] * stride - columns->pad[i] + reach;
        if (columns->spread) {
            if (index % stride != 0)
                return false;
            index /= stride;
        }
        if (index < 0 || index >= columns->in[i])
            return false;
        *element = *element * (size_t)columns->in[i] + (size_t)index;
    }
    return true;
}
