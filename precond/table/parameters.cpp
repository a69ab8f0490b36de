#include <krylith/precond/table/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

/// Reads the whole text; false where it is no number of this type.
template <class Number>
bool read(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end;
}

/// A whole number without an exponent.
std::string limit_text(double limit) {
    return std::fabs(limit) < 1e15 && limit == std::floor(limit)
               ? std::to_string(static_cast<std::int64_t>(limit))
               : number_text(limit);
}

} // namespace

std::string parameter_rule::allowed() const {
    if (type_ != type::word) return limit_text(least_) + " to " + limit_text(most_);
    std::string text;
    for (const std::string_view word : words_) (text += text.empty() ? "" : "|") += word;
    return text;
}

std::string parameter_rule::usual() const {
    return type_ == type::word ? std::string(words_.front()) : limit_text(usual_);
}

bool parameter_rule::allows(std::string_view value) const {
    if (type_ == type::word) return std::ranges::find(words_, value) != words_.end();
    double number = 0;
    std::int64_t whole = 0;
    if (type_ == type::whole && !read(value, whole)) return false;
    return read(value, number) && number >= least_ && number <= most_; // false for NaN
}

method_parameters::method_parameters(std::span<const parameter_rule> rules) {
    for (const parameter_rule& rule : rules) entries_.push_back({&rule, rule.usual()});
}

void method_parameters::set(std::string_view method, std::string_view key, std::string_view value) {
    const auto found =
        std::ranges::find(entries_, key, [](const entry& e) { return e.rule->key(); });
    if (found == entries_.end()) {
        std::vector<std::string_view> keys;
        for (const entry& e : entries_) keys.push_back(e.rule->key());
        throw usage_error("preconditioner " + std::string(method) +
                          (keys.empty() ? " takes no parameters, '" + std::string(key) + "' is one"
                                        : " has no parameter '" + std::string(key) + "'" +
                                              name_advice(key, keys)));
    }
    if (!found->rule->allows(value))
        throw usage_error("preconditioner " + std::string(method) + ": " + std::string(key) + "=" +
                          std::string(value) + " is not allowed: allowed is " +
                          found->rule->allowed());
    found->value = value;
}

const method_parameters::entry& method_parameters::find(std::string_view key) const {
    const auto found =
        std::ranges::find(entries_, key, [](const entry& e) { return e.rule->key(); });
    if (found == entries_.end())
        throw std::logic_error("no rule has the parameter " + std::string(key));
    return *found;
}

std::int64_t method_parameters::whole(std::string_view key) const {
    std::int64_t number = 0;
    (void)read(find(key).value, number);
    return number;
}

double method_parameters::real(std::string_view key) const {
    double number = 0;
    (void)read(find(key).value, number);
    return number;
}

const std::string& method_parameters::word(std::string_view key) const {
    return find(key).value;
}

} // namespace krylith
