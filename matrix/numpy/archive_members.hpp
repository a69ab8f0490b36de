// The arrays of a .npz archive by their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/numpy/open_array.hpp>
#include <krylith/matrix/numpy/zip_archive.hpp>

namespace krylith::numpy {

class archive_members {
public:
    /// Reads the directory. The archive must live as long as this object. Throws input_error for
    /// one that is damaged.
    explicit archive_members(const binary::byte_source& archive);

    [[nodiscard]] const std::vector<zip_member>& all() const noexcept { return members_; }
    [[nodiscard]] bool has(std::string_view name) const;

    /// Opens arrays by name without ".npy", deflated ones side by side, in the order of the names.
    /// Throws input_error where one is missing or damaged, and where the memory can't hold what has
    /// to be unpacked.
    [[nodiscard]] std::vector<open_array> open(const std::vector<std::string>& names) const;

    /// The text of an array of one item: 'csr'.
    [[nodiscard]] std::string read_text(const std::string& name) const;
    /// The whole numbers of an array: a shape.
    [[nodiscard]] std::vector<std::int64_t> read_sizes(const std::string& name) const;

private:
    [[nodiscard]] const zip_member& find(const std::string& name) const;

    const binary::byte_source& archive_;
    std::vector<zip_member> members_;
};

} // namespace krylith::numpy
