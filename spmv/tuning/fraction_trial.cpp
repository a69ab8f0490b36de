#include <krylith/spmv/tuning/fraction_trial.hpp>

#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

free_fractions open_fractions(operator_kind kind, const operator_options& options) {
    const operator_fractions& has = kind->fractions;
    return {has.long_rows && options.long_fraction == -1,
            has.redundant && options.redundant_fraction == -1};
}

tuning_key fractions_key(const trial_subject& subject, operator_kind kind,
                         const operator_options& options, std::size_t value_bytes) {
    std::string name =
        std::string(to_string(kind)) + " fractions " + (value_bytes == 8 ? "fp64" : "fp32");
    if (options.format) name += std::string(" format ") + to_string(options.format);
    if (options.transport) name += std::string(" transport ") + to_string(options.transport);
    if (options.long_fraction != -1) name += " long_fraction " + number_text(options.long_fraction);
    if (options.redundant_fraction != -1)
        name += " redundant_fraction " + number_text(options.redundant_fraction);
    return {machine_name(subject.comm), subject.pattern, std::move(name)};
}

std::optional<fraction_choice> recall_fractions(const tuning_key& key, const row_fractions& rule) {
    const auto line = recall_tuned(key);
    if (!line) return std::nullopt;
    auto result = parse_fraction_choice(*line, rule);
    if (result) result->from = "an earlier trial, in " + tuning_file(key.machine).string();
    return result;
}

template <class T>
std::unique_ptr<matrix_operator<T>>
try_fractions(const tuning_key& key, const row_fractions& rule, free_fractions free,
              const std::function<std::unique_ptr<matrix_operator<T>>(const row_fractions&)>& build,
              operator_choice& choice) {
    choice.fractions = recall_fractions(key, rule);
    if (choice.fractions) {
        choice.because = in_words(*choice.fractions);
        return build(choice.fractions->best);
    }
    std::unique_ptr<matrix_operator<T>> built;
    row_fractions last;
    std::exception_ptr refused;
    choice.fractions = search_fractions(rule, free, [&](const row_fractions& fractions) {
        try {
            built.reset();
            built = build(fractions);
            last = fractions;
            return time_iteration(*built);
        } catch (const device_error&) {
            built.reset();
            refused = std::current_exception();
            return std::numeric_limits<double>::infinity();
        }
    });
    if (!choice.fractions) std::rethrow_exception(refused);
    const std::string problem = keep_tuned(key, format(*choice.fractions));
    choice.because = in_words(*choice.fractions);
    if (!problem.empty()) choice.because += " (not kept: " + problem + ")";
    if (built && last == choice.fractions->best) return built;
    built.reset();
    return build(choice.fractions->best);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> try_fractions(                                    \
        const tuning_key&, const row_fractions&, free_fractions,                                   \
        const std::function<std::unique_ptr<matrix_operator<T>>(const row_fractions&)>&,           \
        operator_choice&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
