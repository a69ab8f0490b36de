// A Mat of PETSc's on krylith's devices, which follows its values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <petscmat.h>

#include <krylith/adapters/petsc/ksp_options.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::petsc {

/// What a Mat has become since it was looked at last.
enum class mat_change { none, values, pattern };

class followed_mat {
public:
    /// Takes a Mat of type SeqAIJ or MPIAIJ, or one made of these: nothing where it has not
    /// changed, else its values, or all, where its pattern is another one. With `like` the operator
    /// is on the vectors of that one. Collective. Throws usage_error for other types, and unless a
    /// process has the columns of its rows.
    mat_change follow(const communicator& comm, Mat mat, const ksp_options& options,
                      const matrix_operator<double>* like = nullptr);

    [[nodiscard]] bool is_empty() const noexcept { return a_ == nullptr; }
    [[nodiscard]] const matrix_operator<double>& a() const { return *a_; }
    [[nodiscard]] const distributed_csr<double>& rows() const { return rows_; }
    /// Rows of a node, where krylith can take so many; else 1.
    [[nodiscard]] int block_size() const noexcept { return block_size_; }

private:
    /// What tells patterns apart without keeping one.
    struct pattern {
        std::int64_t begin = -1, end = -1, columns = 0, entries = 0;
        std::uint64_t hash = 0;
        friend bool operator==(const pattern&, const pattern&) = default;
    };
    class own_rows;

    PetscObjectId id_ = 0; ///< of the Mat; others never have it, also after it is gone
    PetscObjectState state_ = -1;
    pattern pattern_;
    int block_size_ = 1;
    distributed_csr<double> rows_;
    std::unique_ptr<matrix_operator<double>> a_;
};

} // namespace krylith::petsc
