/*
 * Ids of a text, one a line, as llm/text makes them.
 *
 *   tokenize_dump TOKENIZER.json TEXT [around]
 */
#include "base/file.h"
#include "llm/text/tokenize.h"

#include <inttypes.h>
#include <stdio.h>

#define BYTES_MAX ((size_t)256 << 20)

static int fail(const struct baryon_error *err)
{
    char text[1024];
    baryon_error_format(err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}

static int dump(struct by_arena *arena, char **argv, bool around, struct baryon_error *err)
{
    char *json = NULL, *text = NULL;
    size_t json_size, text_size;
    struct by_doc_node *root;
    struct by_tokenize *tokenize = NULL;
    struct by_token_ids ids = {0};
    int status = by_read_file(argv[1], BYTES_MAX, &json, &json_size, err);
    if (!status)
        status = by_json_parse_within(arena, json, json_size, argv[1],
                                      (struct by_doc_limits){BYTES_MAX, BYTES_MAX / 8}, &root, err);
    if (!status)
        status = by_tokenize_open(&tokenize, root, err);
    if (!status)
        status = by_read_file(argv[2], BYTES_MAX, &text, &text_size, err);
    if (!status)
        status = by_tokenize_text(tokenize, text, text_size, around, &ids, err);
    for (size_t i = 0; !status && i < ids.count; i++)
        printf("%" PRIu32 "\n", ids.ids[i]);
    by_token_ids_release(&ids);
    by_tokenize_close(tokenize);
    by_free(json);
    by_free(text);
    return status;
}

int main(int argc, char **argv)
{
    struct baryon_error err = {0};
    struct by_arena arena;
    if (argc < 3) {
        fprintf(stderr, "usage: tokenize_dump TOKENIZER.json TEXT [around]\n");
        return 2;
    }
    by_arena_init(&arena, 0);
    int status = dump(&arena, argv, argc > 3, &err);
    by_arena_release(&arena);
    return status ? fail(&err) : 0;
}
