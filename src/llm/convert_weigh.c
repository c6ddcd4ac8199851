/* Which tensors of a GGUF file an importance matrix is about. */
#include "llm/convert_internal.h"
#include "llm/ggml/mixture.h"
#include "llm/importance.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* llama-quantize's texts of keys are that long. */
#define NOTE_MAX 128
#define NAMED    3

struct unweighted {
    size_t count;
    const char *names[NAMED];
};

static void note(struct unweighted *list, const char *name)
{
    if (list->count < NAMED)
        list->names[list->count] = name;
    list->count++;
}

static void note_list(struct by_str *notices, const struct unweighted *list, const char *what,
                      const char *rest)
{
    if (!list->count)
        return;
    by_plural(notices, list->count, what);
    by_str_puts(notices, rest);
    for (size_t i = 0; i < list->count && i < NAMED; i++)
        by_str_printf(notices, "%s%s", i ? ", " : ": ", list->names[i]);
    by_str_puts(notices, list->count > NAMED ? ", ...\n" : "\n");
}

/* An embedding is looked up, not multiplied: numbers of another size are not about it. */
static bool is_embedding(const struct by_made_tensor *made)
{
    return by_ggml_kind_of(made->name) == BY_GGML_TOKEN_EMBD;
}

static int weigh(struct by_made_tensor *made, struct by_llm_weighting *weighting,
                 struct unweighted *missing, struct baryon_error *err)
{
    const uint64_t matrices = made->rank == 3 ? made->dims[0] : 1;
    const uint64_t wanted = by_made_width(made) * matrices;
    char quoted[BY_QUOTE_MAX];
    if (weighting)
        weighting->used = true;
    if (weighting && weighting->count == wanted) {
        made->importance = weighting->values;
        return 0;
    }
    if (!weighting || is_embedding(made)) {
        note(missing, made->name);
        return 0;
    }
    return by_fail(err, BARYON_ERR_INPUT,
                   "tensor %s has %" PRIu64 " values, must have %" PRIu64
                   ", one for each column of the model's",
                   by_quote(quoted, made->name), weighting->count, wanted);
}

/* As llama-quantize notes them. */
static void put_notes(struct by_convert_run *run)
{
    const struct by_llm_importance *importance = run->options->importance;
    char text[NOTE_MAX];
    struct by_text cut;
    by_text_init(&cut, text, sizeof text);
    by_text_add(&cut, "%s", importance->path);
    by_meta_set_text(&run->meta, "quantize.imatrix.file", text);
    if (importance->dataset) {
        by_text_init(&cut, text, sizeof text);
        by_text_add(&cut, "%s", importance->dataset);
        by_meta_set_text(&run->meta, "quantize.imatrix.dataset", text);
    }
    by_meta_set_u32(&run->meta, "quantize.imatrix.entries_count", importance->count);
    if (importance->chunks)
        by_meta_set_u32(&run->meta, "quantize.imatrix.chunks_count", importance->chunks);
}

int by_convert_weigh(struct by_convert_run *run, struct baryon_error *err)
{
    struct by_llm_importance *importance = run->options->importance;
    struct unweighted missing = {0}, strange = {0};
    for (size_t i = 0; i < run->made.count; i++) {
        struct by_made_tensor *made = &run->made.at[i];
        struct by_llm_weighting *weighting = by_llm_importance_find(importance, made->name);
        if (made->values || made->type->block == 1) {
            if (weighting)
                weighting->used = true;
            continue;
        }
        if (weigh(made, weighting, &missing, err))
            return by_err_file(err, importance->path);
    }
    for (size_t i = 0; i < importance->count; i++)
        if (!importance->at[i].used)
            note(&strange, importance->at[i].name);
    if (strange.count == importance->count) {
        char quoted[BY_QUOTE_MAX];
        by_fail(err, BARYON_ERR_INPUT,
                "has tensor %s and %zu more, none of which the model has; the file must be of this "
                "model",
                by_quote(quoted, strange.names[0]), strange.count - 1);
        return by_err_file(err, importance->path);
    }
    note_list(&run->done->notices, &missing, "tensor",
              " without an entry in the importance matrix, rounded without weights");
    note_list(&run->done->notices, &strange, "tensor",
              " in the importance matrix that the model does not have");
    put_notes(run);
    return by_meta_error(&run->meta, err);
}
