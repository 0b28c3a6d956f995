// A log of what the engine and the firmware's steps do, cheap enough for every run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "states.h"

class Activity {
   public:
    /// `path` receives the records; an empty one gives none.
    Activity(const std::string& path, Memory& memory);
    ~Activity();
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

    /// Looks at the state in a cycle, after its rising edge.
    void sample(const Vsoc& top, uint64_t cycle) {
        if (file_ && states_.sample(top, cycle)) write();
    }

    /// Ends the log.
    void finish(uint64_t cycle);

   private:
    void write();

    std::FILE* file_ = nullptr;
    States states_;
};
