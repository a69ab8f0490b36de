#include <krylith/precond/incomplete/factor_parameters.hpp>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith::incomplete {

double checked_shift(const std::string& who, double shift) {
    if (!(shift >= 0 && shift <= most_shift))
        throw usage_error(who + "_options::shift is " + number_text(shift) + "; allowed is 0 to " +
                          number_text(most_shift));
    return shift;
}

elimination_order order_of(const method_parameters& parameters) {
    for (const elimination_order order : {elimination_order::natural, elimination_order::colours})
        if (parameters.word("order") == to_string(order)) return order;
    return elimination_order::automatic;
}

double shift_of(const method_parameters& parameters) {
    return parameters.real("shift");
}

int checked_overlap(const std::string& who, int overlap) {
    if (overlap < 0 || overlap > most_overlap)
        throw usage_error(who + "_options::overlap is " + std::to_string(overlap) +
                          "; allowed is 0 to " + std::to_string(most_overlap));
    return overlap;
}

int overlap_of(const method_parameters& parameters) {
    return static_cast<int>(parameters.whole("overlap"));
}

std::string name_of_factors(const std::string& who, elimination_order order, double shift) {
    std::string text = who + ":order=" + to_string(order);
    if (shift != 0) text += ":shift=" + number_text(shift);
    return text;
}

std::optional<double> moved_by_factors(const preconditioner_size& size, const method_parameters&) {
    const auto word = static_cast<double>(size.value_bytes);
    return static_cast<double>(size.nnz) * (word + 4) +
           static_cast<double>(size.rows) * (7 * word + 8);
}

} // namespace krylith::incomplete
