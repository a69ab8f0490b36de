#include <krylith/adapters/petsc/near_null_space.hpp>

#include <cstddef>

#include <krylith/adapters/petsc/checked.hpp>

namespace krylith::petsc {

std::vector<double> vectors_of(MatNullSpace space, Mat mat) {
    PetscBool constant = PETSC_FALSE;
    PetscInt count = 0;
    PetscInt rows = 0;
    const Vec* vectors = nullptr;
    check(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
    check(MatGetSize(mat, &rows, nullptr));
    std::vector<double> result(constant ? static_cast<std::size_t>(rows) : 0, 1.0);
    for (PetscInt k = 0; k < count; ++k) {
        VecScatter to_all = nullptr;
        Vec all = nullptr;
        check(VecScatterCreateToAll(vectors[k], &to_all, &all));
        check(VecScatterBegin(to_all, vectors[k], all, INSERT_VALUES, SCATTER_FORWARD));
        check(VecScatterEnd(to_all, vectors[k], all, INSERT_VALUES, SCATTER_FORWARD));
        const PetscScalar* entries = nullptr;
        check(VecGetArrayRead(all, &entries));
        result.insert(result.end(), entries, entries + rows);
        check(VecRestoreArrayRead(all, &entries));
        check(VecScatterDestroy(&to_all));
        check(VecDestroy(&all));
    }
    return result;
}

} // namespace krylith::petsc
