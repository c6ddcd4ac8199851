/* Values of config.json by their names. */
#include "llm/family/family.h"

#include "base/str.h"

#include <string.h>

const struct by_doc_node *by_hf_text(const struct by_doc_node *config)
{
    static const char *const names[] = {"text_config", "llm_config", "language_config",
                                        "thinker_config"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct by_doc_node *inner = by_doc_get(config, names[i]);
        if (inner && inner->kind == BY_DOC_MAP)
            return by_hf_text(inner);
    }
    return config;
}

static const struct by_doc_node *config_scalar(const struct by_doc_node *config, const char *keys)
{
    while (config && *keys) {
        char key[64];
        size_t size = strcspn(keys, " ");
        if (size < sizeof key) {
            memcpy(key, keys, size);
            key[size] = '\0';
            const struct by_doc_node *node = by_doc_get(config, key);
            if (node && node->kind == BY_DOC_SCALAR)
                return node;
        }
        keys += size;
        keys += *keys == ' ';
    }
    return NULL;
}

bool by_hf_int(const struct by_doc_node *config, const char *keys, int64_t *value)
{
    double number;
    const struct by_doc_node *node = config_scalar(config, keys);
    if (!node || node->quoted)
        return false;
    if (by_parse_i64(node->text, value))
        return true;
    /* 1e6 and 1000000.0 are written too. */
    if (!by_parse_double(node->text, &number) || !(number >= -9e15 && number <= 9e15))
        return false;
    *value = (int64_t)number;
    return (double)*value == number;
}

bool by_hf_number(const struct by_doc_node *config, const char *keys, double *value)
{
    const struct by_doc_node *node = config_scalar(config, keys);
    return node && !node->quoted && by_parse_double(node->text, value);
}

bool by_hf_bool(const struct by_doc_node *config, const char *keys, bool *value)
{
    const struct by_doc_node *node = config_scalar(config, keys);
    if (!node || node->quoted || (strcmp(node->text, "true") && strcmp(node->text, "false")))
        return false;
    *value = !strcmp(node->text, "true");
    return true;
}

const char *by_hf_string(const struct by_doc_node *config, const char *keys)
{
    const struct by_doc_node *node = config_scalar(config, keys);
    return node && node->quoted ? node->text : NULL;
}
