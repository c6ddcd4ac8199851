/* Finds the safetensors files of a folder, by an index or by their names. */
#include "llm/store/internal.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define INDEX_SUFFIX    ".safetensors.index.json"
#define INDEX_NAME      "model" INDEX_SUFFIX
#define INDEX_BYTES_MAX (64u << 20)
#define PART_DIGITS     5

static size_t count_suffix(const struct by_listing *listing, const char *suffix, const char **first)
{
    size_t count = 0;
    for (size_t i = 0; i < listing->count; i++)
        if (by_has_suffix(listing->names[i], suffix) && !count++)
            *first = listing->names[i];
    return count;
}

static bool has_name(const struct by_listing *listing, const char *name)
{
    for (size_t i = 0; i < listing->count; i++)
        if (!strcmp(listing->names[i], name))
            return true;
    return false;
}

static int add_shard(struct by_checkpoint *checkpoint, size_t file, const char *name,
                     struct by_stored_list *list, struct baryon_error *err)
{
    const char *copy = by_arena_text(&checkpoint->arena, name, strlen(name), err);
    if (!copy || by_stored_map(checkpoint, file, copy, err))
        return -1;
    return by_safetensors_header(checkpoint, file, list, err);
}

static int refuse_pair(const struct by_doc_pair *pair, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_INPUT,
                   "weight_map has no file name for tensor %s, must have one",
                   by_quote(quoted, pair->key));
}

/* The files of the index in the order in which they appear first. */
static int collect_shards(const struct by_doc_node *weights, struct by_map *seen,
                          const char **names, size_t *count, struct baryon_error *err)
{
    for (size_t i = 0; i < weights->count; i++) {
        const struct by_doc_node *value = weights->pairs[i].value;
        if (value->kind != BY_DOC_SCALAR || !value->quoted)
            return refuse_pair(&weights->pairs[i], err);
        if (by_map_get(seen, value->text))
            continue;
        if (by_location_check(value->text, strlen(value->text), err))
            return -1;
        names[(*count)++] = value->text;
        if (by_map_put(seen, value->text, (void *)(uintptr_t)*count, err))
            return -1;
    }
    return 0;
}

/* Each tensor of the index is in its shard, each tensor of a shard in the index. */
static int compare_index(const struct by_checkpoint *checkpoint, const struct by_doc_node *weights,
                         const struct by_stored_list *list, struct baryon_error *err)
{
    struct by_map named;
    char quoted[BY_QUOTE_MAX], file[BY_QUOTE_MAX];
    int status = 0;
    by_map_init(&named);
    for (size_t i = 0; !status && i < weights->count; i++)
        status = by_map_put(&named, weights->pairs[i].key, weights->pairs[i].value, err);
    for (size_t i = 0; !status && i < list->count; i++) {
        const char *name = list->at[i].name, *here = checkpoint->files[list->at[i].file].name;
        const struct by_doc_node *value = by_map_remove(&named, name);
        by_quote(file, here);
        if (!value)
            status = by_fail(err, BARYON_ERR_INPUT, "tensor %s of %s is not in weight_map, must be",
                             by_quote(quoted, name), file);
        else if (strcmp(value->text, here) != 0)
            status = by_fail(err, BARYON_ERR_INPUT, "tensor %s is in %s, weight_map has it in '%s'",
                             by_quote(quoted, name), file, value->text);
    }
    for (size_t i = 0; !status && i < weights->count; i++)
        if (by_map_get(&named, weights->pairs[i].key))
            status =
                by_fail(err, BARYON_ERR_INPUT, "tensor %s is not in %s, weight_map has it there",
                        by_quote(quoted, weights->pairs[i].key),
                        by_quote(file, weights->pairs[i].value->text));
    by_map_release(&named);
    return status;
}

static int open_indexed(struct by_checkpoint *checkpoint, const struct by_doc_node *weights,
                        struct by_stored_list *list, struct baryon_error *err)
{
    struct by_map seen;
    size_t count = 0;
    const char **names = by_alloc(weights->count, sizeof *names, err);
    if (!names)
        return -1;
    by_map_init(&seen);
    int status = collect_shards(weights, &seen, names, &count, err);
    by_map_release(&seen);
    if (!status && !by_stored_files(checkpoint, count, err))
        status = -1;
    for (size_t i = 0; !status && i < count; i++)
        status = add_shard(checkpoint, i, names[i], list, err);
    by_free(names);
    return status ? -1 : compare_index(checkpoint, weights, list, err);
}

static int open_index(struct by_checkpoint *checkpoint, const char *name,
                      struct by_stored_list *list, struct baryon_error *err)
{
    const struct by_doc_node *root;
    char path[4096];
    if (by_checkpoint_json(checkpoint, name, INDEX_BYTES_MAX, &root, err))
        return -1;
    const struct by_doc_node *weights = root ? by_doc_get(root, "weight_map") : NULL;
    checkpoint->has_index = true;
    int status = weights && weights->kind == BY_DOC_MAP && weights->count
                     ? open_indexed(checkpoint, weights, list, err)
                     : by_fail(err, BARYON_ERR_INPUT,
                               "has no weight_map of tensors, must map tensors to files");
    if (status && by_join_path(path, sizeof path, checkpoint->folder, name))
        by_err_file(err, path);
    return status;
}

/* "-00002-of-00003.safetensors": the numbers; false for other names. */
static bool part_of(const char *name, unsigned *part, unsigned *parts)
{
    static const char pattern[] = "-ddddd-of-ddddd.safetensors";
    size_t length = strlen(name), wanted = sizeof pattern - 1;
    if (length < wanted)
        return false;
    const char *tail = name + length - wanted;
    *part = *parts = 0;
    for (size_t i = 0; i < wanted; i++) {
        bool digit = tail[i] >= '0' && tail[i] <= '9';
        if (pattern[i] == 'd' ? !digit : tail[i] != pattern[i])
            return false;
        unsigned *number = i <= PART_DIGITS ? part : parts;
        if (digit)
            *number = *number * 10 + (unsigned)(tail[i] - '0');
    }
    return true;
}

/* Shards without an index: none of them may be missing. */
static int check_parts(const struct by_listing *listing, struct baryon_error *err)
{
    char name[512], quoted[BY_QUOTE_MAX];
    unsigned part, parts;
    for (size_t i = 0; i < listing->count; i++) {
        if (!part_of(listing->names[i], &part, &parts))
            continue;
        size_t stem = strlen(listing->names[i]) - strlen("-ddddd-of-ddddd.safetensors");
        for (unsigned k = 1; k <= parts && stem < 256; k++) {
            snprintf(name, sizeof name, "%.*s-%05u-of-%05u.safetensors", (int)stem,
                     listing->names[i], k, parts);
            if (!has_name(listing, name))
                return by_fail(err, BARYON_ERR_INPUT, "has no %s, must have all %u parts",
                               by_quote(quoted, name), parts);
        }
        break;
    }
    return 0;
}

static int open_named(struct by_checkpoint *checkpoint, const struct by_listing *listing,
                      size_t count, struct by_stored_list *list, struct baryon_error *err)
{
    size_t file = 0;
    bool alone = has_name(listing, "model.safetensors");
    if (!alone && check_parts(listing, err))
        return -1;
    if (!by_stored_files(checkpoint, alone ? 1 : count, err))
        return -1;
    if (alone)
        return add_shard(checkpoint, 0, "model.safetensors", list, err);
    for (size_t i = 0; i < listing->count; i++)
        if (by_has_suffix(listing->names[i], ".safetensors") &&
            add_shard(checkpoint, file++, listing->names[i], list, err))
            return -1;
    return 0;
}

/* All *.gguf are parts of one: the name of the first part. */
static bool first_part(const struct by_listing *listing, const char *name, char *buf, size_t size)
{
    size_t stem, other;
    unsigned part, parts, others;
    if (!by_gguf_part(name, &stem, &part, &parts) ||
        !by_gguf_part_name(buf, size, name, stem, 1, parts))
        return false;
    for (size_t i = 0; i < listing->count; i++)
        if (by_has_suffix(listing->names[i], ".gguf") &&
            (!by_gguf_part(listing->names[i], &other, &part, &others) || other != stem ||
             others != parts || strncmp(listing->names[i], name, stem) != 0))
            return false;
    return true;
}

static int refuse_folder(const struct by_listing *listing, size_t ggufs, struct baryon_error *err)
{
    const char *first;
    by_fail(err, BARYON_ERR_INPUT, "has no *.safetensors%s, must have at least one",
            ggufs ? " and more than one *.gguf" : "");
    if (ggufs)
        return by_err_hint(err, "name one of the .gguf files");
    if (count_suffix(listing, ".bin", &first) || count_suffix(listing, ".pt", &first))
        return by_err_hint(err, "save the PyTorch files as safetensors first");
    return -1;
}

static int open_gguf_there(struct by_checkpoint *checkpoint, const char *name,
                           struct by_stored_list *list, struct baryon_error *err)
{
    const char *copy = by_arena_text(&checkpoint->arena, name, strlen(name), err);
    if (!copy || !by_stored_files(checkpoint, 1, err) || by_stored_map(checkpoint, 0, copy, err))
        return -1;
    return by_gguf_open(checkpoint, list, err);
}

static int open_listed(struct by_checkpoint *checkpoint, const struct by_listing *listing,
                       struct by_stored_list *list, struct baryon_error *err)
{
    const char *name = NULL, *index = NULL, *gguf = NULL;
    char first[512];
    size_t count = count_suffix(listing, ".safetensors", &name);
    size_t indices = count_suffix(listing, INDEX_SUFFIX, &index);
    size_t ggufs = count_suffix(listing, ".gguf", &gguf);
    if (has_name(listing, "model.safetensors"))
        indices = 0;
    if (indices > 1 && !has_name(listing, INDEX_NAME))
        return by_fail(err, BARYON_ERR_INPUT, "has %zu files *" INDEX_SUFFIX ", must have one",
                       indices);
    if (indices)
        return open_index(checkpoint, has_name(listing, INDEX_NAME) ? INDEX_NAME : index, list,
                          err);
    if (count)
        return open_named(checkpoint, listing, count, list, err);
    if (ggufs && first_part(listing, gguf, first, sizeof first))
        return open_gguf_there(checkpoint, first, list, err);
    if (ggufs == 1)
        return open_gguf_there(checkpoint, gguf, list, err);
    return refuse_folder(listing, ggufs, err);
}

int by_safetensors_open(struct by_checkpoint *checkpoint, struct by_stored_list *list,
                        struct baryon_error *err)
{
    struct by_listing listing;
    if (by_list_folder(&listing, checkpoint->folder, err))
        return -1;
    int status = open_listed(checkpoint, &listing, list, err);
    by_listing_release(&listing);
    return status;
}
