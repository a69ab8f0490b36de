// A matrix used in place: a .kcsr file mapped into memory, without a copy.
#pragma once

#include <filesystem>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/kcsr/image.hpp>
#include <krylith/matrix/kcsr/mapped_file.hpp>

namespace krylith {

/// A view of a file of values T (read_binary_csr converts, this can't). Opening reads all bytes
/// once, by all OpenMP threads, and validates the matrix; `check` can leave that out for a file
/// that is known to be good, and then costs O(1). Throws what read_binary_csr throws.
///
/// The pages are the system's cache: they can be dropped and read again, and several processes
/// share them. A file that is replaced (as write_binary_csr does) stays what it was for those who
/// have it open. It must not be cut off in place while it is mapped: touching what is missing ends
/// the process by a signal (SIGBUS), as with every mapped file. read_binary_csr and load_matrix
/// copy, and throw.
template <class T>
class mapped_csr {
public:
    explicit mapped_csr(const std::filesystem::path& path, binary::file_check check = {});

    /// The view, valid as long as this object, also after it was moved.
    [[nodiscard]] const csr_view<T>& view() const noexcept { return view_; }

private:
    binary::mapped_file file_;
    csr_view<T> view_;
};

} // namespace krylith
