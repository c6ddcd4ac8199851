/* Copies a model without copying its weights. */
#include "onnx/frame.h"

#include "onnx/external.h"
#include "onnx/load.h"
#include "onnx/schema.h"

/* What is said of a payload, in one tensor as in the other. */
static void copy_payload(struct baryon_tensor *to, const struct baryon_tensor *from)
{
    to->raw_data = from->raw_data;
    to->float_data = from->float_data;
    to->int32_data = from->int32_data;
    to->int64_data = from->int64_data;
    to->double_data = from->double_data;
    to->uint64_data = from->uint64_data;
    to->string_data = from->string_data;
    to->external_data = from->external_data;
    to->data_location = from->data_location;
    to->external = from->external;
}

/* --- Taking payloads out --- */

struct taking {
    struct by_frame *frame;
    size_t place;
};

static int count_tensor(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    (void)tensor, (void)err;
    ++*(size_t *)context;
    return 0;
}

static int take_payload(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    static const struct baryon_tensor empty;
    struct taking *taking = context;
    (void)err;
    taking->frame->tensors[taking->place++] = *tensor;
    copy_payload(tensor, &empty);
    return 0;
}

static int put_back(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct taking *taking = context;
    (void)err;
    copy_payload(tensor, &taking->frame->tensors[taking->place++]);
    return 0;
}

static int encode_frame(struct by_frame *frame, struct baryon_model *model,
                        struct baryon_error *err)
{
    const uint64_t size = by_wire_measure(&by_schema_model, model);
    if (size > BY_WIRE_BYTES_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "%llu bytes without the tensors, must be at most %u",
                       (unsigned long long)size, BY_WIRE_BYTES_MAX);
    by_str_reserve(&frame->bytes, (size_t)size);
    return by_wire_encode(&by_schema_model, model, by_wire_to_text, &frame->bytes, err);
}

int by_frame_take(struct by_frame *frame, struct baryon_model *model, struct baryon_error *err)
{
    struct taking taking = {.frame = frame};
    *frame = (struct by_frame){.count = 0};
    by_arena_init(&frame->arena, 0);
    by_str_init(&frame->bytes);
    if (by_model_settle(model, err) < 0 ||
        by_model_each_tensor(model, count_tensor, &frame->count, err) < 0)
        return -1;
    frame->tensors = by_arena_alloc(&frame->arena, frame->count + 1, sizeof *frame->tensors, err);
    if (!frame->tensors)
        return -1;
    int status = by_model_each_tensor(model, take_payload, &taking, err);
    if (status == 0)
        status = encode_frame(frame, model, err);
    taking.place = 0;
    (void)by_model_each_tensor(model, put_back, &taking, NULL);
    return status;
}

void by_frame_release(struct by_frame *frame)
{
    by_str_release(&frame->bytes);
    by_arena_release(&frame->arena);
    *frame = (struct by_frame){.count = 0};
}

uint64_t by_frame_payload(const struct by_frame *frame)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < frame->count; i++) {
        const struct baryon_tensor *tensor = &frame->tensors[i];
        bytes += tensor->raw_data.size + tensor->float_data.size + tensor->int32_data.size +
                 tensor->int64_data.size + tensor->double_data.size + tensor->uint64_data.size +
                 tensor->external.size;
    }
    return bytes;
}

#define TRIMMED ((uint64_t)16 << 20)

void by_trim_after(uint64_t weights)
{
    if (weights >= TRIMMED)
        by_trim_memory();
}

/* --- Copies --- */

struct copying {
    const struct by_frame *frame;
    size_t place;
};

static int give_payload(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct copying *copying = context;
    if (copying->place >= copying->frame->count)
        return by_fail(err, BARYON_ERR_INTERNAL,
                       "the copy of the model has more tensors than the model");
    const struct baryon_tensor *from = &copying->frame->tensors[copying->place++];
    tensor->msg = from->msg; /* written as the model's own would be: both have the same hash */
    copy_payload(tensor, from);
    return 0;
}

int by_frame_copy(const struct by_frame *frame, struct baryon_model **copy,
                  struct baryon_error *err)
{
    struct copying copying = {.frame = frame};
    if (by_model_load_bytes(copy, frame->bytes.text, frame->bytes.size, NULL, NULL, err) < 0)
        return -1;
    if (by_model_each_tensor(*copy, give_payload, &copying, err) == 0 &&
        by_model_link(*copy, err) == 0)
        return 0;
    by_model_free(*copy);
    *copy = NULL;
    return -1;
}
