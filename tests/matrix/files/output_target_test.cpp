// Writing a file: all of it, or nothing; and to streams in place.
#include <krylith/matrix/files/output_target.hpp>

#include <csignal>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/unfinished_files.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

namespace fs = std::filesystem;
using krylith::output_target;
using krylith::test::contents_of;
using krylith::test::message_of;
using krylith::test::mode_of;
using krylith::test::temporary_folder;

void put(output_target& target, std::string_view text) {
    target.write(std::as_bytes(std::span(text)));
}

void write(const fs::path& path, std::string_view text) {
    output_target target(path);
    put(target, text);
    target.commit();
}

} // namespace

TEST_CASE("a text file stays as it was until its successor is complete") {
    const temporary_folder folder;
    const auto path = folder.write("v.mtx", "precious");
    {
        output_target target(path);
        put(target, "half");
        CHECK(contents_of(path) == "precious");
    }
    CHECK(contents_of(path) == "precious");
    CHECK(folder.files() == 1);
    write(path, "new");
    CHECK(contents_of(path) == "new");
    CHECK(folder.files() == 1);
}

TEST_CASE("Matrix Market files survive a disk that is full") {
    const temporary_folder folder;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    for (const char* name : {"v.mtx", "v.mtx.gz"}) {
        const auto path = folder.write(name, "precious");
        const rlimit full{200, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &full);
        const std::string message = message_of<krylith::input_error>(
            [&] { write_matrix_market(path, krylith::poisson2d<double>(40)); });
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(message == path.string() + ": can't be written: File too large");
        CHECK(contents_of(path) == "precious");
    }
    static_cast<void>(std::signal(SIGXFSZ, handler));
    CHECK(folder.files() == 2);
}

TEST_CASE("a file that is replaced keeps its permissions") {
    const temporary_folder folder;
    const auto path = folder.write("v.mtx", "secret");
    for (const mode_t mode : {0600U, 0640U, 0644U, 0666U}) {
        REQUIRE(chmod(path.c_str(), mode) == 0);
        output_target target(path);
        put(target, "new");
        for (const auto& file : fs::directory_iterator(folder.file(""))) // before it is complete
            CHECK((mode_of(file) & ~mode) == 0);
        target.commit();
        CHECK(mode_of(path) == mode);
    }
}

TEST_CASE("what a symbolic link names is replaced, also where it isn't there yet") {
    const temporary_folder folder;
    fs::create_directory(folder.file("below"));
    fs::create_symlink("below/v.mtx", folder.file("link"));
    for (const char* text : {"first", "second"}) {
        write(folder.file("link"), text);
        CHECK(fs::is_symlink(folder.file("link")));
        CHECK(contents_of(folder.file("below/v.mtx")) == text);
    }
}

TEST_CASE("what a killed process left is removed by the next, what another is writing is not") {
    const temporary_folder folder;
    folder.write("v.mtx.krylith-part", "left over");
    write(folder.file("v.mtx"), "new");
    CHECK(folder.files() == 1);
    output_target one(folder.file("v.mtx"));
    output_target other(folder.file("v.mtx"));
    put(one, "one");
    put(other, "other");
    one.commit();
    CHECK(contents_of(folder.file("v.mtx")) == "one");
    other.commit();
    CHECK(contents_of(folder.file("v.mtx")) == "other");
    CHECK(folder.files() == 1);
    fs::create_symlink("v.mtx", folder.file("w.mtx.krylith-part")); // no process left this behind
    write(folder.file("w.mtx"), "new");
    CHECK(contents_of(folder.file("v.mtx")) == "other");
    CHECK(folder.files() == 3);
}

TEST_CASE("who is told to end can remove what is unfinished") {
    const temporary_folder folder;
    const output_target target(folder.file("v.mtx"));
    CHECK(folder.files() == 1);
    krylith::remove_unfinished_files();
    CHECK(folder.files() == 0);
}

TEST_CASE("a pipe gets the bytes if somebody reads, and is refused if nobody does") {
    // This finds an endless wait for a reader.
    const temporary_folder folder;
    const auto pipe = folder.file("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(message_of<krylith::input_error>([&] { const output_target target(pipe); }) ==
          pipe.string() +
              ": can't be written: nobody reads from this pipe; start its reader first");
    std::string read;
    std::thread reader([&] { read = contents_of(pipe); });
    for (bool written = false; !written;) {
        try {
            krylith::write_vector_market<double>(pipe, std::vector<double>{1, 2});
            written = true;
        } catch (const krylith::input_error&) { // the reader has not opened it yet
            std::this_thread::yield();
        }
    }
    reader.join();
    CHECK(read == "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    CHECK(fs::is_fifo(pipe));
}

TEST_CASE("descriptors by name are streams") {
    CHECK(krylith::named_descriptor("/dev/stdout") == 1);
    CHECK(krylith::named_descriptor("/dev/fd/63") == 63);
    CHECK(krylith::named_descriptor("/proc/self/fd/2") == 2);
    CHECK_FALSE(krylith::named_descriptor("/dev/fd/"));
    CHECK_FALSE(krylith::named_descriptor("/dev/fd/1x"));
    CHECK_FALSE(krylith::named_descriptor("a.mtx"));
}
