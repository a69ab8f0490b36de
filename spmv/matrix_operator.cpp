#include <krylith/spmv/matrix_operator.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/matrix_source.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>

namespace krylith {

template <class T>
matrix_operator<T>::matrix_operator(operator_kind kind, operator_layouts layouts,
                                    const matrix_source<T>& source)
    : kind_(kind), layouts_(std::move(layouts)), in_place_(source.borrow) {
    const row_starts starts = source.starts();
    for (const std::int64_t row : layouts_.range->rows.begin) first_nonzero_.push_back(starts[row]);
}

template <class T>
void matrix_operator<T>::check_ghosts(const vector<T>& x) const {
    if (schedule_ && (x.exchange() == nullptr || !x.exchange()->is_of(*schedule_)))
        throw usage_error(std::string("x of a product with operator ") + to_string(kind_) +
                          " must come from make_domain_vector()");
}

template <class T>
void matrix_operator<T>::check_product(const vector<T>& x, const vector<T>& y,
                                       std::span<const reduction_into<T>> dots) const {
    if (x.layout() != layouts_.domain || y.layout() != layouts_.range)
        throw usage_error("the vectors of a product must be made by its operator: x of its domain "
                          "layout, y of its range layout");
    check_ghosts(x);
    if (x.overlaps(y))
        throw usage_error("x and y of a product must differ, and have no memory in common");
    if (dots.size() > max_spmv_dots)
        throw usage_error("a product computes at most " + std::to_string(max_spmv_dots) +
                          " dot products on the way");
    for (const auto& d : dots) {
        if (d.a.single() != nullptr || d.b.single() != nullptr)
            throw usage_error("a dot product of a product has factors of the product's type; "
                              "fused() takes vectors of float and of double");
        if (d.a != &y && d.b != &y)
            throw usage_error("a dot product of a product must have its result as a factor");
        for (const vector<T>* const factor : {d.a.own(), d.b.own()})
            if (factor->layout() != layouts_.range)
                throw usage_error("the factors of a dot product of a product must be of its "
                                  "range layout");
    }
}

template <class T>
void matrix_operator<T>::open(execution& run, const vector<T>& x, const vector<T>& y,
                              std::span<const reduction_into<T>> dots) const {
    check_product(x, y, dots);
    std::vector<std::uint8_t> sums;
    for (const auto& d : dots) sums.push_back(d.number);
    run.open({});
    run.publish(sums);
}

template <class T>
spmv_arguments<T> matrix_operator<T>::arguments(execution& run, int rank, T alpha,
                                                const vector<T>& x, T beta, vector<T>& y,
                                                std::span<const reduction_into<T>> dots,
                                                std::int64_t first) const {
    const auto owned = [&](const vector<T>& v) { return v.data(rank) + first; };
    spmv_arguments<T> a{};
    a.common = run.at(rank);
    a.x = local_entries(x, rank);
    a.y = owned(y);
    a.alpha = alpha;
    a.beta = beta;
    for (std::size_t d = 0; d < dots.size(); ++d) {
        const vector<T>* other = dots[d].a == &y ? dots[d].b : dots[d].a;
        a.dot_with[d] = other == &y ? nullptr : owned(*other);
    }
    a.reduce = run.partials(rank);
    return a;
}

template <class T>
double matrix_operator<T>::narrow_fraction() const {
    double sum = 0;
    double count = 0;
    for (const auto& block : blocks_)
        if (block != nullptr) {
            sum += block->narrow_fraction();
            ++count;
        }
    return sum / std::max(count, 1.0);
}

template <class T>
std::vector<kernel_use> matrix_operator<T>::kernel_uses() const {
    std::vector<kernel_use> sum;
    for (const auto& block : blocks_) {
        if (block == nullptr) continue;
        for (const kernel_use& use : block->kernel_uses()) {
            const auto same = std::ranges::find(sum, use.kernel, &kernel_use::kernel);
            if (same == sum.end())
                sum.push_back(use);
            else
                same->products += use.products;
        }
    }
    return sum;
}

template <class T>
const matrix_operator<T>& matrix_operator<T>::transposed() const {
    if (transposed_) return *transposed_;
    throw usage_error("a transposed product needs an operator that was made with "
                      "operator_options::transposed_products");
}

template <class T>
void matrix_operator<T>::update_transposed(std::span<const T> values) {
    if (!transposed_) return;
    std::vector<T> moved;
    const auto count = static_cast<std::int64_t>(transposed_source_.size());
    resize_in_parallel(moved, transposed_source_.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k)
        moved.data()[k] = values.data()[transposed_source_.data()[k]];
    transposed_->update(transposed_source_.empty() ? values : moved);
}

/// The checks come first, on their own: all drivers take new values, or none does.
template <class T>
void matrix_operator<T>::update(std::span<const T> values) {
    const auto ranks = static_cast<std::size_t>(comm().ranks());
    comm().together([&] {
        if (first_nonzero_.empty())
            throw usage_error("update: a matrix-free operator has no values");
        std::int64_t wanted = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) wanted += update_size(rank);
        if (static_cast<std::int64_t>(values.size()) != wanted)
            throw usage_error("update: " + std::to_string(values.size()) + " values, must be " +
                              std::to_string(wanted));
    });
    comm().together([&] {
        kept_.forget_values();
        update_transposed(values);
        std::vector<T> moved;
        if (!entry_source_.empty()) {
            resize_in_parallel(moved, values.size());
            const auto count = static_cast<std::int64_t>(entry_source_.size());
#pragma omp parallel for schedule(static)
            for (std::int64_t k = 0; k < count; ++k)
                moved.data()[k] = values.data()[entry_source_.data()[k]];
            values = moved;
        }
        if (assembly_ == nullptr) return give(values);
        std::vector<buffer<T>> uploaded(ranks);
        std::vector<const T*> there(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const auto mine = values.first(static_cast<std::size_t>(update_size(rank)));
            values = values.subspan(mine.size());
            if (!comm().is_local(static_cast<int>(rank))) continue;
            uploaded[rank] = {comm().handle(static_cast<int>(rank)), mine, "update"};
            there[rank] = uploaded[rank].data();
        }
        take(there);
    });
}

namespace {

/// Throws usage_error unless there is an array for each rank, those of local ranks with entries on
/// their devices.
template <class T, class Size>
void check_arrays(const communicator& comm, std::span<const T* const> values, const Size& size_of) {
    if (values.size() != static_cast<std::size_t>(comm.ranks()))
        throw usage_error("update_on_devices: " + std::to_string(values.size()) + " arrays for " +
                          std::to_string(comm.ranks()) + " devices");
    for (const int local : comm.local()) {
        const auto rank = static_cast<std::size_t>(local);
        if (size_of(rank) == 0) continue;
        const device& device = comm[local];
        const std::string problem =
            values[rank] == nullptr ? "null" : device.lies_elsewhere(values[rank]);
        if (!problem.empty())
            throw usage_error("update_on_devices: the array of rank " + std::to_string(rank) +
                              " is " + problem + ", allowed is memory of " + device.description());
    }
}

} // namespace

template <class T>
void matrix_operator<T>::update_on_devices(std::span<const T* const> values) {
    comm().together([&] {
        if (first_nonzero_.empty())
            throw usage_error("update: a matrix-free operator has no values");
        if (layouts_.range->order || layouts_.domain->order)
            throw usage_error(
                std::string("update_on_devices: the rows are reordered (") +
                to_string(reordered_.order) +
                "), so they aren't those of the caller's ranks; allowed are update() from "
                "the host, and an operator with order none");
        if (transposed_)
            throw usage_error("update_on_devices: the transposed matrix has values of its own, in "
                              "another order; allowed are update() from the host, and an operator "
                              "without operator_options::transposed_products");
        if (!entry_source_.empty())
            throw usage_error(
                "update_on_devices: the entries are in the order of a coo_matrix, which "
                "is not that of the ranks' rows; allowed is update() from the host");
        check_arrays(comm(), values, [&](std::size_t rank) { return update_size(rank); });
    });
    comm().together([&] {
        if (in_place_ && assembly_ == nullptr) identity_.renew(); // blocks will read other arrays
        kept_.forget_values();
        take(values);
    });
}

template <class T>
void matrix_operator<T>::take(std::span<const T* const> values) {
    if (assembly_ == nullptr) return give(values);
    assembly_->gather(values);
    give(assembly_->values());
}

template <class T>
void matrix_operator<T>::give(std::span<const T* const> in_rows) {
    dealt_.bring(comm(), array_over_group<T>{in_rows, first_nonzero_});
}

template <class T>
void matrix_operator<T>::check_diagonal(const vector<T>& d) const {
    if (d.layout() != square_layout(layouts_, "diagonal()"))
        throw usage_error("the vector of a diagonal must be made by its operator");
}

template <class T>
void matrix_operator<T>::diagonal(vector<T>& d) const {
    check_diagonal(d);
    for (const int rank : comm().local())
        blocks_[static_cast<std::size_t>(rank)]->diagonal(d.data(rank), {}, ghosts_below(rank));
}

template <class T>
std::vector<residual_sums> matrix_operator<T>::doubled_residual(T s, const vector<T>& x,
                                                                const vector<T>& b,
                                                                vector<T>& r) const {
    return comm().together([&]() -> std::vector<residual_sums> {
        if (x.layout() != layouts_.domain || b.layout() != layouts_.range ||
            r.layout() != layouts_.range)
            throw usage_error("the vectors of a residual must be made by its operator: x of its "
                              "domain layout, b and r of its range layout");
        check_ghosts(x);
        comm().synchronize_all(); // ghosts of x, and readers of r on other devices
        std::vector<residual_sums> parts;
        for (const buffer<residual_sums>& sums : enqueue_residual(s, x, b, r)) {
            const auto here = sums.download();
            parts.insert(parts.end(), here.begin(), here.end());
        }
        auto by_place = by_rank(comm(), [](int) { return std::vector<residual_sums>(); });
        by_place[static_cast<std::size_t>(comm().first_local())] = std::move(parts);
        comm().all_gather_lists(by_place);
        parts.clear();
        for (const auto& of_rank : by_place)
            parts.insert(parts.end(), of_rank.begin(), of_rank.end());
        if (parts.empty()) return {};
        auto all = joined(parts, columns_at_once());
        if (!single().in_place_)
            single().kept_.norms.set(matrix_norms{all.front().squares, all.front().longest_row});
        return all;
    });
}

template <class T>
residual_operands<T> matrix_operator<T>::residual_on(int rank, T s, const vector<T>& x,
                                                     const vector<T>& b, vector<T>& r) const {
    return {.x = local_entries(x, rank),
            .b = b.data(rank),
            .r = r.data(rank),
            .factor = s,
            .columns = columns_at_once()};
}

template <class T>
std::vector<buffer<residual_sums>> matrix_operator<T>::enqueue_residual(T s, const vector<T>& x,
                                                                        const vector<T>& b,
                                                                        vector<T>& r) const {
    std::vector<buffer<residual_sums>> sums;
    for (const int rank : comm().local())
        sums.push_back(
            blocks_[static_cast<std::size_t>(rank)]->residual(residual_on(rank, s, x, b, r)));
    return sums;
}

template <class T>
transport_kind matrix_operator<T>::transport() const {
    return choose_transport(comm(), transports::automatic);
}

#define KRYLITH_INSTANTIATE(T) template class matrix_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
