// Formats of Fortran.
#include <string_view>

#include <doctest/doctest.h>

#include <krylith/matrix/rutherford_boeing/field_numbers.hpp>
#include <krylith/matrix/rutherford_boeing/fortran_format.hpp>

using krylith::rutherford_boeing::field_of;
using krylith::rutherford_boeing::fortran_format;
using krylith::rutherford_boeing::parse_fortran_format;

TEST_CASE("fortran: fields of a line") {
    const auto whole = parse_fortran_format("(16I5)");
    REQUIRE(whole);
    CHECK(whole->fields.size() == 16);
    CHECK(whole->fields[3].begin == 15);
    CHECK(whole->fields[3].width == 5);
    CHECK_FALSE(whole->real);
    const auto real = parse_fortran_format(" ( 1p, 3( 1x, e25.16e3 ) ) ");
    REQUIRE(real);
    CHECK(real->fields.size() == 3);
    CHECK(real->fields[2].begin == 53);
    CHECK(real->decimals == 16);
    CHECK(real->scale == 1);
    CHECK(real->real);
    CHECK(parse_fortran_format("(1P4D20.12)")->fields.size() == 4);
    CHECK(parse_fortran_format("(-2P,F8.0)")->scale == -2);
    CHECK(parse_fortran_format("(2(I3,2X),I4)")->fields[2].begin == 10);
}

TEST_CASE("fortran: what isn't understood is nothing") {
    for (const std::string_view wrong :
         {"", "()", "(16I5", "16I5", "(I)", "(16A5)", "(I5,E20.12)", "(99999999I5)", "(8Z4)",
          "(16I5))", "((((((((((I5))))))))))", "(0(I5))", "(70000X,I5)", "(E)", "(E8.9)",
          "(60000(60000(60000())))", "(60000(60000(1P)),I5)"})
        CHECK_MESSAGE(!parse_fortran_format(wrong).has_value(), wrong);
}

TEST_CASE("fortran: numbers of fields") {
    const auto read = [](std::string_view text, const fortran_format& format) {
        double number = -99;
        return krylith::rutherford_boeing::read_real(text, format, number) ? number : -99;
    };
    fortran_format plain;
    CHECK(read("1.5D+02", plain) == 150);
    CHECK(read("1.5d2", plain) == 150);
    CHECK(read("-1.5E-2", plain) == -0.015);
    CHECK(read("+.5", plain) == 0.5);
    CHECK(read("1.5-320", plain) == 1.5e-320);
    CHECK(read("7", plain) == 7);
    for (const std::string_view wrong :
         {"", "x", "1.5E", "1.5+", "1.5E+", "nan", "inf", "1.5E999", "1 5"})
        CHECK_MESSAGE(read(wrong, plain) == -99, wrong);
    fortran_format scaled;
    scaled.scale = 2;
    CHECK(read("150.", scaled) == 1.5);
    CHECK(read("150.E0", scaled) == 150);
    fortran_format implied;
    implied.decimals = 3;
    CHECK(read("1500", implied) == 1.5);
    CHECK(read("15E2", implied) == 1.5);
    CHECK(field_of("  12 345", {0, 4}) == "12");
    CHECK(field_of("  12 345", {4, 9}) == "345");
    CHECK(field_of("  12", {4, 4}).empty());
}
