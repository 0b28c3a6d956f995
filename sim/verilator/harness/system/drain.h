// When a simulation whose firmware has finished may stop.
#pragma once

#include <cstdint>

/// After the firmware's last store DRAM needs this long to hold it: the controller's queues of 8
/// commands per bank, a row change and a refresh take under 200 cycles.
constexpr uint64_t kDrainCycles = 512;
