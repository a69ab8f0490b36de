#include <krylith/vector/fused.hpp>

#include <algorithm>
#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

namespace {

/// Numbers things in order of appearance.
template <class Thing, int Most>
struct numbering {
    Thing things[Most];
    int count = 0;
    const char* what;

    std::int8_t of(Thing thing) {
        Thing* const end = things + count;
        Thing* const found = std::find(things, end, thing);
        if (found == end) {
            if (count == Most)
                throw usage_error("a fused update has at most " + std::to_string(Most) + " " +
                                  what);
            things[count++] = thing;
        }
        return static_cast<std::int8_t>(found - things);
    }
};

template <class T>
void check_layout(const vector<T>& v, const layout_handle& expected) {
    if (v.share_layout() != expected)
        throw usage_error("the vectors of one operation must come from the same operator: "
                          "their layouts differ");
}

template <class T>
void launch(device& where, const fused_arguments<T>& a) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return cuda::fused(where, a);
#endif
    host::fused(where, a);
}

} // namespace

template <class T>
void enqueue(execution& run, const fused_update<T>& update) {
    if (update.statements.size() > max_fused_statements || update.dots.size() > max_fused_dots)
        throw usage_error("a fused update has at most " + std::to_string(max_fused_statements) +
                          " statements and " + std::to_string(max_fused_dots) + " dot products");
    fused_shape shape;
    numbering<const vector<T>*, max_fused_vectors> vectors{{}, 0, "vectors"};
    numbering<std::uint8_t, max_fused_coefficients> coefficients{{}, 0, "coefficients"};
    for (const auto& s : update.statements) {
        auto& to = shape.statement[shape.statements++];
        to.target = vectors.of(s.target);
        to.terms = static_cast<std::int8_t>(s.value.count);
        for (int t = 0; t < s.value.count; ++t) {
            const auto& from = s.value.terms[t];
            to.term[t].vector = vectors.of(from.v);
            to.term[t].scale = from.scale != nullptr ? vectors.of(from.scale) : std::int8_t{-1};
            to.term[t].coefficient = from.coefficient != no_register
                                         ? coefficients.of(from.coefficient)
                                         : std::int8_t{-1};
            to.term[t].negative = from.negative;
        }
    }
    std::vector<std::uint8_t> sums;
    for (const auto& d : update.dots) {
        shape.dot[shape.dots++] = {vectors.of(d.a), vectors.of(d.b)};
        sums.push_back(d.number);
    }
    if (vectors.count == 0) return;
    shape.vectors = static_cast<std::int8_t>(vectors.count);
    shape.coefficients = static_cast<std::int8_t>(coefficients.count);
    const layout_handle& where = vectors.things[0]->share_layout();
    for (int v = 0; v < vectors.count; ++v) check_layout(*vectors.things[v], where);

    // One operand is sent on by the kernel that writes it; a second one by a pass of its own.
    std::vector<int> operands;
    for (int v = 0; v < vectors.count; ++v)
        if ((shape.stored() >> v & 1) != 0 && vectors.things[v]->exchange() != nullptr)
            operands.push_back(v);
    const int pushed = operands.empty() ? -1 : operands.front();

    run.open({coefficients.things, static_cast<std::size_t>(coefficients.count)});
    run.publish(sums);
    if (pushed >= 0) run.join_if_ordered();
    for (int rank = 0; rank < run.ranks(); ++rank) {
        fused_arguments<T> a{};
        a.common = run.at(rank);
        a.shape = shape;
        for (int v = 0; v < vectors.count; ++v) a.vectors[v] = vectors.things[v]->data(rank);
        std::copy_n(coefficients.things, coefficients.count, a.coefficients);
        a.size = where->held(rank);
        a.first_owned = where->first_owned(rank);
        a.last_owned = a.first_owned + where->rows.owned(rank).size();
        a.reduce = run.partials(rank);
        a.pushed = pushed;
        if (pushed >= 0) a.push = vectors.things[pushed]->exchange()->push(rank, run.ordered());
        launch(run.group()[rank], a);
    }
    if (pushed >= 0) vectors.things[pushed]->exchange()->forward();
    run.close();
    for (std::size_t i = 1; i < operands.size(); ++i)
        push_ghosts(run, *vectors.things[operands[i]]);
}

template <class T>
void push_ghosts(execution& run, const vector<T>& operand) {
    if (operand.exchange() == nullptr) return;
    run.open({});
    run.join_if_ordered();
    for (int rank = 0; rank < run.ranks(); ++rank) {
        device& where = run.group()[rank];
        const auto push = operand.exchange()->push(rank, run.ordered());
        const auto size = operand.where().held(rank);
#if KRYLITH_HAVE_CUDA
        if (where.kind() == backend::cuda) {
            cuda::push(where, run.at(rank), operand.data(rank), size, push);
            continue;
        }
#endif
        host::push(where, run.at(rank), operand.data(rank), size, push);
    }
    operand.exchange()->forward();
}

template void enqueue(execution&, const fused_update<double>&);
template void enqueue(execution&, const fused_update<float>&);
template void push_ghosts(execution&, const vector<double>&);
template void push_ghosts(execution&, const vector<float>&);

} // namespace krylith
