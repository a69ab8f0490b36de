#include <krylith/vector/fused.hpp>

#include <algorithm>
#include <concepts>
#include <span>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith {

namespace {

/// Numbers its arguments in order of appearance.
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

/// Calls f with the vector that the operand is.
template <class T, class F>
decltype(auto) visit(const vector_operand<T>& operand, const F& f) {
    if constexpr (std::same_as<T, double>)
        if (operand.single() != nullptr) return f(*operand.single());
    return f(*static_cast<const vector<T>*>(operand));
}

/// The vectors of an update, in order of appearance.
template <class T>
struct update_vectors : numbering<vector_operand<T>, max_fused_vectors> {
    [[nodiscard]] const layout_handle& layout(int number) const {
        return visit(this->things[number],
                     [](const auto& v) -> const layout_handle& { return v.layout(); });
    }
    [[nodiscard]] bool single(int number) const { return this->things[number].single() != nullptr; }
    [[nodiscard]] bool domain(int number) const {
        return visit(this->things[number], [](const auto& v) { return v.exchange() != nullptr; });
    }

    /// Vectors of one type must be of one layout, since two operators with equal layouts are
    /// usually a mistake. Those of another type come from another operator in any case.
    void check_layouts() const {
        for (int v = 1; v < this->count; ++v)
            for (int before = 0; before < v; ++before) {
                const bool belong = single(v) == single(before)
                                        ? layout(v) == layout(before)
                                        : same_layout(layout(v), layout(before));
                if (!belong)
                    throw usage_error("the vectors of one operation must come from the same "
                                      "operator: their layouts differ");
            }
    }
};

template <class T, class Put>
void launch(device& device, const fused_arguments<T, Put>& a) {
    KRYLITH_ON(device, fused(device, a));
}

/// Enqueues the update on all devices; `sent` is the domain vector that its kernel sends, or null.
template <class T, class Put>
void launch_all(execution& run, const fused_shape& shape, const update_vectors<T>& vectors,
                std::span<const std::uint8_t> coefficients, int put_index,
                const vector<Put>* sent) {
    const layout_handle& layout = vectors.layout(0);
    for (const int rank : run.comm().local()) {
        fused_arguments<T, Put> a{};
        a.common = run.at(rank);
        a.shape = shape;
        for (int v = 0; v < vectors.count; ++v)
            a.vectors[v] = visit(vectors.things[v], [&](const auto& held) {
                return static_cast<void*>(held.data(rank));
            });
        std::copy(coefficients.begin(), coefficients.end(), a.coefficients);
        a.size = layout->held(rank);
        a.first_owned = layout->first_owned(rank);
        a.last_owned = a.first_owned + layout->rows.owned(rank).size();
        a.reduce = run.partials(rank);
        a.put_index = put_index;
        if (sent != nullptr) a.put = sent->exchange()->put(rank, run.ordered());
        launch(run.comm()[rank], a);
    }
    if (sent != nullptr) sent->exchange()->forward();
}

} // namespace

template <class T>
void enqueue(execution& run, const fused_update<T>& update) {
    const trace_range range(update.dots.empty()         ? "update"
                            : update.statements.empty() ? "reduction"
                                                        : "update and reduction");
    if (update.statements.size() > max_fused_statements || update.dots.size() > max_fused_dots)
        throw usage_error("a fused update has at most " + std::to_string(max_fused_statements) +
                          " statements and " + std::to_string(max_fused_dots) + " dot products");
    fused_shape shape;
    update_vectors<T> vectors{{{}, 0, "vectors"}};
    numbering<std::uint8_t, max_fused_coefficients> coefficients{{}, 0, "coefficients"};
    for (const auto& s : update.statements) {
        auto& to = shape.statement[shape.statements++];
        to.target = vectors.of(s.target);
        to.terms = static_cast<std::int8_t>(s.value.count);
        for (int t = 0; t < s.value.count; ++t) {
            const auto& from = s.value.terms[t];
            to.term[t].vector = vectors.of(from.v);
            to.term[t].scale = from.scale.empty() ? std::int8_t{-1} : vectors.of(from.scale);
            to.term[t].coefficient = from.coefficient != no_register
                                         ? coefficients.of(from.coefficient)
                                         : std::int8_t{-1};
            to.term[t].negative = from.negative;
        }
    }
    std::vector<std::uint8_t> sums;
    for (const auto& d : update.dots) {
        auto& product = shape.dot[shape.dots++];
        product.a = vectors.of(d.a);
        product.b = vectors.of(d.b);
        sums.push_back(d.number);
    }
    if (vectors.count == 0) return;
    shape.vectors = static_cast<std::int8_t>(vectors.count);
    shape.coefficients = static_cast<std::int8_t>(coefficients.count);
    for (int v = 0; v < vectors.count; ++v)
        if (vectors.single(v)) shape.single = static_cast<std::uint8_t>(shape.single | (1u << v));
    vectors.check_layouts();

    // The kernel that writes a domain vector also sends it; a second domain vector is sent by a
    // pass of its own.
    std::vector<int> domains;
    for (int v = 0; v < vectors.count; ++v)
        if ((shape.stored() >> v & 1) != 0 && vectors.domain(v)) domains.push_back(v);

    const std::span<const std::uint8_t> used(coefficients.things,
                                             static_cast<std::size_t>(coefficients.count));
    run.open(used);
    run.publish(sums);
    if (domains.empty()) {
        launch_all(run, shape, vectors, used, -1, static_cast<const vector<T>*>(nullptr));
    } else {
        run.join_opened();
        const int first = domains.front();
        visit(vectors.things[first],
              [&](const auto& sent) { launch_all(run, shape, vectors, used, first, &sent); });
    }
    run.close();
    for (std::size_t i = 1; i < domains.size(); ++i)
        visit(vectors.things[domains[i]], [&](const auto& v) { put_ghosts(run, v); });
}

template <class T>
void put_ghosts(execution& run, const vector<T>& domain) {
    if (domain.exchange() == nullptr) return;
    run.open({});
    run.join_opened();
    for (const int rank : run.comm().local()) {
        device& device = run.comm()[rank];
        const auto put = domain.exchange()->put(rank, run.ordered());
        const auto size = domain.layout()->held(rank);
        KRYLITH_ON(device, put(device, run.at(rank), domain.data(rank), size, put));
    }
    domain.exchange()->forward();
}

#define KRYLITH_INSTANTIATE(T) template struct instances<enqueue<T>, put_ghosts<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
