// The cases in which a prediction is followed.
#include <doctest/doctest.h>

#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::spmspv {

TEST_CASE("kernel switch: the first prediction is followed, and changes within a pattern") {
    kernel_switch choice;
    CHECK_FALSE(choice.current());
    CHECK(choice.decide(kernel::column_atomic, 0.01) == kernel::column_atomic);
    CHECK(choice.decide(kernel::column_sort, 0.01) == kernel::column_sort);
    CHECK(choice.decide(kernel::column_balanced_atomic, 0.01) == kernel::column_balanced_atomic);
    CHECK(choice.current() == kernel::column_balanced_atomic);
}

TEST_CASE("kernel switch: another pattern near the border waits for a second prediction") {
    kernel_switch choice;
    (void)choice.decide(kernel::column_atomic, 0.10);
    CHECK(choice.decide(kernel::row, 0.11) == kernel::column_atomic);
    CHECK(choice.decide(kernel::column_sort, 0.10) == kernel::column_sort); // starts anew
    CHECK(choice.decide(kernel::row, 0.11) == kernel::column_sort);
    CHECK(choice.decide(kernel::row_balanced, 0.11) == kernel::row_balanced); // the same direction
    CHECK(choice.decide(kernel::spmv, 0.12) == kernel::row_balanced);
    CHECK(choice.decide(kernel::column_atomic, 0.12) == kernel::row_balanced); // not the same
    CHECK(choice.decide(kernel::spmv, 0.12) == kernel::row_balanced);
    CHECK(choice.decide(kernel::spmv, 0.12) == kernel::spmv);
}

TEST_CASE("kernel switch: a jump of the ratio is followed at once, in both directions") {
    kernel_switch choice;
    (void)choice.decide(kernel::column_atomic, 0.10);
    CHECK(choice.decide(kernel::row, 0.2) == kernel::row);
    CHECK(choice.decide(kernel::column_atomic, 0.11) == kernel::row);
    CHECK(choice.decide(kernel::spmv, 0.399) == kernel::row);
    CHECK(choice.decide(kernel::column_atomic, 0.1) == kernel::column_atomic);
    CHECK(choice.decide(kernel::spmv, 0) == kernel::spmv);          // from something to nothing
    CHECK(choice.decide(kernel::column_atomic, 0) == kernel::spmv); // 0 is no change from 0
    CHECK(choice.decide(kernel::column_atomic, 1e-9) == kernel::column_atomic);
}

TEST_CASE("kernel switch: creeping is measured from the last change, not from the last call") {
    kernel_switch choice;
    (void)choice.decide(kernel::column_atomic, 0.10);
    for (const double ratio : {0.13, 0.16, 0.19})
        CHECK(choice.decide(kernel::column_atomic, ratio) == kernel::column_atomic);
    CHECK(choice.decide(kernel::row, 0.21) == kernel::row);
}

TEST_CASE("kernel switch: another factor") {
    kernel_switch choice(10);
    (void)choice.decide(kernel::column_atomic, 0.01);
    CHECK(choice.decide(kernel::spmv, 0.09) == kernel::column_atomic);
    kernel_switch eager(1);
    (void)eager.decide(kernel::column_atomic, 0.01);
    CHECK(eager.decide(kernel::spmv, 0.0101) == kernel::spmv);
}

} // namespace krylith::spmspv
