// NZ: every device holds whole vectors and multiplies a range of rows of equal nonzeros; each
// result goes to all other devices while the next rows are computed. (Gao, Ji, Wang, TACO 2024:
// there by copy engines after the product, here by the stores of the kernel itself.)
#pragma once

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

template <class T>
class nz_operator final : public matrix_operator<T> {
public:
    nz_operator(layout_handle where, const matrix_source<T>& source, local_kind local);

    /// With blocks that somebody else makes.
    nz_operator(layout_handle where, const block_maker<T>& make);

    [[nodiscard]] vector<T> make_operand(const std::string& item) const override {
        return vector<T>(this->layout_, item);
    }
    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const override;
    [[nodiscard]] std::int64_t received(int rank) const override {
        return this->layout_->size() - this->layout_->rows.owned(rank).size();
    }

private:
    void make_words();
    /// Words that peers write, and tables of where theirs are.
    struct rank_words {
        buffer<std::uint64_t> sent;
        buffer<std::uint64_t> ready;
        buffer<std::uint64_t> pushed;
        buffer<std::uint64_t*> sents;
        buffer<std::uint64_t*> readies;
        std::uint32_t to = 0;   ///< bit set: ranks whose memory this one can write
        std::uint32_t from = 0; ///< ranks that can write this one's

        void reset() const {
            for (const auto* words : {&sent, &ready, &pushed}) words->zero();
        }
    };
    std::vector<rank_words> words_;
    mutable std::uint64_t last_run_ = 0; ///< the execution that the words were counted in
};

extern template class nz_operator<double>;
extern template class nz_operator<float>;

} // namespace krylith
