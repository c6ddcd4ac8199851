/* Writes config.json and copies the files beside the weights. */
#include "llm/output.h"

#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_ 4096

/* --- config.json --- */

static void write_node(struct by_json *json, const char *key, const struct by_doc_node *node)
{
    switch (node->kind) {
    case BY_DOC_NULL:
        by_json_null(json, key);
        break;
    case BY_DOC_SCALAR:
        if (node->quoted)
            by_json_text(json, key, node->text);
        else
            by_json_raw(json, key, node->text);
        break;
    case BY_DOC_LIST:
        by_json_open(json, key, '[');
        for (size_t i = 0; i < node->count; i++)
            write_node(json, NULL, node->items[i]);
        by_json_close(json, ']');
        break;
    case BY_DOC_MAP:
        by_json_open(json, key, '{');
        for (size_t i = 0; i < node->count; i++)
            write_node(json, node->pairs[i].key, node->pairs[i].value);
        by_json_close(json, '}');
        break;
    }
}

static int place_in(const char *folder, const char *name, char path[PATH_MAX_],
                    struct baryon_error *err)
{
    return by_join_path(path, PATH_MAX_, folder, name)
               ? 0
               : by_fail(err, BARYON_ERR_USAGE, "the path of %s is too long", name);
}

static int write_config(const char *folder, const struct by_checkpoint *checkpoint,
                        const char *quantization, struct baryon_error *err)
{
    const struct by_doc_node *config = checkpoint->config;
    struct by_str text;
    struct by_json json;
    char path[PATH_MAX_];
    if ((!config && !quantization) || place_in(folder, "config.json", path, err))
        return !config && !quantization ? 0 : -1;
    by_str_init(&text);
    by_json_init(&json, &text, false);
    by_json_open(&json, NULL, '{');
    for (size_t i = 0; config && i < config->count; i++)
        if (strcmp(config->pairs[i].key, "quantization_config") != 0)
            write_node(&json, config->pairs[i].key, config->pairs[i].value);
    if (quantization)
        by_json_raw(&json, "quantization_config", quantization);
    by_json_close(&json, '}');
    by_str_puts(&text, "\n");
    int failed = by_str_error(&text, err);
    if (!failed)
        failed = by_write_file(path, text.text, text.size, 0, err);
    by_str_release(&text);
    return failed;
}

/* --- Other files --- */

static bool is_weights(const char *name)
{
    return by_has_suffix(name, ".safetensors") || by_has_suffix(name, ".safetensors.index.json") ||
           by_has_suffix(name, ".bin") || by_has_suffix(name, ".pth") ||
           by_has_suffix(name, ".gguf") || !strcmp(name, "config.json");
}

static int copy_file(const char *from, const char *to, struct baryon_error *err)
{
    struct by_mapped mapped;
    struct by_writer *writer;
    if (by_mapped_open(&mapped, from, err))
        return -1;
    int failed = by_writer_open(&writer, to, 0, err);
    if (!failed) {
        failed = by_writer_add_mapped(writer, &mapped, 0, mapped.size, err) ||
                 by_writer_commit(writer, err);
        by_writer_abort(writer);
    }
    by_mapped_close(&mapped);
    return failed ? -1 : 0;
}

static int copy_files(const char *folder, const struct by_checkpoint *checkpoint,
                      struct baryon_error *err)
{
    struct by_listing listing;
    char from[PATH_MAX_], to[PATH_MAX_];
    int failed = 0;
    if (!checkpoint->is_folder)
        return 0;
    if (by_list_folder(&listing, checkpoint->folder, err))
        return -1;
    for (size_t i = 0; i < listing.count && !failed; i++) {
        if (is_weights(listing.names[i]))
            continue;
        if (!by_join_path(from, sizeof from, checkpoint->folder, listing.names[i]))
            failed = by_fail(err, BARYON_ERR_USAGE, "the path of %s is too long", listing.names[i]);
        else
            failed = place_in(folder, listing.names[i], to, err) || copy_file(from, to, err);
    }
    by_listing_release(&listing);
    return failed ? -1 : 0;
}

static bool has_readme(const struct by_checkpoint *checkpoint)
{
    char path[PATH_MAX_];
    return checkpoint->is_folder &&
           by_join_path(path, sizeof path, checkpoint->folder, "README.md") && by_file_exists(path);
}

int by_llm_write_beside(const char *folder, const struct by_llm_opened *opened,
                        const char *quantization, struct baryon_error *err)
{
    struct by_folder_files made = opened->files;
    made.config = (struct by_str){0};
    /* The one beside a GGUF file says more. */
    if (has_readme(opened->checkpoint))
        made.notes = (struct by_str){0};
    return write_config(folder, opened->checkpoint, quantization, err) ||
                   copy_files(folder, opened->checkpoint, err) ||
                   by_folder_files_write(&made, folder, err)
               ? -1
               : 0;
}
