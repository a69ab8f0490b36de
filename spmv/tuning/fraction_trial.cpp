#include <krylith/spmv/tuning/fraction_trial.hpp>

#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

free_shares open_shares(operator_kind kind, const operator_options& options) {
    return {options.long_share == -1,
            kind == operator_kind::lra_rc && options.redundant_share == -1};
}

tuning_key shares_key(const trial_subject& subject, operator_kind kind,
                      const operator_options& options, std::size_t value_bytes) {
    std::string name =
        std::string(to_string(kind)) + " shares " + (value_bytes == 8 ? "fp64" : "fp32");
    if (options.local != local_kind::automatic)
        name += std::string(" local ") + to_string(options.local);
    if (options.transfer != transfer_kind::automatic)
        name += std::string(" transfer ") + to_string(options.transfer);
    if (options.long_share != -1) name += " long_share " + number_text(options.long_share);
    if (options.redundant_share != -1)
        name += " redundant_share " + number_text(options.redundant_share);
    return {machine_name(subject.group), subject.pattern, std::move(name)};
}

std::optional<share_choice> recall_shares(const tuning_key& key, const row_shares& rule) {
    const auto line = recall_tuned(key);
    if (!line) return std::nullopt;
    auto result = parse_share_choice(*line, rule);
    if (result) result->from = "an earlier trial, in " + tuning_file(key.machine).string();
    return result;
}

template <class T>
std::unique_ptr<matrix_operator<T>>
try_shares(const tuning_key& key, const row_shares& rule, free_shares free,
           const std::function<std::unique_ptr<matrix_operator<T>>(const row_shares&)>& build,
           operator_choice& choice) {
    choice.shares = recall_shares(key, rule);
    if (choice.shares) {
        choice.because = in_words(*choice.shares);
        return build(choice.shares->best);
    }
    std::unique_ptr<matrix_operator<T>> built;
    row_shares last;
    std::exception_ptr refused;
    choice.shares = search_shares(rule, free, [&](const row_shares& shares) {
        try {
            built.reset();
            built = build(shares);
            last = shares;
            return time_iteration(*built);
        } catch (const device_error&) {
            built.reset();
            refused = std::current_exception();
            return std::numeric_limits<double>::infinity();
        }
    });
    if (!choice.shares) std::rethrow_exception(refused);
    const std::string problem = keep_tuned(key, format(*choice.shares));
    choice.because = in_words(*choice.shares);
    if (!problem.empty()) choice.because += " (not kept: " + problem + ")";
    if (built && last == choice.shares->best) return built;
    built.reset();
    return build(choice.shares->best);
}

template std::unique_ptr<matrix_operator<double>>
try_shares(const tuning_key&, const row_shares&, free_shares,
           const std::function<std::unique_ptr<matrix_operator<double>>(const row_shares&)>&,
           operator_choice&);
template std::unique_ptr<matrix_operator<float>>
try_shares(const tuning_key&, const row_shares&, free_shares,
           const std::function<std::unique_ptr<matrix_operator<float>>(const row_shares&)>&,
           operator_choice&);

} // namespace krylith
