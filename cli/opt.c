/* Parses the command line of one command with getopt_long, by its option rows. */
#include "cli/opt.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* What getopt_long returns for operands, and for the first row. */
#define OPERAND   1
#define FIRST_ROW 1000

struct occurrence {
    const struct by_option *option;
    const char *text, *second;
};

struct parser {
    struct by_config *config;
    const struct by_option **rows;
    size_t row_count;
    struct option *longs;
    char *shorts;
    struct occurrence *seen;
    size_t seen_count;
};

static const int argument_kinds[] = {optional_argument, required_argument, required_argument};

static size_t count_rows(const struct by_config *config)
{
    size_t count = 0;
    for (size_t i = 0; i < config->count; i++)
        count += config->bindings[i].count;
    return count;
}

/* With _ for -, as files may spell it. */
static const char *other_spelling(struct by_arena *arena, const char *name,
                                  struct baryon_error *err)
{
    char *copy = by_arena_text(arena, name, strlen(name), err);
    for (char *at = copy; at && *at; at++)
        *at = *at == '-' ? '_' : *at;
    return copy;
}

static int add_option_row(struct parser *parser, const struct by_option *option,
                          struct baryon_error *err)
{
    size_t i = parser->row_count++;
    unsigned arguments = by_option_arguments(option);
    const char *other = other_spelling(&parser->config->arena, option->name, err);
    parser->rows[i] = option;
    parser->longs[2 * i] =
        (struct option){option->name, argument_kinds[arguments], NULL, FIRST_ROW + (int)i};
    parser->longs[2 * i + 1] =
        (struct option){other, argument_kinds[arguments], NULL, FIRST_ROW + (int)i};
    if (option->letter) {
        size_t end = strlen(parser->shorts);
        parser->shorts[end] = option->letter;
        if (arguments)
            parser->shorts[end + 1] = ':';
    }
    return other ? 0 : -1;
}

static int parser_init(struct parser *parser, struct by_config *config, int argc,
                       struct baryon_error *err)
{
    size_t rows = count_rows(config);
    struct by_arena *arena = &config->arena;
    *parser = (struct parser){.config = config};
    parser->rows = by_arena_alloc(arena, rows, sizeof *parser->rows, err);
    parser->longs = by_arena_alloc(arena, 2 * rows + 1, sizeof *parser->longs, err);
    parser->shorts = by_arena_alloc(arena, 2 * rows + 3, 1, err);
    parser->seen = by_arena_alloc(arena, (size_t)argc, sizeof *parser->seen, err);
    if (!parser->rows || !parser->longs || !parser->shorts || !parser->seen)
        return -1;
    memcpy(parser->shorts, "-:", 2); /* operands in their order, no messages from getopt */
    for (size_t i = 0; i < config->count; i++)
        for (size_t k = 0; k < config->bindings[i].count; k++)
            if (add_option_row(parser, &config->bindings[i].rows[k], err) < 0)
                return -1;
    return 0;
}

static const struct by_option *row_of(const struct parser *parser, int code)
{
    if (code >= FIRST_ROW)
        return parser->rows[code - FIRST_ROW];
    for (size_t i = 0; i < parser->row_count; i++)
        if (parser->rows[i]->letter && parser->rows[i]->letter == code)
            return parser->rows[i];
    return NULL;
}

/* "--in" may be the start of several names. */
static int unknown_long(const struct parser *parser, const char *argument, struct baryon_error *err)
{
    char name[64], quoted[BY_QUOTE_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    const char *first = NULL;
    for (size_t i = 0; i < parser->row_count && name[2]; i++) {
        if (strncmp(parser->rows[i]->name, name + 2, strlen(name + 2)) != 0)
            continue;
        if (first)
            return by_fail(err, BARYON_ERR_USAGE, "option '%s' is ambiguous: '--%s' or '--%s'",
                           name, first, parser->rows[i]->name);
        first = parser->rows[i]->name;
    }
    by_fail(err, BARYON_ERR_USAGE, "unknown option %s", by_quote(quoted, name));
    const char *near = by_config_nearest(parser->config, name + 2, BY_SOURCE_FLAG);
    return near ? by_err_hint(err, "did you mean '--%s'?", near) : -1;
}

static int unknown_option(const struct parser *parser, const char *argument,
                          struct baryon_error *err)
{
    char letter[] = {'-', (char)optopt, '\0'}, quoted[BY_QUOTE_MAX];
    if (!optopt)
        return unknown_long(parser, argument, err);
    return by_fail(err, BARYON_ERR_USAGE, "unknown option %s", by_quote(quoted, letter));
}

static int needs_value(const struct parser *parser, int code, struct baryon_error *err)
{
    const struct by_option *option = row_of(parser, code);
    return by_fail(err, BARYON_ERR_USAGE, "option '--%s' requires %s: %s", option->name,
                   by_option_arguments(option) == 2 ? "two values" : "a value", option->arg);
}

static int note_option(struct parser *parser, int code, int argc, char *const *argv,
                       struct baryon_error *err)
{
    const struct by_option *option = row_of(parser, code);
    struct occurrence *seen = &parser->seen[parser->seen_count++];
    *seen = (struct occurrence){.option = option, .text = optarg};
    if (by_option_arguments(option) < 2)
        return 0;
    if (optind >= argc)
        return needs_value(parser, code, err);
    seen->second = argv[optind++];
    return 0;
}

static bool is_stop(const struct by_option *option)
{
    return !strcmp(option->name, "help") || !strcmp(option->name, "version");
}

static int walk_arguments(struct parser *parser, int argc, char *const *argv,
                          struct by_operands *operands, struct baryon_error *err)
{
    int code;
    optind = 0;
    opterr = 0;
    while ((code = getopt_long(argc, argv, parser->shorts, parser->longs, NULL)) != -1) {
        if (code == OPERAND) {
            operands->at[operands->count++] = optarg;
            continue;
        }
        if (code == '?')
            return unknown_option(parser, argv[optind - 1], err);
        if (code == ':')
            return needs_value(parser, optopt, err);
        if (note_option(parser, code, argc, argv, err) < 0)
            return -1;
        if (is_stop(row_of(parser, code))) {
            operands->stopped = true;
            return 0;
        }
    }
    while (optind < argc)
        operands->at[operands->count++] = argv[optind++];
    return 0;
}

/* What stands before --help need not make sense. */
static int apply_options(struct parser *parser, bool stopped, struct baryon_error *err)
{
    for (size_t i = 0; i < parser->seen_count; i++) {
        const struct occurrence *seen = &parser->seen[i];
        if (by_config_set(parser->config, seen->option, seen->text, seen->second, BY_SOURCE_FLAG,
                          err) < 0 &&
            !stopped)
            return by_err_option(err, seen->option->name);
    }
    return 0;
}

/* The last --config counts, as with every single value. */
static const char *config_path(const struct parser *parser)
{
    const char *path = NULL;
    for (size_t i = 0; i < parser->seen_count; i++)
        if (!strcmp(parser->seen[i].option->name, "config"))
            path = parser->seen[i].text;
    return path;
}

int by_opt_parse(struct by_config *config, int argc, char *const *argv,
                 struct by_operands *operands, struct baryon_error *err)
{
    struct parser parser;
    *operands = (struct by_operands){.count = 0};
    operands->at = by_arena_alloc(&config->arena, (size_t)argc, sizeof *operands->at, err);
    if (!operands->at || parser_init(&parser, config, argc, err) < 0 ||
        walk_arguments(&parser, argc, argv, operands, err) < 0)
        return -1;
    const char *path = config_path(&parser);
    if (path && !operands->stopped && by_config_load(config, path, err) < 0)
        return -1;
    return apply_options(&parser, operands->stopped, err);
}

int by_err_option(struct baryon_error *err, const char *name)
{
    if (err)
        err->place[0] = '\0';
    return by_err_in(err, "--%s", name);
}

bool by_opt_wants_json(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--json"))
            return true;
    return false;
}
