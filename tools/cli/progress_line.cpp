#include <krylith/tools/cli/progress_line.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace krylith::tool {

namespace {

constexpr double first_after = 0.5;   // seconds
constexpr double redrawn_after = 0.2; // seconds
constexpr double sampled_after = 0.02;
constexpr const char* erase = "\r\x1b[K";

std::size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool can_redraw() {
    const char* const kind = std::getenv("TERM"); // NOLINT(concurrency-mt-unsafe)
    return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

} // namespace

void solve_forecast::add(double seconds, const progress& now) {
    target_ = std::log(now.target);
    const sample next{seconds, now.iteration, std::log(now.residual)};
    if (samples_.size() > 1 && seconds - samples_[samples_.size() - 2].seconds < sampled_after)
        samples_.back() = next;
    else
        samples_.push_back(next);
}

const solve_forecast::sample& solve_forecast::earlier() const {
    const std::int64_t half = samples_.back().iteration / 2;
    return *std::lower_bound(
        samples_.begin(), samples_.end() - 1, half,
        [](const sample& s, std::int64_t iteration) { return s.iteration < iteration; });
}

double solve_forecast::iterations_a_second() const {
    if (samples_.size() < 2) return 0;
    const sample& from = earlier();
    const sample& to = samples_.back();
    return to.seconds > from.seconds
               ? static_cast<double>(to.iteration - from.iteration) / (to.seconds - from.seconds)
               : 0;
}

std::optional<double> solve_forecast::seconds_left() const {
    if (samples_.size() < 2) return std::nullopt;
    const sample& from = earlier();
    const sample& to = samples_.back();
    const double fall = from.logarithm - to.logarithm;
    const double left = (to.logarithm - target_) * (to.seconds - from.seconds) / fall;
    if (!(fall > 0) || !std::isfinite(left)) return std::nullopt;
    return std::max(left, 0.0);
}

progress_line::progress_line(bool wanted) : wanted_(wanted && can_redraw()), next_(first_after) {}

void progress_line::show(const progress& now) {
    if (!wanted_) return;
    const double seconds = since_start_.seconds();
    forecast_.add(seconds, now);
    if (seconds < next_) return;
    next_ = seconds + redrawn_after;
    const double size = now.rhs_norm > 0 ? now.rhs_norm : 1;
    std::string line =
        fmt::format("iteration {}, residual {:.1e} (wanted {:.0e}), {:.3g}/s", now.iteration,
                    now.residual / size, now.target / size, forecast_.iterations_a_second());
    if (const auto left = forecast_.seconds_left())
        line += fmt::format(", {} left", rough_time(*left));
    line.resize(std::min(line.size(), columns() - 1));
    fmt::print(stderr, "{}{}", erase, line);
    (void)std::fflush(stderr);
    shown_ = true;
}

void progress_line::clear() {
    if (!shown_) return;
    fmt::print(stderr, "{}", erase);
    (void)std::fflush(stderr);
    shown_ = false;
}

std::string rough_time(double seconds) {
    if (seconds < 1) return fmt::format("{:.1f} s", seconds);
    const double whole = std::round(seconds);
    if (whole < 60) return fmt::format("{:.0f} s", whole);
    if (whole < 3600)
        return fmt::format("{:.0f} min {:.0f} s", std::floor(whole / 60), std::fmod(whole, 60));
    const double minutes = std::round(seconds / 60);
    return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

} // namespace krylith::tool
