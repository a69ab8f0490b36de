#include <krylith/graph/frontier/frontier.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

namespace {

using spmspv::frontier_arguments;

/// The entries that a thread has kept.
struct kept_entries {
    std::int64_t entries = 0;
    std::array<std::int64_t, max_ranks> frontier_nonzeros = {};

    void add(const spmspv::column_lengths& lengths, std::int64_t row) {
        ++entries;
        for (int part = 0; part < lengths.parts; ++part)
            frontier_nonzeros[static_cast<std::size_t>(part)] += lengths.of(part, row);
    }
};

void post(const post_address& to, int parts, const std::vector<kept_entries>& kept) {
    std::fill_n(to.words, 1 + parts, 0);
    for (const kept_entries& s : kept) {
        to.words[0] += s.entries;
        for (int part = 0; part < parts; ++part)
            to.words[1 + part] += s.frontier_nonzeros[static_cast<std::size_t>(part)];
    }
    *to.posted = to.number;
}

/// Sets bit i of the scratch's word i / 32 where pair i is kept.
template <class Rule>
void decide(const Rule& rule, const frontier_arguments<typename Rule::value_type>& a,
            std::uint32_t* keep, std::int64_t begin, std::int64_t end, kept_entries& mine) {
    const std::int64_t count = *a.y.count;
    for (std::int64_t word = begin; word < end; ++word) {
        std::uint32_t set = 0;
        for (std::int64_t k = word * 32; k < std::min(count, word * 32 + 32); ++k) {
            const std::int32_t row = a.y.indices[k];
            if (!rule.keep(row, a.y.values[k])) continue;
            set |= std::uint32_t{1} << (k % 32);
            rule.mark(row);
            mine.add(a.lengths, row);
        }
        keep[word] = set;
    }
}

template <class Rule>
void place(const Rule& rule, const frontier_arguments<typename Rule::value_type>& a,
           const std::uint32_t* keep, std::int64_t begin, std::int64_t end, std::int64_t to) {
    for (std::int64_t word = begin; word < end; ++word)
        for (std::uint32_t set = keep[word]; set != 0; set &= set - 1) {
            const std::int32_t row = a.y.indices[word * 32 + std::countr_zero(set)];
            a.next.indices[to] = row;
            a.next.values[to++] = rule.outgoing(row);
        }
}

} // namespace

template <class Rule>
void filter_pairs(device& device, const Rule& rule,
                  const frontier_arguments<typename Rule::value_type>& a, std::int64_t bound) {
    auto& host = static_cast<host_device&>(device);
    const int parts = team_for(host.threads(), bound);
    // no memory is allocated inside the team
    std::vector<kept_entries> kept(static_cast<std::size_t>(parts));
    host.submit([rule, a, parts, kept]() mutable {
        auto* const keep = reinterpret_cast<std::uint32_t*>(a.scratch);
        const std::int64_t words = (std::int64_t{*a.y.count} + 31) / 32;
        for_parts(parts, [&](int part) {
            decide(rule, a, keep, part_begin(words, part, parts),
                   part_begin(words, part + 1, parts), kept[static_cast<std::size_t>(part)]);
        });
        for_parts(parts, [&](int part) {
            std::int64_t before = 0;
            for (int other = 0; other < part; ++other)
                before += kept[static_cast<std::size_t>(other)].entries;
            place(rule, a, keep, part_begin(words, part, parts), part_begin(words, part + 1, parts),
                  before);
        });
        post(a.post, a.lengths.parts, kept);
        *a.next.count = static_cast<std::int32_t>(a.post.words[0]);
    });
}

template <class Rule>
void filter_bits(device& device, const Rule& rule,
                 const frontier_arguments<typename Rule::value_type>& a) {
    auto& host = static_cast<host_device&>(device);
    const std::int64_t words = a.next.words();
    const int parts = team_for(host.threads(), a.next.size);
    std::vector<kept_entries> kept(static_cast<std::size_t>(parts));
    host.submit([rule, a, words, parts, kept]() mutable {
        for_parts(parts, [&](int part) {
            kept_entries& mine = kept[static_cast<std::size_t>(part)];
            const std::int64_t end = part_begin(words, part + 1, parts);
            for (std::int64_t word = part_begin(words, part, parts); word < end; ++word) {
                const std::uint32_t there = a.y.bits != nullptr ? a.y.bits[word] : ~0U;
                std::uint32_t set = 0;
                const std::int64_t last = std::min(a.next.size, word * 32 + 32);
                for (std::int64_t row = word * 32; row < last; ++row) {
                    a.next.dense[row] = a.next.absent;
                    const std::uint32_t bit = std::uint32_t{1} << (row % 32);
                    if ((there & bit) == 0) continue;
                    const auto value = a.y.dense != nullptr ? a.y.dense[row] : a.y.absent;
                    if (a.y.bits == nullptr && a.y.dense != nullptr && value == a.y.absent)
                        continue;
                    if (!rule.keep(row, value)) continue;
                    set |= bit;
                    a.next.dense[row] = rule.outgoing(row);
                    mine.add(a.lengths, row);
                }
                a.next.bits[word] = set;
                if (set != 0) rule.mark_word(word, set);
            }
        });
        post(a.post, a.lengths.parts, kept);
    });
}

std::size_t frontier_scratch_bytes(std::int64_t rows) {
    return static_cast<std::size_t>((rows + 31) / 32) * sizeof(std::uint32_t);
}

template <class T>
void post_sums(device& device, const T* values, std::int64_t count, int arrays,
               std::byte* /*scratch*/, const post_address& to) {
    static_cast<host_device&>(device).submit([=] {
        for (int v = 0; v < arrays; ++v) {
            double sum = 0;
            for (std::int64_t i = 0; i < count; ++i)
                sum += static_cast<double>(values[v * count + i]);
            to.words[v] = std::bit_cast<std::int64_t>(sum);
        }
        *to.posted = to.number;
    });
}

#define KRYLITH_INSTANTIATE(Rule)                                                                  \
    template void filter_pairs(device&, const Rule&, const frontier_arguments<Rule::value_type>&,  \
                               std::int64_t);                                                      \
    template void filter_bits(device&, const Rule&, const frontier_arguments<Rule::value_type>&);
KRYLITH_FOR_FRONTIER_RULES(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void post_sums(device&, const T*, std::int64_t, int, std::byte*, const post_address&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
