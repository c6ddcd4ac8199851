/* Samples that the caller makes, one after the other. */
#include "base/text.h"
#include "input/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct calls {
    struct by_input_callback callback;
    size_t next; /* number of the sample that the next call gives */
    struct by_match *matches;
    struct by_stored *stored; /* as many as the last call had arrays */
    size_t room;
    bool told; /* that arrays are left out */
};

/* An array of the caller's, looked at as one from a file. */
static int check_array(const struct by_array *array, struct by_stored *stored,
                       struct baryon_error *err)
{
    size_t count, bytes;
    if (array->elem == BY_ELEM_STRING)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "an array of strings, must be numeric");
    if (array->rank > 16)
        return by_fail(err, BARYON_ERR_INPUT, "rank %zu, must be at most 16", array->rank);
    if (by_dims_count(array->dims, array->rank, &count, err) < 0 ||
        by_elem_bytes(array->elem, count, &bytes, err) < 0)
        return -1;
    if (bytes != array->size)
        return by_fail(err, BARYON_ERR_INPUT, "%zu bytes, must have %zu for its type and shape",
                       array->size, bytes);
    *stored = (struct by_stored){.name = array->name,
                                 .elem = array->elem,
                                 .rank = array->rank,
                                 .bytes = array->data,
                                 .size = array->size};
    if (array->rank)
        memcpy(stored->dims, array->dims, array->rank * sizeof *array->dims);
    return 0;
}

/* Arrays without names are taken in the order of the inputs. */
static int look_at_callback_arrays(struct by_input *input, const struct by_array *arrays,
                                   size_t count, struct baryon_error *err)
{
    struct calls *calls = input->state;
    if (count > calls->room) {
        calls->stored = by_arena_alloc(&input->arena, count, sizeof *calls->stored, err);
        calls->room = calls->stored ? count : 0;
        if (!calls->stored)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (check_array(&arrays[i], &calls->stored[i], err) < 0)
            return by_err_in(err, "array %zu", i);
        if (!arrays[i].name && i < input->port_count)
            calls->stored[i].name = input->ports[i].name;
    }
    return 0;
}

/* A file may call its only array as it likes; a program that names it means that name. */
static int wrong_name(const struct by_input *input, const struct by_array *array,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "the model has no input %s", by_quote(quoted, array->name));
    return by_err_hint(err, "its input is %s", by_quote(quoted, input->ports[0].name));
}

static bool is_port(const struct by_input *input, const char *name)
{
    for (size_t i = 0; i < input->port_count; i++)
        if (!strcmp(input->ports[i].name, name))
            return true;
    return false;
}

static void tell_others(struct by_input *input, size_t count)
{
    struct calls *calls = input->state;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count && !calls->told; i++) {
        const char *name = calls->stored[i].name;
        if (name && is_port(input, name))
            continue;
        calls->told = true;
        by_log(input->options.log, BY_LOG_NOTICE,
               "arrays that are not inputs of the model are ignored: %s",
               name ? by_quote(quoted, name) : "those after the last input");
    }
}

static int take_callback_arrays(struct by_input *input, const struct by_array *arrays, size_t count,
                                struct by_sample *sample, struct baryon_error *err)
{
    struct calls *calls = input->state;
    char quoted[BY_QUOTE_MAX];
    bool renamed;
    if (look_at_callback_arrays(input, arrays, count, err) < 0 ||
        by_match_all(input->ports, input->port_count, 0, calls->stored, count, calls->matches,
                     &renamed, err) < 0)
        return -1;
    if (renamed)
        return wrong_name(input, &arrays[0], err);
    tell_others(input, count);
    for (size_t i = 0; i < input->port_count; i++) {
        if (by_match_take(&calls->matches[i], &input->ports[i], NULL,
                          input->options.allow_nonfinite, &sample->arena, &sample->arrays[i],
                          err) < 0)
            return by_err_in(err, "input %s", by_quote(quoted, input->ports[i].name));
        by_tell_conversion(input, i, calls->matches[i].stored->elem);
    }
    return 0;
}

static int go_back(struct calls *calls, struct baryon_error *err)
{
    if (!calls->callback.rewind)
        return by_fail(err, BARYON_ERR_USAGE,
                       "the samples can be read only once, but are needed again");
    if (calls->callback.rewind(calls->callback.context, err) < 0)
        return -1;
    calls->next = 0;
    return 0;
}

static enum by_filled end(struct by_input *input, struct baryon_error *err)
{
    const struct calls *calls = input->state;
    if (input->total != BY_COUNT_UNKNOWN) {
        by_fail(err, BARYON_ERR_INPUT, "the source of samples ended after %zu of %zu", calls->next,
                input->total);
        return BY_FILLED_BROKEN;
    }
    input->total = calls->next;
    return BY_FILLED_END;
}

static enum by_filled fill_from_callback(struct by_input *input, size_t index,
                                         struct by_sample *sample, struct baryon_error *err)
{
    struct calls *calls = input->state;
    const struct by_array *arrays = NULL;
    const char *name = NULL;
    size_t count = 0;
    if (index < calls->next && go_back(calls, err) < 0)
        return BY_FILLED_BROKEN;
    while (calls->next <= index) {
        if (input->options.count && calls->next >= input->options.count)
            return end(input, err);
        arrays = NULL;
        name = NULL;
        if (calls->callback.next(calls->callback.context, &arrays, &count, &name, err) < 0)
            return BY_FILLED_BROKEN;
        if (!arrays)
            return end(input, err);
        calls->next++;
    }
    if (name)
        snprintf(sample->name, sizeof sample->name, "%s", name);
    else
        snprintf(sample->name, sizeof sample->name, "sample-%zu", index);
    if (take_callback_arrays(input, arrays, count, sample, err) == 0)
        return BY_FILLED;
    by_err_in(err, "sample '%s'", sample->name);
    return BY_FILLED_BAD;
}

static void describe(const struct by_input *input, struct by_text *text)
{
    const struct calls *calls = input->state;
    by_text_add(text, "%s", calls->callback.what ? calls->callback.what : "given by the caller");
}

static int identify(const struct by_input *input, struct by_hasher *hasher,
                    struct baryon_error *err)
{
    const struct calls *calls = input->state;
    (void)err;
    by_hasher_text(hasher, "callback");
    by_hasher_text(hasher, calls->callback.what ? calls->callback.what : "");
    return 0;
}

static const struct by_source source = {
    .fill = fill_from_callback, .describe = describe, .identify = identify};

int by_callback_open(struct by_input *input, const struct by_input_callback *callback,
                     struct baryon_error *err)
{
    const size_t limit = input->options.count;
    struct calls *calls = BY_ARENA_NEW(&input->arena, struct calls, err);
    if (!calls)
        return -1;
    calls->callback = *callback;
    calls->matches = by_arena_alloc(&input->arena, input->port_count, sizeof *calls->matches, err);
    if (!calls->matches)
        return -1;
    if (!callback->count)
        return by_fail(err, BARYON_ERR_INPUT, "the source of samples is empty");
    input->total = callback->count;
    if (limit && callback->count != BY_COUNT_UNKNOWN) {
        if (limit > callback->count)
            by_log(input->options.log, BY_LOG_WARNING, "%zu samples, fewer than the requested %zu",
                   callback->count, limit);
        else
            input->total = limit;
    }
    input->state = calls;
    input->source = &source;
    return 0;
}
