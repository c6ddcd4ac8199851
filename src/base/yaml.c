/* Parses YAML through libyaml into a tree, and refuses tags, anchors and aliases. */
#include "base/doc_build.h"

#include <string.h>
#include <yaml.h>

struct reader {
    struct by_doc_builder builder;
    yaml_parser_t parser;
    size_t documents;
};

static struct by_doc_mark to_mark(yaml_mark_t mark)
{
    return (struct by_doc_mark){mark.line + 1, mark.column + 1};
}

static int fail_parse(const struct reader *reader, struct baryon_error *err)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return by_fail(err, BARYON_ERR_NOMEM, "out of memory in libyaml");
    yaml_mark_t where = parser->error == YAML_READER_ERROR ? parser->mark : parser->problem_mark;
    return by_doc_fail(&reader->builder, to_mark(where), err, "not valid YAML: %s",
                       parser->problem ? parser->problem : "malformed");
}

static int refuse_properties(const struct reader *reader, const yaml_char_t *anchor,
                             const yaml_char_t *tag, yaml_mark_t mark, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (anchor)
        return by_doc_fail(&reader->builder, to_mark(mark), err,
                           "anchor %s, anchors are not allowed",
                           by_quote(quoted, (const char *)anchor));
    if (tag)
        return by_doc_fail(&reader->builder, to_mark(mark), err, "tag %s, tags are not allowed",
                           by_quote(quoted, (const char *)tag));
    return 0;
}

static bool is_null(const char *text, size_t size)
{
    return size == 0 || (size == 1 && *text == '~') || (size == 4 && !memcmp(text, "null", 4));
}

static int on_scalar(struct reader *reader, const yaml_event_t *event, struct baryon_error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (refuse_properties(reader, event->data.scalar.anchor, event->data.scalar.tag,
                          event->start_mark, err))
        return -1;
    return by_doc_scalar(&reader->builder,
                         !quoted && is_null(text, size) ? BY_DOC_NULL : BY_DOC_SCALAR, text, size,
                         quoted, to_mark(event->start_mark), err);
}

static int on_document(struct reader *reader, const yaml_event_t *event, struct baryon_error *err)
{
    struct by_doc_mark mark = to_mark(event->start_mark);
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end)
        return by_doc_fail(&reader->builder, mark, err, "a %%TAG line, tags are not allowed");
    if (reader->documents++)
        return by_doc_fail(&reader->builder, mark, err,
                           "a second document, a file must contain one");
    return 0;
}

static int on_event(struct reader *reader, const yaml_event_t *event, struct baryon_error *err)
{
    struct by_doc_builder *builder = &reader->builder;
    struct by_doc_mark mark = to_mark(event->start_mark);
    char quoted[BY_QUOTE_MAX];
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(reader, event, err);
    case YAML_ALIAS_EVENT:
        return by_doc_fail(builder, mark, err, "alias %s, aliases are not allowed",
                           by_quote(quoted, (const char *)event->data.alias.anchor));
    case YAML_SCALAR_EVENT:
        return on_scalar(reader, event, err);
    case YAML_SEQUENCE_START_EVENT:
        if (refuse_properties(reader, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag, event->start_mark, err))
            return -1;
        return by_doc_open(builder, BY_DOC_LIST, mark, err);
    case YAML_MAPPING_START_EVENT:
        if (refuse_properties(reader, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag, event->start_mark, err))
            return -1;
        return by_doc_open(builder, BY_DOC_MAP, mark, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        by_doc_close(builder);
        return 0;
    default:
        return 0;
    }
}

static int read_events(struct reader *reader, struct baryon_error *err)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event))
            return fail_parse(reader, err);
        bool last = event.type == YAML_STREAM_END_EVENT;
        int status = on_event(reader, &event, err);
        yaml_event_delete(&event);
        if (status || last)
            return status;
    }
}

int by_yaml_parse(struct by_arena *arena, const char *text, size_t size, const char *path,
                  struct by_doc_node **root, struct baryon_error *err)
{
    struct reader reader = {0};
    by_doc_builder_init(&reader.builder, arena, path);
    if (by_doc_check_text(&reader.builder, text, size, err))
        return -1;
    if (!yaml_parser_initialize(&reader.parser))
        return by_fail(err, BARYON_ERR_NOMEM, "out of memory in libyaml");
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    int status = read_events(&reader, err);
    yaml_parser_delete(&reader.parser);
    if (status == 0 && !reader.builder.root)
        status = by_doc_scalar(&reader.builder, BY_DOC_NULL, "", 0, false,
                               (struct by_doc_mark){1, 1}, err);
    by_doc_builder_release(&reader.builder);
    if (status)
        return by_err_file(err, path);
    *root = reader.builder.root;
    return 0;
}
