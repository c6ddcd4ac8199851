/* Compares SHA-1 with the examples of its standard. */
#include "base/sha1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_digest(const char *text, size_t size, const char *wanted)
{
    uint8_t digest[20];
    char hex[41];
    by_sha1((const uint8_t *)text, size, digest);
    for (size_t i = 0; i < 20; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

/* The standard's own examples, and the lengths around a block. */
static void test_known(void **state)
{
    (void)state;
    assert_digest("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_digest("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    assert_digest(million, 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    assert_digest(million, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    assert_digest(million, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    free(million);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
