/* Loads a configuration file and finds a key in its tree. */
#include "base/doc.h"

#include "base/file.h"

#include <string.h>

int by_doc_load(struct by_arena *arena, const char *path, struct by_doc_node **root,
                struct baryon_error *err)
{
    char *text;
    size_t size;
    if (by_read_file(path, BY_DOC_BYTES_MAX, &text, &size, err))
        return -1;
    int status = by_has_suffix(path, ".json") ? by_json_parse(arena, text, size, path, root, err)
                                              : by_yaml_parse(arena, text, size, path, root, err);
    by_free(text);
    return status;
}

struct by_doc_node *by_doc_get(const struct by_doc_node *map, const char *key)
{
    if (!map || map->kind != BY_DOC_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->pairs[i].key, key))
            return map->pairs[i].value;
    return NULL;
}
