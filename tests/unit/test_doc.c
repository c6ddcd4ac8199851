/* Tests that YAML and JSON texts become the same trees and bad ones are refused. */
#include "base/doc.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

typedef int parse_fn(struct by_arena *, const char *, size_t, const char *, struct by_doc_node **,
                     struct baryon_error *);

/* The tree as text: "quoted" or plain scalars, <null>, each with line:column when asked. */
static void show(struct by_str *out, const struct by_doc_node *node)
{
    switch (node->kind) {
    case BY_DOC_NULL:
        by_str_printf(out, "<%s>", node->text);
        break;
    case BY_DOC_SCALAR:
        by_str_printf(out, node->quoted ? "\"%s\"" : "%s", node->text);
        break;
    case BY_DOC_LIST:
        by_str_puts(out, "[");
        for (size_t i = 0; i < node->count; i++) {
            by_str_puts(out, i ? " " : "");
            show(out, node->items[i]);
        }
        by_str_puts(out, "]");
        break;
    case BY_DOC_MAP:
        by_str_puts(out, "{");
        for (size_t i = 0; i < node->count; i++) {
            by_str_printf(out, "%s%s:", i ? " " : "", node->pairs[i].key);
            show(out, node->pairs[i].value);
        }
        by_str_puts(out, "}");
        break;
    }
}

static void assert_tree(parse_fn *parse, const char *text, const char *wanted)
{
    struct by_arena arena;
    struct by_doc_node *root;
    struct by_str out = {0};
    by_arena_init(&arena, 0);
    assert_ok(parse(&arena, text, strlen(text), "f", &root, &err));
    show(&out, root);
    assert_string_equal(by_str_text(&out), wanted);
    by_str_release(&out);
    by_arena_release(&arena);
}

static void assert_refused(parse_fn *parse, const char *text, size_t size, const char *wanted)
{
    struct by_arena arena;
    struct by_doc_node *root;
    by_arena_init(&arena, 0);
    assert_error(parse(&arena, text, size, "f", &root, &err), BARYON_ERR_INPUT, wanted);
    by_arena_release(&arena);
}

struct row {
    const char *text, *wanted;
};

static void yaml_becomes_a_tree(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", "<>"},
        {"# nothing\n", "<>"},
        {"word", "word"},
        {"a: 1\nb: no\nc: 'no'\n", "{a:1 b:no c:\"no\"}"},
        {"a: ~\nb: null\nc:\nd: 'null'\ne: Null\n", "{a:<~> b:<null> c:<> d:\"null\" e:Null}"},
        {"- 1\n- [a, b]\n- {x: y}\n-\n  - z\n", "[1 [a b] {x:y} [z]]"},
        {"---\na: 1e-3\n...\n", "{a:1e-3}"},
        {"a: |\n  two\n  lines\n", "{a:\"two\nlines\n\"}"},
        {"a: 3.10\n", "{a:3.10}"},
        {"\"\\u00e9\\n\": x\n", "{\xc3\xa9\n:x}"},
        {"\xef\xbb\xbf"
         "a: \xc3\xa9\n",
         "{a:\xc3\xa9}"},
        {"a: []\nb: {}\n", "{a:[] b:{}}"},
        {"<<: x", "{<<:x}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_tree(by_yaml_parse, rows[i].text, rows[i].wanted);
}

static void yaml_surprises_are_refused(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a: 1\nb: 2\n a: 3",
         "f: 3:3: not valid YAML: mapping values are not allowed in this context"},
        {"a: 1\nb: 2\na: 3\n", "f: 3:1: key 'a' appears in lines 1 and 3, must appear once"},
        {"x:\n  k: 1\n  \"k\": 2\n", "f: 3:3: key 'k' appears in lines 2 and 3, must appear once"},
        {"a: &x 1\n", "f: 1:4: anchor 'x', anchors are not allowed"},
        {"a: &x [1]\n", "f: 1:4: anchor 'x', anchors are not allowed"},
        {"&x {a: 1}\n", "f: 1:1: anchor 'x', anchors are not allowed"},
        {"a: *x\n", "f: 1:4: alias 'x', aliases are not allowed"},
        {"a: !!int 3\n", "f: 1:4: tag 'tag:yaml.org,2002:int', tags are not allowed"},
        {"a: !mine [3]\n", "f: 1:4: tag '!mine', tags are not allowed"},
        {"a: ! 3\n", "f: 1:4: tag '!', tags are not allowed"},
        {"%TAG ! tag:x,1:\n---\na: 1\n", "f: 1:1: a %TAG line, tags are not allowed"},
        {"--- a\n--- b\n", "f: 2:1: a second document, a file must contain one"},
        {"? [a]\n: b\n", "f: 1:3: a key that is a list, must be plain text"},
        {"? {a: 1}\n: b\n", "f: 1:3: a key that is a map, must be plain text"},
        {"{'': x}\n", "f: 1:2: a key that is empty, must be plain text"},
        {"a: \"x\\0y\"\n", "f: 1:4: a text with a NUL byte, must not contain one"},
        {"a: [1,\n", "f: 2:1: not valid YAML: did not find expected node content"},
        {"\ta: b\n", "f: 1:1: not valid YAML: found character that cannot start any token"},
        {"a: b\x01\n", "f: 1:1: not valid YAML: control characters are not allowed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(by_yaml_parse, rows[i].text, strlen(rows[i].text), rows[i].wanted);
}

static void json_becomes_the_same_tree(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", "<>"},
        {" \n", "<>"},
        {"{\"a\": [1, -0.5e+10, true, false, null], \"b\": {}, \"c\": []}",
         "{a:[1 -0.5e+10 true false <null>] b:{} c:[]}"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
         "\"\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"[\"1\", 1]", "[\"1\" 1]"},
        {"\xef\xbb\xbf[0]\r\n\t", "[0]"},
        {"-0", "-0"},
        {"1E5", "1E5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_tree(by_json_parse, rows[i].text, rows[i].wanted);
}

static void json_is_strict(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{\"a\": 1,\n \"a\": 2}", "f: 2:2: key 'a' appears in lines 1 and 2, must appear once"},
        {"[1,]", "f: 1:4: not valid JSON: ']', expected a value"},
        {"{\"a\": 1,}", "f: 1:9: not valid JSON: '}', expected a key in quotes"},
        {"{a: 1}", "f: 1:2: not valid JSON: 'a', expected a key in quotes"},
        {"{\"a\" 1}", "f: 1:6: not valid JSON: '1', expected ':'"},
        {"{\"a\": 1 2}", "f: 1:9: not valid JSON: '2', expected ',' or '}'"},
        {"{\"\": 1}", "f: 1:2: a key that is empty, must be plain text"},
        {"[1 2]", "f: 1:4: not valid JSON: '2', expected ',' or ']'"},
        {"[1", "f: 1:3: not valid JSON: the text ends, expected ',' or ']'"},
        {"{", "f: 1:2: not valid JSON: the text ends, expected a key in quotes"},
        {"[01]", "f: 1:4: not valid JSON: a number that begins with 0"},
        {"[00]", "f: 1:4: not valid JSON: a number that begins with 0"},
        {"[1.]", "f: 1:4: not valid JSON: ']', expected a digit"},
        {"[1e]", "f: 1:4: not valid JSON: ']', expected a digit"},
        {"-", "f: 1:2: not valid JSON: the text ends, expected a digit"},
        {"+1", "f: 1:1: not valid JSON: '+', expected a value"},
        {".5", "f: 1:1: not valid JSON: '.', expected a value"},
        {"NaN", "f: 1:1: not valid JSON: 'N', expected a value"},
        {"tru", "f: 1:1: not valid JSON: 't', expected a value"},
        {"truex", "f: 1:5: not valid JSON: 'x', expected the end of the text"},
        {"1 2", "f: 1:3: not valid JSON: '2', expected the end of the text"},
        {"// x\n1", "f: 1:1: not valid JSON: '/', expected a value"},
        {"'a'", "f: 1:1: not valid JSON: ''', expected a value"},
        {"\"abc", "f: 1:5: not valid JSON: the text ends, expected the closing '\"'"},
        {"\"a\nb\"", "f: 1:3: not valid JSON: a control character in a string"},
        {"\"\\x41\"", "f: 1:3: not valid JSON: 'x', expected an escape"},
        {"\"\\", "f: 1:3: not valid JSON: the text ends, expected an escape"},
        {"\"\\u12g4\"", "f: 1:7: not valid JSON: \\u requires four hexadecimal digits"},
        {"\"\\u12", "f: 1:4: not valid JSON: \\u requires four hexadecimal digits"},
        {"\"\\ud800\"", "f: 1:8: not valid JSON: an incomplete surrogate pair"},
        {"\"\\ud800\\u0041\"", "f: 1:14: not valid JSON: an incomplete surrogate pair"},
        {"\"\\udc00\"", "f: 1:8: not valid JSON: an incomplete surrogate pair"},
        {"\"a\\u0000b\"", "f: 1:1: a text with a NUL byte, must not contain one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(by_json_parse, rows[i].text, strlen(rows[i].text), rows[i].wanted);
}

static void places_are_counted_in_characters(void **state)
{
    (void)state;
    static const char yaml[] = "\xc3\xa9\xc3\xa9: x\nlist:\n  - a\n  - b: {c: d}\n";
    static const char json[] = "{\"\xc3\xa9\xc3\xa9\": 1,\n  \"list\": [2,\n {\"c\": 3}]}";
    struct by_arena arena;
    struct by_doc_node *root;
    by_arena_init(&arena, 0);
    assert_ok(by_yaml_parse(&arena, yaml, strlen(yaml), "f", &root, &err));
    const struct by_doc_node *node = by_doc_get(root, "\xc3\xa9\xc3\xa9");
    assert_int_equal(node->line, 1);
    assert_int_equal(node->column, 5);
    node = by_doc_get(by_doc_get(by_doc_get(root, "list")->items[1], "b"), "c");
    assert_int_equal(node->line, 4);
    assert_int_equal(node->column, 12);
    assert_ok(by_json_parse(&arena, json, strlen(json), "f", &root, &err));
    node = by_doc_get(root, "\xc3\xa9\xc3\xa9");
    assert_int_equal(node->line, 1);
    assert_int_equal(node->column, 8);
    node = by_doc_get(by_doc_get(root, "list")->items[1], "c");
    assert_int_equal(node->line, 3);
    assert_int_equal(node->column, 8);
    assert_null(by_doc_get(root, "none"));
    assert_null(by_doc_get(node, "c"));
    assert_null(by_doc_get(NULL, "c"));
    by_arena_release(&arena);
}

static void the_text_itself_is_checked(void **state)
{
    (void)state;
    parse_fn *const parsers[] = {by_yaml_parse, by_json_parse};
    static char large[BY_DOC_BYTES_MAX + 1];
    memset(large, ' ', sizeof large);
    for (size_t i = 0; i < 2; i++) {
        assert_refused(parsers[i], "[1,\n\0]", 6, "f: 2:1: a NUL byte, the file must be text");
        assert_refused(parsers[i], "[\xc3\xa9,\n \xe2\x82\xac\xff]", 10,
                       "f: 2:3: bytes that are not UTF-8, the file must be UTF-8 text");
        assert_refused(parsers[i], large, sizeof large,
                       "f: has 4194305 bytes, must have at most 4194304");
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    parse_fn *const parsers[] = {by_yaml_parse, by_json_parse};
    char text[200];
    for (size_t i = 0; i < 2; i++) {
        struct by_arena arena;
        struct by_doc_node *root;
        by_arena_init(&arena, 0);
        memset(text, '[', 33);
        memset(text + 33, ']', 33);
        assert_ok(parsers[i](&arena, text + 1, 64, "f", &root, &err));
        by_arena_release(&arena);
        assert_refused(parsers[i], text, 66, "f: 1:33: nested deeper than 32 levels, the limit");
    }
}

/* Refusal and acceptance cost memory and time in proportion to the file. */
static void many_values_are_limited(void **state)
{
    (void)state;
    static char text[BY_DOC_BYTES_MAX];
    parse_fn *const parsers[] = {by_yaml_parse, by_json_parse};
    for (size_t i = 0; i < sizeof text; i += 2) {
        text[i] = '1';
        text[i + 1] = ',';
    }
    text[0] = '[';
    text[1] = '1';
    text[2] = ',';
    text[3] = '2';
    text[4] = ',';
    text[5] = ' ';
    text[sizeof text - 1] = ']';
    for (size_t i = 0; i < 2; i++) {
        struct by_arena arena;
        struct by_doc_node *root;
        by_arena_init(&arena, 0);
        assert_int_equal(parsers[i](&arena, text, sizeof text, "f", &root, &err), -1);
        assert_string_equal(err.message, "more than 262144 values, the limit");
        assert_true(arena.used < 16 * sizeof text);
        by_arena_release(&arena);
    }
}

static void files_are_read_by_their_suffix(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_doc_node *root;
    by_arena_init(&arena, 0);
    put_file("a.yaml", "a: 1\n");
    put_file("a.JSON", "{\"a\": 2}");
    put_file("bad.json", "a: 1\n");
    assert_ok(by_doc_load(&arena, "a.yaml", &root, &err));
    assert_string_equal(by_doc_get(root, "a")->text, "1");
    assert_ok(by_doc_load(&arena, "a.JSON", &root, &err));
    assert_string_equal(by_doc_get(root, "a")->text, "2");
    assert_error(by_doc_load(&arena, "bad.json", &root, &err), BARYON_ERR_INPUT,
                 "bad.json: 1:1: not valid JSON: 'a', expected a value");
    assert_error(by_doc_load(&arena, "none.yaml", &root, &err), BARYON_ERR_INPUT,
                 "none.yaml: cannot be opened: No such file or directory");
    assert_int_equal(truncate("a.yaml", BY_DOC_BYTES_MAX + 1), 0);
    assert_error(by_doc_load(&arena, "a.yaml", &root, &err), BARYON_ERR_INPUT,
                 "a.yaml: is larger than 4194304 bytes, the limit for a file of this kind");
    by_arena_release(&arena);
}

static void a_full_arena_is_told(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_doc_node *root;
    by_arena_init(&arena, 64);
    assert_int_equal(by_yaml_parse(&arena, "[a, b, c]", 9, "f", &root, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    assert_string_equal(err.file, "f");
    assert_int_equal(by_json_parse(&arena, "{\"a\": 1}", 8, "f", &root, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    by_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_becomes_a_tree),
        cmocka_unit_test(yaml_surprises_are_refused),
        cmocka_unit_test(json_becomes_the_same_tree),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(places_are_counted_in_characters),
        cmocka_unit_test(the_text_itself_is_checked),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(many_values_are_limited),
        cmocka_unit_test_setup_teardown(files_are_read_by_their_suffix, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test(a_full_arena_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
