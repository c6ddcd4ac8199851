/*
 * Calibrates a model and shows what a method chooses for each tensor.
 *
 *   cc calibrate.c -o calibrate $(pkg-config --cflags --libs baryon)
 *   ./calibrate model.onnx METHOD TYPE NAME=VALUE...
 *
 * NAME=VALUE are settings of 'baryon calibrate': data=photos prep=imagenet out=model.stats
 */
#include <baryon.h>

#include <stdio.h>
#include <string.h>

enum { SETTINGS = 32 };

/* Cuts each word at its '='. */
static size_t read_settings(char **words, int count, struct baryon_setting *settings)
{
    size_t given = 0;
    for (int i = 0; i < count && given < SETTINGS; i++) {
        char *equals = strchr(words[i], '=');
        if (equals)
            *equals++ = '\0';
        settings[given++] = (struct baryon_setting){words[i], equals};
    }
    return given;
}

static bool tell(void *context, const struct baryon_progress *progress)
{
    (void)context;
    fprintf(stderr, "\r%s: %llu of %llu%s", progress->stage, (unsigned long long)progress->done,
            (unsigned long long)progress->total, progress->done == progress->total ? "\n" : "");
    return true;
}

static void log_line(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
}

static int show(const struct baryon_statistics *statistics, const char *method, const char *type,
                struct baryon_error *err)
{
    struct baryon_range range = {.size = sizeof range};
    for (size_t i = 0; i < baryon_statistics_tensor_count(statistics); i++) {
        const char *name = baryon_statistics_tensor(statistics, i)->name;
        if (baryon_statistics_range(statistics, name, method, type, NULL, &range, err))
            return -1;
        printf("%s: %g to %g, scale %g, zero point %lld\n", name, range.low, range.high,
               range.scale, (long long)range.zero_point);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct baryon_calibrate_options options = {
        .size = sizeof options, .progress = tell, .log = log_line};
    struct baryon_setting settings[SETTINGS];
    struct baryon_statistics *statistics = NULL;
    struct baryon_error err;
    char text[1024];
    if (argc < 4)
        return 2;
    size_t count = read_settings(argv + 4, argc - 4, settings);
    int failed = baryon_calibrate_file(&statistics, argv[1], settings, count, &options, &err) ||
                 show(statistics, argv[2], argv[3], &err);
    baryon_statistics_free(statistics);
    if (!failed)
        return 0;
    baryon_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return baryon_code_exit(err.code);
}
