/*
 * The little of MPI that Baryon uses, as a library of its own for each MPI: the program
 * is built without any and opens the one that it was started by.
 *
 * One thread calls at a time. Results are 0, or an error code of MPI's for text().
 */
#ifndef BARYON_MPI_H
#define BARYON_MPI_H

#include <stddef.h>

#define BARYON_MPI_VERSION 1
#define BARYON_MPI_SYMBOL  "baryon_mpi_functions"

struct baryon_mpi {
    int version;
    const char *flavour;                     /* "openmpi" */
    void (*library)(char *buf, size_t size); /* "Open MPI v4.1.4"; before start() too */
    int (*start)(int *rank, int *size);
    int (*send)(int to, int tag, const void *bytes, int size);
    /* *waiting: size of a message that is there, -1 when there is none. from -1: any. */
    int (*probe)(int *from, int tag, int *waiting);
    int (*receive)(int from, int tag, void *bytes, int size);
    void (*text)(int code, char *buf, size_t size);
    void (*abort)(int status); /* ends all ranks, this one too */
    int (*finish)(void);
};

#endif
