// Command line of the simulator.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/// A range of simulated memory and the file it is read from or written to.
struct Image {
    uint32_t address;
    uint32_t bytes;  ///< Of a dump; a load takes the file's size.
    std::string path;
};

struct Options {
    std::vector<Image> loads;
    std::vector<Image> dumps;
    uint64_t max_cycles = 1'000'000'000;
    std::string uart_output = "-";  ///< "-" is standard output.
    std::string uart_input;         ///< "-" is standard input; empty: nothing arrives.
    std::string activity_path;      ///< Empty: none is written.
    std::string trace_path;         ///< Empty: no trace.
    uint64_t trace_start = 0;
    uint64_t trace_stop = std::numeric_limits<uint64_t>::max();
};

/// Arguments or files that cannot be used; the text says why.
class UsageError : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

Options parse_options(int argc, char** argv);
