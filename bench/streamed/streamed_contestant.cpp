#include <krylith/bench/streamed/streamed_contestant.hpp>

#include <krylith/bench/streamed/paper_product.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

class library_product final : public streamed_contestant {
public:
    explicit library_product(const device_group& group) : product_(group) {}

    streamed_times multiply(const streamed_matrix<double>& a, std::span<const double> x,
                            std::span<double> y) override {
        const auto coo = [&](coo_order order) {
            return product_(
                coo_view<double>(a.rows, a.columns, a.row_indices, a.column_indices, a.values),
                order, x, y);
        };
        switch (a.form) {
        case streamed_form::csr:
            return product_(
                csr_view<double>(a.rows, a.columns, a.offsets, a.column_indices, a.values), x, y);
        case streamed_form::csc:
            return product_(csc_view<double>(a.rows, a.columns, a.offsets, a.row_indices, a.values),
                            x, y);
        case streamed_form::coo_by_rows: return coo(coo_order::by_rows);
        case streamed_form::coo_by_columns: return coo(coo_order::by_columns);
        default: return coo(coo_order::unsorted);
        }
    }
    [[nodiscard]] double kernel_seconds(int repetitions) override {
        return product_.kernel_seconds(repetitions);
    }

private:
    streamed_product<double> product_;
};

} // namespace

const std::vector<std::string>& streamed_versions() {
    static const std::vector<std::string> names = {"baseline", "p", "p_opt"};
    return names;
}

std::unique_ptr<streamed_contestant> make_contestant(const std::string& version,
                                                     const device_group& group) {
    if (version == "baseline") {
        return std::make_unique<paper_product>(group, paper_version::baseline);
    }
    if (version == "p") {
        return std::make_unique<paper_product>(group, paper_version::p);
    }
    if (version == "p_opt") {
        return std::make_unique<library_product>(group);
    }
    throw usage_error("unknown version '" + version + "'; allowed are baseline, p, p_opt");
}

} // namespace krylith::bench
