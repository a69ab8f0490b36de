// Reading a .kcsr file that changes meanwhile, or has no end.
#include <krylith/matrix/kcsr.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/readable_file.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

using krylith::test::message_of;
using krylith::test::temporary_folder;

TEST_CASE("a file that is cut off after it was opened is refused with both sizes") {
    const temporary_folder folder;
    const auto path = folder.write("a.kcsr", std::string(1000, 'x'));
    const krylith::binary::readable_file file(path);
    std::array<std::byte, 100> place{};
    file.read(900, place);
    CHECK(place[99] == std::byte{'x'});
    std::filesystem::resize_file(path, 950);
    CHECK(message_of<krylith::input_error>([&] { file.read(900, place); }) ==
          path.string() + ": has 950 bytes, allowed are the 1000 that it had when it was opened: "
                          "it was cut off while it was read");
}

TEST_CASE("a matrix file that shrinks while it is read is refused, and ends nobody") {
    // This finds SIGBUS from a mapping.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    const auto matrix = krylith::poisson2d<double>(300);
    for (int round = 0; round < 30; ++round) {
        write_binary_csr(path, matrix);
        std::atomic<bool> read = false;
        std::thread other([&] {
            while (!read) {
                std::filesystem::resize_file(path, 5000);
                std::filesystem::resize_file(path, 5'000'000);
            }
        });
        const std::string message = message_of<krylith::input_error>(
            [&] { CHECK(krylith::read_binary_csr<double>(path) == matrix); });
        read = true;
        other.join();
        CHECK_MESSAGE((message == "no exception" || message.find("a.kcsr: ") != std::string::npos),
                      message);
    }
}

TEST_CASE("whether something is a matrix file is told without waiting for it") {
    CHECK_FALSE(krylith::is_binary_csr("/dev/zero"));
    CHECK_FALSE(krylith::is_binary_csr("/proc/kmsg")); // the system calls it regular, and it waits
}
