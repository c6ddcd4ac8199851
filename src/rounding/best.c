/* Where scales are solved as well: several ways, of which held-out samples choose. */
#include "rounding/rounding_internal.h"
#include "trial/snapshot.h"

struct ways {
    struct by_quantization *q;
    struct baryon_value **biases; /* of layers; NULL: it has none */
    size_t count;
    struct by_snapshot before, best;
    struct by_reconstruct_keep keep;
    struct by_rounding_shared shared;
    struct by_solved solved; /* of the best */
    unsigned tried;
};

static int save(const struct ways *ways, struct by_snapshot *snapshot, struct baryon_error *err)
{
    return by_snapshot_take(snapshot, ways->q->plan, ways->biases, ways->count, err);
}

static int find_biases(struct ways *ways, struct baryon_error *err)
{
    struct by_rounding_layer *layers;
    if (by_rounding_layers(ways->q->plan, &layers, &ways->count, err) < 0)
        return -1;
    ways->biases = by_alloc(ways->count + 1, sizeof *ways->biases, err);
    for (size_t i = 0; ways->biases && i < ways->count; i++)
        ways->biases[i] = layers[i].bias;
    by_free(layers);
    return ways->biases ? 0 : -1;
}

/* --- Ways --- */

static double level_of(const struct by_solved *solved)
{
    return solved->kept ? solved->after : solved->before;
}

/* From the state as it came; the result's layers are the caller's. */
static int run_way(struct ways *ways, struct by_rounding_way *way, struct by_solved *solved,
                   struct baryon_error *err)
{
    struct by_solved *report = &ways->q->report.solved;
    *solved = (struct by_solved){0};
    if (by_snapshot_restore(&ways->before, ways->q->plan, err) < 0)
        return -1;
    *report = *solved;
    way->repeats = ways->tried++;
    const int status = by_rounding_once(ways->q, &ways->shared, way, &ways->keep, err);
    *solved = *report;
    *report = (struct by_solved){0};
    return status;
}

static int take_first(struct ways *ways, const struct by_solved *solved, struct baryon_error *err)
{
    ways->solved = *solved;
    return save(ways, &ways->best, err);
}

/* Nearest integers are those of scales as they were. */
static void take_result(struct ways *ways, struct by_solved *solved)
{
    solved->before = ways->solved.before;
    by_free(ways->solved.layers);
    ways->solved = *solved;
}

static bool is_best(const struct ways *ways, const struct by_solved *solved)
{
    return solved->kept && solved->after > level_of(&ways->solved);
}

/* Integers alone. Where the way of the layers moved nothing, that was it already. */
static int try_integers(struct ways *ways, const struct by_rounding_way *layers,
                        struct by_solved *other, struct baryon_error *err)
{
    struct by_snapshot scaled = {0};
    struct by_solved solved = {0};
    if (!layers->moved && !layers->weights)
        return take_first(ways, other, err);
    int status = save(ways, &scaled, err);
    if (status == 0)
        status = run_way(ways, &(struct by_rounding_way){0}, &solved, err);
    if (status == 0)
        status = take_first(ways, &solved, err);
    else
        by_free(solved.layers);
    if (status == 0 && is_best(ways, other)) {
        take_result(ways, other);
        by_snapshot_release(&ways->best);
        ways->best = scaled;
        return 0;
    }
    by_snapshot_release(&scaled);
    by_free(other->layers);
    return status;
}

static int try_model(struct ways *ways, struct baryon_error *err)
{
    struct by_rounding_way model = {.scales = BY_ROUNDING_SCALES_OF_MODEL};
    struct by_solved solved;
    const int status = run_way(ways, &model, &solved, err);
    if (status == 0 && is_best(ways, &solved)) {
        take_result(ways, &solved);
        return save(ways, &ways->best, err);
    }
    by_free(solved.layers);
    return status;
}

static int try_ways(struct ways *ways, struct baryon_error *err)
{
    struct by_rounding_way layers = {.scales = BY_ROUNDING_SCALES_OF_LAYERS};
    struct by_solved solved;
    if (find_biases(ways, err) < 0 || save(ways, &ways->before, err) < 0)
        return -1;
    if (run_way(ways, &layers, &solved, err) < 0) {
        by_free(solved.layers);
        return -1;
    }
    if (try_integers(ways, &layers, &solved, err) < 0 ||
        (ways->solved.count && try_model(ways, err) < 0))
        return -1;
    return by_snapshot_restore(&ways->best, ways->q->plan, err);
}

int by_rounding_best(struct by_quantization *q, struct baryon_error *err)
{
    struct ways ways = {.q = q};
    const int status = try_ways(&ways, err);
    by_reconstruct_keep_close(&ways.keep, status ? NULL : q->options->log);
    by_rounding_shared_close(&ways.shared);
    by_snapshot_release(&ways.before);
    by_snapshot_release(&ways.best);
    by_free(ways.biases);
    q->report.solved = ways.solved;
    return status;
}
