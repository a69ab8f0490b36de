#include <krylith/matrix/gallery/spec.hpp>

#include <charconv>
#include <cmath>
#include <sstream>
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
    const std::string_view all = text_;
    std::size_t begin = all.find(':');
    name_ = all.substr(0, begin);
    while (begin != std::string_view::npos) {
        const std::size_t end = all.find(':', begin + 1);
        const std::string_view argument = all.substr(begin + 1, end - begin - 1);
        begin = end;
        const std::size_t equals = argument.find('=');
        if (equals == std::string_view::npos) {
            arguments_.push_back(argument);
            continue;
        }
        const std::string_view key = argument.substr(0, equals + 1);
        if (named(key)) {
            refuse(std::string(key) + " stands twice, allowed is once");
        }
        named_.push_back({key, argument.substr(equals + 1)});
    }
}

void gallery_spec::check(std::size_t least, std::size_t most, std::string_view arguments) const {
    const std::string allowed = ", allowed is " + std::string(name_) + ":" + std::string(arguments);
    for (const named_argument& argument : named_) {
        if (arguments.find("[:" + std::string(argument.key)) == std::string_view::npos) {
            refuse(std::string(argument.key) + " is not known here" + allowed);
        }
    }
    if (count() < least || count() > most) {
        refuse("too " + std::string(count() < least ? "few" : "many") + " arguments" + allowed);
    }
}

std::int64_t gallery_spec::size(std::size_t position, const char* what, std::int64_t most,
                                std::int64_t least) const {
    const auto number = number_in<std::int64_t>(arguments_.at(position));
    if (!number || *number < least || *number > most) {
        refuse_argument(what, arguments_[position],
                        "whole numbers from " + std::to_string(least) + " to " +
                            std::to_string(most));
    }
    return *number;
}

std::int64_t gallery_spec::size_or(std::int64_t fallback, std::size_t position, const char* what,
                                   std::int64_t most) const {
    return position < count() ? size(position, what, most) : fallback;
}

double gallery_spec::not_negative(std::size_t position, const char* what) const {
    const auto number = number_in<double>(arguments_.at(position));
    if (!number || !std::isfinite(*number) || *number < 0) {
        refuse_argument(what, arguments_[position], "finite numbers from 0 on");
    }
    return *number;
}

double gallery_spec::number(std::size_t position, const char* what, double least,
                            double most) const {
    return read_number(what, arguments_.at(position), least, most);
}

std::uint64_t gallery_spec::seed(std::size_t position, const char* what) const {
    return read_seed(what, arguments_.at(position));
}

std::optional<random_scaling> gallery_spec::random() const {
    const auto given = named("random=");
    return given ? std::optional(random_scaling{read_seed("random=", *given)}) : std::nullopt;
}

std::optional<std::uint64_t> gallery_spec::named_seed() const {
    const auto given = named("seed=");
    return given ? std::optional(read_seed("seed=", *given)) : std::nullopt;
}

double gallery_spec::named_number(std::string_view key, double fallback, double least,
                                  double most) const {
    const auto given = named(key);
    return given ? read_number(key, *given, least, most) : fallback;
}

std::optional<std::string_view> gallery_spec::named(std::string_view key) const {
    for (const named_argument& argument : named_) {
        if (argument.key == key) {
            return argument.value;
        }
    }
    return std::nullopt;
}

std::uint64_t gallery_spec::read_seed(std::string_view what, std::string_view given) const {
    const auto number = number_in<std::uint64_t>(given);
    if (!number) {
        refuse_argument(what, given, "whole numbers from 0 to 2^64 - 1");
    }
    return *number;
}

double gallery_spec::read_number(std::string_view what, std::string_view given, double least,
                                 double most) const {
    const auto number = number_in<double>(given);
    if (!number || !(*number >= least && *number <= most)) {
        std::ostringstream allowed;
        allowed << "numbers from " << least << " to " << most;
        refuse_argument(what, given, allowed.str());
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
