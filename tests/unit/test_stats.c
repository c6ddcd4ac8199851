/* Statistics: their file, and adding them. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tests/unit/stats_make.h"

static uint8_t *read_all(const char *path, size_t *size)
{
    char *bytes;
    assert_ok(by_read_file(path, (size_t)1 << 30, &bytes, size, &err));
    return (uint8_t *)bytes;
}

static void save(const struct by_stats *stats, const char *path)
{
    assert_ok(by_stats_save(stats, path, BY_WRITER_NO_SYNC, &err));
}

static void assert_same_files(const char *a, const char *b)
{
    size_t size, other;
    uint8_t *bytes = read_all(a, &size), *others = read_all(b, &other);
    assert_int_equal(size, other);
    assert_memory_equal(bytes, others, size);
    by_free(bytes);
    by_free(others);
}

static void assert_same_fold(const struct by_fold *a, const struct by_fold *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->cell, b->cell);
    if (!a->count)
        return;
    assert_memory_equal(a->high, b->high, a->count * sizeof *a->high);
    assert_memory_equal(a->low, b->low, a->count * sizeof *a->low);
}

static void assert_same_sketch(const struct by_sketch *a, const struct by_sketch *b)
{
    struct by_sketch x = *a, y = *b;
    for (int sign = 0; sign < 2; sign++)
        for (int e = 0; e < BY_SKETCH_EXPONENTS; e++) {
            uint64_t buffers[2][BY_SKETCH_ROW];
            const uint64_t *p = by_sketch_row(a, sign, e, buffers[0]);
            const uint64_t *q = by_sketch_row(b, sign, e, buffers[1]);
            assert_int_equal(p == NULL, q == NULL);
            if (p)
                assert_memory_equal(p, q, sizeof *p << by_sketch_bits(x.top - e));
            x.rows[sign][e] = y.rows[sign][e] = NULL;
        }
    assert_int_equal(x.votes.count, y.votes.count);
    for (size_t i = 0; i < x.votes.count; i++) {
        assert_int_equal(by_vote_compare(&x.votes.at[i], &y.votes.at[i]), 0);
        assert_int_equal(x.votes.at[i].samples, y.votes.at[i].samples);
    }
    x.votes = y.votes = (struct by_votes){.count = 0};
    assert_memory_equal(&x, &y, sizeof x);
}

static void assert_same_tensor(const struct by_tensor_stats *a, const struct by_tensor_stats *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->elem, b->elem);
    assert_true(a->rank == b->rank && a->rank_varies == b->rank_varies);
    assert_memory_equal(a->dims, b->dims, sizeof a->dims);
    assert_int_equal(a->channel_axis, b->channel_axis);
    if (a->nonfinite_name)
        assert_string_equal(a->nonfinite_name, b->nonfinite_name);
    else
        assert_null(b->nonfinite_name);
    assert_same_sketch(&a->sketch, &b->sketch);
    assert_true(a->has_means == b->has_means);
    assert_int_equal(a->means.values, b->means.values);
    assert_same_fold(&a->means.sums, &b->means.sums);
    assert_int_equal(a->channels.count, b->channels.count);
    if (!a->channels.count)
        return;
    assert_memory_equal(a->channels.min, b->channels.min, a->channels.count * sizeof(float));
    assert_memory_equal(a->channels.max, b->channels.max, a->channels.count * sizeof(float));
    assert_memory_equal(a->channels.seen, b->channels.seen, a->channels.count);
}

static void assert_same_layer(const struct by_layer_stats *a, const struct by_layer_stats *b)
{
    const struct by_moments from_file = b->moments;
    assert_int_equal(a->moments.rows, from_file.rows);
    assert_int_equal(a->moments.samples, from_file.samples);
    assert_int_equal(a->moments.nonfinite_rows, from_file.nonfinite_rows);
    assert_int_equal(a->moments.tile_count, from_file.tile_count);
    assert_same_fold(&a->moments.mean, &from_file.mean);
    for (size_t i = 0; i < from_file.tile_count; i++) {
        struct by_fold tile = {.cell = BY_FOLD_NONE};
        assert_ok(by_stored_tile_add(b, i, &tile, &err));
        assert_same_fold(&a->moments.tiles[i], &tile);
        by_fold_release(&tile);
    }
    assert_int_equal(a->moments.counts == NULL, from_file.counts == NULL);
    if (a->moments.counts)
        assert_memory_equal(a->moments.counts, from_file.counts,
                            (size_t)a->layer.columns * sizeof(uint64_t));
}

/* More values than 32 bits can count. */
static void test_round_trip_of_many(void **state)
{
    (void)state;
    struct by_stats *made = stats_make(0, STATS_SAMPLES, 1), *more = stats_make(0, 2, 1), *loaded;
    struct by_sketch *sketch = &made->tensors[0].sketch, *other = &more->tensors[0].sketch;
    while (sketch->count <= UINT32_MAX || other->count <= UINT32_MAX) {
        assert_ok(by_sketch_merge(sketch, other, &err));
        assert_ok(by_sketch_merge(other, sketch, &err));
    }
    save(made, "a");
    assert_ok(by_stats_load(&loaded, "a", &err));
    assert_true(loaded->tensors[0].sketch.wide);
    assert_same_sketch(sketch, &loaded->tensors[0].sketch);
    by_stats_close(made);
    by_stats_close(more);
    by_stats_close(loaded);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct by_stats *made = stats_make(0, STATS_SAMPLES, 1), *loaded;
    assert_non_null(made);
    save(made, "a");
    assert_ok(by_stats_load(&loaded, "a", &err));
    assert_memory_equal(&made->key, &loaded->key, sizeof made->key);
    assert_memory_equal(&made->content, &loaded->content, sizeof made->content);
    assert_string_equal(loaded->model, "net.onnx");
    assert_string_equal(loaded->data, "folder");
    assert_string_equal(loaded->settings, "moments");
    assert_true(by_stats_complete(loaded) && by_stats_covers(loaded, STATS_SAMPLES - 1));
    assert_false(by_stats_covers(loaded, STATS_SAMPLES));
    assert_int_equal(loaded->skipped.count, 2);
    assert_int_equal(by_stats_covered(loaded), STATS_SAMPLES);
    assert_int_equal(by_stats_seen(loaded), STATS_SAMPLES - 2);
    assert_int_equal(loaded->skipped.at[1].sample, 25);
    assert_string_equal(loaded->skipped.at[1].name, "bad.npy");
    assert_string_equal(loaded->skipped.at[1].reason, "is no array");
    assert_int_equal(loaded->tensor_count, made->tensor_count);
    for (size_t i = 0; i < made->tensor_count; i++)
        assert_same_tensor(&made->tensors[i], &loaded->tensors[i]);
    assert_int_equal(loaded->layer_count, made->layer_count);
    for (size_t i = 0; i < made->layer_count; i++) {
        assert_true(by_layer_stats_complete(&loaded->layers[i]));
        assert_same_layer(&made->layers[i], &loaded->layers[i]);
    }
    assert_ptr_equal(by_stats_find(loaded, "never"), &loaded->tensors[3]);
    assert_null(by_stats_find(loaded, "nowhere"));
    assert_ptr_equal(by_stats_find_columns(loaded, &made->layers[2].layer, BY_SHARE_ALL),
                     &loaded->layers[2]);
    save(loaded, "b");
    assert_same_files("a", "b");
    save(loaded, "a"); /* over the file that it reads from */
    assert_same_files("a", "b");
    by_stats_close(loaded);
    by_stats_close(made);
}

static void test_what_is_kept_of_shapes(void **state)
{
    (void)state;
    struct by_stats *stats = stats_make(0, STATS_SAMPLES, 1);
    assert_int_equal(stats->tensors[0].channels.count, 3);
    assert_int_equal(stats->tensors[2].dims[2], BY_DIM_VARIES);
    assert_int_equal(stats->tensors[2].channels.count, 2);
    assert_true(stats->tensors[3].rank == SIZE_MAX);
    assert_string_equal(stats->tensors[4].nonfinite_name, "sample-5.npy");
    assert_true(stats->tensors[5].rank_varies && stats->tensors[5].rank == 0);
    assert_int_equal(stats->tensors[5].channels.count, 0);
    by_stats_close(stats);
}

static void test_cover(void **state)
{
    (void)state;
    struct by_stats *stats = stats_empty(&err);
    assert_ok(by_stats_cover(stats, 10, 12, &err));
    assert_ok(by_stats_cover(stats, 2, 4, &err));
    assert_ok(by_stats_cover(stats, 20, 30, &err));
    assert_int_equal(stats->covered.count, 3);
    assert_ok(by_stats_cover(stats, 4, 10, &err));
    assert_int_equal(stats->covered.count, 2);
    assert_ok(by_stats_cover(stats, 12, 13, &err));
    assert_ok(by_stats_cover(stats, 19, 20, &err));
    assert_ok(by_stats_cover(stats, 5, 5, &err));
    assert_true(stats->covered.at[0].begin == 2 && stats->covered.at[0].end == 13);
    assert_true(stats->covered.at[1].begin == 19 && stats->covered.at[1].end == 30);
    assert_error(by_stats_cover(stats, 0, 3, &err), BARYON_ERR_INTERNAL,
                 "samples 0 to 2 are covered twice");
    assert_error(by_stats_cover(stats, 12, 14, &err), BARYON_ERR_INTERNAL,
                 "samples 12 to 13 are covered twice");
    assert_int_equal(by_stats_cover(stats, 13, 20, &err), -1);
    assert_int_equal(by_stats_cover(stats, 3, 4, &err), -1);
    assert_int_equal(by_stats_covered(stats), 22);
    assert_false(by_stats_complete(stats) || by_stats_covers(stats, 13) ||
                 by_stats_covers(stats, 1));
    assert_true(by_stats_covers(stats, 2) && by_stats_covers(stats, 12) &&
                by_stats_covers(stats, 19) && by_stats_covers(stats, 29));
    by_stats_close(stats);
}

/* --- Merging --- */

static struct by_stats *load(const char *name)
{
    struct by_stats *stats;
    assert_ok(by_stats_load(&stats, name, &err));
    return stats;
}

static const char *part_name(unsigned part)
{
    static char name[8][16];
    snprintf(name[part], sizeof name[part], "part-%u", part);
    return name[part];
}

/* Samples of part i of n; the first parts are bigger, one may be empty. */
static void make_parts(unsigned parts, uint64_t seed)
{
    uint64_t begin = 0;
    for (unsigned i = 0; i < parts; i++) {
        uint64_t left = STATS_SAMPLES - begin;
        uint64_t size = i + 1 == parts ? left : by_rng_bits(seed, 7, i) % (left / 2 + 1);
        struct by_stats *stats = stats_make(begin, begin + size, 1);
        assert_non_null(stats);
        save(stats, part_name(i));
        by_stats_close(stats);
        begin += size;
    }
}

/* Merges what is listed one after the other; in_memory: without the files' tiles. */
static struct by_stats *merge_in_order(const unsigned *order, unsigned count, bool in_memory)
{
    struct by_stats *stats = load(part_name(order[0]));
    for (unsigned i = 1; i < count; i++) {
        struct by_stats *other = load(part_name(order[i]));
        for (size_t k = 0; k < other->layer_count && in_memory && i % 2; k++)
            assert_ok(
                by_stats_recall(&other->layers[k], 0, other->layers[k].moments.tile_count, &err));
        assert_ok(by_stats_merge(stats, other, &err));
        by_stats_close(other);
    }
    return stats;
}

static bool next_order(unsigned *order, unsigned count)
{
    unsigned i = count - 1, k = count - 1;
    while (i && order[i - 1] > order[i])
        i--;
    if (!i)
        return false;
    while (order[k] < order[i - 1])
        k--;
    unsigned kept = order[k];
    order[k] = order[i - 1];
    order[i - 1] = kept;
    for (k = count - 1; i < k; i++, k--) {
        kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    return true;
}

static void test_any_order_gives_the_same(void **state)
{
    (void)state;
    struct by_stats *whole = stats_make(0, STATS_SAMPLES, 1);
    save(whole, "whole");
    by_stats_close(whole);
    for (unsigned parts = 1; parts <= 7; parts++) {
        unsigned order[] = {0, 1, 2, 3, 4, 5, 6}, tried = 0;
        make_parts(parts, parts);
        do {
            /* All orders of up to 4, some of more. */
            if (parts > 4 && by_rng_bits(3, parts, tried) % (parts * parts * 8 - 190))
                continue;
            struct by_stats *stats = merge_in_order(order, parts, tried % 2);
            save(stats, "merged");
            by_stats_close(stats);
            assert_same_files("whole", "merged");
        } while (++tried, next_order(order, parts));
    }
}

static void test_any_grouping_gives_the_same(void **state)
{
    (void)state;
    struct by_stats *whole = stats_make(0, STATS_SAMPLES, 1);
    save(whole, "whole");
    by_stats_close(whole);
    make_parts(6, 5);
    for (unsigned split = 1; split < 6; split++) {
        const unsigned order[] = {4, 0, 5, 2, 1, 3};
        struct by_stats *left = merge_in_order(order, split, false);
        struct by_stats *right = merge_in_order(order + split, 6 - split, split % 2);
        if (split == 3) { /* through files as well */
            save(left, "left");
            save(right, "right");
            by_stats_close(left);
            by_stats_close(right);
            left = load("left");
            right = load("right");
        }
        assert_ok(by_stats_merge(left, right, &err));
        by_stats_close(right);
        save(left, "merged");
        by_stats_close(left);
        assert_same_files("whole", "merged");
    }
}

static void test_merge_refuses(void **state)
{
    (void)state;
    struct by_stats *a = stats_make(0, 10, 1), *b = stats_make(9, 10, 1);
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_INPUT,
                 "sample 9 is covered twice; merge every part only once");
    assert_error(by_stats_merge(a, a, &err), BARYON_ERR_INPUT,
                 "samples 0 to 9 are covered twice; merge every part only once");
    by_stats_close(b);
    b = stats_make(10, 20, 1);
    b->key.data.high = 0xabcdef9876543210;
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_CHANGED,
                 "the statistics are of other data (abcdef987654, not 000000000000)");
    b->key = a->key;
    b->key.model.high++;
    assert_int_equal(by_stats_merge(a, b, &err), -1);
    assert_non_null(strstr(err.message, "of another model"));
    b->key = a->key;
    b->key.settings.low++;
    assert_int_equal(by_stats_merge(a, b, &err), -1);
    assert_non_null(strstr(err.message, "of other settings"));
    b->key = a->key;
    b->total++;
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_CHANGED,
                 "the statistics are of other data (31 samples, not 30)");
    b->total -= 2;
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_CHANGED,
                 "the statistics are of other data (29 samples, not 30)");
    b->total++;
    b->tensors[1].channel_axis = 0;
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_INPUT,
                 "tensor[1] differs, although the keys are the same; calibrate both with the same "
                 "version of Baryon");
    b->tensors[1].channel_axis = -1;
    b->layers[1].layer.kernel[1] = 7;
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_INPUT,
                 "layer[1] differs, although the keys are the same; calibrate both with the same "
                 "version of Baryon");
    b->layers[1].layer.kernel[1] = 3;
    by_fold_release(&b->layers[1].moments.tiles[2]);
    assert_error(by_stats_merge(a, b, &err), BARYON_ERR_INPUT,
                 "layer 'c': the two files have different parts of its Gram matrix; finish both "
                 "calibrations first");
    by_stats_close(b);
    by_stats_close(a);
}

/* --- Passes over the same samples --- */

static void test_passes_join(void **state)
{
    (void)state;
    struct by_stats *whole = stats_make(0, STATS_SAMPLES, 1);
    save(whole, "whole");
    by_stats_close(whole);
    for (unsigned way = 0; way < 4; way++) {
        struct by_stats *first = stats_part(0, STATS_SAMPLES, 1, 0, 1, true, &err);
        struct by_stats *second = stats_part(0, STATS_SAMPLES, 1, 1, 2, false, &err);
        struct by_stats *third = stats_part(0, STATS_SAMPLES, 1, 2, 99, false, &err);
        assert_false(by_layer_stats_complete(&first->layers[1]));
        if (way & 1) {
            save(first, "first");
            by_stats_close(first);
            first = load("first");
        }
        if (way & 2) {
            save(second, "second");
            by_stats_close(second);
            second = load("second");
        }
        assert_ok(by_stats_join(first, second, &err));
        assert_ok(by_stats_join(first, third, &err));
        assert_true(by_layer_stats_complete(&first->layers[1]));
        save(first, "joined");
        assert_same_files("whole", "joined");
        assert_int_equal(by_stats_join(first, third, &err), -1);
        by_stats_close(first);
        by_stats_close(second);
        by_stats_close(third);
    }
}

static void test_passes_that_saw_other_samples(void **state)
{
    (void)state;
    struct by_stats *first = stats_part(0, 20, 1, 0, 1, true, &err);
    struct by_stats *second = stats_part(0, 21, 1, 1, 9, false, &err);
    assert_error(by_stats_join(first, second, &err), BARYON_ERR_CHANGED,
                 "two passes over the samples read different data; run again when no other program "
                 "changes the samples");
    by_stats_close(second);
    second = stats_part(0, 20, 1, 1, 9, false, &err);
    second->layers[1].moments.rows++;
    assert_int_equal(by_stats_join(first, second, &err), -1);
    assert_non_null(strstr(error_text(), "layer 'c': two passes read"));
    by_stats_close(second);
    by_stats_close(first);
}

/* Half of a pass is saved, loaded, recalled and gone on with. */
static void test_recall(void **state)
{
    (void)state;
    struct by_stats *whole = stats_make(0, STATS_SAMPLES, 1);
    save(whole, "whole");
    by_stats_close(whole);
    struct by_stats *half = stats_make(0, 11, 1);
    save(half, "half");
    by_stats_close(half);
    half = load("half");
    for (size_t i = 0; i < half->layer_count; i++) {
        struct by_layer_stats *layer = &half->layers[i];
        size_t tiles = layer->moments.tile_count;
        assert_ok(by_stats_recall(layer, 0, tiles / 2, &err));
        assert_true(!tiles || by_layer_stats_complete(layer));
    }
    assert_ok(by_stats_cover(half, 11, STATS_SAMPLES, &err));
    for (uint64_t sample = 11; sample < STATS_SAMPLES; sample++) {
        if (sample % 13 == 12) {
            assert_ok(by_stats_skip(half, sample, "bad.npy", "is no array", &err));
            continue;
        }
        for (unsigned i = 0; i < half->tensor_count; i++)
            assert_ok(stats_look(half, i, sample, 1, &err));
        assert_ok(stats_gather(half, sample, 1, 0, 99, &err));
        half->content = by_hash128_sum(half->content, by_hash128(&sample, sizeof sample));
    }
    save(half, "half");
    by_stats_close(half);
    assert_same_files("whole", "half");
}

/* --- Damage --- */

static struct by_str small_bytes(void)
{
    struct by_str bytes;
    struct by_stats *stats = stats_small(0, 13, 1);
    by_str_init(&bytes);
    assert_ok(by_stats_save_bytes(stats, &bytes, &err));
    by_stats_close(stats);
    return bytes;
}

static int load_bytes(const void *bytes, size_t size)
{
    struct by_stats *stats;
    by_err_clear(&err);
    if (by_stats_load_bytes(&stats, bytes, size, "f", &err))
        return -1;
    by_stats_close(stats);
    return 0;
}

static void test_bytes_are_the_file(void **state)
{
    (void)state;
    struct by_stats *stats = stats_small(0, 13, 1);
    struct by_str bytes = small_bytes();
    save(stats, "a");
    by_stats_close(stats);
    size_t size;
    uint8_t *file = read_all("a", &size);
    assert_int_equal(size, bytes.size);
    assert_memory_equal(file, bytes.text, size);
    by_free(file);
    by_str_release(&bytes);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    struct by_str bytes = small_bytes();
    assert_true(bytes.size < 16384);
    for (size_t size = 0; size < bytes.size; size++) {
        uint8_t *cut = malloc(size ? size : 1); /* so that a sanitizer sees what is read beyond */
        memcpy(cut, bytes.text, size);
        assert_int_equal(load_bytes(cut, size), -1);
        assert_int_equal(err.code, BARYON_ERR_INPUT);
        assert_true(err.offset >= 0 && (size_t)err.offset <= size && err.hint[0]);
        free(cut);
    }
    by_str_release(&bytes);
}

static void test_flipped_anywhere(void **state)
{
    (void)state;
    struct by_str bytes = small_bytes();
    for (size_t i = 0; i < 8 * bytes.size; i++) {
        bytes.text[i / 8] = (char)(bytes.text[i / 8] ^ 1 << i % 8);
        assert_int_equal(load_bytes(bytes.text, bytes.size), -1);
        bytes.text[i / 8] = (char)(bytes.text[i / 8] ^ 1 << i % 8);
        bool version = i / 8 >= BY_STORE_MAGIC_SIZE && i / 8 < BY_STORE_HEAD_SIZE;
        bool unknown = version && err.code == BARYON_ERR_UNSUPPORTED;
        assert_true(err.code == BARYON_ERR_INPUT || unknown);
    }
    by_str_release(&bytes);
}

static void test_other_files(void **state)
{
    (void)state;
    struct by_str bytes = small_bytes();
    assert_error(
        load_bytes("", 0), BARYON_ERR_INPUT,
        "f@0: not a file of statistics: it is empty; create statistics with 'baryon calibrate'");
    assert_error(load_bytes("\x08\x07\x12\x00 and more", 13), BARYON_ERR_INPUT,
                 "f@0: not a file of statistics: it begins with '\\x08\\x07\\x12\\x00 and'; create "
                 "statistics with 'baryon calibrate'");
    bytes.text[BY_STORE_MAGIC_SIZE] = 9;
    assert_error(load_bytes(bytes.text, bytes.size), BARYON_ERR_UNSUPPORTED,
                 "f@8: version 9 of the format, must be 1; read it with a newer version of Baryon, "
                 "or create it again with 'baryon calibrate'");
    bytes.text[BY_STORE_MAGIC_SIZE] = 0;
    assert_error(
        load_bytes(bytes.text, bytes.size), BARYON_ERR_INPUT,
        "f@8: version 0 of the format, must be 1; create it again with 'baryon calibrate'");
    bytes.text[BY_STORE_MAGIC_SIZE] = BY_STATS_VERSION;
    bytes.text[20] ^= 1;
    assert_int_equal(load_bytes(bytes.text, bytes.size), -1);
    assert_string_equal(err.message, "the checksum does not match, the file is damaged");
    by_str_release(&bytes);
}

/* Makes the checksum right again. */
static void seal(struct by_str *bytes)
{
    uint8_t *end = (uint8_t *)bytes->text + bytes->size - 16;
    struct by_hash128 hash = by_hash128(bytes->text, bytes->size - 16);
    for (unsigned i = 0; i < 16; i++)
        end[i] = (uint8_t)((i < 8 ? hash.low : hash.high) >> (8 * (i % 8)));
}

static void refuses_votes(struct by_stats *stats, const struct by_vote *votes, size_t count,
                          const char *why)
{
    struct by_str bytes;
    struct by_stats *loaded;
    struct by_votes *into = &stats->tensors[1].sketch.votes;
    struct by_vote *was = into->at;
    by_str_init(&bytes);
    into->at = (struct by_vote *)votes;
    into->count = count;
    assert_ok(by_stats_save_bytes(stats, &bytes, &err));
    into->at = was;
    into->count = 0;
    by_err_clear(&err);
    assert_int_equal(by_stats_load_bytes(&loaded, bytes.text, bytes.size, "f", &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.message, why);
    by_str_release(&bytes);
}

/* With a checksum that is right, as whoever makes such a file would write it. */
static void test_votes_that_cannot_be(void **state)
{
    (void)state;
    struct by_stats *stats = stats_small(0, 6, 1);
    const struct by_vote twice[] = {{{-8, 7}, 1, 1}, {{-8, 7}, 1, 1}};
    const struct by_vote levels[] = {{{-7, 7}, 1, 1}, {{-8, 7}, 1, 1}};
    const struct by_vote many[] = {{{-8, 7}, 1, 4}, {{-8, 7}, 2, 3}};
    refuses_votes(stats, twice, 2, "votes are not in order");
    refuses_votes(stats, levels, 2, "votes are not in order");
    refuses_votes(stats, many, 2, "there are more votes than samples");
    refuses_votes(stats, &(struct by_vote){{-8, 7}, 1, 7}, 1, "there are more votes than samples");
    refuses_votes(stats, &(struct by_vote){{0, 7}, 1, 1}, 1,
                  "levels of votes must reach to both sides of 0");
    refuses_votes(stats, &(struct by_vote){{-1, 0}, 1, 1}, 1,
                  "levels of votes must reach to both sides of 0");
    refuses_votes(stats, &(struct by_vote){{-1, 1}, 128, 1}, 1,
                  "votes for position 128, must be from -127 to 127");
    refuses_votes(stats, &(struct by_vote){{-1, 1}, -128, 1}, 1,
                  "votes for position -128, must be from -127 to 127");
    refuses_votes(stats, &(struct by_vote){{-1, 1}, 1, 0}, 1, "a position without votes");
    by_stats_close(stats);
}

/* Of the small statistics the first layer alone has a matrix. Read, it is one, or it is refused. */
static void assert_gram_or_refused(const struct by_stats *stats)
{
    const struct by_layer_stats *layer = &stats->layers[0];
    double mean[32];
    float gram[32 * 32];
    const size_t columns = (size_t)layer->layer.columns;
    if (layer->layer.kind == BY_LAYER_GATHER || layer->layer.groups != 1 || columns > 32 ||
        !layer->moments.rows || !by_layer_stats_complete(layer))
        return;
    by_moments_mean(&layer->moments, &layer->layer, 0, mean);
    by_err_clear(&err);
    if (by_stats_gram(layer, 0, mean, NULL, gram, &err) < 0) {
        assert_int_equal(err.code, BARYON_ERR_INPUT);
        return;
    }
    for (size_t i = 0; i < columns; i++)
        assert_true((double)gram[i * columns + i] >= -1e-6 * mean[i] * mean[i]);
    for (size_t i = 0; i < columns * columns; i++)
        assert_true(isfinite(gram[i]) && gram[i] == gram[i % columns * columns + i / columns]);
}

/*
 * Whoever forges a file gets it refused, or it says what it says in the only way there is:
 * what was read writes the same bytes.
 */
static void test_forged_anywhere(void **state)
{
    (void)state;
    struct by_str bytes = small_bytes(), again;
    struct by_stats *stats;
    unsigned loaded = 0, refused = 0,
             step = getenv("LONG") ? 1 : 11; // 11 has all bits of a byte, too
    by_str_init(&again);
    for (size_t i = 0; i < 8 * (bytes.size - BY_STORE_END_SIZE); i += step) {
        bytes.text[i / 8] = (char)(bytes.text[i / 8] ^ 1 << i % 8);
        seal(&bytes);
        by_err_clear(&err);
        int status = by_stats_load_bytes(&stats, bytes.text, bytes.size, "f", &err);
        if (status == 0) {
            assert_gram_or_refused(stats);
            by_err_clear(&err);
            for (size_t k = 0; k < stats->layer_count && status == 0; k++)
                status = by_stats_recall(&stats->layers[k], 0, stats->layers[k].moments.tile_count,
                                         &err);
            if (status == 0) {
                assert_ok(by_stats_save_bytes(stats, &again, &err));
                assert_int_equal(again.size, bytes.size);
                assert_memory_equal(again.text, bytes.text, bytes.size);
            }
            by_stats_close(stats);
        }
        loaded += !status;
        refused += status && err.code == BARYON_ERR_INPUT && err.offset >= 0;
        assert_true(!status || err.offset >= 0 || err.code == BARYON_ERR_UNSUPPORTED);
        bytes.text[i / 8] = (char)(bytes.text[i / 8] ^ 1 << i % 8);
    }
    assert_true(loaded > 500 / step && refused > 500 / step);
    by_str_release(&again);
    by_str_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_round_trip_of_many, scratch_enter, scratch_leave),
        cmocka_unit_test(test_what_is_kept_of_shapes),
        cmocka_unit_test(test_cover),
        cmocka_unit_test_setup_teardown(test_any_order_gives_the_same, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(test_any_grouping_gives_the_same, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test(test_merge_refuses),
        cmocka_unit_test_setup_teardown(test_passes_join, scratch_enter, scratch_leave),
        cmocka_unit_test(test_passes_that_saw_other_samples),
        cmocka_unit_test_setup_teardown(test_recall, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_bytes_are_the_file, scratch_enter, scratch_leave),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_flipped_anywhere),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_votes_that_cannot_be),
        cmocka_unit_test(test_forged_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
