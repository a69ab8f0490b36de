// Stokes flow on a staggered grid.
#include <krylith/matrix/gallery/systems.hpp>

#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/grid.hpp>

namespace krylith {
namespace {

/// Writes entries; only counts them where there is nothing to write to.
template <class T>
struct entry_sink {
    std::int32_t* columns = nullptr;
    T* values = nullptr;
    std::int64_t count = 0;

    void put(bool there, std::int64_t column, double value) {
        if (!there) {
            return;
        }
        if (columns != nullptr) {
            columns[count] = static_cast<std::int32_t>(column);
            values[count] = static_cast<T>(value);
        }
        ++count;
    }
};

/// The numbering of u(x, y), x = 0..nx-2, between cells x and x + 1, and v(x, y), y = 0..ny-2,
/// between y and y + 1.
struct staggered_grid {
    std::int64_t nx;
    std::int64_t ny;

    [[nodiscard]] grid us() const { return {nx - 1, ny, 1}; }
    [[nodiscard]] grid vs() const { return {nx, ny - 1, 1}; }
    [[nodiscard]] grid cells() const { return {nx, ny, 1}; }
    [[nodiscard]] std::int64_t first_v() const { return us().points(); }
    [[nodiscard]] std::int64_t first_p() const { return first_v() + vs().points(); }
    /// The number of rows. The last cell's pressure has none: it is 0.
    [[nodiscard]] std::int64_t rows() const { return first_p() + cells().points() - 1; }
    [[nodiscard]] std::int64_t u(std::int64_t x, std::int64_t y) const { return y * (nx - 1) + x; }
    [[nodiscard]] std::int64_t v(std::int64_t x, std::int64_t y) const {
        return first_v() + y * nx + x;
    }
    [[nodiscard]] std::int64_t p(std::int64_t x, std::int64_t y) const {
        return first_p() + y * nx + x;
    }

    /// Writes the row of the Laplacian of one velocity. `walls` are the parallel ones half a cell
    /// away.
    template <class T>
    static void laplacian(entry_sink<T>& to, const grid& g, const grid_point& at, std::int64_t row,
                          int walls) {
        to.put(at.y > 0, row - g.nx, -1);
        to.put(at.x > 0, row - 1, -1);
        to.put(true, row, 4 + walls);
        to.put(at.x + 1 < g.nx, row + 1, -1);
        to.put(at.y + 1 < g.ny, row + g.nx, -1);
    }

    template <class T>
    void write(entry_sink<T>& to, std::int64_t row) const {
        if (row < first_v()) {
            const grid_point at = us().point(row);
            laplacian(to, us(), at, row, int{at.y == 0} + int{at.y + 1 == ny});
            to.put(true, p(at.x, at.y), -1);
            to.put(p(at.x + 1, at.y) < rows(), p(at.x + 1, at.y), 1);
        } else if (row < first_p()) {
            const grid_point at = vs().point(row - first_v());
            laplacian(to, vs(), at, row, int{at.x == 0} + int{at.x + 1 == nx});
            to.put(true, p(at.x, at.y), -1);
            to.put(p(at.x, at.y + 1) < rows(), p(at.x, at.y + 1), 1);
        } else {
            const grid_point at = cells().point(row - first_p());
            to.put(at.x > 0, u(at.x - 1, at.y), 1);
            to.put(at.x + 1 < nx, u(at.x, at.y), -1);
            to.put(at.y > 0, v(at.x, at.y - 1), 1);
            to.put(at.y + 1 < ny, v(at.x, at.y), -1);
        }
    }
};

} // namespace

template <class T>
csr_matrix<T> stokes2d(std::int64_t nx, std::int64_t ny) {
    if (nx < 2 || ny < 2 || nx > index_limit / 3 || ny > index_limit / 3 / nx) {
        throw usage_error("stokes2d: the grid is " + std::to_string(nx) + " x " +
                          std::to_string(ny) + ", allowed are sizes from 2 on with at most " +
                          std::to_string(index_limit / 3) + " cells");
    }
    const staggered_grid g{nx, ny};
    const auto length = [=](std::int64_t row) {
        entry_sink<T> counted;
        g.write(counted, row);
        return counted.count;
    };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        entry_sink<T> written{columns, values};
        g.write(written, row);
    };
    return build_by_rows<T>(g.rows(), g.rows(), length, fill);
}

#define KRYLITH_INSTANTIATE(T) template csr_matrix<T> stokes2d(std::int64_t, std::int64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
