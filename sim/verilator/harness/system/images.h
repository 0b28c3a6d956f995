// Files as contents of simulated memory.
#pragma once

#include "memory.h"
#include "options.h"

/// Copies a file to an address; the range must lie in on-chip memory or in DRAM.
void load_image(Memory& memory, const Image& image);
/// Copies a range into a file.
void dump_image(Memory& memory, const Image& image);
