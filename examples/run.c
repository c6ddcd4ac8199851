/*
 * Runs a model once, on a ramp of numbers, and shows what comes out.
 *
 *   cc run.c -o run $(pkg-config --cflags --libs baryon)
 *   ./run model.onnx [SIZE]      SIZE: of open dimensions, 1 by default
 */
#include <baryon.h>

#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 16, RANK = 16, FLOAT32 = 1 };

/* An input filled with numbers from 0 up to 1; data goes back with free(). */
static int fill(const struct baryon_port *port, int64_t open_size, int64_t *dims,
                struct baryon_array *array)
{
    size_t count = 1;
    if (port->type != FLOAT32 || port->rank < 0 || port->rank > RANK)
        return fprintf(stderr, "%s is no input for this example\n", port->name);
    for (int i = 0; i < port->rank; i++) {
        dims[i] = port->dims[i] < 0 ? open_size : port->dims[i];
        count *= (size_t)dims[i];
    }
    float *data = malloc(count * sizeof *data + 1);
    for (size_t i = 0; data && i < count; i++)
        data[i] = (float)i / (float)count;
    *array =
        (struct baryon_array){port->name, FLOAT32, port->rank, dims, data, count * sizeof *data};
    return !data;
}

static void show(const struct baryon_array *array)
{
    printf("%s: %s [", array->name, baryon_type_name(array->type));
    for (int i = 0; i < array->rank; i++)
        printf("%s%lld", i ? "," : "", (long long)array->dims[i]);
    printf("], %zu bytes", array->size);
    if (array->type == FLOAT32 && array->size)
        printf(", begins with %g", (double)*(const float *)array->data);
    putchar('\n');
}

static int run(struct baryon_session *session, int64_t open_size, struct baryon_error *err)
{
    struct baryon_array inputs[INPUTS] = {{0}};
    int64_t dims[INPUTS][RANK];
    struct baryon_run *run = NULL;
    size_t count = baryon_session_input_count(session), filled = 0;
    while (filled < count && filled < INPUTS &&
           !fill(baryon_session_input(session, filled), open_size, dims[filled], &inputs[filled]))
        filled++;
    int failed = baryon_session_run(session, inputs, filled, NULL, 0, &run, err);
    for (size_t i = 0; run && i < baryon_run_output_count(run); i++)
        show(baryon_run_output(run, i));
    baryon_run_free(run);
    while (filled)
        free((void *)inputs[--filled].data);
    return failed;
}

int main(int argc, char **argv)
{
    struct baryon_error err;
    struct baryon_session *session = NULL;
    char text[1024];
    if (argc < 2)
        return 2;
    int failed = baryon_session_open(&session, argv[1], NULL, &err) ||
                 run(session, argc > 2 ? strtoll(argv[2], NULL, 10) : 1, &err);
    baryon_session_close(session);
    if (!failed)
        return 0;
    baryon_error_format(&err, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return baryon_code_exit(err.code);
}
