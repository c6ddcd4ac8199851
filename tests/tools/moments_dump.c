/*
 * Moments of the layers of a model, for tests/diff/test_moments.py. Commands are lines on
 * stdin, words separated by blanks; each gives one line: "... ok", or "error ..." .
 *
 *   model PATH
 *       lists its layers: "NAME INPUT WEIGHT KIND GROUPS COLUMNS TILES" each, with ";" after
 *   gather LAYER THREADS PARTS PASSES SEED OUT NPY...
 *       looks at the files as inputs of the layer, shuffled by SEED, dealt out to PARTS moments
 *       which are merged in a shuffled order; tiles are gathered in so many passes. OUT gets,
 *       in native numbers: u64 rows, samples, rows left out; the matrices and means as
 *       doubles, or the counts as u64; then the folds themselves.
 */
#include "base/rng.h"
#include "input/npy.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "stats/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 80
#define PARTS 16

static struct {
    struct baryon_model *model;
    struct by_moments_layer *layers;
    size_t count;
} opened;

struct words {
    char *at[WORDS];
    size_t count;
};

struct job {
    const struct by_moments_layer *layer;
    struct by_moments_scratch *scratch;
    struct by_pool_team team;
    size_t parts;
    uint64_t seed;
    char **paths;
    size_t path_count;
    size_t first, end; /* tiles */
};

static int do_model(const struct words *words, struct baryon_error *err)
{
    static const char *const kinds[] = {"matmul", "conv", "conv_transpose", "gather"};
    by_free(opened.layers);
    by_model_free(opened.model);
    opened.layers = NULL;
    opened.model = NULL;
    if (by_model_load(&opened.model, words->at[1], NULL, err) || by_model_link(opened.model, err) ||
        by_model_infer(opened.model, NULL, err) ||
        by_layers_find(opened.model->graph, &opened.layers, &opened.count, err))
        return -1;
    for (size_t i = 0; i < opened.count; i++) {
        const struct by_moments_layer *layer = &opened.layers[i];
        printf("%s %s %s %s %lld %lld %zu;", layer->name, layer->input, layer->weight,
               kinds[layer->kind], (long long)layer->groups, (long long)layer->columns,
               by_moments_tiles(layer));
    }
    return 0;
}

static int look(const struct job *job, struct by_moments *moments, size_t sample,
                struct baryon_error *err)
{
    struct by_npy_header header;
    struct by_mapped file;
    if (by_mapped_open(&file, job->paths[sample], err))
        return -1;
    int failed = by_npy_parse(file.bytes, file.size, &header, err);
    void *values = failed ? NULL : by_alloc(header.bytes, 1, err);
    if (values) {
        by_npy_copy(&header, file.bytes, values);
        struct by_array array = {job->layer->input, header.elem, header.rank, {0}, values,
                                 header.bytes};
        memcpy(array.dims, header.dims, sizeof header.dims);
        failed = by_moments_look(moments, job->layer, job->scratch, &array, sample, &job->team.team,
                                 err);
    }
    by_free(values);
    by_mapped_close(&file);
    return failed || !values ? -1 : 0;
}

static void shuffle(size_t *order, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; seed && i-- > 1;) {
        size_t k = (size_t)by_rng_range(seed, 9, i, 0, (int64_t)i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

static int look_at_all(const struct job *job, struct by_moments *parts, struct baryon_error *err)
{
    size_t order[WORDS];
    shuffle(order, job->path_count, job->seed);
    for (size_t i = 0; i < job->path_count; i++)
        if (look(job, &parts[i % job->parts], order[i], err))
            return -1;
    return 0;
}

/* One pass, merged into its first part. */
static int gather_pass(const struct job *job, struct by_moments *all, struct baryon_error *err)
{
    struct by_moments parts[PARTS] = {{0}};
    size_t order[PARTS];
    int failed = 0;
    for (size_t i = 0; i < job->parts && !failed; i++)
        failed = by_moments_init(&parts[i], job->layer, job->first, job->end, err);
    failed = failed || look_at_all(job, parts, err);
    shuffle(order, job->parts, job->seed);
    if (!failed)
        failed = by_moments_init(all, job->layer, job->first, job->end, err);
    for (size_t i = 0; i < job->parts && !failed; i++)
        failed = by_moments_merge(all, job->layer, &parts[order[i]], err);
    for (size_t i = 0; i < job->parts; i++)
        by_moments_release(&parts[i]);
    return failed;
}

/* Tiles of a later pass into the moments of the first one. */
static void move_tiles(struct by_moments *to, struct by_moments *from)
{
    for (size_t i = 0; i < to->tile_count; i++)
        if (from->tiles[i].count) {
            by_fold_release(&to->tiles[i]);
            to->tiles[i] = from->tiles[i];
            from->tiles[i] = (struct by_fold){0};
        }
}

static int gather_passes(struct job *job, size_t passes, struct by_moments *all,
                         struct baryon_error *err)
{
    const size_t tiles = by_moments_tiles(job->layer);
    for (size_t pass = 0; pass < passes; pass++) {
        struct by_moments more = {0};
        job->first = tiles * pass / passes;
        job->end = tiles * (pass + 1) / passes;
        if (pass && job->first == job->end)
            continue;
        if (gather_pass(job, pass ? &more : all, err))
            return -1;
        if (pass)
            move_tiles(all, &more);
        by_moments_release(&more);
    }
    return 0;
}

static void put_fold(FILE *file, const struct by_fold *fold)
{
    fwrite(&fold->cell, sizeof fold->cell, 1, file);
    fwrite(fold->high, sizeof *fold->high, fold->count, file);
    fwrite(fold->low, sizeof *fold->low, fold->count, file);
}

static void fill_gram(const struct by_moments *moments, const struct by_moments_layer *layer,
                      size_t group, double *gram)
{
    const size_t width = (size_t)layer->columns, each = moments->tile_count / (size_t)layer->groups;
    for (size_t t = group * each; t < (group + 1) * each; t++) {
        struct by_moments_tile tile;
        size_t from = 0;
        by_moments_tile_at(layer, t, &tile);
        for (size_t i = 0; i < tile.rows; i++)
            for (size_t k = tile.row == tile.column ? i : 0; k < tile.columns; k++) {
                const size_t row = tile.row * BY_MOMENTS_TILE + i;
                const size_t column = tile.column * BY_MOMENTS_TILE + k;
                gram[row * width + column] = by_fold_value(&moments->tiles[t], from++);
                gram[column * width + row] = gram[row * width + column];
            }
    }
}

static int put_matrices(FILE *file, const struct by_moments *moments,
                        const struct by_moments_layer *layer, struct baryon_error *err)
{
    const size_t width = (size_t)layer->columns;
    double *gram = by_alloc(width * width, sizeof *gram, err);
    int failed = gram ? 0 : -1;
    for (size_t g = 0; g < (size_t)layer->groups && !failed; g++) {
        fill_gram(moments, layer, g, gram);
        fwrite(gram, sizeof *gram, width * width, file);
    }
    for (size_t g = 0; g < (size_t)layer->groups && !failed; g++) {
        by_moments_mean(moments, layer, g, gram);
        fwrite(gram, sizeof *gram, width, file);
    }
    by_free(gram);
    put_fold(file, &moments->mean);
    for (size_t i = 0; i < moments->tile_count; i++)
        put_fold(file, &moments->tiles[i]);
    return failed;
}

static int put_moments(const char *path, const struct by_moments *moments,
                       const struct by_moments_layer *layer, struct baryon_error *err)
{
    FILE *file = fopen(path, "wb");
    int failed = 0;
    if (!file)
        return by_fail(err, BARYON_ERR_IO, "%s cannot be written", path);
    fwrite(&moments->rows, sizeof moments->rows, 1, file);
    fwrite(&moments->samples, sizeof moments->samples, 1, file);
    fwrite(&moments->nonfinite_rows, sizeof moments->nonfinite_rows, 1, file);
    if (layer->kind == BY_LAYER_GATHER)
        fwrite(moments->counts, sizeof *moments->counts, (size_t)layer->columns, file);
    else
        failed = put_matrices(file, moments, layer, err);
    return fclose(file) || failed ? -1 : 0;
}

static int do_gather(const struct words *words, struct baryon_error *err)
{
    const unsigned threads = (unsigned)atoi(words->at[2]);
    struct job job = {.layer = &opened.layers[atoi(words->at[1])],
                      .parts = (size_t)atoi(words->at[3]),
                      .seed = (uint64_t)atoi(words->at[5]),
                      .paths = (char **)&words->at[7],
                      .path_count = words->count - 7};
    struct by_moments all = {0};
    struct by_pool *pool = NULL;
    int failed = (threads > 1 && by_pool_open(&pool, threads, err)) ||
                 by_moments_scratch_open(&job.scratch, threads, err);
    by_pool_team(&job.team, pool);
    failed = failed || gather_passes(&job, (size_t)atoi(words->at[4]), &all, err) ||
             put_moments(words->at[6], &all, job.layer, err);
    by_moments_release(&all);
    by_moments_scratch_close(job.scratch);
    by_pool_close(pool);
    return failed ? -1 : 0;
}

static int obey(const struct words *words, struct baryon_error *err)
{
    if (strcmp(words->at[0], "model") == 0)
        return do_model(words, err);
    return do_gather(words, err);
}

int main(void)
{
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        struct baryon_error err;
        struct words words = {.count = 0};
        for (char *word = strtok(line, " \n"); word && words.count < WORDS;
             word = strtok(NULL, " \n"))
            words.at[words.count++] = word;
        by_err_clear(&err);
        if (obey(&words, &err)) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            printf("error %s\n", text);
        } else
            printf(" ok\n");
        fflush(stdout);
    }
    by_free(opened.layers);
    by_model_free(opened.model);
    return 0;
}
