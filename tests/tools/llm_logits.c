/*
 * Logits of a language model, as raw floats on stdout.
 *
 *   llm_logits [--simulate | --rotate NUMBER] MODEL LENGTH ID...     whole windows of so many ids
 */
#include "llm/decoder/decoder.h"
#include "llm/opened.h"
#include "llm/rotate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int logits_of(const struct by_decoder *decoder, const uint32_t *ids, size_t windows,
                     size_t length, struct baryon_error *err)
{
    struct by_decoder_run run;
    struct by_pool *pool = NULL;
    float *logits = by_alloc(length * decoder->vocab, sizeof *logits, err);
    int status = logits && !by_pool_open(&pool, 2, err) ? 0 : -1;
    if (!status)
        status = by_decoder_begin(&run, decoder, ids, windows, length, pool, err);
    for (size_t i = 0; !status && i < decoder->layers; i++)
        status = by_decoder_step(&run, i, err);
    if (!status)
        status = by_decoder_finish(&run, err);
    for (size_t i = 0; !status && i < windows; i++) {
        status = by_decoder_logits(&run, i, 0, length, logits, err);
        if (!status)
            fwrite(logits, sizeof *logits, length * decoder->vocab, stdout);
    }
    by_decoder_end(&run);
    by_pool_close(pool);
    by_free(logits);
    return status;
}

int main(int argc, char **argv)
{
    struct baryon_error err = {0};
    struct by_llm_opened opened;
    struct by_decoder decoder = {0};
    const bool rounds = argc > 1 && !strcmp(argv[1], "--simulate");
    const bool turns = argc > 2 && !strcmp(argv[1], "--rotate");
    const unsigned rotations = turns ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct by_llm_rotated *rotated = NULL;
    argc -= turns ? 2 : rounds;
    argv += turns ? 2 : rounds;
    if (argc < 4) {
        fprintf(stderr, "usage: llm_logits [--simulate | --rotate NUMBER] MODEL LENGTH ID...\n");
        return 2;
    }
    const size_t length = (size_t)strtoul(argv[2], NULL, 10), count = (size_t)argc - 3;
    uint32_t *ids = by_alloc(count, sizeof *ids, &err);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = (uint32_t)strtoul(argv[3 + i], NULL, 10);
    int status = by_llm_open_to_run(&opened, argv[1], &err);
    if (!status && rotations)
        status = by_llm_rotate(&rotated, &opened, rotations, &err);
    if (!status)
        status = by_decoder_open(&decoder, &opened.source, opened.checkpoint->config, &err);
    if (!status && rounds)
        status = by_decoder_simulate(&decoder, &(size_t){0}, &err);
    if (!status && ids)
        status = logits_of(&decoder, ids, count / length, length, &err);
    by_decoder_close(&decoder);
    by_llm_rotated_close(rotated);
    by_llm_close(&opened);
    by_free(ids);
    if (status) {
        char text[1024];
        baryon_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return status != 0;
}
