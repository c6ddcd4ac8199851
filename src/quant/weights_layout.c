/* Rearranges a weight so that channels and groups have fixed places. */
#include "quant/weights_layout.h"

#include "base/str.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

/* Elements of the axes [begin, end). */
static size_t product(const struct by_weight_view *view, size_t begin, size_t end)
{
    size_t count = 1;
    for (size_t i = begin; i < end; i++)
        count *= (size_t)view->dims[i];
    return count;
}

static int check_axis(const struct by_weight_view *view, int axis, const char *what,
                      struct baryon_error *err)
{
    if (axis >= -1 && (axis < 0 || (size_t)axis < view->rank))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "%s axis %d of a tensor of rank %zu", what, axis,
                   view->rank);
}

/* The axis splits what is left of the dims after `begin`. */
static size_t split(const struct by_weight_view *view, int axis, size_t begin,
                    struct by_weight_axis *ahead, struct by_weight_axis *found)
{
    if (axis < 0)
        return begin;
    const size_t at = (size_t)axis;
    *ahead = (struct by_weight_axis){product(view, begin, at), product(view, at, view->rank)};
    *found = (struct by_weight_axis){product(view, at, at + 1), product(view, at + 1, view->rank)};
    return at + 1;
}

static void lay_out_weight(const struct by_weight_view *view, int channel, int group,
                           struct by_weight_layout *layout)
{
    const struct by_weight_axis one = {1, 0};
    layout->before = layout->between = layout->channel = layout->group = one;
    size_t done = 0;
    if (channel < group) {
        done = split(view, channel, done, &layout->before, &layout->channel);
        done = split(view, group, done, channel < 0 ? &layout->before : &layout->between,
                     &layout->group);
    } else {
        done = split(view, group, done, &layout->before, &layout->group);
        done = split(view, channel, done, group < 0 ? &layout->before : &layout->between,
                     &layout->channel);
    }
    layout->inner = (struct by_weight_axis){product(view, done, view->rank), 1};
}

int by_weight_layout(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                     struct by_weight_layout *layout, struct baryon_error *err)
{
    const bool grouped = spec->granularity == BY_PER_GROUP && view->group_axis >= 0;
    const int channel = spec->granularity == BY_PER_TENSOR ? -1 : view->axis;
    const int group = grouped ? view->group_axis : -1;
    if (by_dims_count(view->dims, view->rank, &layout->count, err) ||
        check_axis(view, channel, "channel", err) || check_axis(view, group, "group", err))
        return -1;
    if (grouped && (group == channel || spec->group < 1))
        return by_fail(err, BARYON_ERR_USAGE,
                       "groups of %lld along axis %d, channels along axis %d: a group must have at "
                       "least one element and the axes must differ",
                       (long long)spec->group, group, channel);
    lay_out_weight(view, channel, group, layout);
    layout->group_size = grouped ? (size_t)spec->group : layout->group.count;
    if (layout->group_size < 1)
        layout->group_size = 1;
    layout->groups = (layout->group.count + layout->group_size - 1) / layout->group_size;
    layout->channel_count = layout->channel.count ? layout->count / layout->channel.count : 0;
    layout->in_place =
        layout->before.count <= 1 && (group < 0 || (channel < group && layout->between.count <= 1));
    return 0;
}

/* One place of every channel: `inner` values in a row, or one of each of neighbouring channels. */
static void take_channel_values(const struct by_weight_layout *layout, const float *from,
                                size_t count, float *out)
{
    const size_t step = layout->channel_count;
    if (layout->inner.count == 1)
        for (size_t i = 0; i < count; i++)
            out[i * step] = from[i * layout->channel.stride];
    else
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * step, from + i * layout->channel.stride,
                   layout->inner.count * sizeof *out);
}

void by_weight_gather(const struct by_weight_layout *layout, const float *values, size_t first,
                      size_t count, float *out)
{
    values += first * layout->channel.stride;
    for (size_t g = 0; g < layout->group.count; g++)
        for (size_t a = 0; a < layout->before.count; a++)
            for (size_t b = 0; b < layout->between.count; b++) {
                take_channel_values(layout,
                                    values + g * layout->group.stride + a * layout->before.stride +
                                        b * layout->between.stride,
                                    count, out);
                out += layout->inner.count;
            }
}

static void add_index(struct by_str *text, const struct by_weight_view *view, size_t at)
{
    size_t below = product(view, 0, view->rank);
    for (size_t i = 0; i < view->rank; i++) {
        below /= (size_t)view->dims[i];
        by_str_printf(text, "%s%zu", i ? "," : "[", at / below);
        at %= below;
    }
    if (view->rank)
        by_str_puts(text, "]");
}

int by_weight_refuse(const struct by_weight_view *view, struct baryon_error *err)
{
    const size_t count = product(view, 0, view->rank);
    char quoted[BY_QUOTE_MAX];
    size_t at = 0;
    while (at < count && isfinite(view->values[at]))
        at++;
    const float value = at < count ? view->values[at] : NAN;
    struct by_str index;
    by_str_init(&index);
    add_index(&index, view, at);
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "tensor %s: value %s is %s, must be finite to be quantized",
            by_quote(quoted, view->name ? view->name : ""), by_str_text(&index),
            isnan(value) ? "NaN"
            : value > 0  ? "infinite"
                         : "minus infinity");
    by_str_release(&index);
    return by_err_hint(err, "keep the tensor float, or correct the model");
}
