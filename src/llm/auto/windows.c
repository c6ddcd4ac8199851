/* Windows of the texts: those that layers are rounded on are where llm quantize takes them; between
 * them lie those that choose and those that judge, by turns. */
#include "llm/auto/auto_internal.h"

#include "llm/eval_text.h"
#include "llm/ids.h"

#include <string.h>

/* Of the windows between, at least so many to choose and to judge. */
#define LEAST 2

/* --- Where llm quantize has its windows: see cut_texts() in calibrated.c --- */

static size_t solved_at(const struct by_token_ids *all, size_t length, size_t count, size_t i,
                        bool in_rows)
{
    return in_rows ? all->count / length * (2 * i + 1) / (2 * count) * length
                   : (all->count - length) * (2 * i + 1) / (2 * count);
}

/* Starts of windows that lie between; how many there are. */
static size_t list_free(const struct by_token_ids *all, size_t length, size_t solve, bool in_rows,
                        size_t *starts)
{
    const size_t last = in_rows ? all->count / length * length : all->count;
    size_t count = 0, at = 0;
    for (size_t i = 0; i <= solve; i++) {
        const size_t end = i < solve ? solved_at(all, length, solve, i, in_rows) : last;
        for (; at + length <= end; at += length)
            starts[count++] = at;
        at = end + length;
    }
    return count;
}

/* --- All --- */

static int refuse_short(const struct by_token_ids *all, size_t length, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT,
            "the texts have %zu tokens, must have at least %zu: windows of %zu to round on, to "
            "choose by and to judge by",
            all->count, 3 * length, length);
    return by_err_hint(err, "give more text, or a smaller --length");
}

static int take_windows(struct by_bits_windows *w, const struct by_token_ids *all,
                        const size_t *starts, size_t count, uint64_t wanted,
                        struct baryon_error *err)
{
    const size_t most = count / 2, each = wanted && wanted < most ? (size_t)wanted : most;
    const size_t bytes = w->length * sizeof *all->ids;
    w->choose_ids = by_alloc(each * w->length, sizeof *all->ids, err);
    w->judge_ids = by_alloc(each * w->length, sizeof *all->ids, err);
    if (!w->choose_ids || !w->judge_ids)
        return -1;
    w->choose = w->judge = each;
    for (size_t i = 0; i < 2 * each; i++) {
        const size_t start = starts[count * (2 * i + 1) / (4 * each)];
        uint32_t *to = i % 2 ? w->judge_ids : w->choose_ids;
        memcpy(to + i / 2 * w->length, all->ids + start, bytes);
    }
    return 0;
}

static int cut_all(struct by_bits_search *s, const struct by_token_ids *all,
                   struct baryon_error *err)
{
    struct by_bits_windows *w = &s->windows;
    const size_t length = w->length, whole = all->count / length;
    const bool in_rows = by_llm_ids_given(&s->quantize.texts);
    size_t count = 0;
    if (whole < 3)
        return refuse_short(all, length, err);
    size_t *starts = by_alloc(whole, sizeof *starts, err);
    w->solve = s->quantize.windows && s->quantize.windows < whole / 2 ? (size_t)s->quantize.windows
                                                                      : whole / 2;
    for (; starts && w->solve; w->solve--)
        if ((count = list_free(all, length, w->solve, in_rows, starts)) >= LEAST &&
            (count >= w->solve || w->solve <= whole / 3))
            break;
    int status = starts ? 0 : -1;
    if (!status)
        status = w->solve ? take_windows(w, all, starts, count, s->options->judge_windows, err)
                          : refuse_short(all, length, err);
    by_free(starts);
    s->quantize.windows = w->solve;
    return status;
}

int by_bits_windows_cut(struct by_bits_search *s, struct baryon_error *err)
{
    struct by_token_ids all = {0};
    s->windows.length = (size_t)s->quantize.length;
    int status = by_llm_text_ids(&all, &s->opened, &s->quantize.texts, s->windows.length,
                                 s->calibrated.decoder.vocab, err);
    if (!status)
        status = cut_all(s, &all, err);
    by_token_ids_release(&all);
    return status;
}

void by_bits_windows_release(struct by_bits_windows *windows)
{
    by_free(windows->choose_ids);
    by_free(windows->judge_ids);
}
