#include <krylith/distributed/local_files.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/files/entry_routing.hpp>
#include <krylith/distributed/files/market_share.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/kcsr/row_file.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/numpy/open_array.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/partition_rows.hpp>
#include <krylith/partition/nodes/block_size.hpp>

namespace krylith {

namespace {

using detail::local_rows;

/// The format of a file; null for what is none, or can't be opened: load_matrix() says why.
const file_format* format_of(std::optional<files::input_file>& file, std::string_view name,
                             file_content content) {
    if (name.starts_with("gallery:") || name == files::standard_input) return nullptr;
    try {
        file.emplace(name);
    } catch (const input_error&) {
        return nullptr;
    }
    return &recognise(*file, content);
}

/// Each array is read by all drivers before the next one, and the first bad byte of it is
/// everybody's.
template <class T>
own_rows<T> kcsr_rows(const communicator& comm, files::input_file& input, int block_size) {
    const auto meet = [&] { (void)comm.any(false); };
    const binary::byte_source bytes = input.bytes();
    const binary::row_file file(bytes);
    const std::int64_t rows = file.what().rows;
    const row_range share = local_rows(comm, equal_rows(rows, comm.ranks()));
    file.check_offsets({share.begin, share.end});
    meet();
    if (block_size == 1 && comm.ranks() > 1)
        block_size = find_block_size(rows, [&](row_range window, std::vector<std::int64_t>& offsets,
                                               std::vector<std::int32_t>& columns) {
            offsets = file.read_offsets({window.begin, window.end});
            offsets.resize(as_size(detail::block_size_search::enough(offsets)) + 1);
            columns = file.read_columns({offsets.front(), offsets.back()});
        });
    own_rows<T> result;
    result.rows = partition_rows(rows, comm.ranks(), block_size,
                                 [&](std::int64_t row) { return file.entries_before(row); });
    const row_range own = local_rows(comm, result.rows);
    result.matrix = file.read_rows<T>({own.begin, own.end}, meet);
    return result;
}

template <class T>
own_rows<T> whole_rows(const communicator& comm, csr_matrix<T> whole, int block_size) {
    own_rows<T> result;
    result.rows = partition_rows(csr_view<T>(whole), comm.ranks(), block_size);
    result.matrix.columns = whole.columns;
    const row_range own = local_rows(comm, result.rows);
    if (own.size() == whole.rows) {
        result.matrix = std::move(whole);
        return result;
    }
    csr_matrix<T>& mine = result.matrix;
    mine.rows = own.size();
    mine.row_offsets.assign(whole.row_offsets.begin() + own.begin,
                            whole.row_offsets.begin() + own.end + 1);
    const std::int64_t first = mine.row_offsets.front();
    const std::int64_t last = mine.row_offsets.back();
    for (std::int64_t& offset : mine.row_offsets) offset -= first;
    mine.column_indices.assign(whole.column_indices.begin() + first,
                               whole.column_indices.begin() + last);
    mine.values.assign(whole.values.begin() + first, whole.values.begin() + last);
    return result;
}

/// Says who owns the columns.
template <class T>
own_rows<T> completed(const communicator& comm, own_rows<T> result) {
    const std::int64_t rows = result.rows.rows();
    const std::int64_t columns = result.matrix.columns;
    result.columns = rows == columns
                         ? result.rows
                         : equal_rows(columns, comm.ranks(), row_alignment(columns, comm.ranks()));
    result.nonzeros = detail::sum_of_drivers(comm, result.matrix.nnz());
    return result;
}

/// Calls use(rank, entries) for the entries of each rank, as many as travel at a time.
template <class Use>
void for_each_piece(const row_partition& rows, const Use& use) {
    for (int rank = 0; rank < rows.ranks(); ++rank) {
        const row_range own = rows.owned(rank);
        for (std::int64_t begin = own.begin; begin < own.end; begin += detail::items_a_message)
            use(rank, row_range{begin, std::min(begin + detail::items_a_message, own.end)});
    }
}

/// The part of a vector that is this driver's, of one that the driver of rank 0 has.
template <class T>
std::vector<T> dealt(const communicator& comm, const row_partition& rows,
                     const std::vector<T>& whole) {
    std::vector<T> mine;
    mine.reserve(as_size(local_rows(comm, rows).size()));
    for_each_piece(rows, [&](int rank, row_range piece) {
        std::vector<addressed_list<T>> given;
        if (comm.is_local(0))
            given.push_back({0, rank, {whole.begin() + piece.begin, whole.begin() + piece.end}});
        for (const auto& list : comm.deliver(std::move(given)))
            mine.insert(mine.end(), list.items.begin(), list.items.end());
    });
    return mine;
}

template <class T>
std::vector<T> read_local(const communicator& comm, std::string_view name,
                          const row_partition& rows) {
    std::optional<files::input_file> file;
    const file_format* const format = format_of(file, name, file_content::vector);
    const std::string text(name);
    if (format == &file_format_rows::market && !file->in_memory())
        return detail::market_vector<T>(comm, text, rows);
    if (format == &file_format_rows::npy && !file->is_packed()) {
        const numpy::open_array array = numpy::open_file(*file);
        detail::check_vector_length(text, numpy::vector_entries(array, text), rows);
        const row_range own = local_rows(comm, rows);
        return numpy::read_vector<T>(array, text, {own.begin, own.end});
    }
    std::vector<T> whole;
    if (comm.is_local(0)) {
        whole = load_vector<T>(name, rows.rows());
        detail::check_vector_length(text, static_cast<std::int64_t>(whole.size()), rows);
    }
    return dealt(comm, rows, whole);
}

/// Calls use(piece) of the driver of rank 0 with all entries, a piece after the other. Collective.
template <class T>
void bring_pieces(const communicator& comm, const row_partition& rows, std::span<const T> values,
                  const typename vector_pieces<T>::use_piece& use) {
    const std::int64_t before = local_rows(comm, rows).begin;
    for_each_piece(rows, [&](int rank, row_range entries) {
        std::vector<addressed_list<T>> given;
        if (comm.is_local(rank)) {
            const auto piece =
                values.subspan(as_size(entries.begin - before), as_size(entries.size()));
            given.push_back({rank, 0, {piece.begin(), piece.end()}});
        }
        for (const auto& list : comm.deliver(std::move(given))) use(list.items);
    });
}

} // namespace

template <class T>
std::vector<csr_part<T>> own_rows<T>::parts(const communicator& comm) const {
    std::vector<csr_part<T>> result(as_size(comm.ranks()));
    const std::int64_t before = local_rows(comm, rows).begin;
    for (const int rank : comm.local()) {
        const row_range own = rows.owned(rank);
        const auto* const offsets = matrix.row_offsets.data() + (own.begin - before);
        result[as_size(rank)] = {own.size(), offsets, matrix.column_indices.data() + *offsets,
                                 matrix.values.data() + *offsets};
    }
    return result;
}

template <class T>
own_rows<T> load_rows(const communicator& comm, std::string_view name, const load_options& options,
                      int block_size) {
    return comm.together([&] {
        std::optional<files::input_file> file;
        const file_format* const format = format_of(file, name, file_content::matrix);
        if (!comm.has_one_driver() && format == &file_format_rows::market)
            return completed(comm,
                             detail::market_rows<T>(comm, std::string(name), options, block_size));
        if (!comm.has_one_driver() && format == &file_format_rows::kcsr)
            return completed(comm, kcsr_rows<T>(comm, *file, block_size));
        file.reset();
        return completed(comm, whole_rows(comm, load_matrix<T>(name, options), block_size));
    });
}

template <class T>
own_rows<T> take_rows(const communicator& comm, csr_matrix<T> whole, int block_size) {
    return comm.together(
        [&] { return completed(comm, whole_rows(comm, std::move(whole), block_size)); });
}

template <class T>
std::vector<T> load_local_vector(const communicator& comm, std::string_view name,
                                 const row_partition& rows) {
    return comm.together([&] { return read_local<T>(comm, name, rows); });
}

template <class T>
void save_local_vector(const communicator& comm, const std::filesystem::path& path,
                       const row_partition& rows, std::span<const T> values,
                       std::string_view comment) {
    comm.together([&] {
        const std::int64_t own = local_rows(comm, rows).size();
        if (static_cast<std::int64_t>(values.size()) != own)
            throw usage_error("save_local_vector: " + std::to_string(values.size()) +
                              " values, allowed are the " + std::to_string(own) +
                              " that the local ranks own");
        const auto bring = [&](const typename vector_pieces<T>::use_piece& use) {
            bring_pieces(comm, rows, values, use);
        };
        if (comm.is_local(0))
            save_vector(path, vector_pieces<T>(rows.rows(), bring), comment);
        else
            bring([](std::span<const T>) {});
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct own_rows<T>;                                                                   \
    template struct instances<load_rows<T>, take_rows<T>, load_local_vector<T>,                    \
                              save_local_vector<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
