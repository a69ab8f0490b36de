#include <krylith/spmv/replicated/replicated_plan.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

std::string those_with(bool operator_fractions::*fraction) {
    return listed<operator_method>(operators::all,
                                   [&](operator_kind kind) { return kind->fractions.*fraction; });
}

/// Checks a fraction; -1 stands for the rule's.
void check_fraction(const char* name, double value, bool operator_fractions::*fraction,
                    operator_kind kind) {
    if (value == -1) return;
    if (!kind || !(kind->fractions.*fraction)) {
        const std::string owners = those_with(fraction);
        const bool several = owners.find(' ') != std::string::npos;
        throw usage_error(std::string(name) + " is for operator" + (several ? "s " : " ") + owners +
                          ": for others it must be -1, "
                          "not " +
                          number_text(value));
    }
    if (!(value >= 0 && value <= 1))
        throw usage_error(std::string(name) + " is " + number_text(value) +
                          ", must be from 0 to 1, or -1 for the usual one");
}

void check_transport(operator_kind kind, transport_kind transport) {
    if (!transport || (kind && takes(kind, transport))) return;
    throw usage_error(
        std::string("transport ") + to_string(transport) + " is for operators " +
        listed<operator_method>(operators::all,
                                [&](operator_kind other) { return takes(other, transport); }) +
        "; " + to_string(kind) + ", which was asked for, needs transport auto");
}

} // namespace

std::string operators_with_fractions() {
    return listed<operator_method>(operators::all,
                                   [](operator_kind kind) { return kind->fractions.any(); });
}

void check_replication(const communicator& comm, const operator_options& options) {
    check_fraction("long_fraction", options.long_fraction, &operator_fractions::long_rows,
                   options.kind);
    check_fraction("redundant_fraction", options.redundant_fraction, &operator_fractions::redundant,
                   options.kind);
    if (options.long_fraction + options.redundant_fraction > 1)
        throw usage_error("long_fraction and redundant_fraction are " +
                          number_text(options.long_fraction) + " and " +
                          number_text(options.redundant_fraction) +
                          ", together they must be at most 1");
    check_transport(options.kind, options.transport);
    // On one device nothing is sent, but what this build doesn't have can't be asked for.
    if (options.transport && (comm.ranks() > 1 || options.transport->exchange != nullptr))
        options.transport->require(comm);
}

row_fractions fractions_by_rule(operator_kind kind, const communicator& comm,
                                std::span<const std::int64_t> row_offsets,
                                const operator_options& options) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    const double mean = rows == 0 ? 0
                                  : static_cast<double>(row_offsets.back() - row_offsets.front()) /
                                        static_cast<double>(rows);
    row_fractions fractions = usual_fractions(mean, comm.ranks(), kind->fractions.redundant,
                                              transports::peer_store->works(comm));
    if (options.long_fraction != -1) fractions.long_rows = options.long_fraction;
    if (options.redundant_fraction != -1) fractions.redundant = options.redundant_fraction;
    // Where only one fraction was given, the rule's other one may be too large beside it.
    if (fractions.long_rows + fractions.redundant > 1)
        (options.long_fraction != -1 ? fractions.redundant : fractions.long_rows) =
            1 - (options.long_fraction != -1 ? fractions.long_rows : fractions.redundant);
    return fractions;
}

transport_kind choose_transport(const communicator& comm, transport_kind asked) {
    if (asked && (comm.ranks() > 1 || asked->exchange != nullptr)) asked->require(comm);
    if (comm.ranks() == 1) return transports::peer_store;
    for (const transport_kind t : transports::all)
        if (!asked && t->automatic && t->works(comm)) return t;
    return asked;
}

} // namespace krylith
