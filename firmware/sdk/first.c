/* The program in on-chip memory: makes DRAM usable and starts the application there. */

#include <stdint.h>

#include "kiwicha_isa.h"
#include "machine.h"

int main(void);

int main(void)
{
    kiwicha_platform_init_dram();
    kiwicha_platform_jump(KIWICHA_IMAGE_ADDRESS, 0);
}
