/*
 * Makes every allocation and every file operation of load -> edit -> save fail,
 * one run each, once and from then on. Each run has to end with a clean error and
 * no file left behind, or with the same bytes as the undisturbed run; and all
 * memory has to be back.
 *
 *   torture MODEL...      built with -DBARYON_FAULTS
 */
#include "base/fault.h"
#include "ir/graph.h"
#include "onnx/check.h"
#include "onnx/load.h"
#include "onnx/save.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
    const char *model, *folder;
    char out[512];
    char *wanted; /* bytes of the undisturbed run */
    size_t wanted_size;
    unsigned long runs, errors, identical, bad;
};

static const struct by_save_options options = {
    .data = BY_SAVE_EXTERNAL, .external_file = "out.data", .external_min = 4096};

static int edit_graph(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    (void)context, (void)depth;
    size_t count = graph->node.count;
    for (size_t i = 0; i < count; i += 1 + count / 8) {
        struct baryon_node *node = graph->node.at[i];
        struct baryon_value *value = node ? by_node_in(node, 0) : NULL;
        if (!value)
            continue;
        if (!by_graph_insert_on_edge(node, 0, "Identity", "", NULL, 0, err))
            return -1;
        if (value->initializer && value->graph == graph &&
            !by_graph_duplicate_initializer(value, err))
            return -1;
        const char *name = by_model_fresh_name(graph->model, "renamed", err);
        if (!name || (value->producer && by_value_rename(value, name, err)))
            return -1;
    }
    size_t removed;
    return by_graph_prune(graph, &removed, err);
}

/* With somebody who listens, all rules run. */
static bool listen(void *context, const struct by_finding *finding)
{
    (void)context, (void)finding;
    return true;
}

static int work(const struct job *job, struct baryon_error *err)
{
    struct baryon_model *model;
    if (by_model_load(&model, job->model, NULL, err))
        return -1;
    int failed = by_model_check(model, NULL, listen, NULL, err) || by_model_link(model, err) ||
                 by_model_each_graph(model, edit_graph, NULL, err) ||
                 by_model_save(model, job->out, &options, err);
    by_model_free(model);
    return failed ? -1 : 0;
}

static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return count;
}

static void clear_folder(const struct job *job)
{
    char path[1024];
    DIR *dir = opendir(job->folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", job->folder, entry->d_name);
        if (entry->d_type == DT_REG)
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

static int complain(struct job *job, const char *fault, uint64_t k, const char *what)
{
    printf("%s: %s fault %llu: %s\n", job->model, fault, (unsigned long long)k, what);
    job->bad++;
    return -1;
}

/* -1: there is no output; 0: another one; 1: the right one. */
static int compare_output(const struct job *job)
{
    char *bytes;
    size_t size;
    if (access(job->out, F_OK))
        return -1;
    if (by_read_file(job->out, 1u << 31, &bytes, &size, NULL))
        return 0;
    bool same = size == job->wanted_size && memcmp(bytes, job->wanted, size) == 0;
    by_free(bytes);
    return same;
}

static int judge_success(struct job *job, const char *fault, uint64_t k)
{
    job->identical++;
    return compare_output(job) == 1 ? 0 : complain(job, fault, k, "success, but other bytes");
}

static int judge_failure(struct job *job, const char *fault, uint64_t k, bool memory,
                         const struct baryon_error *err)
{
    char text[2048];
    job->errors++;
    if (memory && err->code != BARYON_ERR_NOMEM) {
        baryon_error_format(err, text, sizeof text);
        return complain(job, fault, k, text);
    }
    if (!err->message[0])
        return complain(job, fault, k, "failed without a message");
    if (memory && files_in(job->folder))
        return complain(job, fault, k, "output files left behind");
    /* When only the folder's sync failed, both files are in place, and the message says so. */
    if (compare_output(job) == 0)
        return complain(job, fault, k, "half an output left behind");
    if (compare_output(job) < 0 && files_in(job->folder))
        return complain(job, fault, k, "other files left behind");
    return 0;
}

static void one_run(struct job *job, enum by_fault_kind kind, uint64_t k, bool forever)
{
    static const char *const names[][2] = {{"memory", "lasting memory"}, {"file", "lasting file"}};
    const char *fault = names[kind == BY_FAULT_IO][forever];
    struct baryon_error err;
    by_err_clear(&err);
    size_t before = mallinfo2().uordblks;
    by_fault_arm(kind, k, forever);
    int failed = work(job, &err);
    by_fault_arm(kind, 0, false);
    size_t after = mallinfo2().uordblks;
    job->runs++;
    if (after != before)
        complain(job, fault, k, "memory not given back");
    if (failed)
        judge_failure(job, fault, k, kind == BY_FAULT_ALLOC, &err);
    else
        judge_success(job, fault, k);
    clear_folder(job);
}

static int undisturbed(struct job *job, uint64_t calls[BY_FAULT_KINDS])
{
    struct baryon_error err;
    char text[2048];
    uint64_t start[BY_FAULT_KINDS];
    /* The first run warms the C library's own caches. */
    for (int round = 0; round < 2; round++) {
        for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
            start[kind] = by_fault_count((enum by_fault_kind)kind);
        if (work(job, &err)) {
            baryon_error_format(&err, text, sizeof text);
            printf("%s: %s\n", job->model, text);
            return -1;
        }
    }
    for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
        calls[kind] = by_fault_count((enum by_fault_kind)kind) - start[kind];
    return by_read_file(job->out, 1u << 31, &job->wanted, &job->wanted_size, &err);
}

static bool torture(const char *model, const char *folder)
{
    struct job job = {.model = model, .folder = folder};
    uint64_t calls[BY_FAULT_KINDS];
    snprintf(job.out, sizeof job.out, "%s/out.onnx", folder);
    if (undisturbed(&job, calls))
        return false;
    clear_folder(&job);
    for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
        for (uint64_t k = 1; k <= calls[kind]; k++) {
            one_run(&job, (enum by_fault_kind)kind, k, false);
            one_run(&job, (enum by_fault_kind)kind, k, true);
        }
    by_free(job.wanted);
    printf("%s: %llu allocations and %llu file operations, %lu runs: %lu clean errors, "
           "%lu identical results, %lu wrong\n",
           model, (unsigned long long)calls[BY_FAULT_ALLOC], (unsigned long long)calls[BY_FAULT_IO],
           job.runs, job.errors, job.identical, job.bad);
    return job.bad == 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/baryon-torture-XXXXXX";
    int passed = 0, failed = 0;
    if (argc < 2 || !mkdtemp(folder))
        return 2;
    for (int i = 1; i < argc; i++)
        torture(argv[i], folder) ? passed++ : failed++;
    rmdir(folder);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
