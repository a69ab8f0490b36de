// The output of a run: its table for people, and a JSON file with machine, options, and a row for
// each thing measured.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/memory_rate.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/spmv/machine_rates.hpp>

namespace krylith::bench {

using json = nlohmann::ordered_json;

/// A report whose file is written anew with each row, so that a run that is cut off leaves what it
/// has measured.
class report {
public:
    /// There is no file where `path` is empty; "-" is standard output, written at the end, while
    /// the table goes to standard error.
    report(std::string benchmark, std::string path);

    /// Prints text of the table.
    void say(std::string_view text) const;

    void describe_machine(const device_choice& choice, const memory_rate& rate);
    /// Describes the devices where no rate of the memory is measured.
    void describe_devices(const device_choice& choice);
    void describe_effort(const slope_effort& effort);
    /// Describes the rates by which the limits of products on so many devices are computed.
    void describe_rates(int devices, const machine_rates& rates);
    void set_option(const std::string& name, json value);

    /// Adds a row, which is void where `void_because` is not an empty list.
    void add(json row);
    /// Reports why something was not measured at all (it doesn't fit).
    void skip(const std::string& what, const std::string& why);
    /// Reports the same of what was asked for by name, so that the run has failed.
    void refuse(const std::string& what, const std::string& why);

    void summarise(json summary);

    /// Ends the report: says what void rows mean. Returns false where a row is void. Throws
    /// input_error where something was refused. To be called once.
    [[nodiscard]] bool finish() const;

private:
    void write() const;

    std::string path_;
    json all_;
    bool any_void_ = false;
    std::string refused_;
};

/// The facts of this build: {"krylith": .., "compiler": .., "flags": .., "cuda": ..}.
[[nodiscard]] json build_facts_json();

/// Whether a row has failed a check.
[[nodiscard]] bool is_void(const json& row);

/// The number row[key], times `unit`, in one of fmt's forms, for a table; "-" where there is none.
[[nodiscard]] std::string cell(const json& row, const char* key, const char* form, double unit = 1);

/// The times in multiples of `unit`: {"median": .., "p10": .., "p90": .., "samples": ..}.
[[nodiscard]] json to_json(const spread& s, double unit);

} // namespace krylith::bench
