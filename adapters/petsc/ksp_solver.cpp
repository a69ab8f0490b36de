#include <krylith/adapters/petsc/ksp_solver.hpp>

#include <cstddef>
#include <span>
#include <utility>

#include <krylith/adapters/petsc/checked.hpp>
#include <krylith/adapters/petsc/ksp_devices.hpp>
#include <krylith/adapters/petsc/ksp_outcome.hpp>
#include <krylith/adapters/petsc/near_null_space.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::petsc {

namespace {

/// Own entries of a Vec, for as long as it lives.
template <auto Get, auto Restore, class Entry>
class own_entries {
public:
    explicit own_entries(Vec v) : v_(v) { check(Get(v_, &entries_)); }
    own_entries(const own_entries&) = delete;
    own_entries& operator=(const own_entries&) = delete;
    ~own_entries() { (void)Restore(v_, &entries_); }
    [[nodiscard]] Entry* data() const noexcept { return entries_; }

private:
    Vec v_;
    Entry* entries_ = nullptr;
};
using read_entries = own_entries<VecGetArrayRead, VecRestoreArrayRead, const PetscScalar>;
using written_entries = own_entries<VecGetArray, VecRestoreArray, PetscScalar>;

/// Own entries as a vector of host devices, in place.
vector<double> in_place(const layout_handle& layout, double* entries) {
    static double none = 0; // of processes without rows, whose arrays may be null
    const row_partition& rows = layout->rows;
    const std::int64_t first = rows.owned(layout->comm.first_local()).begin;
    return vector<double>::borrow(layout, by_rank(layout->comm, [&](int rank) {
                                      return entries == nullptr
                                                 ? &none
                                                 : entries + (rows.owned(rank).begin - first);
                                  }));
}

bool takes_near_null(const std::string& m) {
    return m.empty() || m == "auto" || m.substr(0, m.find(':')) == "amg";
}

} // namespace

bool ksp_solver::chooses_m() const {
    return options_.method == "auto" && m_text_.empty() &&
           (options_.m.empty() || options_.m == "auto");
}

bool ksp_solver::update_m() {
    try {
        m_.update(p_ ? p_->rows() : a_.rows());
        return true;
    } catch (const usage_error&) {
        return false;
    }
}

void ksp_solver::follow(KSP ksp) {
    Mat a = nullptr;
    Mat p = nullptr;
    check(KSPGetOperators(ksp, &a, &p));
    if (!comm_)
        comm_.emplace(
            make_communicator(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), options_));
    mat_change change = a_.follow(*comm_, a, options_);
    if (change == mat_change::pattern) { // what was made for other vectors
        m_ = {};
        m_text_.clear();
        p_.reset();
        b_.reset();
        x_.reset();
    }
    if (p == a) {
        if (p_) m_text_.clear();
        p_.reset();
    } else {
        if (!p_) {
            p_.emplace();
            m_text_.clear();
        }
        change = p_->follow(*comm_, p, options_, &a_.a());
    }

    MatNullSpace near = nullptr;
    PetscObjectId near_id = 0;
    check(MatGetNearNullSpace(p, &near));
    if (near != nullptr && takes_near_null(options_.m))
        check(PetscObjectGetId(reinterpret_cast<PetscObject>(near), &near_id));
    const bool named = !options_.m.empty() && options_.m != "auto";
    const std::string text = named ? options_.m : p_ || near_id != 0 ? "amg" : "";
    if (text.empty() || text == "none") {
        m_ = {};
        m_text_ = text;
        return;
    }
    const bool fits = m_text_ == text && near_null_id_ == near_id && change != mat_change::pattern;
    if (fits && change == mat_change::none) return;
    m_text_.clear(); // should something fail here, M is made at the next call
    if (!fits || !update_m()) {
        m_ = {}; // its memory is needed
        near_null_ = near_id != 0 ? vectors_of(near, p) : std::vector<double>();
        near_null_id_ = near_id;
        const followed_mat& of = p_ ? *p_ : a_;
        m_ = make_preconditioner<double>(text, of.a(), of.rows(),
                                         {.block_size = of.block_size(), .near_null = near_null_});
    }
    m_text_ = text;
}

solve_result ksp_solver::run(const vector<double>& b, vector<double>& x,
                             const solver_options& options) {
    if (chooses_m())
        return krylith::solve(a_.a(), matrix_ref<double>(a_.rows()), b, x, options,
                              {.block_size = a_.block_size()});
    if (options_.method == "auto") return krylith::solve(a_.a(), b, x, options, m_);
    return find_solver(options_.method).solve<double>(a_.a(), b, x, options, m_);
}

solve_result ksp_solver::run_on(KSP ksp, const double* b, double* x,
                                const solver_options& options) {
    if (comm_->kind() == backend::host && a_.a().range_layout()->kind == coherence::owned) {
        const vector<double> at_b = // which is only read
            in_place(a_.a().range_layout(), const_cast<double*>(b));
        vector<double> at_x = in_place(a_.a().domain_layout(), x);
        return run(at_b, at_x, options);
    }
    PetscInt size = 0;
    check(VecGetLocalSize(ksp->vec_sol, &size));
    if (!b_) b_.emplace(a_.a().make_range_vector());
    if (!x_) x_.emplace(a_.a().make_domain_vector());
    b_->upload_local({b, static_cast<std::size_t>(size)});
    if (options.initial_guess) x_->upload_local({x, static_cast<std::size_t>(size)});
    solve_result result = run(*b_, *x_, options);
    x_->download_local({x, static_cast<std::size_t>(size)});
    return result;
}

void ksp_solver::solve(KSP ksp) {
    follow(ksp); // PETSc sets up once, and then the matrix may have changed
    solver_options options = options_.of_solve(ksp);
    residual_watch watch(ksp, *comm_, options);
    solve_result result;
    {
        const read_entries b(ksp->vec_rhs);
        const written_entries x(ksp->vec_sol);
        result = run_on(ksp, b.data(), x.data(), options);
    }
    watch.finish(result);
    if (result.converged() && !m_.is_identity()) m_.solved(result.iterations);
    remove_null_space(ksp);
    take_outcome(ksp, result);
    last_ = in_words(result, options_.method, m_.name());
}

void ksp_solver::view(PetscViewer viewer) const {
    check(PetscViewerASCIIPrintf(viewer, "  krylith_method: %s\n", options_.method.c_str()));
    const std::string m = options_.m.empty() ? "not named" : options_.m;
    check(PetscViewerASCIIPrintf(viewer, "  krylith_M: %s; the PC below is not used\n", m.c_str()));
    if (!comm_ || a_.is_empty()) return;
    for (const int rank : comm_->local())
        check(PetscViewerASCIIPrintf(viewer, "  device: %s\n", comm_->description(rank).c_str()));
    check(PetscViewerASCIIPrintf(viewer, "  operator: %s, format %s, ranks %d\n",
                                 to_string(a_.a().kind()), a_.a().format_name().c_str(),
                                 comm_->ranks()));
    if (!m_.is_identity())
        check(PetscViewerASCIIPrintf(viewer, "  preconditioner: %s\n", m_.name().c_str()));
    if (!last_.empty()) check(PetscViewerASCIIPrintf(viewer, "  last solve: %s\n", last_.c_str()));
}

} // namespace krylith::petsc
