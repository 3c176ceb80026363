// Names and numbers in messages.

#include "launch.hpp"

namespace warpath_emulator {

const char* name_of(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::synchronize: return "__syncwarp";
        case WarpOperation::shuffle: return "a shuffle";
        case WarpOperation::ballot: return "a ballot";
        default: return "a warp reduction";
    }
}

const char* name_of(Meeting meeting) {
    switch (meeting) {
        case Meeting::block: return "__syncthreads";
        case Meeting::cluster: return "cluster_barrier";
        default: return "grid_barrier";
    }
}

std::string in_words(Site site) {
    std::string file = site.file_name();
    return " (" + file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(site.line()) + ")";
}

std::string in_words(uint3 index) {
    std::string words = std::to_string(index.x);
    if (index.y != 0 || index.z != 0) words += "," + std::to_string(index.y) + "," + std::to_string(index.z);
    return words;
}

std::string ranges(const std::vector<unsigned>& numbers) {
    std::string words;
    for (size_t first = 0; first < numbers.size();) {
        size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!words.empty()) words += ", ";
        words += std::to_string(numbers[first]);
        if (last > first) words += "-" + std::to_string(numbers[last]);
        first = last + 1;
    }
    return words;
}

bool is_same(Site a, Site b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

}  // namespace warpath_emulator
