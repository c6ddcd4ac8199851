/* Finds experts that lie in one tensor and makes weights of them. */
#include "llm/layout/stacks.h"

#include "base/str.h"
#include "llm/family/family.h"

#include <inttypes.h>
#include <string.h>

#define BLOCKS "_blocks"
#define SCALES "_scales"
/* MXFP4: values of a group, bytes of their codes. */
#define GROUP       32u
#define GROUP_BYTES 16u
/* A tensor of that name's end that becomes two, the first half of the outputs and the second. */
#define FUSED "gate_up_proj"

/* --- What is a stack --- */

/* The tensor that is named like this one with another end; NULL: there is none. */
static const struct by_stored_tensor *sibling(const struct by_checkpoint *checkpoint,
                                              const char *name, size_t size, const char *end)
{
    struct by_str text;
    by_str_init(&text);
    by_str_add(&text, name, size);
    by_str_puts(&text, end);
    const struct by_stored_tensor *found =
        text.failed ? NULL : by_checkpoint_find(checkpoint, by_str_text(&text));
    by_str_release(&text);
    return found;
}

static bool has_end(const char *name, const char *end, size_t *size)
{
    *size = strlen(name) - (by_has_suffix(name, end) ? strlen(end) : 0);
    return by_has_suffix(name, end);
}

static bool is_blocks(const struct by_stored_tensor *tensor, size_t *size)
{
    return tensor->rank == 4 && tensor->type->elem == BY_ELEM_UINT8 &&
           tensor->dims[3] == GROUP_BYTES && has_end(tensor->name, BLOCKS, size);
}

static const struct by_stored_tensor *scales_of(const struct by_checkpoint *checkpoint,
                                                const struct by_stored_tensor *tensor)
{
    size_t size;
    if (!is_blocks(tensor, &size))
        return NULL;
    const struct by_stored_tensor *scales = sibling(checkpoint, tensor->name, size, SCALES);
    return scales && scales->rank == 3 && scales->type->elem == BY_ELEM_UINT8 &&
                   !memcmp(scales->dims, tensor->dims, 3 * sizeof *scales->dims)
               ? scales
               : NULL;
}

static int check_blocks(const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *tensor, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], shape[128];
    size_t size;
    if (!is_blocks(tensor, &size) || scales_of(checkpoint, tensor))
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "%s %s: there is no tensor " SCALES
                   " of U8 with the same first three dimensions beside these MXFP4 " BLOCKS,
                   by_quote(quoted, tensor->name), by_stored_shape(tensor, shape, sizeof shape));
}

bool by_llm_is_stack_scales(const struct by_checkpoint *checkpoint,
                            const struct by_stored_tensor *tensor)
{
    size_t size;
    const struct by_stored_tensor *blocks = has_end(tensor->name, SCALES, &size)
                                                ? sibling(checkpoint, tensor->name, size, BLOCKS)
                                                : NULL;
    return blocks && scales_of(checkpoint, blocks) == tensor;
}

static bool is_float_stack(const struct by_stored_tensor *tensor)
{
    const struct by_elem_info *info = by_elem_info(tensor->type->elem);
    return tensor->rank == 3 && info && info->class == BY_CLASS_FLOAT && tensor->type->bytes > 1 &&
           strstr(tensor->name, ".experts.");
}

/* Fused outputs that alternate have a bias of that order beside them, and stay fused. */
static bool is_halved(const struct by_checkpoint *checkpoint, const struct by_stored_tensor *tensor)
{
    size_t size = strlen(tensor->name);
    return tensor->rank == 3 && by_has_suffix(tensor->name, "." FUSED) &&
           !sibling(checkpoint, tensor->name, size, "_bias");
}

int by_llm_stacking_read(struct by_llm_stacking *stacking, const struct by_checkpoint *checkpoint,
                         struct by_arena *arena, struct baryon_error *err)
{
    const size_t count = checkpoint->tensor_count;
    struct by_family family;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (check_blocks(checkpoint, &checkpoint->tensors[i], err))
            return -1;
        any = any || is_float_stack(&checkpoint->tensors[i]);
    }
    if (!any || stacking->stacks == BY_LLM_STACKS_KEEP)
        return 0;
    struct by_family_tensor *tensors = by_arena_alloc(arena, count, sizeof *tensors, err);
    stacking->turned = by_arena_alloc(arena, count, sizeof *stacking->turned, err);
    if (!tensors || !stacking->turned)
        return -1;
    for (size_t i = 0; i < count; i++)
        tensors[i] = (struct by_family_tensor){
            checkpoint->tensors[i].name, checkpoint->tensors[i].dims, checkpoint->tensors[i].rank};
    if (by_family_read(&family, arena, checkpoint->config, tensors, count, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        stacking->turned[i] = family.roles[i].transposed;
    return 0;
}

size_t by_llm_stack_parts(const struct by_llm_stacking *stacking,
                          const struct by_checkpoint *checkpoint, size_t place)
{
    const struct by_stored_tensor *tensor = &checkpoint->tensors[place];
    const bool blocks = scales_of(checkpoint, tensor) != NULL;
    if (stacking->stacks == BY_LLM_STACKS_KEEP)
        return blocks;
    if (!blocks && !is_float_stack(tensor))
        return 0;
    return (size_t)tensor->dims[0] * (is_halved(checkpoint, tensor) ? 2 : 1);
}

/* --- Weights --- */

/* "P.experts.gate_up_proj" of expert 3 is "P.experts.3.up_proj" and the like. */
static int name_expert(struct by_arena *arena, struct by_llm_weight *weight, const char *stack,
                       size_t expert, const char *leaf, struct baryon_error *err)
{
    const char *dot = strrchr(stack, '.');
    struct by_str text;
    by_str_init(&text);
    by_str_add(&text, stack, (size_t)(dot - stack));
    by_str_printf(&text, ".%zu.%s", expert, leaf ? leaf : dot + 1);
    weight->layer = by_arena_text(arena, by_str_text(&text), text.size, err);
    by_str_puts(&text, ".weight");
    weight->name = weight->layer ? by_arena_text(arena, by_str_text(&text), text.size, err) : NULL;
    by_str_release(&text);
    return weight->name ? 0 : -1;
}

/* The whole stack, as the model would have it in floats: gpt-oss multiplies [inputs, outputs]. */
static void describe_stack(struct by_llm_weight *weight, const char *name)
{
    const struct by_llm_stack *stack = &weight->stack;
    const size_t experts = (size_t)weight->stored->dims[0];
    weight->name = weight->layer = name;
    weight->rank = 3;
    weight->dims[0] = experts;
    weight->dims[1] = stack->turned ? stack->columns : stack->rows;
    weight->dims[2] = stack->turned ? stack->rows : stack->columns;
    weight->stack.count = (size_t)weight->dims[1];
    weight->rows = experts * weight->stack.count;
    weight->columns = (size_t)weight->dims[2];
}

static int describe_expert(struct by_arena *arena, struct by_llm_weight *weight, const char *name,
                           size_t expert, int half, struct baryon_error *err)
{
    static const char *const leaves[] = {NULL, "gate_proj", "up_proj"};
    struct by_llm_stack *stack = &weight->stack;
    const size_t outputs = stack->turned ? stack->columns : stack->rows;
    stack->expert = expert;
    stack->low = half == 2 ? outputs / 2 : 0;
    stack->count = half ? outputs / 2 : outputs;
    weight->rank = 2;
    weight->dims[0] = weight->rows = stack->count;
    weight->dims[1] = weight->columns = stack->turned ? stack->rows : stack->columns;
    return name_expert(arena, weight, name, expert, leaves[half], err);
}

int by_llm_stack_read(struct by_llm_source *source, const struct by_llm_stacking *stacking,
                      size_t place, struct by_llm_weight *weights, struct baryon_error *err)
{
    const struct by_stored_tensor *tensor = &source->checkpoint->tensors[place];
    const struct by_stored_tensor *scales = scales_of(source->checkpoint, tensor);
    const size_t parts = by_llm_stack_parts(stacking, source->checkpoint, place);
    const size_t halves = parts / (size_t)tensor->dims[0];
    char quoted[BY_QUOTE_MAX];
    struct by_llm_weight base = {.as = BY_LLM_AS_STACK, .stored = tensor, .scales = scales};
    base.stack.rows = (size_t)tensor->dims[1];
    base.stack.columns = (size_t)tensor->dims[2] * (scales ? GROUP : 1);
    if (!base.stack.rows || !base.stack.columns || tensor->dims[2] > SIZE_MAX / GROUP)
        return by_fail(err, BARYON_ERR_INPUT, "%s is empty, must have values",
                       by_quote(quoted, tensor->name));
    const size_t size = strlen(tensor->name) - (scales ? strlen(BLOCKS) : 0);
    const char *name = by_arena_text(&source->arena, tensor->name, size, err);
    if (!name)
        return -1;
    base.stack.turned = stacking->stacks == BY_LLM_STACKS_KEEP ? scales != NULL
                                                               : !scales && stacking->turned[place];
    for (size_t i = 0; i < parts; i++) {
        weights[i] = base;
        if (stacking->stacks == BY_LLM_STACKS_KEEP)
            describe_stack(&weights[i], name);
        else if (describe_expert(&source->arena, &weights[i], name, i / halves,
                                 halves == 2 ? 1 + (int)(i % 2) : 0, err))
            return -1;
    }
    return 0;
}

/* --- Rows --- */

/* Bytes are groups of 32: the low four bits of each are the earlier value. */
static void mxfp4_values(const uint8_t *blocks, const uint8_t *scales, size_t from, size_t count,
                         float *out)
{
    static const float levels[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                     -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    for (size_t i = from; i < from + count; i++) {
        const uint8_t byte = blocks[i / 2];
        const uint8_t scale = scales[i / GROUP];
        const uint32_t bits = scale == 255 ? 0x7fc00000u
                              : scale      ? (uint32_t)scale << 23
                                           : 0x400000u;
        float power;
        memcpy(&power, &bits, sizeof power);
        *out++ = levels[i % 2 ? byte >> 4 : byte & 15] * power;
    }
}

/* Values [from, from + count) of a row as it is stored, rows counted over all experts. */
static int stored_values(const struct by_llm_source *source, const struct by_llm_weight *weight,
                         size_t row, size_t from, size_t count, float *out,
                         struct baryon_error *err)
{
    const size_t columns = weight->stack.columns;
    const uint8_t *bytes = by_checkpoint_bytes(source->checkpoint, weight->stored);
    if (!weight->scales)
        return by_elem_to_floats(weight->stored->type->elem, bytes, row * columns + from, count,
                                 out, err);
    const uint8_t *scales = by_checkpoint_bytes(source->checkpoint, weight->scales);
    mxfp4_values(bytes + row * (columns / 2), scales + row * (columns / GROUP), from, count, out);
    return 0;
}

/* Rows of one expert that are columns of what is stored. */
static int turned_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                       size_t expert, size_t first, size_t count, float *out,
                       struct baryon_error *err)
{
    const struct by_llm_stack *stack = &weight->stack;
    float *column = by_alloc(count, sizeof *column, err);
    int failed = column ? 0 : -1;
    for (size_t r = 0; r < stack->rows && !failed; r++) {
        failed = stored_values(source, weight, expert * stack->rows + r, stack->low + first, count,
                               column, err);
        for (size_t i = 0; i < count && !failed; i++)
            out[i * stack->rows + r] = column[i];
    }
    by_free(column);
    return failed;
}

int by_llm_stack_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                      size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_llm_stack *stack = &weight->stack;
    while (count) {
        const size_t expert = stack->expert + first / stack->count, at = first % stack->count;
        const size_t left = stack->count - at, some = count < left ? count : left;
        int failed = 0;
        if (stack->turned)
            failed = turned_rows(source, weight, expert, at, some, out, err);
        for (size_t r = 0; r < some && !stack->turned && !failed; r++)
            failed = stored_values(source, weight, expert * stack->rows + stack->low + at + r, 0,
                                   stack->columns, out + r * weight->columns, err);
        if (failed)
            return -1;
        first += some;
        count -= some;
        out += some * weight->columns;
    }
    return 0;
}
