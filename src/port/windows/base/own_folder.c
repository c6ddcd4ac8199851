/* Finds the folder of the library or program that this code is linked into. */
#include "base/file.h"
#include "base/file_kind.h"
#include "port/windows/inside.h"

bool by_own_folder(char *buf, size_t size)
{
    char real[PATH_MAX];
    struct link_map *map;
    return dlinfo(NULL, RTLD_DI_LINKMAP, (void *)&map) == 0 && realpath(map->l_name, real) &&
           by_folder_of(real, buf, size);
}

bool by_path_of_folder(int fd, char *buf, size_t size)
{
    wchar_t wide[BY_WIDE_MAX];
    return by_win_path_of(wide, by_win_handle(fd)) && by_win_narrow(buf, size, wide);
}
