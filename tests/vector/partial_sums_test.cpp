// Where kernels leave the partial sums of their dot products. A block that starts late, because
// something else occupies the device, adds up those of the kernel before while others have ended.
#include <array>
#include <cstdint>
#include <vector>

#include <krylith/vector/execution.hpp>
#include <krylith/vector/scalar.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

KRYLITH_GROUP_TEST("partial sums: a kernel leaves its own elsewhere than those that it adds up") {
    execution run(group, {});
    const scalar sum{run};
    const std::array<std::uint8_t, 1> registers = {sum.number()};
    std::vector<const double*> before(static_cast<std::size_t>(group.size()), nullptr);
    for (int kernel = 0; kernel < 5; ++kernel) {
        run.open({});
        run.publish(registers);
        for (int rank = 0; rank < group.size(); ++rank) {
            const double*& last = before[static_cast<std::size_t>(rank)];
            const double* const own = run.partials(rank).partials;
            if (kernel > 0) {
                CHECK(run.at(rank).batch == 1);
                CHECK(run.at(rank).partials == last);
            }
            CHECK(own != run.at(rank).partials);
            last = own;
        }
        run.close();
    }
    run.quiesce();
}

} // namespace krylith
