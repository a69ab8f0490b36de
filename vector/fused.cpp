#include <krylith/vector/fused.hpp>

#include <algorithm>
#include <string>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
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

template <class T>
void check_layout(const vector<T>& v, const layout_handle& expected) {
    if (v.layout() != expected)
        throw usage_error("the vectors of one operation must come from the same operator: "
                          "their layouts differ");
}

template <class T>
void launch(device& device, const fused_arguments<T>& a) {
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::fused(device, a);
#endif
    host::fused(device, a);
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
    const layout_handle& layout = vectors.things[0]->layout();
    for (int v = 0; v < vectors.count; ++v) check_layout(*vectors.things[v], layout);

    // The kernel that writes a domain vector also sends it; a second domain vector is sent by a
    // pass of its own.
    std::vector<int> domains;
    for (int v = 0; v < vectors.count; ++v)
        if ((shape.stored() >> v & 1) != 0 && vectors.things[v]->exchange() != nullptr)
            domains.push_back(v);
    const int put_index = domains.empty() ? -1 : domains.front();

    run.open({coefficients.things, static_cast<std::size_t>(coefficients.count)});
    run.publish(sums);
    if (put_index >= 0) run.join_if_ordered();
    for (int rank = 0; rank < run.ranks(); ++rank) {
        fused_arguments<T> a{};
        a.common = run.at(rank);
        a.shape = shape;
        for (int v = 0; v < vectors.count; ++v) a.vectors[v] = vectors.things[v]->data(rank);
        std::copy_n(coefficients.things, coefficients.count, a.coefficients);
        a.size = layout->held(rank);
        a.first_owned = layout->first_owned(rank);
        a.last_owned = a.first_owned + layout->rows.owned(rank).size();
        a.reduce = run.partials(rank);
        a.put_index = put_index;
        if (put_index >= 0) a.put = vectors.things[put_index]->exchange()->put(rank, run.ordered());
        launch(run.group()[rank], a);
    }
    if (put_index >= 0) vectors.things[put_index]->exchange()->forward();
    run.close();
    for (std::size_t i = 1; i < domains.size(); ++i) put_ghosts(run, *vectors.things[domains[i]]);
}

template <class T>
void put_ghosts(execution& run, const vector<T>& domain) {
    if (domain.exchange() == nullptr) return;
    run.open({});
    run.join_if_ordered();
    for (int rank = 0; rank < run.ranks(); ++rank) {
        device& device = run.group()[rank];
        const auto put = domain.exchange()->put(rank, run.ordered());
        const auto size = domain.layout()->held(rank);
#if KRYLITH_HAVE_CUDA
        if (device.kind() == backend::cuda) {
            cuda::put(device, run.at(rank), domain.data(rank), size, put);
            continue;
        }
#endif
        host::put(device, run.at(rank), domain.data(rank), size, put);
    }
    domain.exchange()->forward();
}

template void enqueue(execution&, const fused_update<double>&);
template void enqueue(execution&, const fused_update<float>&);
template void put_ghosts(execution&, const vector<double>&);
template void put_ghosts(execution&, const vector<float>&);

} // namespace krylith
