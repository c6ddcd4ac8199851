/* Computes the SQNR of a model's outputs on held-out samples. */
#include "trial/judge.h"

#include "engine/common_shapes.h"
#include "ir/graph.h"
#include "trial/joined.h"
#include "trial/more_outputs.h"
#include "trial/saturates.h"
#include "trial/selects.h"

#include <math.h>
#include <string.h>

#define MANY_NODES 4000

struct kept {
    struct by_arena arena; /* of what is wanted */
    const char *name;
    struct by_array *inputs; /* one a port, without data where that is in a file */
    struct by_parked *parked;
    struct by_parked *wanted; /* the reference's outputs, those of float types with data */
    size_t wanted_count;
};

struct by_judge {
    struct by_session_options session_options;
    struct by_session *session; /* of the reference; NULL: it has done its work */
    bool borrowed;              /* it is the caller's */
    struct by_input *input;     /* as long as it has not */
    uint64_t next;              /* sample to read */
    size_t port_count;
    /* After the outputs of the reference, by_unsaturated_all() of a model, and what it selects
     * outputs from. */
    size_t output_count, unsaturated_count, selected_count;
    bool centred[BY_JUDGE_MORE];
    const char *selected[BY_SELECTS_MOST]; /* names */
    bool *left_out;                        /* of the outputs; NULL: none */
    struct joined_output {
        struct by_joined parts;
        const char *names[BY_JOINED_MOST]; /* of several */
    } * joined;                            /* of the outputs */
    struct by_depot *depot, *own;          /* where all waits; `own`: ours */
    struct by_arena arena;                 /* of samples */
    /* Of the caller's depot, a sample that is shown; one reader at a time. */
    struct by_array *shown;
    struct by_unpark_room *rooms;
    struct kept *kept;
    size_t count;  /* of kept */
    size_t looks;  /* the first ones */
    size_t firsts; /* so many of them are the first ones of the data, too */
    size_t first;  /* those from here on judge */
    size_t most;   /* that there is room for */
    uint64_t before;
};

/* --- Samples --- */

/* Names are the session's, which samples outlive. */
static int park(struct by_judge *judge, struct by_parked *parked, struct by_arena *arena,
                const struct by_array *array, bool cold, struct baryon_error *err)
{
    struct by_array named = *array;
    named.name = by_arena_text(arena, array->name, strlen(array->name), err);
    return named.name ? by_park(judge->depot, &named, cold, parked, err) : -1;
}

/* What comes to an end half way is released with the judge. */
static int take_sample(struct by_judge *judge, struct kept *kept, const struct by_sample *sample,
                       struct baryon_error *err)
{
    const size_t ports = judge->port_count;
    struct by_arena *arena = &judge->arena;
    by_arena_init(&kept->arena, 0);
    judge->count++;
    kept->name = by_arena_text(arena, sample->name, strlen(sample->name), err);
    kept->inputs = by_arena_alloc(arena, ports, sizeof *kept->inputs, err);
    kept->parked = by_arena_alloc(arena, ports, sizeof *kept->parked, err);
    if (!kept->name || !kept->inputs || !kept->parked)
        return -1;
    for (size_t i = 0; i < ports; i++) {
        if (park(judge, &kept->parked[i], arena, &sample->arrays[i], true, err) < 0)
            return -1;
        kept->inputs[i] = kept->parked[i].array;
    }
    return 0;
}

static int keep_next_sample(struct by_judge *judge, struct baryon_error *err)
{
    struct by_sample sample;
    by_sample_init(&sample);
    int status = by_input_get_into(judge->input, judge->next++, &sample, err);
    if (status == 0 && sample.arrays)
        status = take_sample(judge, &judge->kept[judge->count], &sample, err);
    by_sample_release(&sample);
    if (judge->count == judge->next)
        judge->firsts = judge->count;
    return status;
}

static int keep_until(struct by_judge *judge, size_t count, struct baryon_error *err)
{
    while (judge->count < count && judge->next < by_input_count(judge->input))
        if (keep_next_sample(judge, err) < 0)
            return -1;
    return 0;
}

/* Begins with those that judge. */
static int pass_over(struct by_judge *judge, size_t most, struct baryon_error *err)
{
    if (by_input_find_count(judge->input, err) < 0)
        return -1;
    const uint64_t all = by_input_count(judge->input);
    const uint64_t share = all > 1 && all / 4 == 0 ? 1 : all / 4;
    judge->before = share ? all - (share < most ? share : most) : 0;
    judge->next = judge->before;
    return 0;
}

static int skip(struct by_judge *judge, uint64_t count, struct baryon_error *err)
{
    judge->next += count;
    return count ? by_input_find_count(judge->input, err) : 0;
}

static int read_samples(struct by_judge *judge, const struct by_judge_options *options,
                        struct baryon_error *err)
{
    const size_t judging = options->most > options->aside ? options->most : options->aside;
    judge->kept = by_alloc_zero(options->look + judging + 1, sizeof *judge->kept, err);
    if (!judge->kept ||
        by_input_open_for(&judge->input, judge->session, options->samples, options->data,
                          &options->input, err) < 0 ||
        (options->last && pass_over(judge, options->aside, err) < 0) ||
        skip(judge, options->skip, err) < 0 ||
        keep_until(judge, options->look + options->aside, err) < 0)
        return -1;
    const bool fewer = options->shares && judge->count < options->look + options->aside;
    const size_t share = judge->count / 4 < options->aside ? judge->count / 4 : options->aside;
    const size_t look = fewer ? judge->count - share : options->look;
    judge->looks = judge->count < look ? judge->count : look;
    judge->first = judge->count > judge->looks ? judge->looks : 0;
    judge->most = options->look + judging;
    return 0;
}

int by_judge_more(struct by_judge *judge, size_t count, struct baryon_error *err)
{
    if (!judge->first) /* those to look at judge: there are no others */
        return 0;
    const size_t wanted = judge->first + count;
    return keep_until(judge, wanted < judge->most ? wanted : judge->most, err);
}

uint64_t by_judge_before(const struct by_judge *judge)
{
    return judge->before;
}

uint64_t by_judge_sample_bytes(const struct by_judge *judge)
{
    uint64_t bytes = 0;
    for (size_t i = 0; judge->count && i < judge->port_count; i++)
        bytes += judge->kept[0].inputs[i].size;
    return bytes;
}

/* From the file, where the sample is there. */
static int unpark_inputs(const struct by_judge *judge, const struct kept *kept,
                         const struct by_array **arrays, struct baryon_error *err)
{
    *arrays = kept->inputs;
    if (judge->own)
        return 0;
    *arrays = judge->shown;
    for (size_t i = 0; i < judge->port_count; i++)
        if (by_unpark(judge->depot, &kept->parked[i], &judge->rooms[i], &judge->shown[i], err) < 0)
            return -1;
    return 0;
}

/* Arrays go by name to whoever looks. */
static int next_look(void *context, const struct by_array **arrays, size_t *count,
                     const char **name, struct baryon_error *err)
{
    struct by_judge_reader *reader = context;
    const struct by_judge *judge = reader->judge;
    if (reader->next >= judge->looks)
        return 0;
    const struct kept *kept = &judge->kept[reader->next++];
    *count = judge->port_count;
    *name = kept->name;
    return unpark_inputs(judge, kept, arrays, err);
}

static int look_again(void *context, struct baryon_error *err)
{
    struct by_judge_reader *reader = context;
    (void)err;
    reader->next = 0;
    return 0;
}

void by_judge_read(const struct by_judge *judge, struct by_judge_reader *reader,
                   struct by_input_callback *callback)
{
    *reader = (struct by_judge_reader){.judge = judge};
    *callback = (struct by_input_callback){
        .next = next_look, .rewind = look_again, .context = reader, .count = judge->looks};
}

size_t by_judge_kept(const struct by_judge *judge)
{
    return judge->count;
}

const struct by_array *by_judge_inputs(const struct by_judge *judge, size_t sample, size_t *count)
{
    *count = judge->port_count;
    return judge->kept[sample].inputs;
}

const struct by_parked *by_judge_parked(const struct by_judge *judge, size_t sample, size_t *count)
{
    *count = judge->port_count;
    return judge->kept[sample].parked;
}

size_t by_judge_looks(const struct by_judge *judge)
{
    return judge->looks;
}

bool by_judge_looks_are_first(const struct by_judge *judge)
{
    return judge->firsts >= judge->looks;
}

size_t by_judge_count(const struct by_judge *judge)
{
    return judge->count - judge->first;
}

/* --- The reference --- */

static int open_depot(struct by_judge *judge, const struct by_judge_options *options,
                      struct baryon_error *err)
{
    const struct by_depot_options all = {.budget = UINT64_MAX};
    judge->depot = options->depot;
    if (judge->depot)
        return 0;
    if (by_depot_open(&judge->own, &all, err) < 0)
        return -1;
    judge->depot = judge->own;
    return 0;
}

/* Values that stand for outputs. */
static int find_selected(struct by_judge *judge, struct baryon_model *model,
                         struct baryon_value **selected, struct baryon_error *err)
{
    struct by_selects found;
    const size_t count = model->graph->output.count;
    int status = by_selects_find(model, &found, err);
    if (status == 0 && found.left_out) {
        judge->left_out = by_arena_alloc(&judge->arena, count, sizeof *judge->left_out, err);
        status = judge->left_out ? 0 : -1;
    }
    if (status == 0 && judge->left_out)
        memcpy(judge->left_out, found.left_out, count * sizeof *judge->left_out);
    for (size_t i = 0; status == 0 && judge->left_out && i < found.count; i++) {
        const char *name = found.values[i]->name;
        selected[i] = found.values[i];
        judge->selected[i] = by_arena_text(&judge->arena, name, strlen(name), err);
        status = judge->selected[i] ? 0 : -1;
        judge->selected_count++;
    }
    by_selects_release(&found);
    return status;
}

/* The caller's session is of the same model, and may give what its outputs are selected from. */
static int take_reference(struct by_judge *judge, struct baryon_model *reference,
                          struct baryon_error *err)
{
    struct baryon_value *selected[BY_SELECTS_MOST];
    size_t count;
    by_session_outputs(judge->session, &count);
    if (find_selected(judge, reference, selected, err) < 0)
        return -1;
    if (count == judge->output_count + judge->selected_count)
        return 0;
    judge->left_out = NULL;
    judge->selected_count = 0;
    return 0;
}

static int open_reference(struct by_judge *judge, struct baryon_model *reference, bool unsaturated,
                          struct baryon_error *err)
{
    struct by_unsaturated found[BY_JUDGE_MORE];
    struct baryon_value *more[BY_JUDGE_MORE], *selected[BY_SELECTS_MOST];
    if (find_selected(judge, reference, selected, err) < 0)
        return -1;
    if (unsaturated)
        judge->unsaturated_count = by_unsaturated_all(reference->graph, judge->left_out, found,
                                                      BY_JUDGE_MORE - judge->selected_count);
    for (size_t i = 0; i < judge->unsaturated_count; i++) {
        judge->centred[i] = found[i].centred;
        more[i] = found[i].value;
    }
    for (size_t i = 0; i < judge->selected_count; i++)
        more[judge->unsaturated_count + i] = selected[i];
    return by_more_outputs_session(&judge->session, reference, more,
                                   judge->unsaturated_count + judge->selected_count,
                                   &judge->session_options, err);
}

/* After types and shapes are inferred. */
static int find_joined_outputs(struct by_judge *judge, const struct baryon_graph *graph,
                               struct baryon_error *err)
{
    judge->joined =
        by_arena_alloc(&judge->arena, judge->output_count + 1, sizeof *judge->joined, err);
    for (size_t i = 0; judge->joined && i < judge->output_count; i++) {
        struct joined_output *joined = &judge->joined[i];
        const struct baryon_value *output = by_graph_out(graph, i);
        joined->parts = by_joined_find(output);
        for (size_t k = 0; joined->parts.count > 1 && k < joined->parts.count; k++)
            if (!(joined->names[k] =
                      by_joined_name(&joined->parts, k, output->name, &judge->arena, err)))
                return -1;
    }
    return judge->joined ? 0 : -1;
}

int by_judge_open(struct by_judge **out, struct baryon_model *reference,
                  const struct by_judge_options *options, struct baryon_error *err)
{
    *out = NULL;
    struct by_judge *judge = by_alloc_zero(1, sizeof *judge, err);
    if (!judge)
        return -1;
    by_arena_init(&judge->arena, 0);
    judge->session_options = options->session;
    judge->session_options.threads = 1;
    judge->session_options.few_runs = judge->session_options.shares_memory = true;
    judge->session_options.branches = judge->session_options.cuts = 0;
    judge->session = options->reference;
    judge->borrowed = options->reference != NULL;
    judge->output_count = reference->graph->output.count;
    if (open_depot(judge, options, err) < 0 ||
        (judge->borrowed ? take_reference(judge, reference, err)
                         : open_reference(judge, reference, options->unsaturated, err)) < 0 ||
        find_joined_outputs(judge, reference->graph, err) < 0) {
        by_judge_close(judge);
        return -1;
    }
    by_session_inputs(judge->session, &judge->port_count);
    judge->shown = by_arena_alloc(&judge->arena, judge->port_count, sizeof *judge->shown, err);
    judge->rooms = by_arena_alloc(&judge->arena, judge->port_count, sizeof *judge->rooms, err);
    if (!judge->shown || !judge->rooms) {
        by_judge_close(judge);
        return -1;
    }
    if (read_samples(judge, options, err) < 0) {
        by_judge_close(judge);
        return -1;
    }
    *out = judge;
    return 0;
}

static void release_kept_sample(struct by_judge *judge, struct kept *kept)
{
    for (size_t i = 0; kept->parked && i < judge->port_count; i++)
        by_park_drop(judge->depot, &kept->parked[i]);
    for (size_t i = 0; kept->wanted && i < kept->wanted_count; i++)
        by_park_drop(judge->depot, &kept->wanted[i]);
    by_arena_release(&kept->arena);
}

void by_judge_close(struct by_judge *judge)
{
    if (!judge)
        return;
    for (size_t i = 0; i < judge->count; i++)
        release_kept_sample(judge, &judge->kept[i]);
    for (size_t i = 0; judge->rooms && i < judge->port_count; i++)
        by_unpark_room_release(&judge->rooms[i]);
    by_free(judge->kept);
    by_arena_release(&judge->arena);
    by_judge_end_references(judge);
    by_depot_close(judge->own);
    by_free(judge);
}

/* --- What the reference gives --- */

static bool is_float_elem(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
           elem == BY_ELEM_DOUBLE;
}

/* Of other types the name alone, so that places are the same. */
static int keep_output(struct by_judge *judge, struct kept *kept, const struct by_array *from,
                       struct baryon_error *err)
{
    struct by_array shown = *from;
    if (!is_float_elem(from->elem)) {
        shown.elem = 0;
        shown.size = 0;
    }
    if (park(judge, &kept->wanted[kept->wanted_count], &kept->arena, &shown, false, err) < 0)
        return -1;
    kept->wanted_count++;
    return 0;
}

static int keep_outputs(struct by_judge *judge, struct kept *kept, const struct by_run *run,
                        struct baryon_error *err)
{
    size_t count;
    const struct by_array *outputs = by_run_outputs(run, &count);
    kept->wanted = by_arena_alloc(&kept->arena, count, sizeof *kept->wanted, err);
    for (size_t i = 0; i < count; i++)
        if (!kept->wanted || keep_output(judge, kept, &outputs[i], err) < 0)
            return -1;
    return 0;
}

static int run_on(const struct by_judge *judge, struct by_session *session,
                  const struct by_array *more, const struct kept *kept, struct by_run **run,
                  struct baryon_error *err)
{
    const size_t ports = judge->port_count;
    struct by_array *inputs = by_alloc(ports + 1, sizeof *inputs, err);
    struct by_unpark_room *rooms = by_alloc_zero(ports, sizeof *rooms, err);
    int status = inputs && rooms ? 0 : -1;
    for (size_t i = 0; status == 0 && i < ports; i++)
        status = by_unpark(judge->depot, &kept->parked[i], &rooms[i], &inputs[i], err);
    if (status == 0 && more)
        inputs[ports] = *more;
    if (status == 0)
        status = by_session_run(session, inputs, ports + (more != NULL), NULL, 0, run, err);
    for (size_t i = 0; rooms && i < ports; i++)
        by_unpark_room_release(&rooms[i]);
    by_free(rooms);
    by_free(inputs);
    return status;
}

int by_judge_reference(struct by_judge *judge, size_t sample, struct baryon_error *err)
{
    struct by_run *run;
    struct kept *kept = &judge->kept[judge->first + sample];
    if (run_on(judge, judge->session, NULL, kept, &run, err) < 0)
        return -1;
    const int status = keep_outputs(judge, kept, run, err);
    by_run_free(run);
    return status;
}

void by_judge_end_references(struct by_judge *judge)
{
    by_input_close(judge->input);
    judge->input = NULL;
    if (!judge->borrowed)
        by_session_close(judge->session);
    judge->session = NULL;
}

/* --- Comparing --- */

static bool same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->elem == other->elem && one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

#define CHUNK 1024

/* A Softmax takes no notice of it. */
void by_judge_centre(double *values, size_t size, size_t row)
{
    for (size_t begin = 0; begin < size; begin += row) {
        double mean = 0;
        for (size_t i = begin; i < begin + row; i++)
            mean += values[i] / (double)row;
        for (size_t i = begin; i < begin + row; i++)
            values[i] -= mean;
    }
}

static void add_values(struct by_judged_output *output, const double *wanted, const double *found,
                       size_t count)
{
    double signal = output->signal, noise = output->noise;
    for (size_t i = 0; i < count; i++) {
        const double difference = wanted[i] - found[i];
        if (!isfinite(wanted[i])) /* nothing comes close to that */
            continue;
        signal += wanted[i] * wanted[i];
        noise += isfinite(difference) ? difference * difference : INFINITY;
    }
    output->signal = signal;
    output->noise = noise;
}

struct pair {
    const struct by_array *want, *got;
    size_t row; /* of a Softmax; 0: values as they are */
};

static int add_difference(struct by_judged_output *output, const struct pair *pair, size_t first,
                          size_t count, struct baryon_error *err)
{
    double wanted[CHUNK], found[CHUNK];
    const bool centred = pair->row > 0 && pair->row <= CHUNK;
    const size_t step = centred ? CHUNK / pair->row * pair->row : CHUNK;
    for (size_t begin = 0; begin < count; begin += step) {
        const size_t size = count - begin < step ? count - begin : step;
        if (by_elem_to_doubles(pair->want->elem, pair->want->data, first + begin, size, wanted,
                               err) < 0 ||
            by_elem_to_doubles(pair->got->elem, pair->got->data, first + begin, size, found, err) <
                0)
            return -1;
        if (centred) {
            by_judge_centre(wanted, size, pair->row);
            by_judge_centre(found, size, pair->row);
        }
        add_values(output, wanted, found, size);
    }
    return 0;
}

static int add_joined_part(struct by_judged_output *output, const struct pair *pair,
                           const struct by_joined *parts, size_t part, struct baryon_error *err)
{
    const struct by_joined_blocks blocks = by_joined_blocks(parts, part, pair->want);
    for (size_t i = 0; i < blocks.count; i++)
        if (add_difference(output, pair, blocks.first + i * blocks.step, blocks.size, err) < 0)
            return -1;
    return 0;
}

/* Rows that are taken together; 0: values as they are. */
static size_t softmax_row(const struct by_judge *judge, size_t place, const struct by_array *array)
{
    const bool centred =
        place >= judge->output_count && judge->centred[place - judge->output_count];
    return centred && array->rank ? (size_t)array->dims[array->rank - 1] : 0;
}

/* Each part of an output by itself. */
static int compare_output(const struct by_judge *judge, const struct kept *kept, size_t place,
                          const struct by_array *got, struct by_unpark_room *room,
                          struct by_judgement *judgement, struct baryon_error *err)
{
    static const struct joined_output whole = {.parts = {.count = 1}};
    const size_t most = sizeof judgement->outputs / sizeof *judgement->outputs;
    const struct by_parked *parked = &kept->wanted[place];
    const bool own = place < judge->output_count;
    const struct joined_output *joined = own ? &judge->joined[place] : &whole;
    const bool lost = !got || !same_shape(&parked->array, got);
    struct by_array want = parked->array;
    struct pair pair = {&want, got, softmax_row(judge, place, &want)};
    const struct by_joined parts = by_joined_of(&joined->parts, &want);
    if (!lost && by_unpark(judge->depot, parked, room, &want, err) < 0)
        return -1;
    for (size_t i = 0; i < parts.count && judgement->count < most; i++) {
        struct by_judged_output *output = &judgement->outputs[judgement->count++];
        output->name = parts.count > 1 ? joined->names[i] : parked->array.name;
        if (lost)
            output->noise = INFINITY;
        else if (add_joined_part(output, &pair, &parts, i, err) < 0)
            return -1;
    }
    return 0;
}

static bool is_compared(const struct by_judge *judge, const struct kept *kept, size_t place,
                        bool instead)
{
    return is_float_elem(kept->wanted[place].array.elem) &&
           !(instead && place < judge->output_count && judge->left_out[place]);
}

/* Whoever has the outputs alone is judged by them. */
static size_t compared_count(const struct by_judge *judge, const struct kept *kept, size_t got)
{
    return got <= judge->output_count && kept->wanted_count > judge->output_count
               ? judge->output_count
               : kept->wanted_count;
}

static bool is_instead(const struct by_judge *judge, size_t compared)
{
    return judge->left_out && (!judge->selected_count || compared > judge->output_count);
}

/* One sample's outputs; float ones only, in their order. */
static int compare_outputs(const struct by_judge *judge, const struct kept *kept,
                           struct by_judgement *judgement, const struct by_array *got,
                           size_t got_count, struct baryon_error *err)
{
    struct by_unpark_room room = {0};
    int status = 0;
    const size_t count = compared_count(judge, kept, got_count);
    const bool instead = is_instead(judge, count);
    for (size_t i = 0; status == 0 && i < count; i++)
        if (is_compared(judge, kept, i, instead))
            status = compare_output(judge, kept, i, i < got_count ? &got[i] : NULL, &room,
                                    judgement, err);
    by_unpark_room_release(&room);
    return status;
}

/* Of samples that have no place in memory the shapes are known as well. */
static struct by_common_shape shape_of_port(const struct by_judge *judge, size_t port)
{
    struct by_common_shape shape = by_common_shape_begin(&judge->kept[0].inputs[port]);
    for (size_t i = 1; i < judge->count; i++)
        by_common_shape_add(&shape, &judge->kept[i].inputs[port]);
    return shape;
}

/* A model that ends otherwise is judged by its outputs. */
static size_t find_more(const struct by_judge *judge, const struct baryon_graph *graph,
                        struct baryon_value *more[BY_JUDGE_MORE])
{
    struct by_unsaturated found[BY_JUDGE_MORE];
    const size_t wanted = judge->unsaturated_count;
    if (wanted && by_unsaturated_all(graph, judge->left_out, found,
                                     BY_JUDGE_MORE - judge->selected_count) != wanted)
        return 0;
    for (size_t i = 0; i < wanted; i++)
        more[i] = found[i].value;
    for (size_t i = 0; i < judge->selected_count; i++)
        if (!(more[wanted + i] = by_selects_value(graph, judge->selected[i])))
            return 0;
    return wanted + judge->selected_count;
}

size_t by_judge_values(const struct by_judge *judge, struct baryon_graph *graph,
                       struct baryon_value **values)
{
    size_t count = 0;
    for (; count < graph->output.count; count++)
        values[count] = by_graph_out(graph, count);
    return count + find_more(judge, graph, values + count);
}

int by_judge_session(const struct by_judge *judge, struct baryon_model *model, bool often,
                     struct by_session **session, struct baryon_error *err)
{
    struct by_session_options options = judge->session_options;
    struct by_common_shape *shapes = by_alloc(judge->port_count + 1, sizeof *shapes, err);
    *session = NULL;
    if (!shapes)
        return -1;
    for (size_t i = 0; judge->count && i < judge->port_count; i++)
        shapes[i] = shape_of_port(judge, i);
    options.as_written = true;
    options.few_runs = !often;
    /* Blocked layouts of convolutions pay after a sample or two; with many nodes nothing does. */
    options.optimization = model->graph->node.count < MANY_NODES ? -1 : 0;
    struct baryon_value *more[BY_JUDGE_MORE];
    struct by_more_outputs shown;
    const size_t count = find_more(judge, model->graph, more);
    int status = by_more_outputs_show(model, more, count, &shown, err);
    if (status == 0)
        status = by_session_open_shaped(session, model, shapes,
                                        judge->count ? judge->port_count : 0, &options, err);
    by_more_outputs_hide(&shown);
    by_free(shapes);
    return status;
}

int by_judge_outputs(const struct by_judge *judge, size_t sample, const struct by_array *outputs,
                     size_t count, struct by_judgement *judgement, struct baryon_error *err)
{
    *judgement = (struct by_judgement){0};
    return compare_outputs(judge, &judge->kept[judge->first + sample], judgement, outputs, count,
                           err);
}

size_t by_judge_pieces(const struct by_judge *judge, size_t sample, const struct by_array *outputs,
                       size_t count, struct by_judge_piece *pieces)
{
    static const struct by_joined whole = {.count = 1};
    const struct kept *kept = &judge->kept[judge->first + sample];
    const size_t most = compared_count(judge, kept, count);
    const bool instead = is_instead(judge, most);
    size_t found = 0;
    for (size_t i = 0; i < most && i < count; i++) {
        const struct by_joined *joined = i < judge->output_count ? &judge->joined[i].parts : &whole;
        const struct by_joined parts = by_joined_of(joined, &outputs[i]);
        if (!is_compared(judge, kept, i, instead))
            continue;
        for (size_t k = 0; k < parts.count && found < BY_JUDGED_MOST; k++)
            pieces[found++] =
                (struct by_judge_piece){&outputs[i], by_joined_blocks(&parts, k, &outputs[i]),
                                        softmax_row(judge, i, &outputs[i])};
    }
    return found;
}

int by_judge_run(const struct by_judge *judge, struct by_session *session,
                 const struct by_array *more, size_t sample, struct by_judgement *judgement,
                 struct baryon_error *err)
{
    struct by_run *run;
    size_t count;
    *judgement = (struct by_judgement){0};
    if (run_on(judge, session, more, &judge->kept[judge->first + sample], &run, err) < 0)
        return -1;
    const struct by_array *outputs = by_run_outputs(run, &count);
    const int status = by_judge_outputs(judge, sample, outputs, count, judgement, err);
    by_run_free(run);
    return status;
}

/* --- All samples --- */

static int run_references(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (by_judge_reference(context, i, err) < 0)
            return -1;
    return 0;
}

int by_judge_references(struct by_judge *judge, struct by_pool *pool, struct baryon_error *err)
{
    if (by_par_for(pool, by_judge_count(judge), 1, run_references, judge, err) < 0)
        return -1;
    by_judge_end_references(judge);
    return 0;
}

int by_judge_require_floats(const struct by_judge *judge, struct baryon_error *err)
{
    const struct kept *kept = &judge->kept[judge->first];
    if (!by_judge_count(judge))
        return 0;
    for (size_t i = 0; i < kept->wanted_count; i++)
        if (is_float_elem(kept->wanted[i].array.elem))
            return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "no output of the model has a float type, so nothing can be measured");
}

struct judging {
    const struct by_judge *judge;
    struct by_session *session;
    struct by_judgement *each;
};

static int judge_each(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct judging *judging = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (by_judge_run(judging->judge, judging->session, NULL, i, &judging->each[i], err) < 0)
            return -1;
    return 0;
}

int by_judge_model(const struct by_judge *judge, struct baryon_model *model, struct by_pool *pool,
                   struct by_judgement *each, struct baryon_error *err)
{
    struct judging judging = {.judge = judge, .each = each};
    if (by_judge_session(judge, model, false, &judging.session, err) < 0)
        return -1;
    const int status = by_par_for(pool, by_judge_count(judge), 1, judge_each, &judging, err);
    by_session_close(judging.session);
    return status;
}
