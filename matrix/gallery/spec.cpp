#include <krylith/matrix/gallery/spec.hpp>

#include <charconv>
#include <cmath>
#include <system_error>

#include <krylith/device/error.hpp>

namespace krylith {
namespace {

/// The whole text as a number, if it is one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || stop != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

} // namespace

gallery_spec::gallery_spec(std::string_view text) : text_(text) {
    constexpr std::string_view random = "random=";
    const std::string_view all = text_;
    std::size_t begin = all.find(':');
    name_ = all.substr(0, begin);
    while (begin != std::string_view::npos) {
        const std::size_t end = all.find(':', begin + 1);
        const std::string_view argument = all.substr(begin + 1, end - begin - 1);
        if (!argument.starts_with(random)) {
            arguments_.push_back(argument);
        } else if (random_) {
            refuse("random=SEED stands twice, allowed is once");
        } else {
            random_ = random_scaling{read_seed(random, argument.substr(random.size()))};
        }
        begin = end;
    }
}

std::int64_t gallery_spec::size(std::size_t position, const char* what, std::int64_t most) const {
    const auto number = number_in<std::int64_t>(arguments_.at(position));
    if (!number || *number < 1 || *number > most) {
        refuse_argument(what, arguments_[position],
                        "whole numbers from 1 to " + std::to_string(most));
    }
    return *number;
}

double gallery_spec::not_negative(std::size_t position, const char* what) const {
    const auto number = number_in<double>(arguments_.at(position));
    if (!number || !std::isfinite(*number) || *number < 0) {
        refuse_argument(what, arguments_[position], "finite numbers from 0 on");
    }
    return *number;
}

std::uint64_t gallery_spec::seed(std::size_t position, const char* what) const {
    return read_seed(what, arguments_.at(position));
}

std::uint64_t gallery_spec::read_seed(std::string_view what, std::string_view given) const {
    const auto number = number_in<std::uint64_t>(given);
    if (!number) {
        refuse_argument(what, given, "whole numbers from 0 to 2^64 - 1");
    }
    return *number;
}

void gallery_spec::refuse_argument(std::string_view what, std::string_view given,
                                   const std::string& allowed) const {
    refuse(std::string(what) + " is \"" + std::string(given) + "\", allowed are " + allowed);
}

void gallery_spec::refuse(const std::string& why) const {
    throw usage_error("gallery:" + text_ + ": " + why);
}

} // namespace krylith
