/*
 * Quantizes a model and says how much of it.
 *
 *   cc quantize.c -o quantize $(pkg-config --cflags --libs baryon)
 *   ./quantize model.onnx model_int8.onnx preset=XINT8 data=photos prep=imagenet
 *
 * NAME=VALUE are settings of 'baryon quantize'.
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

int main(int argc, char **argv)
{
    const struct baryon_quantize_options options = {
        .size = sizeof options, .progress = tell, .log = log_line};
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    struct baryon_setting settings[SETTINGS];
    struct baryon_error err;
    char text[1024];
    if (argc < 4)
        return 2;
    size_t count = read_settings(argv + 3, argc - 3, settings);
    if (baryon_quantize_file(argv[1], argv[2], settings, count, &options, &summary, &err)) {
        baryon_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return baryon_code_exit(err.code);
    }
    printf("%s: %llu nodes quantized, %llu could be and are float; %.2f s\n", argv[2],
           (unsigned long long)summary.quantized_nodes, (unsigned long long)summary.float_nodes,
           summary.seconds);
    return 0;
}
