/* Notes about a model between README.md and GGUF's metadata. */
#include "llm/notes.h"

#include "base/doc.h"
#include "base/file.h"
#include "base/json.h"

#include <string.h>

#define LINE "---"

/* Names in README.md as gguf's converter knows them, the first is the one that is written. */
static const struct row {
    const char *key;
    const char *names; /* with blanks between */
    bool is_list;      /* of texts, from all of the names */
} rows[] = {
    {"general.name", "model_name name", false},
    {"general.author", "author model_author model_creator", false},
    {"general.version", "version model_version", false},
    {"general.organization", "organization model_organization", false},
    {"general.finetune", "finetune model_finetune", false},
    {"general.basename", "basename model_basename", false},
    {"general.description", "description model_description", false},
    {"general.license", "license", false},
    {"general.license.name", "license_name", false},
    {"general.license.link", "license_link", false},
    {"general.source.url", "url model_url", false},
    {"general.source.doi", "doi model_doi", false},
    {"general.source.uuid", "uuid model_uuid", false},
    {"general.source.repo_url", "repo_url model_repo_url", false},
    {"general.tags", "tags pipeline_tag", true},
    {"general.languages", "language languages", true},
};
#define COUNT (sizeof rows / sizeof *rows)

/* --- From README.md --- */

/* The next of several names into buf; false after the last. */
static bool next_name(const char **names, char *buf, size_t size)
{
    *names += strspn(*names, " ");
    const size_t length = strcspn(*names, " ");
    if (!length || length >= size)
        return false;
    memcpy(buf, *names, length);
    buf[length] = '\0';
    *names += length;
    return true;
}

/* A list becomes one text with commas. */
static int put_note(struct by_meta *meta, const char *key, const struct by_doc_node *node,
                    struct baryon_error *err)
{
    struct by_str text;
    by_str_init(&text);
    if (node->kind == BY_DOC_SCALAR)
        by_str_puts(&text, node->text);
    for (size_t i = 0; node->kind == BY_DOC_LIST && i < node->count; i++)
        if (node->items[i]->kind == BY_DOC_SCALAR)
            by_str_printf(&text, "%s%s", text.size ? "," : "", node->items[i]->text);
    if (text.size)
        by_meta_set_text(meta, key, by_str_text(&text));
    const int status = by_str_error(&text, err);
    by_str_release(&text);
    return status;
}

static int read_note(struct by_meta *meta, const struct row *row, const struct by_doc_node *head,
                     struct baryon_error *err)
{
    char name[64];
    for (const char *names = row->names; next_name(&names, name, sizeof name);) {
        const struct by_doc_node *node = by_doc_get(head, name);
        if (node && node->kind != BY_DOC_NULL)
            return put_note(meta, row->key, node, err);
    }
    return 0;
}

static void add_texts(struct by_meta_text *items, size_t *count, const struct by_doc_node *node)
{
    if (node->kind == BY_DOC_SCALAR)
        items[(*count)++] = (struct by_meta_text){node->text, strlen(node->text)};
    for (size_t i = 0; node->kind == BY_DOC_LIST && i < node->count; i++)
        if (node->items[i]->kind == BY_DOC_SCALAR)
            add_texts(items, count, node->items[i]);
}

static int read_list(struct by_meta *meta, const struct row *row, const struct by_doc_node *head,
                     struct baryon_error *err)
{
    char name[64];
    size_t most = 0, count = 0;
    for (const char *names = row->names; next_name(&names, name, sizeof name);) {
        const struct by_doc_node *node = by_doc_get(head, name);
        most += node ? node->count + 1 : 0;
    }
    struct by_meta_text *items =
        most ? by_arena_alloc(meta->arena, most, sizeof *items, err) : NULL;
    if (!items)
        return most ? -1 : 0;
    for (const char *names = row->names; next_name(&names, name, sizeof name);) {
        const struct by_doc_node *node = by_doc_get(head, name);
        if (node)
            add_texts(items, &count, node);
    }
    if (count)
        by_meta_set_array(meta, row->key, BY_META_STRING, items, count);
    return 0;
}

static bool is_line(const char *at)
{
    const size_t length = strcspn(at, "\r\n");
    return length == strlen(LINE) && !strncmp(at, LINE, length);
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* What is between the first two lines of dashes; NULL: there is nothing such. */
static const char *find_head(const char *readme, size_t *size)
{
    const char *begin = next_line(readme);
    if (!is_line(readme))
        return NULL;
    for (const char *at = begin; *at; at = next_line(at))
        if (is_line(at)) {
            *size = (size_t)(at - begin);
            return begin;
        }
    return NULL;
}

static int read_head(struct by_meta *meta, const char *head, size_t size, const char *path,
                     struct by_str *notices, struct baryon_error *err)
{
    struct by_doc_node *root;
    struct baryon_error why = {0};
    if (by_yaml_parse(meta->arena, head, size, path, &root, &why)) {
        by_str_printf(notices, "notes in README.md are left out: %s\n", why.message);
        return 0;
    }
    for (size_t i = 0; i < COUNT; i++)
        if (rows[i].is_list ? read_list(meta, &rows[i], root, err)
                            : read_note(meta, &rows[i], root, err))
            return -1;
    return by_meta_error(meta, err);
}

int by_llm_notes_read(struct by_meta *meta, const char *folder, struct by_str *notices,
                      struct baryon_error *err)
{
    char path[4096], *readme;
    size_t size;
    if (!by_join_path(path, sizeof path, folder, "README.md") || !by_file_exists(path))
        return 0;
    if (by_read_file(path, BY_DOC_BYTES_MAX, &readme, &size, err))
        return -1;
    const char *head = find_head(readme, &size);
    const int status = head ? read_head(meta, head, size, path, notices, err) : 0;
    by_free(readme);
    return status;
}

/* --- From a GGUF file --- */

/* Of the file, or of what is written to the new one anyway. */
static bool is_note(const char *key)
{
    static const char *const others[] = {"architecture", "type",      "size_label",
                                         "file_type",    "alignment", "quantization_version"};
    const size_t prefix = strlen("general.");
    if (strncmp(key, "general.", prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(key + prefix, others[i]))
            return false;
    return true;
}

int by_llm_notes_keep(struct by_meta *meta, const struct by_meta *from, struct baryon_error *err)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct by_meta_value *value = &from->at[i];
        if (!is_note(value->key))
            continue;
        if (value->kind == BY_META_STRING)
            by_meta_set_text(meta, value->key, value->text.bytes);
        else if (value->kind == BY_META_ARRAY)
            by_meta_set_array(meta, value->key, value->item, value->items, value->count);
        else if (value->kind == BY_META_BOOL)
            by_meta_set_bool(meta, value->key, value->integer != 0);
        else if (value->kind == BY_META_F32)
            by_meta_set_f32(meta, value->key, value->real);
        else
            by_meta_set_u32(meta, value->key, (uint64_t)value->integer);
    }
    return by_meta_error(meta, err);
}

/* --- To README.md --- */

/* A text of JSON is one of YAML. */
static void write_quoted(struct by_str *out, const char *text)
{
    struct by_json json;
    by_json_init(&json, out, true);
    by_json_text(&json, NULL, text);
    by_str_puts(out, "\n");
}

static int write_list(struct by_str *out, const struct by_meta *meta,
                      const struct by_meta_value *list, struct baryon_error *err)
{
    const struct by_meta_text *items = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = by_arena_text(meta->arena, items[i].bytes, items[i].size, err);
        if (!text)
            return -1;
        by_str_puts(out, "- ");
        write_quoted(out, text);
    }
    return 0;
}

static int write_row(struct by_str *out, const struct row *row, const struct by_meta *meta,
                     struct baryon_error *err)
{
    const char *text = row->is_list ? NULL : by_meta_get_text(meta, row->key);
    const struct by_meta_value *list =
        row->is_list ? by_meta_get_array(meta, row->key, BY_META_STRING) : NULL;
    if (!text && !list)
        return 0;
    by_str_printf(out, "%.*s:%s", (int)strcspn(row->names, " "), row->names, list ? "\n" : " ");
    if (list)
        return write_list(out, meta, list, err);
    write_quoted(out, text);
    return 0;
}

int by_llm_notes_write(struct by_str *readme, const struct by_meta *meta, struct baryon_error *err)
{
    bool any = false;
    for (size_t i = 1; i < COUNT; i++)
        any = any || by_meta_get(meta, rows[i].key);
    if (!any)
        return 0;
    by_str_puts(readme, LINE "\n");
    for (size_t i = 0; i < COUNT; i++)
        if (write_row(readme, &rows[i], meta, err))
            return -1;
    by_str_puts(readme, LINE "\n");
    return by_str_error(readme, err);
}
