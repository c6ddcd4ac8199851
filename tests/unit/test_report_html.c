/* The page of a report: texts stay texts, sections follow the data, what is wrong is named. */
#include "report/html/assets.h"
#include "report/html/html.h"
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    "\"report\":1,\"command\":\"quantize\",\"version\":\"1\",\"outcome\":{\"text\":\"It is "       \
    "written.\"}"

static struct by_str page_of(const char *json)
{
    struct by_str html;
    struct baryon_error err = {0};
    by_str_init(&html);
    if (by_report_html(json, strlen(json), &html, &err))
        fail_msg("%s: %s", err.place, err.message);
    return html;
}

static size_t count_of(const struct by_str *text, const char *part)
{
    size_t count = 0;
    for (const char *at = by_str_text(text); (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* --- Language models --- */

static void test_linears(void **state)
{
    (void)state;
    struct by_str html = page_of(
        "{" HEAD ",\"weights\":[{\"name\":\"a.layers.0.q.weight\",\"shape\":[4,2],\"scheme\":\"x\","
        "\"bits\":4,\"output_error\":0.02},{\"name\":\"a.layers.0.k.weight\",\"shape\":[4,4],"
        "\"scheme\":\"y\",\"bits\":7,\"output_error\":0.04},{\"name\":\"a.layers.2.q.weight\","
        "\"shape\":[2,2],\"scheme\":\"x\",\"bits\":4,\"output_error\":null},"
        "{\"name\":\"<i>.99999999999999999999.w\",\"scheme\":null,\"bits\":3}]}");
    /* Bits are a mean over weights, errors one over linears; layer 1 has none. */
    assert_int_equal(count_of(&html, "<th scope=\"row\">0</th><td class=\"number\">6</td>"
                                     "<td class=\"number\">3"),
                     1);
    assert_int_equal(count_of(&html, "<th scope=\"row\">1</th>"), 0);
    assert_int_equal(count_of(&html, "<th scope=\"row\">2</th><td class=\"number\">4</td>"), 1);
    assert_int_equal(count_of(&html, "<i>"), 0);
    assert_int_equal(count_of(&html, "as it was</td>"), 1);
    by_str_release(&html);
    html = page_of("{" HEAD ",\"linears\":[{\"layer\":\"h.1.q\",\"type\":\"x\",\"bits_per_weight\":"
                   "4.5,\"predicted_kl\":0.01}],\"layers_kl\":[0.1]}");
    assert_int_equal(count_of(&html, "<th scope=\"row\">1</th><td class=\"number\">4.5</td>"), 1);
    by_str_release(&html);
    html = page_of("{" HEAD ",\"weights\":[{\"name\":\"lm_head\"}]}");
    assert_int_equal(count_of(&html, "id=\"decoder\""), 0);
    by_str_release(&html);
}

/* --- Texts --- */

static void test_text(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"conv1", "conv1"},
        {"<b>\"&'", "&lt;b&gt;&quot;&amp;&#39;"},
        {"</script>", "&lt;/script&gt;"},
        {"\u202ea\u2066", "\\u202ea\\u2066"},
        {"a\tb\x7f", "a\\u0009b\\u007f"},
        {"\xff\u00e9", "\ufffd\u00e9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_str html;
        by_str_init(&html);
        by_html_text(&html, rows[i][0]);
        assert_string_equal(by_str_text(&html), rows[i][1]);
        by_str_release(&html);
    }
}

static void test_sentence(void **state)
{
    (void)state;
    struct by_str html;
    by_str_init(&html);
    by_html_sentence(&html, "<20.7 dB of 4 samples, 93 % done");
    assert_string_equal(by_str_text(&html), "&lt;20.7\u00a0dB of 4 samples, 93\u00a0% done");
    by_str_release(&html);
}

static void test_name_is_cut(void **state)
{
    (void)state;
    char name[10001];
    struct by_str html;
    memset(name, 'x', 10000);
    memcpy(name, "begin", 5);
    memcpy(name + 9997, "end", 4);
    by_str_init(&html);
    by_html_name(&html, name);
    assert_true(html.size < 150);
    assert_non_null(strstr(html.text, "<bdi class=\"name\">begin"));
    assert_non_null(strstr(html.text, "end</bdi>"));
    by_str_release(&html);
}

/* A name of 10,000 letters of two bytes is cut between letters. */
static void test_name_is_cut_between_letters(void **state)
{
    (void)state;
    char name[20001];
    struct by_str html;
    for (size_t i = 0; i < 20000; i += 2)
        memcpy(name + i, "\u00e9", 2);
    name[20000] = '\0';
    by_str_init(&html);
    by_html_name(&html, name);
    assert_true(by_utf8_valid(html.text, html.size));
    assert_int_equal(count_of(&html, "\u00e9"), 80);
    by_str_release(&html);
}

static void test_json_in_a_script(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{ \"a\" : [ 1 ,\n 2 ] }", "{\"a\":[1,2]}"},
        {"[\"</script> <!-- & \u2028\u2029\"]",
         "[\"\\u003c/script\\u003e \\u003c!-- \\u0026 \\u2028\\u2029\"]"},
        {"[\"\\\" <\",\"\\\\\", \"<\"]", "[\"\\\" \\u003c\",\"\\\\\",\"\\u003c\"]"},
        {"\ufeff{}\n", "{}"},
        {"[\"a  b\"]", "[\"a  b\"]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_str html;
        by_str_init(&html);
        by_html_json(&html, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(by_str_text(&html), rows[i][1]);
        by_str_release(&html);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        void (*put)(struct by_str *, double);
        double value;
        const char *text;
    } rows[] = {
        {by_html_decibels, 21.34, "21.3\u00a0dB"},
        {by_html_decibels, -3, "\u22123.0\u00a0dB"},
        {by_html_decibels, 150, "equal"},
        {by_html_decibels, __builtin_nan(""), "\u2013"},
        {by_html_share, 0.93, "93\u00a0%"},
        {by_html_share, 0.0002, "0.02\u00a0%"},
        {by_html_share, 0.00000012, "&lt;\u00a00.001\u00a0%"},
        {by_html_share, 0, "0\u00a0%"},
        {by_html_share, 1, "100\u00a0%"},
        {by_html_bytes, 999, "999\u00a0B"},
        {by_html_bytes, 3620000, "3.6\u00a0MB"},
        {by_html_bytes, 412e6, "412\u00a0MB"},
        {by_html_count, 34676032, "34,676,032"},
        {by_html_count, 0.5, "0"},
        {by_html_number, 0.0314159, "0.03142"},
        {by_html_seconds, 1.234, "1.23\u00a0s"},
        {by_html_seconds, 200, "3\u00a0min\u00a020\u00a0s"},
        {by_html_decibel_bound, 20, "20\u00a0dB"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_str html;
        by_str_init(&html);
        rows[i].put(&html, rows[i].value);
        assert_string_equal(by_str_text(&html), rows[i].text);
        by_str_release(&html);
    }
}

/* --- The page --- */

/* Style and script must not end their elements, nor have a place that the template fills. */
static void test_assets(void **state)
{
    (void)state;
    for (int place = BY_ASSET_STYLE; place <= BY_ASSET_SCRIPT; place++)
        for (size_t i = 0; i < by_asset_count((enum by_asset_place)place); i++) {
            struct by_asset asset = by_asset_at((enum by_asset_place)place, i);
            assert_true(asset.size > 100);
            assert_null(memmem(asset.text, asset.size, "</", 2));
            assert_null(memmem(asset.text, asset.size, "<!--", 4));
        }
    assert_int_equal(by_asset_count(BY_ASSET_PAGE), 1);
    assert_int_equal(by_asset_count(BY_ASSET_STYLE), 1);
}

static void test_smallest_page(void **state)
{
    (void)state;
    struct by_str html = page_of("{" HEAD "}");
    assert_non_null(strstr(html.text, "<h1>It is written.</h1>"));
    assert_null(strstr(html.text, "<section"));
    assert_null(strstr(html.text, "<nav"));
    assert_null(strstr(html.text, "{{"));
    by_str_release(&html);
}

/* A section is there when its data are, and when it is, the list of sections has it. */
static void test_sections_follow_the_data(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"goals", "\"goals\":[{\"metric\":\"sqnr\",\"least\":20,\"value\":21,\"met\":true}]"},
        {"search", "\"steps\":[{\"name\":\"A8W8\"}]"},
        {"quality", "\"quality\":{\"samples\":4,\"outputs\":[{\"name\":\"y\",\"sqnr_db\":20}]}"},
        {"quality", "\"measured\":{\"unmeasured\":\"there are no samples\"}"},
        {"scores", "\"scores\":[{\"metric\":\"psnr\",\"mean\":31,\"worst\":22}]"},
        {"graph", "\"layers\":[{\"op_type\":\"Conv\"}]"},
        {"table", "\"tensors\":[{\"name\":\"x\"}]"},
        {"samples", "\"examples\":[{\"sample\":\"a.png\"}]"},
        {"work", "\"operators\":[{\"op_type\":\"Conv\",\"nodes\":2,\"quantized\":1}]"},
        {"work", "\"choices\":[{\"text\":\"equalization\",\"gain_db\":2}]"},
        {"costs", "\"seconds\":{\"calibrate\":1.5}"},
        {"repeat", "\"repeat\":\"baryon quantize m.onnx\""},
        {"repeat", "\"notices\":[{\"text\":\"a note\"}]"},
    };
    size_t sections;
    by_sections(&sections);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[512], section[64], link[64];
        snprintf(json, sizeof json, "{" HEAD ",%s}", rows[i][1]);
        snprintf(section, sizeof section, "<section id=\"%s\"", rows[i][0]);
        snprintf(link, sizeof link, "<a href=\"#%s\">", rows[i][0]);
        struct by_str html = page_of(json);
        assert_int_equal(count_of(&html, section), 1);
        assert_int_equal(count_of(&html, link), 1);
        if (strcmp(rows[i][0], "graph") != 0) /* layers have a table, too */
            assert_int_equal(count_of(&html, "<section"), 1);
        by_str_release(&html);
    }
}

/* Whatever a text says, the page has its own two scripts and no element more. */
static void test_hostile_texts(void **state)
{
    (void)state;
    struct by_str plain = page_of("{" HEAD ",\"tensors\":[{\"name\":\"x\",\"why\":\"y\"}]}");
    struct by_str html = page_of("{" HEAD ",\"tensors\":[{\"name\":\"</script><script>alert(1)"
                                 "</script>{{data}}\",\"why\":\"</noscript><h2>\"}]}");
    assert_int_equal(count_of(&html, "<script"), 2);
    assert_int_equal(count_of(&html, "</script"), 2);
    assert_int_equal(count_of(&html, "</noscript"), count_of(&plain, "</noscript"));
    assert_int_equal(count_of(&html, "<h2"), count_of(&plain, "<h2"));
    assert_int_equal(count_of(&html, "<meta"), count_of(&plain, "<meta"));
    by_str_release(&plain);
    by_str_release(&html);
}

/* --- What is wrong --- */

static void test_wrong_reports(void **state)
{
    (void)state;
    static const struct {
        const char *json, *place, *message;
        enum baryon_code code;
    } rows[] = {
        {"", "", "the text is empty, must be a report", BARYON_ERR_INPUT},
        {"null", "", "the text is null, must be a report", BARYON_ERR_INPUT},
        {"[1]", "", "the text is a list, must be a report", BARYON_ERR_INPUT},
        {"{\"report\":1,}", "1:13", "not valid JSON: '}', expected a key in quotes",
         BARYON_ERR_INPUT},
        {"{\"tensors\":[]}", "1:1", "the report has no member 'report', which is required",
         BARYON_ERR_INPUT},
        {"{\n \"report\": 2}", "2:12", "a report of version 2, must be of version 1",
         BARYON_ERR_UNSUPPORTED},
        {"{\"report\":\"1\"}", "1:11", "'report' is a text, must be a number", BARYON_ERR_INPUT},
        {"{\"report\":1,\"command\":\"x\",\"version\":\"1\"}", "1:1",
         "the report has no member 'outcome', which is required", BARYON_ERR_INPUT},
        {"{\"report\":1,\"command\":\"x\",\"version\":\"1\",\"outcome\":{}}", "1:51",
         "'outcome' has no member 'text', which is required", BARYON_ERR_INPUT},
        {"{" HEAD ",\"tensors\":{}}", NULL, "'tensors' is an object, must be a list",
         BARYON_ERR_INPUT},
        {"{" HEAD ",\"tensors\":[{\"name\":\"x\"},{\"name\":7}]}", NULL,
         "'tensors[1].name' is a number, must be a text", BARYON_ERR_INPUT},
        {"{" HEAD ",\"tensors\":[{\"name\":\"x\",\"histogram\":{\"low\":0,\"high\":1,"
         "\"counts\":[1,\"2\"]}}]}",
         NULL, "'tensors[0].histogram.counts[1]' is a text, must be a number", BARYON_ERR_INPUT},
        {"{" HEAD ",\"steps\":[{\"name\":\"x\",\"choose\":{\"sqnr\":\"high\"}}]}", NULL,
         "'steps[0].choose.sqnr' is a text, must be a number", BARYON_ERR_INPUT},
        {"{" HEAD ",\"layers\":[{\"op_type\":\"Conv\",\"nested\":1}]}", NULL,
         "'layers[0].nested' is a number, must be true or false", BARYON_ERR_INPUT},
        {"{" HEAD ",\"outcome\":1}", NULL,
         "key 'outcome' appears in lines 1 and 1, must appear once", BARYON_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_str html;
        struct baryon_error err = {0};
        by_str_init(&html);
        assert_int_equal(by_report_html(rows[i].json, strlen(rows[i].json), &html, &err), -1);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.code, rows[i].code);
        if (rows[i].place)
            assert_string_equal(err.place, rows[i].place);
        assert_string_equal(err.file, "");
        assert_int_equal(html.size, 0);
        by_str_release(&html);
    }
}

/* Members that nobody knows are ignored, null is missing, numbers may be as large as they like. */
static void test_what_is_allowed(void **state)
{
    (void)state;
    struct by_str html =
        page_of("{" HEAD ",\"later\":[{}],\"bytes\":null,\"tensors\":[{\"name\":\"x\","
                "\"scale\":1e999,\"min\":null,\"levels\":[1]}]}");
    assert_non_null(strstr(html.text, "<section id=\"table\""));
    by_str_release(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_linears),
        cmocka_unit_test(test_sentence),
        cmocka_unit_test(test_name_is_cut),
        cmocka_unit_test(test_name_is_cut_between_letters),
        cmocka_unit_test(test_json_in_a_script),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_assets),
        cmocka_unit_test(test_smallest_page),
        cmocka_unit_test(test_sections_follow_the_data),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_wrong_reports),
        cmocka_unit_test(test_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
