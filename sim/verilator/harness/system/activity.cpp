#include "activity.h"

#include <cerrno>
#include <cstring>

#include "options.h"

Activity::Activity(const std::string& path, Memory& memory) : states_(memory) {
    if (path.empty()) return;
    file_ = std::fopen(path.c_str(), "wb");
    if (!file_) throw UsageError("cannot open '" + path + "': " + std::strerror(errno));
}

Activity::~Activity() {
    if (file_) std::fclose(file_);
}

void Activity::finish(uint64_t cycle) {
    states_.finish(cycle);
    if (file_) write();
}

void Activity::write() {
    if (std::fwrite(&states_.last(), sizeof(ActivityRecord), 1, file_) != 1)
        throw UsageError(std::string("cannot write the activity: ") + std::strerror(errno));
}
