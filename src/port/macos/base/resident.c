/* Asks how much memory of the process is resident. */
#include "base/cpu.h"

#include <mach/mach.h>

uint64_t by_resident_bytes(void)
{
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    return task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) ==
                   KERN_SUCCESS
               ? info.resident_size
               : 0;
}
