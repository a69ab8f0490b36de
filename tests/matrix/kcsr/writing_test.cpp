// Writing a .kcsr file: all of it, or nothing.
#include <krylith/matrix/kcsr.hpp>

#include <csignal>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/matrix/support/message_of.hpp>
#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace {

using krylith::read_binary_csr;
using krylith::test::message_of;
using krylith::test::temporary_folder;

std::string write_refusal(const std::filesystem::path& path,
                          const krylith::csr_matrix<double>& matrix) {
    return message_of<krylith::input_error>([&] { write_binary_csr(path, matrix); });
}

/// Files of this process can't grow beyond `bytes`, as on a full disk.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~file_size_limit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        static_cast<void>(std::signal(SIGXFSZ, handler_));
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

} // namespace

TEST_CASE("where writing fails the old file stays, and nothing else does") {
    // This finds a file truncated before its successor is complete, temporary files left over.
    const temporary_folder folder;
    const auto path = folder.file("a.kcsr");
    const auto old = krylith::poisson2d<double>(4);
    write_binary_csr(path, old);
    const auto larger = krylith::poisson2d<double>(40);
    for (const rlim_t room : {0U, 100U, 128U, 5000U, 40000U}) {
        const file_size_limit full(room);
        const std::string message = write_refusal(path, larger);
        CHECK_MESSAGE(message.find("a.kcsr: can't be written: ") != std::string::npos, message);
    }
    auto invalid = old;
    invalid.column_indices[3] = 16;
    CHECK(write_refusal(path, invalid).find("column_indices[3]") != std::string::npos);
    CHECK(folder.files() == 1);
    CHECK(read_binary_csr<double>(path) == old);
    write_binary_csr(path, larger);
    CHECK(read_binary_csr<double>(path) == larger);
    CHECK(folder.files() == 1);
}

TEST_CASE("only regular files are replaced") {
    // This finds /dev/null turned into a file, a link replaced by what it should point to.
    const temporary_folder folder;
    const auto matrix = krylith::poisson2d<double>(3);
    const std::string kept = "it exists and is not a regular file";
    std::filesystem::create_directory(folder.file("folder.kcsr"));
    CHECK(write_refusal(folder.file("folder.kcsr"), matrix).find(kept) != std::string::npos);
    REQUIRE(mkfifo(folder.file("pipe.kcsr").c_str(), 0600) == 0);
    CHECK(write_refusal(folder.file("pipe.kcsr"), matrix).find(kept) != std::string::npos);
    CHECK(write_refusal("/dev/null", matrix).find(kept) != std::string::npos);
    CHECK(write_refusal(folder.file("absent/a.kcsr"), matrix)
              .find("can't be written: No such file") != std::string::npos);

    write_binary_csr(folder.file("a.kcsr"), krylith::poisson2d<double>(2));
    std::filesystem::create_symlink("a.kcsr", folder.file("link.kcsr"));
    write_binary_csr(folder.file("link.kcsr"), matrix);
    CHECK(std::filesystem::is_symlink(folder.file("link.kcsr")));
    CHECK(read_binary_csr<double>(folder.file("a.kcsr")) == matrix);
}
