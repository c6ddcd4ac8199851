/*
 * Options of Quark's ONNX flow by their own names, as its users have them in their scripts:
 * each is one row that says which of our options it sets. What is not done here is refused by name;
 * where it only says how to get at what is got another way here, it is taken and a notice says so.
 */
#ifndef BY_SETTINGS_QUARK_ALIAS_H
#define BY_SETTINGS_QUARK_ALIAS_H

#include "settings/quantize.h"

/* A key of a configuration file: extra_options, an option of Quark, or rules. */
int by_recipe_take_key(struct by_config *config, void *target, const struct by_doc_pair *pair,
                       const char *path, bool *taken, struct baryon_error *err);
/* --extra NAME=VALUE of the command line. */
int by_recipe_take_extra(struct by_config *config, struct by_recipe_settings *settings,
                         struct baryon_error *err);

enum by_alias_kind {
    BY_ALIAS_FLAG,    /* true: `on` is set, false: `off` */
    BY_ALIAS_VALUE,   /* goes to the option `on` as it is */
    BY_ALIAS_WORDS,   /* one of `words` */
    BY_ALIAS_FIXED,   /* `on` is the only value that is done here */
    BY_ALIAS_SPECIAL, /* `take` reads it */
    BY_ALIAS_LATER,   /* not available yet; false, None and empty are fine */
    BY_ALIAS_IDLE,    /* changes no model: a notice says why (`on`), but of the value `off` */
    BY_ALIAS_NEVER,   /* cannot be done here: `on` says why, or what to do instead */
};

struct by_alias_word {
    const char *word, *set;
};

struct by_aliasing {
    struct by_config *config;
    struct by_recipe_settings *settings;
    const char *name; /* of the option */
    const struct by_doc_node *value;
    enum by_option_source source;
    const char *origin; /* the file, or "--extra" */
};

/* What is set is "option=value;option=value"; "?" before an option: unless something else
 * is asked for. */
struct by_alias {
    const char *name;
    enum by_alias_kind kind;
    const char *on, *off; /* NULL: nothing has to be set */
    const struct by_alias_word *words;
    int (*take)(const struct by_aliasing *at, struct baryon_error *err);
    bool takes_false; /* False says something else than nothing */
    /* What settings mean by this name, nothing where nothing; NULL: it is not shown. */
    void (*show)(const struct by_recipe_settings *settings, struct by_str *out);
};

const struct by_alias *by_aliases(size_t *count);
/* Sets "option=value;..." in the name of an alias. */
int by_alias_set(const struct by_aliasing *at, const char *what, struct baryon_error *err);

/* What the rows of calibration methods say, settings/quark/methods.c: words of one of Quark's
 * options that stand for methods, and names of the options that methods have. Asked for once. */
const struct by_alias_word *by_alias_method_words(const char *option);
const struct by_alias *by_alias_method_options(size_t *count);

/* A notice that an option, or what it has inside (NULL: nothing), has no effect. */
int by_alias_note(const struct by_aliasing *at, const char *inside, const char *why,
                  struct baryon_error *err);

/* Those of settings/quark/various.c. */
int by_alias_cle_steps(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_cle_balance(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_cle_bias(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_cle_threshold(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_cle_difference(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_scenario(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_preference(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_channel_axis(const struct by_aliasing *at, struct baryon_error *err);
/* Those of settings/quark/random.c. */
int by_alias_random(const struct by_aliasing *at, struct baryon_error *err);
void by_alias_show_random(const struct by_recipe_settings *settings, struct by_str *out);
int by_alias_random_shape(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_random_range(const struct by_aliasing *at, struct baryon_error *err);
/* Those of settings/quark/special.c. */
int by_alias_overrides(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_mixed(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_nbits(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_between_ops(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_spans(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_passes(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_providers(const struct by_aliasing *at, struct baryon_error *err);
/* Those of settings/quark/formats.c. */
int by_alias_float_form(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_bfp(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_mx(const struct by_aliasing *at, struct baryon_error *err);
/* Types of blocks as Quark's attributes make them, once the types are known. */
int by_alias_settle_blocks(struct by_config *config, struct by_recipe_settings *settings,
                           struct baryon_error *err);
/* Those of settings/quark/solve.c. */
int by_alias_finetune(const struct by_aliasing *at, struct baryon_error *err);
void by_alias_show_finetune(const struct by_recipe_settings *settings, struct by_str *out);
int by_alias_gptq(const struct by_aliasing *at, struct baryon_error *err);
int by_alias_mixprecision(const struct by_aliasing *at, struct baryon_error *err);
void by_alias_show_mixed(const struct by_recipe_settings *settings, struct by_str *out);

/* What GPTQParams set is taken back where GPTQ is not asked for. */
int by_alias_settle_gptq(struct by_config *config, struct by_recipe_settings *settings,
                         struct baryon_error *err);

/* A key of the dictionaries FastFinetune, GPTQParams and AutoMixprecision. */
struct by_alias_key {
    const char *name;
    bool idle;        /* has no effect: `why` */
    const char *only; /* the value that is available, because of `why`; NULL: any */
    const char *why;
};
/* False after the last one, and for options that are no such dictionaries. */
bool by_alias_key(const char *option, size_t place, struct by_alias_key *key);

#endif
