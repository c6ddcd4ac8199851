/*
 * Options as data.
 *
 * An option is one row (base/option.h); parsing, help, manual pages and completions are derived
 * from it.
 *
 * Rows stand in groups; a group is bound to the struct its values go to. Binding
 * sets the defaults. A value from the command line replaces one from a file, which
 * replaces one of a preset, which replaces the default; among values from the same
 * place the last one wins, except that options of a list type collect what they are
 * given.
 *
 * To add an option: one row in the group of the command (cli/cmd_*.c) or in a shared
 * group (settings/settings.c, settings/calibrate.c), and one member in its struct.
 */
#ifndef BY_CONFIG_H
#define BY_CONFIG_H

#include "base/doc.h"
#include "base/json.h"
#include "base/option.h"

/* Values of not_in_files: a file that came with a model decides none of these. */
#define BY_NAMES_LIBRARY "a library is code that would run"
#define BY_NAMES_OUTPUT  "it decides which files are written or replaced"
#define BY_LIFTS_RULES   "it lifts a rule that protects against hostile models"

struct by_config;

struct by_option_group {
    const char *title;
    const struct by_option *fixed_rows; /* by_group_rows() reads them */
    size_t fixed_count;
    /* In their place, rows that are made from others: the same array each time. */
    const struct by_option *(*make_rows)(size_t *count);
    /* Asked first about each key of a configuration file, may be NULL: *taken says that the key was
     * no option's, or meant something else than the option here. path is the file's. */
    int (*take_key)(struct by_config *config, void *target, const struct by_doc_pair *pair,
                    const char *path, bool *taken, struct baryon_error *err);
};

/* All rows of the group. */
const struct by_option *by_group_rows(const struct by_option_group *group, size_t *count);

enum by_option_source { BY_SOURCE_DEFAULT, BY_SOURCE_PRESET, BY_SOURCE_FILE, BY_SOURCE_FLAG };

#define BY_CONFIG_GROUPS_MAX 20

struct by_binding {
    const struct by_option_group *group;
    const struct by_option *rows;
    size_t count;
    void *target;
    unsigned char *sources; /* enum by_option_source, one a row */
};

struct by_config {
    struct by_arena arena; /* of lists and texts in the settings */
    struct by_binding bindings[BY_CONFIG_GROUPS_MAX];
    size_t count;
};

void by_config_init(struct by_config *config);
void by_config_release(struct by_config *config);
/* target is cleared as far as the rows reach and given the defaults. */
int by_config_bind(struct by_config *config, const struct by_option_group *group, void *target,
                   struct baryon_error *err);

/* Whether a key is that name; it may have _ for -. */
bool by_config_same_name(const char *key, const char *name);
/* NULL when no bound group has the row; _ and - are the same. */
const struct by_option *by_config_find(const struct by_config *config, const char *name);
/* The name that was probably meant, NULL when none is near. */
const char *by_config_nearest(const struct by_config *config, const char *name,
                              enum by_option_source source);
enum by_option_source by_config_source(const struct by_config *config, const char *name);
/* True when a file or the command line gave the option. */
bool by_config_given(const struct by_config *config, const char *name);
/* The first option of a group that is given; NULL: none is. */
const char *by_config_given_of(const struct by_config *config, const struct by_option_group *group);

/* second: for BY_OPT_SPANS, else NULL. text NULL is "true", for flags. Both must outlive config. */
int by_config_set(struct by_config *config, const struct by_option *option, const char *text,
                  const char *second, enum by_option_source source, struct baryon_error *err);
/* Back to its default, as if nobody had given it. */
int by_config_reset(struct by_config *config, const struct by_option *option,
                    struct baryon_error *err);
/* Values from a YAML or JSON file; those that the command line gave stay. */
int by_config_load(struct by_config *config, const char *path, struct baryon_error *err);
/* The same of a YAML text; name: for messages. */
int by_config_load_text(struct by_config *config, const char *text, const char *name,
                        struct baryon_error *err);
/* A node of such a file as the value of an option. */
int by_config_set_node(struct by_config *config, const struct by_option *option,
                       const struct by_doc_node *node, enum by_option_source source,
                       struct baryon_error *err);

/* "key: value" lines that by_config_load() reads back, of all rows of a group that are not empty
 * and that `wanted` (may be NULL) takes. */
void by_config_write(const struct by_config *config, const struct by_option_group *group,
                     bool (*wanted)(const void *context, const struct by_option *option),
                     const void *context, struct by_str *out);
/* The same as members of an object. */
void by_config_json(const struct by_config *config, const struct by_option_group *group,
                    bool (*wanted)(const void *context, const struct by_option *option),
                    const void *context, struct by_json *json);
/* An option's value as such a file has it; "" when it is empty. */
void by_config_show(const struct by_config *config, const char *name, struct by_str *out);

/* What a value has to be, for messages and manuals: "a whole number from 1 to 64". Returns buf. */
const char *by_option_expects(const struct by_option *option, char *buf, size_t size);
/* The same without the kind of value: "from 1 to 64", "rgb, bgr, gray", often "". Returns buf. */
const char *by_option_range(const struct by_option *option, char *buf, size_t size);
/* True when repeating the option adds to it. */
bool by_option_is_list(const struct by_option *option);
/* How many arguments stand after it on the command line: 0, 1 or 2. */
unsigned by_option_arguments(const struct by_option *option);

#define BY_OPTION_GROUP(heading, array)                                                            \
    {                                                                                              \
        .title = (heading), .fixed_rows = (array), .fixed_count = sizeof(array) / sizeof *(array)  \
    }

#endif
