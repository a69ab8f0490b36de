// Measurements of a machine that are kept, and the built-in rates where there are none.
#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/tuning/mocked_rates.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <krylith/matrix/files/tuning_file.hpp>

namespace krylith {

namespace {

constexpr std::string_view separator = "; ";
constexpr int repetitions = 3;

/// One lock for the mock and for the rates of this process, which are stored by the file that keeps
/// them.
std::mutex guard;
std::optional<machine_rates> mock;
std::map<std::pair<std::string, std::string>, known_rates> known;

tuning_key key_of(const communicator& comm) {
    return {machine_name(comm), 0, "measured rates"};
}

/// Returns the key under which rates_of() remembers rates.
std::pair<std::string, std::string> place_of(const communicator& comm) {
    const std::string machine = machine_name(comm);
    return {machine, tuning_file(machine).string()};
}

std::string measurements_in_words(std::size_t measurements) {
    return measurements == 1 ? "one measurement"
                             : "median of " + std::to_string(measurements) + " measurements";
}

known_rates look_up(const communicator& comm, const std::string& file) {
    const auto kept = kept_measurements(comm);
    if (!kept.empty()) return {median(kept), measurements_in_words(kept.size()) + ", in " + file};
    const std::string unused = why_not_recalled(machine_name(comm));
    const bool cuda = comm.kind() == backend::cuda;
    return {built_in_rates(comm.kind()),
            std::string("built in: those of ") + (cuda ? "H200s" : "a server's cores") +
                "; krylith devices measures this machine" + (unused.empty() ? "" : "; " + unused)};
}

} // namespace

std::vector<machine_rates> kept_measurements(const communicator& comm) {
    const auto kept = recall_tuned(key_of(comm));
    if (!kept) return {};
    std::vector<machine_rates> result;
    for (std::string_view rest = *kept;;) {
        const std::size_t end = rest.find(separator);
        auto rates = parse_machine_rates(rest.substr(0, end));
        if (!rates || rates->phase.size() != static_cast<std::size_t>(comm.ranks())) return {};
        result.push_back(std::move(*rates));
        if (end == std::string_view::npos) return result;
        rest.remove_prefix(end + separator.size());
    }
}

std::string keep_measurement(const communicator& comm, const machine_rates& rates) {
    auto all = kept_measurements(comm);
    all.push_back(rates);
    const std::size_t first = all.size() - std::min(all.size(), most_kept_measurements);
    std::string text;
    for (std::size_t k = first; k < all.size(); ++k)
        text += (k == first ? "" : std::string(separator)) + format(all[k]);
    return keep_tuned(key_of(comm), text);
}

known_rates rates_of(const communicator& comm) {
    const auto place = place_of(comm);
    const std::scoped_lock lock(guard);
    if (mock) return {*mock, "given by a test"};
    const auto found = known.find(place);
    if (found != known.end()) return found->second;
    return known.emplace(place, look_up(comm, place.second)).first->second;
}

known_rates measure_and_keep(const communicator& comm) {
    std::vector<machine_rates> measured;
    for (int k = 0; k < repetitions; ++k) measured.push_back(measure(comm));
    known_rates result{median(measured), ""};
    const auto place = place_of(comm);
    const std::string problem = keep_measurement(comm, result.rates);
    const std::scoped_lock lock(guard);
    if (problem.empty())
        result = look_up(comm, place.second);
    else
        result.from = "measured for this process only: " + problem;
    known.insert_or_assign(place, result);
    return result;
}

mocked_rates::mocked_rates() {
    const std::scoped_lock lock(guard);
    before_ = std::exchange(mock, std::nullopt);
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

} // namespace krylith
