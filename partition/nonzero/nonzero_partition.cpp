#include <krylith/partition/nonzero/nonzero_partition.hpp>

#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/partition/balance/fraction.hpp>

namespace krylith {

namespace {

using std::to_string;

constexpr std::int64_t most_weight = std::numeric_limits<std::int32_t>::max();

void require_entries(const char* who, std::int64_t entries) {
    if (entries < 0)
        throw usage_error(std::string(who) + ": entries is " + to_string(entries) +
                          ", must be 0 or more");
}

[[noreturn]] void refuse_item(const char* who, const char* list, std::size_t place,
                              std::int64_t value, const std::string& allowed) {
    throw usage_error(std::string(who) + ": " + list + "[" + to_string(place) + "] is " +
                      to_string(value) + ", " + allowed);
}

} // namespace

nonzero_partition equal_entries(std::int64_t entries, int parts) {
    require_entries("equal_entries", entries);
    if (parts < 1)
        throw usage_error("equal_entries: parts is " + to_string(parts) + ", must be 1 or more");
    nonzero_partition result;
    for (int k = 1; k <= parts; ++k) result.begin.push_back(fraction_of(entries, k, parts));
    return result;
}

nonzero_partition weighted_entries(std::int64_t entries, std::span<const std::int64_t> weights) {
    require_entries("weighted_entries", entries);
    std::int64_t all = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        if (weights[k] < 0 || weights[k] > most_weight - all)
            refuse_item("weighted_entries", "weights", k, weights[k],
                        "must be 0 or more, and the sum at most " + to_string(most_weight));
        all += weights[k];
    }
    if (all == 0)
        throw usage_error("weighted_entries: the sum of " + to_string(weights.size()) +
                          " weights is 0, must be 1 or more");
    nonzero_partition result;
    std::int64_t before = 0;
    for (const std::int64_t weight : weights)
        result.begin.push_back(fraction_of(entries, before += weight, all));
    return result;
}

nonzero_partition entries_of_sizes(std::span<const std::int64_t> sizes) {
    if (sizes.empty()) throw usage_error("entries_of_sizes: there are 0 sizes, must be at least 1");
    nonzero_partition result;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        if (sizes[k] < 0 ||
            sizes[k] > std::numeric_limits<std::int64_t>::max() - result.begin.back())
            refuse_item("entries_of_sizes", "sizes", k, sizes[k],
                        "must be 0 or more, and the sum must fit in 64 bits");
        result.begin.push_back(result.begin.back() + sizes[k]);
    }
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
            refuse_item("nonzero_partition", "begin", k, begin[k],
                        "must not be below begin[" + to_string(k - 1) + "], which is " +
                            to_string(begin[k - 1]));
    if (begin.back() != entries)
        refuse_item("nonzero_partition", "begin", begin.size() - 1, begin.back(),
                    "must be the number of entries, " + to_string(entries));
}

} // namespace krylith
