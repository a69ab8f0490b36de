#include <krylith/spmv/machine_rates.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/number_text.hpp>
#include <krylith/spmv/tuning_file.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda_runtime.hpp>
#endif

namespace krylith {

namespace {

struct named_rate {
    const char* name;
    double machine_rates::*rate;
};
constexpr std::array<named_rate, 4> single = {{{"copy", &machine_rates::copy},
                                               {"product", &machine_rates::product},
                                               {"stores", &machine_rates::stores},
                                               {"engines", &machine_rates::engines}}};

/// One lock for the mock, the rates of this process, and measuring.
std::mutex guard;
std::optional<machine_rates> mock;
std::map<std::string, known_rates> known;

tuning_key key_of(const device_group& group) {
    return {machine_name(group), 0, "rates"};
}

bool usable(double rate) {
    return std::isfinite(rate) && rate > 0;
}

} // namespace

double machine_rates::phase_on(int devices) const {
    const auto last = static_cast<int>(phase.size());
    return phase.at(static_cast<std::size_t>(std::min(devices, last)) - 1);
}

void check(const machine_rates& rates) {
    for (const auto& [name, rate] : single)
        if (!usable(rates.*rate))
            throw usage_error(std::string("machine_rates: ") + name + " is " +
                              number_text(rates.*rate) + ", must be finite and positive");
    if (rates.phase.empty())
        throw usage_error("machine_rates: phase has no entries, must have one a device");
    for (std::size_t k = 0; k < rates.phase.size(); ++k)
        if (!usable(rates.phase[k]))
            throw usage_error("machine_rates: phase[" + std::to_string(k) + "] is " +
                              number_text(rates.phase[k]) + ", must be finite and positive");
}

std::string machine_name(const device_group& group) {
    std::string name = std::to_string(group.size()) + " " + to_string(group.kind());
#if KRYLITH_HAVE_CUDA
    if (group.kind() == backend::cuda) name += ", driver " + std::to_string(cuda::driver_version());
#endif
    if (!group.concurrent()) name += ", " + group.serialised_because();
    for (int rank = 0; rank < group.size(); ++rank) name += "; " + group[rank].description();
    return name;
}

std::string format(const machine_rates& rates) {
    std::string line;
    for (const auto& [name, rate] : single)
        line += std::string(name) + ' ' + number_text(rates.*rate) + ' ';
    line += "phase";
    for (const double seconds : rates.phase) line += ' ' + number_text(seconds);
    return line;
}

std::optional<machine_rates> parse_machine_rates(std::string_view line) {
    std::vector<std::string> words;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    const auto number = [](const std::string& word) {
        char* end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        return end == word.c_str() + word.size() ? value : 0.0; // 0 is refused below
    };
    machine_rates rates;
    std::size_t at = 0;
    for (const auto& [name, rate] : single) {
        if (at + 1 >= words.size() || words[at] != name) return std::nullopt;
        rates.*rate = number(words[at + 1]);
        at += 2;
    }
    if (at >= words.size() || words[at] != "phase") return std::nullopt;
    for (++at; at < words.size(); ++at) rates.phase.push_back(number(words[at]));
    try {
        check(rates);
    } catch (const usage_error&) {
        return std::nullopt;
    }
    return rates;
}

std::optional<machine_rates> load_rates(const device_group& group) {
    const auto line = recall_tuned(key_of(group));
    auto rates = line ? parse_machine_rates(*line) : std::nullopt;
    if (rates && rates->phase.size() != static_cast<std::size_t>(group.size())) return std::nullopt;
    return rates;
}

std::string save_rates(const device_group& group, const machine_rates& rates) {
    return keep_tuned(key_of(group), format(rates));
}

known_rates rates_of(const device_group& group) {
    const std::scoped_lock lock(guard);
    if (mock) return {*mock, "given by a test"};
    const std::string machine = machine_name(group);
    if (const auto found = known.find(machine); found != known.end()) return found->second;
    known_rates result;
    if (auto kept = load_rates(group)) {
        result = {std::move(*kept), "read from " + tuning_file(machine).string()};
    } else {
        try {
            result.rates = measure(group);
        } catch (const device_error& e) {
            return {h200_rates(),
                    std::string("those of an H200, since measuring failed: ") + e.what()};
        }
        const std::string problem = save_rates(group, result.rates);
        result.from = problem.empty() ? "measured, and kept in " + tuning_file(machine).string()
                                      : "measured for this process only: " + problem;
    }
    known.emplace(machine, result);
    return result;
}

mocked_rates::mocked_rates(machine_rates rates) {
    check(rates);
    const std::scoped_lock lock(guard);
    before_ = std::exchange(mock, std::move(rates));
}

mocked_rates::~mocked_rates() {
    const std::scoped_lock lock(guard);
    mock = std::move(before_);
}

machine_rates h200_rates() {
    return {4.1e12,
            4.5e12,
            346e9,
            391e9,
            {3.6e-6, 4.7e-6, 5.0e-6, 5.2e-6, 5.4e-6, 5.6e-6, 5.8e-6, 6.0e-6}};
}

} // namespace krylith
