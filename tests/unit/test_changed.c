/* A model's file changes while the model is in use: whoever uses it is told. */
#include "engine_build.h"

#include "cli/models.h"
#include "onnx/save.h"

static char path[64];

static int make_file(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/baryon-changed-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    struct baryon_model *model = add_model();
    const struct by_save_options options = {.writer_flags = BY_WRITER_NO_SYNC};
    int failed = by_model_link(model, &err) || by_model_save(model, path, &options, &err);
    by_model_free(model);
    return failed;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void append_a_byte(void)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fputc(0, file), 0);
    assert_int_equal(fclose(file), 0);
}

static void a_session_is_not_opened(void **state)
{
    (void)state;
    struct baryon_model *model;
    struct by_session *session;
    assert_ok(by_model_load(&model, path, NULL, &err));
    assert_ok(by_session_open_model(&session, model, 0, NULL, &err));
    by_session_close(session);
    append_a_byte();
    assert_int_equal(by_session_open_model(&session, model, 0, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_CHANGED);
    assert_string_equal(err.file, path);
    assert_null(session);
    by_model_free(model);
}

/* It explains failures and successes alike. */
static void a_command_fails(void **state)
{
    (void)state;
    struct by_loaded loaded = {.name = path};
    assert_ok(by_model_load(&loaded.model, path, NULL, &err));
    assert_int_equal(by_model_judge(loaded.model, 0, &err), 0);
    by_fail(&err, BARYON_ERR_UNSUPPORTED, "another reason");
    assert_int_equal(by_model_judge(loaded.model, -1, &err), -1);
    assert_string_equal(err.message, "another reason");
    append_a_byte();
    for (int status = -1; status <= 0; status++) {
        by_fail(&err, BARYON_ERR_UNSUPPORTED, "another reason");
        assert_int_equal(by_model_judge(loaded.model, status, &err), -1);
        assert_int_equal(err.code, BARYON_ERR_CHANGED);
        assert_string_equal(err.file, path);
    }
    by_loaded_close(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_is_not_opened, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_command_fails, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
