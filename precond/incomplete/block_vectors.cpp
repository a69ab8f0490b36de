#include <krylith/precond/incomplete/block_vectors.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/matrix/matrix_exchange.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/vector/ghosts/expect_ghosts.hpp>

namespace krylith::incomplete {

namespace {

/// The places of the rows of a block, ghosts below, owned rows, ghosts above, in a vector that has
/// the owned ones first.
std::vector<std::int32_t> places_of(const local_columns& rows) {
    const auto below = static_cast<std::size_t>(rows.first_owned());
    const auto owned = static_cast<std::size_t>(rows.owned().size());
    std::vector<std::int32_t> places(as_size(rows.count()));
    const auto from = places.begin();
    const auto at = [&](std::size_t i) { return from + static_cast<std::ptrdiff_t>(i); };
    std::iota(from, at(below), static_cast<std::int32_t>(owned));
    std::iota(at(below), at(below + owned), 0);
    std::iota(at(below + owned), places.end(), static_cast<std::int32_t>(below + owned));
    return places;
}

} // namespace

template <class T>
block_vectors<T>::block_vectors(layout_handle layout)
    : layout_(std::move(layout)), solution_(layout_, precond_item) {}

template <class T>
block_vectors<T>::block_vectors(layout_handle layout, std::vector<local_columns> rows)
    : layout_(std::move(layout)),
      parts_(make_parts(layout_->group, rows)),
      exchanged_(std::in_place, layout_, precond_item, detail::exchange_of<T>(layout_, rows)),
      solution_(vector<T>::borrow(layout_, owned_arrays(parts_))) {}

template <class T>
std::vector<typename block_vectors<T>::overlapping_part>
block_vectors<T>::make_parts(const device_group& group, std::vector<local_columns> rows) {
    std::vector<overlapping_part> parts;
    for (int rank = 0; rank < group.size(); ++rank) {
        const auto& device = group.handle(rank);
        overlapping_part mine;
        mine.rows = std::move(rows[as_size(rank)]);
        const std::size_t count = as_size(mine.rows.count());
        if (mine.rows.first_owned() != 0) {
            mine.places = {device, std::span<const std::int32_t>(places_of(mine.rows)),
                           precond_item};
            mine.gathered = {device, count, precond_item};
        }
        mine.solution = {device, count, precond_item};
        parts.push_back(std::move(mine));
    }
    return parts;
}

template <class T>
std::vector<T*> block_vectors<T>::owned_arrays(const std::vector<overlapping_part>& parts) {
    std::vector<T*> arrays;
    for (const overlapping_part& one : parts)
        arrays.push_back(one.solution.data() + one.rows.first_owned());
    return arrays;
}

template <class T>
void block_vectors<T>::begin(execution& run, const std::string& who, const vector<T>& r,
                             const vector<T>& z) {
    if (r.layout() != layout_ || z.layout() != layout_)
        throw usage_error("preconditioner " + who + " was made for vectors of another operator");
    if (!exchanged_) {
        // What peers send of replicated vectors is there then.
        if (layout_->kind == coherence::replicated) run.flush();
        return;
    }
    fused(run, *exchanged_ = r);
    expect_ghosts(run, *exchanged_);
    run.flush(); // the kernels of blocks wait for nothing themselves
    for (int rank = 0; rank < run.ranks(); ++rank) {
        const overlapping_part& mine = part(rank);
        run_items(
            run.group()[rank],
            gather_items<T>{{mine.places.data()}, exchanged_->data(rank), mine.gathered.data()},
            static_cast<std::int64_t>(mine.places.size()));
    }
}

template <class T>
void block_vectors<T>::finish(execution& run, vector<T>& z,
                              std::span<const reduction_into<T>> dots) {
    fused_update<T> update;
    update.add(z = solution_);
    update.add(dots);
    enqueue(run, update);
}

template <class T>
const T* block_vectors<T>::right_hand_side(int rank, const vector<T>& r) const {
    if (!exchanged_) return r.data(rank);
    return part(rank).places.size() == 0 ? exchanged_->data(rank) : part(rank).gathered.data();
}

template <class T>
bool block_vectors<T>::has(std::span<const local_columns> rows) const {
    return std::equal(parts_.begin(), parts_.end(), rows.begin(), rows.end(),
                      [](const overlapping_part& mine, const local_columns& other) {
                          return mine.rows.owned() == other.owned() &&
                                 mine.rows.ghosts() == other.ghosts();
                      });
}

template <class T>
std::int64_t block_vectors<T>::row_of(int rank, std::int64_t i) const {
    if (parts_.empty())
        return layout_->kind == coherence::replicated ? i : layout_->rows.owned(rank).begin + i;
    const local_columns& rows = part(rank).rows;
    const std::int64_t from_owned = i - rows.first_owned();
    if (from_owned < 0) return rows.ghosts()[as_size(i)];
    if (from_owned < rows.owned().size()) return rows.owned().begin + from_owned;
    return rows.ghosts()[as_size(i - rows.owned().size())];
}

template <class T>
std::int64_t block_vectors<T>::bytes(int rank) const {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (parts_.empty()) return layout_->held(rank) * size;
    const overlapping_part& mine = part(rank);
    return (mine.rows.count() +
            static_cast<std::int64_t>(mine.gathered.size() + mine.solution.size())) *
               size +
           static_cast<std::int64_t>(mine.places.size() * sizeof(std::int32_t)) + mine.rows.bytes();
}

#define KRYLITH_INSTANTIATE(T) template class block_vectors<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete
