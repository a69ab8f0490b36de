#include <krylith/adapters/petsc/followed_mat.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/adapters/petsc/checked.hpp>
#include <krylith/device/error.hpp>
#include <krylith/spmv/matrix_parts.hpp>

namespace krylith::petsc {

namespace {

/// Mixes numbers into one of 64 bits, by the finaliser of MurmurHash3.
class mixed_hash {
public:
    void add(std::uint64_t number) {
        value_ = (value_ ^ number) * 0xff51afd7ed558ccdULL;
        value_ ^= value_ >> 32;
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0x9e3779b97f4a7c15ULL;
};

void refuse_types(Mat mat) {
    PetscBool known = PETSC_FALSE;
    check(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(mat), &known, MATSEQAIJ,
                                        MATMPIAIJ, ""));
    if (known) return;
    MatType type = nullptr;
    check(MatGetType(mat, &type));
    throw usage_error("the matrix has type " + std::string(type) +
                      ": allowed are " MATSEQAIJ " and " MATMPIAIJ
                      " (-mat_type aij, or MatConvert() to " MATAIJ ")");
}

} // namespace

/// The rows of this process with global columns, while it lives: those of a SeqAIJ matrix itself,
/// of an MPIAIJ matrix a copy whose columns ascend, 12 or 16 bytes an entry.
class followed_mat::own_rows {
public:
    own_rows(const communicator& comm, Mat mat) : rows_(mat) {
        try {
            take(comm, mat);
        } catch (...) {
            give_back();
            throw;
        }
    }
    own_rows(const own_rows&) = delete;
    own_rows& operator=(const own_rows&) = delete;
    ~own_rows() { give_back(); }

    [[nodiscard]] std::span<const double> values() const {
        return {values_, static_cast<std::size_t>(entries())};
    }
    [[nodiscard]] pattern shape() const {
        mixed_hash hash;
        for (std::int64_t i = 0; i <= size_; ++i) hash.add(static_cast<std::uint64_t>(offsets_[i]));
        for (std::int64_t k = 0; k < entries(); ++k)
            hash.add(static_cast<std::uint64_t>(columns_[k]));
        return {begin_, begin_ + size_, all_columns_, entries(), hash.value()};
    }
    /// Deals the rows out to the devices of this process, nodes as a whole. Collective.
    [[nodiscard]] distributed_csr<double> spread(const communicator& comm, int block_size) const {
        const auto devices = static_cast<std::int64_t>(comm.local().size());
        const std::int64_t nodes = size_ / block_size;
        std::vector<csr_part<double>> parts(static_cast<std::size_t>(comm.ranks()));
        std::vector<std::int64_t> counts(parts.size());
        for (const int rank : comm.local()) {
            const std::int64_t k = rank - comm.first_local();
            const std::int64_t from = nodes * k / devices * block_size;
            const std::int64_t to =
                k + 1 == devices ? size_ : nodes * (k + 1) / devices * block_size;
            const auto entry = size_ == 0 ? 0 : offsets_[from];
            parts[static_cast<std::size_t>(rank)] = {to - from, offsets_ + from, columns_ + entry,
                                                     values_ + entry};
            counts[static_cast<std::size_t>(rank)] = to - from;
        }
        comm.all_gather(std::span(counts));
        row_partition owners;
        owners.begin = {0};
        for (const std::int64_t count : counts) owners.begin.push_back(owners.begin.back() + count);
        return {comm, parts, owners};
    }

private:
    [[nodiscard]] std::int64_t entries() const { return size_ == 0 ? 0 : offsets_[size_]; }

    void take(const communicator& comm, Mat mat) {
        PetscBool parallel = PETSC_FALSE;
        check(PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(mat), &parallel,
                                            MATMPIAIJ, ""));
        PetscInt first = 0, end = 0, first_column = 0, end_column = 0, columns = 0;
        check(MatGetOwnershipRange(mat, &first, &end));
        check(MatGetOwnershipRangeColumn(mat, &first_column, &end_column));
        check(MatGetSize(mat, nullptr, &columns));
        comm.together([&] {
            if (first != first_column || end != end_column)
                throw usage_error("a process has rows " + std::to_string(first) + " to " +
                                  std::to_string(end) + " and columns " +
                                  std::to_string(first_column) + " to " +
                                  std::to_string(end_column) + ": both must be the same");
        });
        if (parallel) {
            rows_ = nullptr;
            check_together(comm, MatMPIAIJGetLocalMat(mat, MAT_INITIAL_MATRIX, &rows_),
                           "MatMPIAIJGetLocalMat");
            copied_ = true;
        }
        PetscBool done = PETSC_FALSE;
        PetscInt count = 0;
        check(MatGetRowIJ(rows_, 0, PETSC_FALSE, PETSC_FALSE, &count, &offsets_, &columns_, &done));
        check(MatSeqAIJGetArrayRead(rows_, &values_));
        begin_ = first;
        size_ = count;
        all_columns_ = columns;
    }

    void give_back() {
        PetscBool done = PETSC_FALSE;
        PetscInt count = 0;
        if (values_ != nullptr) (void)MatSeqAIJRestoreArrayRead(rows_, &values_);
        if (columns_ != nullptr)
            (void)MatRestoreRowIJ(rows_, 0, PETSC_FALSE, PETSC_FALSE, &count, &offsets_, &columns_,
                                  &done);
        if (copied_) (void)MatDestroy(&rows_);
    }

    Mat rows_;
    bool copied_ = false;
    std::int64_t begin_ = 0, size_ = 0, all_columns_ = 0;
    const PetscInt* offsets_ = nullptr;
    const PetscInt* columns_ = nullptr;
    const PetscScalar* values_ = nullptr;
};

mat_change followed_mat::follow(const communicator& comm, Mat mat, const ksp_options& options,
                                const matrix_operator<double>* like) {
    PetscObjectId id = 0;
    PetscObjectState state = 0;
    check(PetscObjectGetId(reinterpret_cast<PetscObject>(mat), &id));
    check(PetscObjectStateGet(reinterpret_cast<PetscObject>(mat), &state));
    if (!comm.any(id != id_ || state != state_)) return mat_change::none;
    refuse_types(mat);
    PetscInt given = 1;
    check(MatGetBlockSize(mat, &given));
    const int block_size = given >= 1 && given <= 12 ? static_cast<int>(given) : 1;

    const own_rows own(comm, mat);
    const pattern shape = own.shape();
    const bool other = a_ == nullptr || shape != pattern_ || block_size != block_size_;
    id_ = 0; // should something fail here, nothing is known
    const mat_change change = comm.any(other) ? mat_change::pattern : mat_change::values;
    if (change == mat_change::values) {
        rows_.update_local(own.values());
        a_->update_on_devices(rows_.values());
    } else {
        a_.reset(); // its memory is needed
        rows_ = own.spread(comm, block_size);
        const operator_options made = options.of_operator(block_size);
        a_ = like == nullptr ? make_operator(rows_, made)
                             : make_operator(like->layouts(), rows_, made);
        pattern_ = shape;
        block_size_ = block_size;
    }
    id_ = id;
    state_ = state;
    return change;
}

} // namespace krylith::petsc
