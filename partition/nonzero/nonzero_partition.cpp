#include <krylith/partition/nonzero/nonzero_partition.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/partition/balance/fraction.hpp>

namespace krylith {

using std::to_string;

nonzero_partition equal_entries(std::int64_t entries, int parts) {
    if (entries < 0)
        throw usage_error("equal_entries: entries is " + to_string(entries) +
                          ", must be 0 or more");
    if (parts < 1)
        throw usage_error("equal_entries: parts is " + to_string(parts) + ", must be 1 or more");
    nonzero_partition result;
    for (int k = 1; k <= parts; ++k) result.begin.push_back(fraction_of(entries, k, parts));
    return result;
}

void check(const nonzero_partition& partition, std::int64_t entries) {
    const auto& begin = partition.begin;
    if (begin.size() < 2)
        throw usage_error("nonzero_partition: begin has " + to_string(begin.size()) +
                          " numbers, must have parts + 1 with at least 1 part");
    if (begin.front() != 0)
        throw usage_error("nonzero_partition: begin[0] is " + to_string(begin.front()) +
                          ", must be 0");
    for (std::size_t k = 1; k < begin.size(); ++k)
        if (begin[k] < begin[k - 1])
            throw usage_error("nonzero_partition: begin[" + to_string(k) + "] is " +
                              to_string(begin[k]) + ", must not be below begin[" +
                              to_string(k - 1) + "], which is " + to_string(begin[k - 1]));
    if (begin.back() != entries)
        throw usage_error("nonzero_partition: begin[" + to_string(begin.size() - 1) + "] is " +
                          to_string(begin.back()) + ", must be the number of entries, " +
                          to_string(entries));
}

} // namespace krylith
