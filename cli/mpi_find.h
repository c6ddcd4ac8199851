/*
 * Which MPI started the program, and its library of ours (mpi/baryon_mpi.h).
 *
 * mpirun and srun say so in the environment: OMPI_COMM_WORLD_SIZE (Open MPI), PMI_SIZE (MPICH
 * and its kin, Slurm's pmi2), PMIX_RANK (Slurm's pmix). $BARYON_MPI names another flavour or a
 * path; "none" means that nobody started several of us. Libraries are looked for beside the
 * program, then in its lib/baryon.
 */
#ifndef BY_MPI_FIND_H
#define BY_MPI_FIND_H

#include "base/err.h"
#include "mpi/baryon_mpi.h"

/* The flavours that the environment speaks of, likely ones first, NULL after the last;
 * none: the program runs alone. */
const char *const *by_mpi_wanted(void);
/* How many ranks there are, as the environment says; 0: it does not. */
int by_mpi_expected(void);
/* For the first of the processes that srun has started without an MPI: how many they are. 0 for
 * the others, where there is an MPI, or where $BARYON_MPI says that it is meant so. */
int by_mpi_strangers(void);
/* All flavours, NULL after the last. */
const char *const *by_mpi_flavours(void);
/* Never closed again. */
int by_mpi_load(const struct baryon_mpi **mpi, const char *flavour, struct baryon_error *err);
/* What is known of a flavour without starting it. */
struct by_mpi_seen {
    char path[1024];   /* "": there is no such library */
    char version[128]; /* "Open MPI v4.1.4"; "": it cannot be loaded */
};
/* Does not get in the way of others. */
int by_mpi_look(const char *flavour, struct by_mpi_seen *seen, struct baryon_error *err);

#endif
