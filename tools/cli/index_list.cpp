#include <krylith/tools/cli/index_list.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <krylith/device/error.hpp>

namespace krylith::tool {

std::vector<std::int64_t> parse_indices(const std::string& option, std::string_view text,
                                        std::string_view what, std::int64_t count) {
    std::vector<std::int64_t> indices;
    if (text.empty()) return indices;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, comma - begin);
        begin = comma + 1;
        std::int64_t number = 0;
        const auto [stop, code] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (code != std::errc() || stop != part.data() + part.size() || number < 1 ||
            number > count)
            throw usage_error(fmt::format("{} is '{}': allowed are {} 1 to {}, counted from 1 as "
                                          "in files",
                                          option, text, what, count));
        indices.push_back(number - 1);
    }
    return indices;
}

} // namespace krylith::tool
