#include <krylith/spmv/fractions/fraction_search.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

constexpr std::array<double, 3> long_points = {0.2, 0.35, 0.5};
constexpr std::array<double, 5> redundant_points = {0, 0.05, 0.1, 0.2, 0.3};
static_assert(1 + long_points.size() + redundant_points.size() == most_fraction_points);

class search {
public:
    explicit search(const std::function<double(const row_fractions&)>& seconds)
        : seconds_(seconds) {}

    void visit(const row_fractions& point) {
        if (point.long_rows + point.redundant > 1) return;
        if (std::ranges::find(seen_, point) != seen_.end()) return;
        seen_.push_back(point);
        const double seconds = seconds_(point);
        if (std::isinf(seconds)) return;
        tried.push_back({point, seconds});
    }
    [[nodiscard]] row_fractions best_or(const row_fractions& other) const {
        const auto least = std::ranges::min_element(tried, {}, &timed_fractions::seconds);
        return least == tried.end() ? other : least->fractions;
    }

    std::vector<timed_fractions> tried;

private:
    const std::function<double(const row_fractions&)>& seconds_;
    std::vector<row_fractions> seen_;
};

} // namespace

std::optional<fraction_choice>
search_fractions(const row_fractions& rule, free_fractions free,
                 const std::function<double(const row_fractions&)>& seconds) {
    search points(seconds);
    points.visit(rule);
    if (free.long_rows)
        for (const double fraction : long_points) points.visit({fraction, rule.redundant});
    const double long_rows = points.best_or(rule).long_rows;
    if (free.redundant)
        for (const double fraction : redundant_points) points.visit({long_rows, fraction});
    if (points.tried.empty()) return std::nullopt;

    fraction_choice result;
    result.rule = rule;
    const auto best = std::ranges::min_element(points.tried, {}, &timed_fractions::seconds);
    result.best = best->fractions;
    if (const timed_fractions& first = points.tried.front(); first.fractions == rule)
        result.rule_loss = best->seconds > 0 ? first.seconds / best->seconds : 1;
    result.tried = std::move(points.tried);
    result.from = "measured";
    return result;
}

std::string format(const fraction_choice& choice) {
    return number_text(choice.best.long_rows) + ' ' + number_text(choice.best.redundant) + ' ' +
           number_text(choice.rule_loss);
}

std::optional<fraction_choice> parse_fraction_choice(std::string_view line,
                                                     const row_fractions& rule) {
    std::array<double, 3> numbers{};
    const char* next = line.data();
    const char* const end = next + line.size();
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (k != 0 && (next == end || *next++ != ' ')) return std::nullopt;
        const auto [after, problem] = std::from_chars(next, end, numbers.at(k));
        if (problem != std::errc() || !(numbers.at(k) >= 0)) return std::nullopt;
        next = after;
    }
    const auto [long_rows, redundant, loss] = numbers;
    const bool a_loss = loss == 0 || (loss >= 1 && std::isfinite(loss));
    if (next != end || !(long_rows + redundant <= 1) || !a_loss) return std::nullopt;
    fraction_choice result;
    result.best = {long_rows, redundant};
    result.rule = rule;
    result.rule_loss = loss;
    return result;
}

std::string in_words(const fraction_choice& choice) {
    const auto fractions = [](const row_fractions& s) {
        return number_text(s.long_rows) + " and redundant_fraction " + number_text(s.redundant);
    };
    const std::string words = "long_fraction " + fractions(choice.best) + " (" + choice.from + ")";
    if (choice.best == choice.rule) return words + ", the rule's";
    if (choice.rule_loss == 0) return words + "; memory is too short for the rule's";
    return words + "; the rule's " + number_text(choice.rule.long_rows) + " and " +
           number_text(choice.rule.redundant) + " take " + number_text(choice.rule_loss, 3) +
           " times as long";
}

} // namespace krylith
