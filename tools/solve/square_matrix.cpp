#include <krylith/tools/solve/square_matrix.hpp>

#include <utility>

#include <krylith/matrix/load.hpp>
#include <krylith/matrix/make_spd.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace krylith::tool {

template <class T>
csr_matrix<T> load_square(std::string_view name, bool spd, market_report* report) {
    csr_matrix<T> matrix = load_matrix<T>(name, {.report = report});
    check_square(matrix, name);
    return spd ? make_spd(matrix) : std::move(matrix);
}

template csr_matrix<double> load_square(std::string_view, bool, market_report*);
template csr_matrix<float> load_square(std::string_view, bool, market_report*);

} // namespace krylith::tool
