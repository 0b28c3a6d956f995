// Verilator's writer of toggle counts (SAIF) in place of its writer of waveforms: simulators that
// count are built from the same harness.
#pragma once

#include "verilated_saif_c.h"

class VerilatedFstC final : public VerilatedSaifC {};
