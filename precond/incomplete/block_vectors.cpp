#include <krylith/precond/incomplete/block_vectors.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/matrix/matrix_exchange.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/vector/ghosts/expect_ghosts.hpp>

namespace krylith::incomplete {

template <class T>
block_vectors<T>::block_vectors(layout_handle layout)
    : layout_(std::move(layout)), solution_(layout_, precond_item) {}

template <class T>
block_vectors<T>::block_vectors(layout_handle layout, std::vector<local_columns> rows)
    : layout_(std::move(layout)),
      parts_(make_parts(layout_->comm, rows)),
      exchanged_(std::in_place, layout_, precond_item, detail::exchange_of<T>(layout_, rows)),
      solution_(vector<T>::borrow(layout_, owned_arrays(parts_))) {}

template <class T>
std::vector<typename block_vectors<T>::overlapping_part>
block_vectors<T>::make_parts(const communicator& comm, std::vector<local_columns> rows) {
    return by_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        overlapping_part mine;
        mine.rows = std::move(rows[as_size(rank)]);
        const std::size_t count = as_size(mine.rows.count());
        mine.solution = {device, count, precond_item};
        return mine;
    });
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
    return exchanged_->data(rank) - part(rank).rows.first_owned();
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
    return part(rank).rows.global(i);
}

template <class T>
std::int64_t block_vectors<T>::bytes(int rank) const {
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (parts_.empty()) return layout_->held(rank) * size;
    const overlapping_part& mine = part(rank);
    return (mine.rows.count() + static_cast<std::int64_t>(mine.solution.size())) * size +
           mine.rows.bytes();
}

#define KRYLITH_INSTANTIATE(T) template class block_vectors<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete
