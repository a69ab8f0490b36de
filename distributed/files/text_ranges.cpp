#include <krylith/distributed/files/text_ranges.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/readable_file.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::detail {

namespace {

/// The beginning of the first line that begins at that byte or later; the end where none does so
/// within the longest line.
std::int64_t next_beginning(const binary::readable_file& file, std::int64_t from, std::int64_t end,
                            std::int64_t longest_line) {
    std::string text(std::size_t{1} << 16, '\0');
    const std::int64_t last = std::min(end, from + longest_line);
    for (std::int64_t at = from - 1; at < last;) { // the line feed before may be the first byte
        const std::int64_t count = std::min(static_cast<std::int64_t>(text.size()), last - at);
        file.read(static_cast<std::uint64_t>(at),
                  std::as_writable_bytes(std::span(text).first(as_size(count))));
        const std::size_t feed = std::string_view(text).substr(0, as_size(count)).find('\n');
        if (feed != std::string_view::npos) return at + static_cast<std::int64_t>(feed) + 1;
        at += count;
    }
    return end;
}

} // namespace

item_range own_text(const communicator& comm, const market::line_source& source) {
    const binary::readable_file file(source.name());
    const std::int64_t begin = source.position();
    const std::int64_t end = std::max(begin, source.file_bytes());
    const row_partition cuts = equal_rows(end - begin, comm.ranks());
    const auto longest = static_cast<std::int64_t>(source.limits().line_bytes);
    auto begins = by_rank(comm, [&](int rank) {
        const std::int64_t cut = begin + cuts.owned(rank).begin;
        return cut == begin ? begin : next_beginning(file, cut, end, longest);
    });
    comm.all_gather(begins);
    begins.push_back(end);
    for (std::size_t k = begins.size() - 1; k > 0; --k)
        begins[k - 1] = std::min(begins[k - 1], begins[k]);
    if (comm.local().empty()) return {end, end};
    return {begins[as_size(comm.local().front())], begins[as_size(comm.local().back()) + 1]};
}

} // namespace krylith::detail
