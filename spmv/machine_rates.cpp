#include <krylith/spmv/machine_rates.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

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

std::string machine_name(const communicator& comm) {
    std::string name = std::to_string(comm.ranks()) + " " + to_string(comm.kind());
#if KRYLITH_HAVE_CUDA
    if (comm.kind() == backend::cuda) name += ", driver " + std::to_string(cuda::driver_version());
#endif
    if (!comm.concurrent()) name += ", " + comm.serialised_because();
    for (const int rank : comm.local()) name += "; " + comm[rank].description();
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
    const auto number = [](const std::string& word) { // the same in every locale
        const char* const last = word.data() + word.size();
        double value = 0;
        const auto [end, problem] = std::from_chars(word.data(), last, value);
        return problem == std::errc() && end == last ? value : 0.0; // 0 is refused below
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

machine_rates median(std::span<const machine_rates> measured) {
    if (measured.empty()) throw usage_error("median: there are no machine rates, must be one");
    const auto middle = [&](auto rate) {
        std::vector<double> values;
        for (const machine_rates& one : measured) values.push_back(rate(one));
        std::ranges::sort(values);
        const std::size_t half = values.size() / 2;
        return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
    };
    machine_rates result;
    for (const auto& named : single)
        result.*named.rate = middle([&](const machine_rates& one) { return one.*named.rate; });
    for (std::size_t k = 0; k < measured.front().phase.size(); ++k)
        result.phase.push_back(middle([&](const machine_rates& one) { return one.phase.at(k); }));
    return result;
}

machine_rates built_in_rates(backend kind) {
    return kind == backend::cuda ? h200_rates() : host_rates();
}

machine_rates host_rates() {
    return {20e9, 12e9, 10e9, 8e9, {2e-7, 2.7e-6, 3.5e-6, 4.5e-6, 6e-6, 8e-6, 10e-6, 12e-6}};
}

machine_rates h200_rates() {
    return {4.1e12,
            4.5e12,
            346e9,
            391e9,
            {3.6e-6, 4.7e-6, 5.0e-6, 5.2e-6, 5.4e-6, 5.6e-6, 5.8e-6, 6.0e-6}};
}

} // namespace krylith
