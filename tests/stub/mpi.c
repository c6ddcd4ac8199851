/*
 * An MPI of two ranks, for tests: processes that a pair of sockets connects. The environment says
 * which one this is, and the socket.
 */
#include "mpi/baryon_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PACKET_MAX (1 << 16)
#define WAITING    1024

struct message {
    int tag, size;
    char *bytes;
};

static struct message waiting_for[WAITING];
static size_t waiting_count;
static int own_rank, pair;

static int number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : -1;
}

static void library(char *buf, size_t size)
{
    snprintf(buf, size, "two processes");
}

static int start(int *rank, int *size)
{
    own_rank = *rank = number_of("STUB_MPI_RANK");
    pair = number_of("STUB_MPI_SOCKET");
    *size = 2;
    return own_rank < 0 || pair < 0;
}

static int send_bytes(int to, int tag, const void *bytes, int size)
{
    char packet[PACKET_MAX];
    if (to == own_rank || size < 0 || (size_t)size + sizeof tag > sizeof packet)
        return 1;
    memcpy(packet, &tag, sizeof tag);
    memcpy(packet + sizeof tag, bytes, (size_t)size);
    return send(pair, packet, sizeof tag + (size_t)size, MSG_NOSIGNAL) < 0;
}

/* Everything that has come, so that messages of one kind do not stand before those of another. */
static void take_in(void)
{
    char packet[PACKET_MAX];
    ssize_t got;
    while (waiting_count < WAITING &&
           (got = recv(pair, packet, sizeof packet, MSG_DONTWAIT)) >= (ssize_t)sizeof(int)) {
        struct message *message = &waiting_for[waiting_count++];
        message->size = (int)got - (int)sizeof(int);
        message->bytes = malloc((size_t)message->size + 1);
        if (!message->bytes)
            abort();
        memcpy(&message->tag, packet, sizeof message->tag);
        memcpy(message->bytes, packet + sizeof(int), (size_t)message->size);
    }
}

static struct message *find(int tag)
{
    for (size_t i = 0; i < waiting_count; i++)
        if (waiting_for[i].tag == tag)
            return &waiting_for[i];
    return NULL;
}

static int probe(int *from, int tag, int *waiting)
{
    take_in();
    const struct message *message = find(tag);
    *from = 1 - own_rank;
    *waiting = message ? message->size : -1;
    return 0;
}

static int receive(int from, int tag, void *bytes, int size)
{
    struct message *message = find(tag);
    if (from == own_rank || !message || message->size != size)
        return 1;
    memcpy(bytes, message->bytes, (size_t)size);
    free(message->bytes);
    const size_t behind = waiting_count - (size_t)(message - waiting_for) - 1;
    memmove(message, message + 1, behind * sizeof *message);
    waiting_count--;
    return 0;
}

static void text(int code, char *buf, size_t size)
{
    snprintf(buf, size, "error %d of the test", code);
}

static void abort_all(int status)
{
    _exit(status);
}

static int finish(void)
{
    while (waiting_count)
        free(waiting_for[--waiting_count].bytes);
    close(pair);
    return 0;
}

__attribute__((visibility("default"))) extern const struct baryon_mpi baryon_mpi_functions;
const struct baryon_mpi baryon_mpi_functions = {
    .version = BARYON_MPI_VERSION,
    .flavour = "stub",
    .library = library,
    .start = start,
    .send = send_bytes,
    .probe = probe,
    .receive = receive,
    .text = text,
    .abort = abort_all,
    .finish = finish,
};
