/* Tests copies of a model that share its weights. */
#include "onnx/frame.h"
#include "onnx/load.h"
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* y = x + w. The initializer has its raw data (field 9) before its name (field 8), as constants
 * have that were lifted out of nodes. */
static const char raw_first[] = "\x08\x08"
                                ":\x40"
                                "\n\x0e"
                                "\n\x01x\n\x01w\x12\x01y\"\x03"
                                "Add"
                                "\x12\x01g"
                                "*\x0d"
                                "\x08\x01\x10\x01"
                                "J\x04\x00\x00\x80\x3f"
                                "B\x01w"
                                "Z\x0d\n\x01x\x12\x08\n\x06\x08\x01\x12\x02\n\x00"
                                "b\x0d\n\x01y\x12\x08\n\x06\x08\x01\x12\x02\n\x00"
                                "B\x02\x10\x0d";

static struct by_hash128 hash_of(struct baryon_model *model)
{
    struct by_hash128 hash;
    assert_int_equal(by_model_content_hash(model, &hash, NULL), 0);
    return hash;
}

/* Statistics know a model by this hash, and go on where a copy began. */
static void copies_have_the_hash_of_the_model(void **state)
{
    struct baryon_model *model, *copy;
    struct by_frame frame;
    (void)state;
    assert_int_equal(by_model_load_bytes(&model, raw_first, sizeof raw_first - 1, NULL, NULL, NULL),
                     0);
    assert_int_equal(by_model_link(model, NULL), 0);
    const struct by_hash128 whole = hash_of(model);
    assert_int_equal(by_frame_take(&frame, model, NULL), 0);
    assert_int_equal(by_frame_copy(&frame, &copy, NULL), 0);
    assert_true(by_hash128_equal(hash_of(copy), whole));
    assert_true(by_hash128_equal(hash_of(model), whole));
    by_model_free(copy);
    by_frame_release(&frame);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_have_the_hash_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
