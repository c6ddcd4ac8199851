/* Where scales are solved as well: several ways, of which samples kept aside choose. */
#include "rounding/rounding_internal.h"
#include "trial/snapshot.h"

struct ways {
    struct by_quantization *q;
    struct baryon_value **biases; /* of layers; NULL: it has none */
    size_t count;
    struct by_snapshot before, best;
    struct by_reconstruct_keep keep;
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

static int try_way(struct ways *ways, struct by_rounding_way *way, struct baryon_error *err)
{
    struct by_solved *solved = &ways->q->report.solved, best = *solved;
    if (by_snapshot_restore(&ways->before, ways->q->plan, err) < 0)
        return -1;
    *solved = (struct by_solved){0};
    const int status = by_rounding_once(ways->q, way, &ways->keep, err);
    if (status == 0 && solved->kept && solved->after > level_of(&best)) {
        by_free(best.layers);
        /* Nearest integers are those of scales as they were. */
        solved->before = best.before;
        return save(ways, &ways->best, err);
    }
    by_free(solved->layers);
    *solved = best;
    return status;
}

/* Where neither moves a scale of an activation, both are the same. */
static int try_scales(struct ways *ways, struct baryon_error *err)
{
    struct by_rounding_way layers = {.scales = BY_ROUNDING_SCALES_OF_LAYERS};
    struct by_rounding_way model = {.scales = BY_ROUNDING_SCALES_OF_MODEL};
    if (try_way(ways, &layers, err) < 0)
        return -1;
    model.has_to_move = !layers.moved;
    return try_way(ways, &model, err);
}

static int try_ways(struct ways *ways, struct baryon_error *err)
{
    struct by_quantization *q = ways->q;
    if (find_biases(ways, err) < 0 || save(ways, &ways->before, err) < 0 ||
        by_rounding_once(q, &(struct by_rounding_way){0}, &ways->keep, err) < 0 ||
        save(ways, &ways->best, err) < 0)
        return -1;
    if (q->report.solved.count && try_scales(ways, err) < 0)
        return -1;
    return by_snapshot_restore(&ways->best, q->plan, err);
}

int by_rounding_best(struct by_quantization *q, struct baryon_error *err)
{
    struct ways ways = {.q = q};
    const int status = try_ways(&ways, err);
    by_reconstruct_keep_close(&ways.keep);
    by_snapshot_release(&ways.before);
    by_snapshot_release(&ways.best);
    by_free(ways.biases);
    return status;
}
