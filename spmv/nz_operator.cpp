#include <krylith/spmv/nz_operator.hpp>

#include <krylith/device/error.hpp>
#include <krylith/spmv/make_block.hpp>
#include <krylith/spmv/matrix_source.hpp>

namespace krylith {

template <class T>
nz_operator<T>::nz_operator(layout_handle where, const matrix_source<T>& source, local_kind local)
    : matrix_operator<T>(operator_kind::nz, where, source) {
    for (int rank = 0; rank < where->group.size(); ++rank)
        this->blocks_.push_back(make_block(where->group.share(rank),
                                           source.block(rank, where->rows.owned(rank)), local));
    make_words();
}

template <class T>
nz_operator<T>::nz_operator(layout_handle where, const block_maker<T>& make)
    : matrix_operator<T>(operator_kind::nz, where) {
    for (int rank = 0; rank < where->group.size(); ++rank)
        this->blocks_.push_back(make(*where, rank, where->size()));
    make_words();
}

template <class T>
void nz_operator<T>::make_words() {
    const std::string item = "result exchange";
    const device_group& group = this->layout_->group;
    const auto p = static_cast<std::size_t>(group.size());
    for (int rank = 0; rank < group.size(); ++rank) {
        rank_words w;
        w.sent = buffer<std::uint64_t>(group.share(rank), p, item);
        w.ready = buffer<std::uint64_t>(group.share(rank), p, item);
        w.pushed = buffer<std::uint64_t>(group.share(rank), 1, item);
        w.reset();
        for (int other = 0; other < group.size(); ++other) {
            if (other == rank) continue;
            if (group.path(rank, other) == transport::direct) w.to |= 1u << other;
            if (group.path(other, rank) == transport::direct) w.from |= 1u << other;
        }
        words_.push_back(std::move(w));
    }
    for (std::size_t rank = 0; rank < p; ++rank) {
        std::vector<std::uint64_t*> sents;
        std::vector<std::uint64_t*> readies;
        for (std::size_t to = 0; to < p; ++to) {
            sents.push_back(words_[to].sent.data() + rank);
            readies.push_back(words_[to].ready.data() + rank);
        }
        const auto& d = group.share(static_cast<int>(rank));
        words_[rank].sents =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(sents), item);
        words_[rank].readies =
            buffer<std::uint64_t*>(d, std::span<std::uint64_t* const>(readies), item);
    }
    group.synchronize(); // words are zero before any peer writes them
}

template <class T>
void nz_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                           std::span<const reduction_into<T>> dots) const {
    this->open(run, x, y, dots);
    if (run.identity() != last_run_ && run.ordered()) {
        // A run that failed may have left the ranks' counts apart: every run counts from 0.
        run.join_if_ordered();
        for (const rank_words& w : words_) w.reset();
        last_run_ = run.identity();
    }
    run.join_if_ordered(); // readers of the last result are done
    const layout& where = *this->layout_;
    std::vector<arrival> arrivals;
    for (int rank = 0; rank < run.ranks(); ++rank) {
        const rank_words& w = words_[static_cast<std::size_t>(rank)];
        auto a = this->arguments(run, rank, alpha, x, beta, y, dots);
        for (int to = 0; to < run.ranks(); ++to)
            a.push.copies[to] = y.data(to) + where.first_owned(rank);
        a.push.sent = w.sents.data();
        a.push.ready = w.ready.data();
        a.push.readies = w.readies.data();
        a.push.pushed = w.pushed.data();
        a.push.to = w.to;
        a.push.ordered = run.ordered();
        arrivals.push_back({w.sent.data(), w.pushed.data(), w.from});
        this->blocks_[static_cast<std::size_t>(rank)]->apply(a);
    }
    run.close();
    if (run.ranks() == 1) return;
    bool staged = false;
    for (int from = 0; from < run.ranks(); ++from)
        for (int to = 0; to < run.ranks(); ++to) {
            if (run.group().path(from, to) != transport::staged) continue;
            staged = true;
            const auto owned = where.rows.owned(from);
            run.group().copy(from, y.data(from) + owned.begin, to, y.data(to) + owned.begin,
                             static_cast<std::size_t>(owned.size()) * sizeof(T));
        }
    if (staged) run.group().join();
    run.expect(arrivals);
}

template class nz_operator<double>;
template class nz_operator<float>;

} // namespace krylith
