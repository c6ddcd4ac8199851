/*
 * Runs passes on models and saves what comes out.
 *
 *   pass_run < jobs      lines "IN<tab>OUT<tab>PASS,PASS,...<tab>OPTION,OPTION..."
 *
 * PASS is a name, "default", "npu" or "dpu" (those that run by themselves), in any order. OPTION:
 * "compat", "opset=N", "exclude=NODE" (stays float), "dump=FOLDER", "shapes=NAME:[1|3];..." ("|"
 * for the comma), "nhwc=INPUT", "copy=OPERATOR", "copy-bias=OPERATOR",
 * "from=NODE" and "to=NODE" (of one region of fp16-to-fp32 and its like), "keep-io",
 * "keep-excluded", "clamp".
 * Prints for each job "OK" and the number of changes, or "FAIL message"; then for every node of
 * the result a line "N<tab>name<tab>operator<tab>its origins by name", with "origins" among the
 * options.
 */
#include "onnx/load.h"
#include "onnx/save.h"
#include "pass/retype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MAX 128
#define NAMES_MAX  16

struct job {
    char *in, *out, *passes, *options;
    const char *dump;
    const char *starts[8], *ends[8];
    struct by_pass_region region;
    struct by_retype_options retype;
    bool show;
};

static size_t changes;

static void count_changes(void *context, enum by_log_level level, const char *text)
{
    (void)context, (void)level;
    const char *colon = strrchr(text, ':');
    changes += colon ? (size_t)strtoul(colon + 1, NULL, 10) : 0;
}

static int choose(char *list, bool *on, struct baryon_error *err)
{
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    for (char *rest, *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        const struct by_pass *pass = by_pass_find(name);
        if (strcmp(name, "default") == 0 || strcmp(name, "npu") == 0 || strcmp(name, "dpu") == 0) {
            by_passes_defaults(on, *name != 'd' || name[1] == 'p', strcmp(name, "dpu") == 0);
            continue;
        }
        if (!pass)
            return by_fail(err, BARYON_ERR_USAGE, "no pass '%s'", name);
        for (size_t i = 0; i < count; i++)
            on[i] = on[i] || passes[i] == pass;
    }
    return 0;
}

static void exclude(struct by_origins *origins, const char *name)
{
    size_t count;
    struct by_user_node *users = by_origins_user(origins, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(users[i].name, name) == 0) {
            users[i].excluded = true;
            users[i].why = "asked for";
        }
    }
}

static const char *with_commas(char *text)
{
    for (char *at = text; (at = strchr(at, '|'));)
        *at = ',';
    return text;
}

static void add_name(struct by_names *names, const char *name)
{
    if (names->count < names->cap)
        names->at[names->count++] = name;
}

static int set_options(struct job *job, struct by_pass_context *context, struct baryon_error *err)
{
    char *rest, *list = job->options;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "compat") == 0)
            context->compat = true;
        else if (strcmp(word, "origins") == 0)
            job->show = true;
        else if (strncmp(word, "opset=", 6) == 0)
            context->opset = atol(word + 6);
        else if (strncmp(word, "exclude=", 8) == 0)
            exclude(context->origins, word + 8);
        else if (strncmp(word, "from=", 5) == 0 && job->region.start_count < 8)
            job->starts[job->region.start_count++] = word + 5;
        else if (strncmp(word, "to=", 3) == 0 && job->region.end_count < 8)
            job->ends[job->region.end_count++] = word + 3;
        else if (strcmp(word, "keep-io") == 0)
            job->retype.keep_io = true;
        else if (strcmp(word, "keep-excluded") == 0)
            job->retype.keep_excluded = true;
        else if (strcmp(word, "clamp") == 0)
            job->retype.clamp = true;
        else if (strncmp(word, "dump=", 5) == 0)
            job->dump = word + 5;
        else if (strncmp(word, "shapes=", 7) == 0)
            context->fix_shapes = with_commas(word + 7);
        else if (strncmp(word, "nhwc=", 5) == 0)
            add_name(&context->nhwc, word + 5);
        else if (strncmp(word, "copy=", 5) == 0)
            add_name(&context->copy_for, word + 5);
        else if (strncmp(word, "copy-bias=", 10) == 0)
            add_name(&context->copy_bias_for, word + 10);
        else
            return by_fail(err, BARYON_ERR_USAGE, "no option '%s'", word);
    }
    job->region.starts = job->starts;
    job->region.ends = job->ends;
    job->retype.regions = &job->region;
    job->retype.region_count = job->region.start_count + job->region.end_count ? 1 : 0;
    context->retype = &job->retype;
    return 0;
}

static int show_node(void *context, struct baryon_graph *graph, unsigned depth,
                     struct baryon_error *err)
{
    (void)depth, (void)err;
    struct by_origins *origins = context;
    size_t users, count;
    const struct by_user_node *user = by_origins_user(origins, &users);
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        const size_t *of = by_origins_of(origins, node, &count);
        printf("N\t%s\t%s\t", node->name ? node->name : "", node->op_type);
        for (size_t k = 0; k < count; k++)
            printf("%s%s", k ? " " : "", user[of[k]].name);
        printf("\n");
    }
    return 0;
}

static int work(struct job *job, struct by_pass_context *context, struct baryon_error *err)
{
    bool on[PASSES_MAX] = {false};
    const struct by_save_options options = {.writer_flags = BY_WRITER_NO_SYNC};
    changes = 0;
    if (by_origins_open(&context->origins, context->model, err) || set_options(job, context, err) ||
        choose(job->passes, on, err) || by_passes_run(context, on, job->dump, err) ||
        by_graph_verify(context->model, err) ||
        by_model_save(context->model, job->out, &options, err))
        return -1;
    printf("OK\t%zu\n", changes);
    return job->show ? by_model_each_graph(context->model, show_node, context->origins, err) : 0;
}

static int run(struct job *job, struct baryon_error *err)
{
    const struct by_log log = {count_changes, NULL, BY_LOG_DEBUG};
    const struct by_session_options session = {.threads = 1, .optimization = 0};
    const char *names[3][NAMES_MAX];
    struct by_pass_context context = {.log = &log,
                                      .session = &session,
                                      .nhwc = {names[0], 0, NAMES_MAX},
                                      .copy_for = {names[1], 0, NAMES_MAX},
                                      .copy_bias_for = {names[2], 0, NAMES_MAX}};
    if (by_model_load(&context.model, job->in, NULL, err))
        return -1;
    int failed = work(job, &context, err);
    by_origins_close(context.origins);
    by_model_free(context.model);
    return failed;
}

static char *field(char **line)
{
    char *start = *line, *tab = strchr(start, '\t');
    *line = tab ? tab + 1 : start + strlen(start);
    if (tab)
        *tab = '\0';
    return start;
}

int main(void)
{
    char line[8192];
    while (fgets(line, sizeof line, stdin)) {
        struct baryon_error err;
        char *at = line;
        line[strcspn(line, "\n")] = '\0';
        struct job job = {.in = field(&at), .out = field(&at), .passes = field(&at)};
        job.options = field(&at);
        if (run(&job, &err)) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            printf("FAIL\t%s\n", text);
        }
        printf("END\n");
        fflush(stdout);
    }
    return 0;
}
