/* Every allocation fails, once and for good, while a page is made of a report. */
#include "report/html/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

#include "tests/fault/sweep.h"

static int make_page(void)
{
    static const char json[] =
        "{\"report\":1,\"command\":\"auto\",\"version\":\"1\",\"outcome\":{\"text\":\"Written.\"},"
        "\"goals\":[{\"metric\":\"sqnr\",\"least\":20,\"value\":21,\"met\":true}],"
        "\"steps\":[{\"name\":\"A8W8\",\"choose\":{\"sqnr\":21}}],"
        "\"tensors\":[{\"name\":\"x\",\"why\":\"input\"}],\"seconds\":{\"calibrate\":1}}";
    struct by_str html;
    by_str_init(&html);
    int status = by_report_html(json, strlen(json), &html, &err);
    by_str_release(&html);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    sweep_memory(make_page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
