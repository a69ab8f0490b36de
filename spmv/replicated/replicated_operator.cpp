#include <krylith/spmv/replicated/replicated_operator.hpp>

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/dealt_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/selection/make_device_matrix.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/vector/execution/context_after.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// Whether these are all the rows that a device owns.
bool is_all(row_range rows, row_range owned) {
    return rows == owned || (rows.size() == 0 && owned.size() == 0);
}

/// Where the device's rows lie with their pattern; null unless these are the rows of a block.
template <class T>
const resident_rows* rows_there(const matrix_source<T>& source, int rank, const joined_rows& rows) {
    if (!source.resident || rows.map.count != 0 ||
        !is_all(rows.segments.front().rows, source.resident->rows.owned(rank)))
        return nullptr;
    return &source.resident->parts[static_cast<std::size_t>(rank)];
}

} // namespace

template <class T>
replicated_operator<T>::replicated_operator(operator_kind kind, operator_layouts layouts,
                                            const matrix_source<T>& source,
                                            block_partition partition, transport_kind transport,
                                            format_kind format)
    : matrix_operator<T>(kind, std::move(layouts), source),
      transport_(transport),
      partition_(std::move(partition)),
      apart_(format && format->rounds_by_block && partition_.redundant.size() != 0) {
    plan(source.starts());
    make_blocks(source, format);
    connect();
}

template <class T>
replicated_operator<T>::replicated_operator(operator_layouts layouts, const block_maker<T>& make)
    : matrix_operator<T>(operators::nz, std::move(layouts)),
      transport_(choose_transport(this->comm(), transports::automatic)),
      partition_(one_block(this->layouts_.range->rows)) {
    this->comm().require_one_driver("a product with replicated vectors");
    for (const int rank : this->comm().local()) {
        this->blocks_.push_back(make(*this->layouts_.range, rank, {this->columns(), 0}));
        joined_rows rows;
        rows.segments.push_back({0, this->layouts_.range->rows.owned(rank), {}});
        block_rows_.push_back({rank, std::move(rows), step::first});
    }
    connect();
}

template <class T>
void replicated_operator<T>::plan(const row_starts& starts) {
    for (const int rank : this->comm().local()) {
        if (stores()) {
            block_partition joined = partition_;
            if (apart_) joined.redundant = {};
            block_rows_.push_back({rank, join_rows(joined, rank, starts), step::first});
            if (apart_)
                block_rows_.push_back(
                    {rank, lone_rows(partition_.redundant, starts), step::redundant});
            continue;
        }
        const std::size_t before = block_rows_.size();
        const local_blocks& part = partition_.local[static_cast<std::size_t>(rank)];
        for (const staged_rows& range : part.ranges)
            block_rows_.push_back({rank, lone_rows(range.rows, starts),
                                   range.stage == block_stage::first ? step::first : step::second});
        if (partition_.redundant.size() != 0)
            block_rows_.push_back({rank, lone_rows(partition_.redundant, starts), step::redundant});
        // A device without rows still runs the product's scalar arithmetic.
        if (block_rows_.size() == before)
            block_rows_.push_back({rank, lone_rows({0, 0}, starts), step::first});
    }
}

template <class T>
std::vector<resident_rows>
replicated_operator<T>::bring_patterns(const matrix_source<T>& source) const {
    if (this->comm().kind() != backend::cuda) return {};
    std::vector<wanted_rows> wanted;
    for (const block_rows& p : block_rows_)
        if (rows_there(source, p.rank, p.rows) == nullptr) wanted.push_back({p.rank, &p.rows});
    return bring_rows(this->comm(), source, std::span<const wanted_rows>(wanted));
}

template <class T>
void replicated_operator<T>::make_blocks(const matrix_source<T>& source, format_kind format) {
    const communicator& comm = this->comm();
    const std::vector<resident_rows> brought = bring_patterns(source);
    auto next_brought = brought.begin();
    bool same = true;
    for (const auto& [rank, rows, when] : block_rows_) {
        entry_list entries = rows.entries();
        std::vector<std::int64_t> offsets;
        std::vector<std::int32_t> columns;
        device_pattern pattern;
        local_csr<T> block{};
        block.rows = rows.size;
        block.columns = source.matrix.columns;
        if (rows.map.count != 0) block.alone = rows.map.alone;
        block.sends = stores() && comm.ranks() > 1 && when != step::redundant;
        block.values_follow = !source.borrow;
        if (source.borrow) {
            block.device_values = source.parts[as_size(rank)].values;
            block.device_indices = source.parts[as_size(rank)].columns;
            block.borrow = true;
        }
        if (comm.kind() == backend::cuda) {
            const resident_rows* there = rows_there(source, rank, rows);
            pattern = (there != nullptr ? *there : *next_brought++).pattern();
            block.there = &pattern;
        } else {
            const std::span<const std::int64_t> all = source.matrix.row_offsets;
            if (!rows.consecutive()) offsets = rows.offsets(all);
            block.offsets =
                rows.consecutive()
                    ? all.subspan(as_size(rows.segments.front().rows.begin), as_size(rows.size) + 1)
                    : offsets;
            block.indices = entries.of(source.matrix.column_indices, columns);
        }
        this->blocks_.push_back(make_device_matrix(comm.handle(rank), block, format));
        this->dealt_.add(rank, *this->blocks_.back(), std::move(entries));
        same = same && this->blocks_.back()->name() == this->blocks_.front()->name();
    }
    // Formats round differently, but all copies of redundant rows must have the same bits.
    if (partition_.redundant.size() != 0 && !same && !format) {
        this->blocks_.clear();
        this->dealt_.clear();
        return make_blocks(source, formats::csr);
    }
    if (source.borrow) return;
    if (source.parts.empty())
        this->give(source.matrix.values);
    else
        this->give(std::span<const T* const>(source.values_of_parts()));
}

template <class T>
void replicated_operator<T>::connect() {
    const communicator& comm = this->comm();
    if (!stores()) {
        exchange_ = transport_->exchange(comm);
        return;
    }
    if (comm.ranks() > most_copies)
        throw usage_error(std::string("operator ") + to_string(this->kind_) + " takes at most " +
                          std::to_string(most_copies) + " devices, not " +
                          std::to_string(comm.ranks()) + ": allowed is operator halo");
    results_ =
        channel(comm,
                by_rank(comm,
                        [&](int rank) {
                            std::vector<int> others;
                            for (int other = 0; other < comm.ranks(); ++other)
                                if (other != rank && comm.path(rank, other) == peer_path::direct)
                                    others.push_back(other);
                            return others;
                        }),
                "result signals");
}

template <class T>
void replicated_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta,
                                   vector<T>& y, std::span<const reduction_into<T>> dots) const {
    if (stores()) return store(run, alpha, x, beta, y, dots);
    if (!run.ordered())
        throw usage_error(std::string("transport ") + to_string(transport_) +
                          " can't be part of a recorded loop: allowed is execution_mode::eager");
    send_results(run, alpha, x, beta, y, dots);
}

template <class T>
void replicated_operator<T>::store(execution& run, T alpha, const vector<T>& x, T beta,
                                   vector<T>& y, std::span<const reduction_into<T>> dots) const {
    const auto here = apart_ ? std::span<const reduction_into<T>>() : dots;
    this->check_product(x, y, dots);
    this->open(run, x, y, here);
    run.join_if_ordered(); // orders the product after the readers of the last result
    for (std::size_t i = 0; i < block_rows_.size(); ++i) {
        const block_rows& p = block_rows_[i];
        const std::int64_t first = p.rows.first_row();
        auto a = this->arguments(run, p.rank, alpha, x, beta, y, here, first);
        if (p.when == step::redundant) {
            a.common = context_after(a.common);
            this->blocks_[i]->apply(a);
            continue;
        }
        a.map = p.rows.map;
        a.put.channel = results_.view(p.rank);
        a.put.ordered = run.ordered();
        std::ranges::transform(results_.receivers(p.rank), a.put.copies,
                               [&](int to) { return y.data(to) + first; });
        this->blocks_[i]->apply(a);
    }
    run.close();
    // An owner's rows may come from a peer. A download, which waits for one stream only, must find
    // them too.
    if (run.ordered() && this->kind_->deals)
        run.join_if_ordered();
    else if (run.ranks() > 1)
        run.expect(by_rank(run.comm(), [&](int rank) { return results_.view(rank).arrived(); }));
    if (apart_ && !dots.empty()) enqueue(run, fused_update<T>{{}, {dots.begin(), dots.end()}});
}

template <class T>
void replicated_operator<T>::send_results(execution& run, T alpha, const vector<T>& x, T beta,
                                          vector<T>& y,
                                          std::span<const reduction_into<T>> dots) const {
    this->check_product(x, y, dots);
    run.open({});
    run.join_opened(); // orders the product after the readers of the last result
    std::vector<bool> begun(static_cast<std::size_t>(run.ranks()), false);
    for (const step now : {step::first, step::second, step::redundant}) {
        std::vector<block_message> messages;
        for (std::size_t i = 0; i < block_rows_.size(); ++i) {
            const block_rows& p = block_rows_[i];
            if (p.when != now) continue;
            const auto rank = static_cast<std::size_t>(p.rank);
            const row_range rows = p.rows.segments.front().rows;
            auto a = this->arguments(run, p.rank, alpha, x, beta, y, {}, rows.begin);
            if (begun[rank]) a.common = context_after(a.common);
            begun[rank] = true;
            this->blocks_[i]->apply(a);
            for (const int to : run.comm().local())
                if (to != p.rank && now != step::redundant)
                    messages.push_back({p.rank, y.data(p.rank) + rows.begin, to,
                                        y.data(to) + rows.begin,
                                        static_cast<std::size_t>(rows.size()) * sizeof(T)});
        }
        exchange_->send(messages);
    }
    run.close();
    exchange_->finish();
    if (dots.empty()) return;
    enqueue(run, fused_update<T>{{}, {dots.begin(), dots.end()}});
}

template <class T>
void replicated_operator<T>::diagonal(vector<T>& d) const {
    this->check_diagonal(d);
    for (std::size_t i = 0; i < block_rows_.size(); ++i)
        this->blocks_[i]->diagonal(d.data(block_rows_[i].rank), map_of(block_rows_[i]), 0);
    give_to_all(d);
}

template <class T>
row_map replicated_operator<T>::map_of(const block_rows& p) const {
    if (p.rows.map.count != 0) return p.rows.map;
    row_map map = row_map::from(p.rows.first_row());
    if (p.when == step::redundant) {
        const row_range counted = partition_.local[static_cast<std::size_t>(p.rank)].counted;
        map.alone = 0;
        map.counted_begin = counted.begin;
        map.counted_end = counted.end;
    }
    return map;
}

template <class T>
std::vector<buffer<residual_sums>> replicated_operator<T>::enqueue_residual(T s, const vector<T>& x,
                                                                            const vector<T>& b,
                                                                            vector<T>& r) const {
    std::vector<buffer<residual_sums>> sums;
    for (std::size_t i = 0; i < block_rows_.size(); ++i) {
        residual_operands<T> a = this->residual_on(block_rows_[i].rank, s, x, b, r);
        a.map = map_of(block_rows_[i]);
        sums.push_back(this->blocks_[i]->residual(a));
        if (sums.back().size() == 0) return {};
    }
    give_to_all(r);
    return sums;
}

template <class T>
void replicated_operator<T>::give_to_all(vector<T>& d) const {
    const communicator& comm = this->comm();
    if (comm.ranks() == 1) return;
    comm.join(); // orders the copies after the users of the other copies
    for (const int from : comm.local())
        for (const staged_rows& range : partition_.local[static_cast<std::size_t>(from)].ranges)
            for (const int to : comm.local())
                if (to != from)
                    comm.copy(from, d.data(from) + range.rows.begin, to,
                              d.data(to) + range.rows.begin,
                              static_cast<std::size_t>(range.rows.size()) * sizeof(T));
    comm.join();
}

template <class T>
std::int64_t replicated_operator<T>::matrix_bytes(int rank) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < block_rows_.size(); ++i)
        if (block_rows_[i].rank == rank) bytes += this->blocks_[i]->matrix_bytes();
    return bytes;
}

template <class T>
bool replicated_operator<T>::recordable() const {
    return transport_->recordable && this->blocks_.front()->recordable();
}

#define KRYLITH_INSTANTIATE(T) template class replicated_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
