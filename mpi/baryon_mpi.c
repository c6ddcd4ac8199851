/* Wraps the MPI calls that Baryon uses; built once for each MPI with its mpicc. */
#include "mpi/baryon_mpi.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void library(char *buf, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = '\0';
    text[strcspn(text, ",\n")] = '\0'; /* what follows is about how it was built */
    for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab, '\t'))
        *tab = ' ';
    snprintf(buf, size, "%s", text);
}

static int start(int *rank, int *size)
{
    int provided, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (code != MPI_SUCCESS)
        return code;
    if (provided < MPI_THREAD_SERIALIZED)
        return MPI_ERR_OTHER;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return code == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, size) : code;
}

static int send_bytes(int to, int tag, const void *bytes, int size)
{
    return MPI_Send(bytes, size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static int probe(int *from, int tag, int *waiting)
{
    MPI_Status status;
    int there = 0;
    *waiting = -1;
    int code = MPI_Iprobe(*from < 0 ? MPI_ANY_SOURCE : *from, tag, MPI_COMM_WORLD, &there, &status);
    if (code != MPI_SUCCESS || !there)
        return code;
    *from = status.MPI_SOURCE;
    return MPI_Get_count(&status, MPI_BYTE, waiting);
}

static int receive(int from, int tag, void *bytes, int size)
{
    return MPI_Recv(bytes, size, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void text(int code, char *buf, size_t size)
{
    char message[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, message, &length) != MPI_SUCCESS)
        length = 0;
    message[length] = '\0';
    snprintf(buf, size, "%s", message);
}

static void abort_all(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

static int finish(void)
{
    return MPI_Finalize();
}

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

extern const struct baryon_mpi baryon_mpi_functions;
__attribute__((visibility("default"))) const struct baryon_mpi baryon_mpi_functions = {
    .version = BARYON_MPI_VERSION,
    .flavour = VALUE_OF(BARYON_MPI_FLAVOUR),
    .library = library,
    .start = start,
    .send = send_bytes,
    .probe = probe,
    .receive = receive,
    .text = text,
    .abort = abort_all,
    .finish = finish,
};
