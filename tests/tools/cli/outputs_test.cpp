// Where the command's output goes, and what becomes of it where that can't be written.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace {

namespace fs = std::filesystem;
using krylith::test::command_path;
using krylith::test::contains;
using krylith::test::contents_of;
using krylith::test::has_benchmarks;
using krylith::test::run_krylith;
using krylith::test::temporary_folder;

/// The shell's status of a line in which K is the command.
int shell(const temporary_folder& folder, const std::string& line) {
    const std::string all =
        "cd '" + folder.file("").string() + "' || exit 99; K='" + command_path() + "'; " + line;
    const int status = std::system(all.c_str()); // NOLINT(concurrency-mt-unsafe)
    return WEXITSTATUS(status);
}

const std::string smallest_solve = "solve gallery:poisson2d:4 --backend host ";

/// Options of a benchmark that is not to measure anything in earnest.
const std::string fewest_iterations =
    " --device-counts 1 --no-limits --iterations 16 --repetitions 1 "
    "--seconds 0 --warm-up-seconds 0";

} // namespace

TEST_CASE("standard output that can't be written is bad input, whatever the command") {
    const temporary_folder folder;
    std::vector<std::string> commands = {"--help",
                                         "--version",
                                         "gallery",
                                         "gallery poisson2d",
                                         "info gallery:poisson2d:4",
                                         "solve --help",
                                         "solve gallery:poisson2d:4",
                                         "solve gallery:poisson2d:4 --report -",
                                         "solve gallery:poisson2d:4 --quiet --plot -",
                                         "spmv gallery:poisson2d:4",
                                         "graph bfs gallery:poisson2d:4",
                                         "convert gallery:poisson2d:4 a.mtx",
                                         "recommend gallery:poisson2d:4 --seconds 0.01"};
    if (has_benchmarks()) commands.push_back("bench spmv gallery:poisson2d:4" + fewest_iterations);
    for (const std::string& command : commands) {
        for (const std::string place : {">/dev/full", ">&-"}) {
            CHECK_MESSAGE(shell(folder, "\"$K\" " + command + " " + place + " 2>err") == 3,
                          command);
            CHECK_MESSAGE(contains(contents_of(folder.file("err")),
                                   "krylith: standard output can't be written: "),
                          command);
        }
    }
}

TEST_CASE("a solve's files are written although standard output is not") {
    const temporary_folder folder;
    CHECK(shell(folder, "\"$K\" " + smallest_solve +
                            "--report r.json --history h.csv --plot p.svg --solution x.mtx "
                            ">&- 2>err") == 3);
    for (const char* name : {"r.json", "h.csv", "p.svg", "x.mtx"})
        CHECK_MESSAGE(fs::file_size(folder.file(name)) > 20, name);
    CHECK(contents_of(folder.file("x.mtx")).starts_with("%%MatrixMarket"));
}

TEST_CASE("a reader that goes away ends the command silently, as it does others") {
    const temporary_folder folder;
    CHECK(shell(folder, "(sleep 0.2; \"$K\" gallery 2>err; echo $? >status) | true; sleep 1") == 0);
    CHECK(contents_of(folder.file("err")).empty());
    CHECK(contents_of(folder.file("status")) == "141\n"); // 128 + SIGPIPE
}

TEST_CASE("an output that is an input, or another output, is refused before the work") {
    const temporary_folder folder;
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    const std::string vector = "%%MatrixMarket matrix array real general\n1 1\n1\n";
    folder.write("b.mtx", vector);
    fs::create_symlink("b.mtx", folder.file("link"));
    fs::create_hard_link(folder.file("b.mtx"), folder.file("hard"));
    const auto refused = [&](const std::string& arguments, const std::string& words) {
        const auto result = run_krylith(folder, arguments);
        CHECK_MESSAGE(result.status == 2, arguments);
        CHECK_MESSAGE(contains(result.err, words), result.err);
    };
    refused("solve a.mtx --solution a.mtx", "--solution a.mtx is MATRIX itself");
    refused("solve a.mtx --rhs b.mtx --solution ./b.mtx", "--solution ./b.mtx is --rhs itself");
    refused("solve a.mtx --x0 b.mtx --report link", "--report link is --x0 itself");
    refused("solve a.mtx --rhs b.mtx --history hard", "--history hard is --rhs itself");
    refused("solve a.mtx --solution n.mtx --report ./n.mtx", "--report ./n.mtx is --solution too");
    refused("spmv a.mtx --x b.mtx --output b.mtx", "--output b.mtx is --x itself");
    refused("info a.mtx --report a.mtx", "--report a.mtx is MATRIX itself");
    refused("graph bfs a.mtx --output a.mtx", "--output a.mtx is MATRIX itself");
    refused("recommend a.mtx --report a.mtx", "--report a.mtx is MATRIX itself");
    if (has_benchmarks())
        refused("bench cg a.mtx --report a.mtx", "--report a.mtx is MATRIX itself");
    for (const char* made : {"ones", "row-sums", "range:1", "random:1"}) { // no file of that name
        const std::string name = made;
        CHECK(run_krylith(folder, "solve a.mtx --rhs " + name + " --solution " + name).status == 0);
    }
    CHECK(contents_of(folder.file("b.mtx")) == vector);
    CHECK(run_krylith(folder, "solve a.mtx --report /dev/null --history /dev/null").status == 0);
}

TEST_CASE("reports that can't be written leave the old ones") {
    const temporary_folder folder;
    folder.write("r.json", "precious");
    REQUIRE(chmod(folder.file("r.json").c_str(), 0600) == 0);
    CHECK(shell(folder, "ulimit -f 0; \"$K\" " + smallest_solve +
                            "--report r.json >/dev/null 2>/dev/null") == 3);
    CHECK(contents_of(folder.file("r.json")) == "precious");
    CHECK(run_krylith(folder, smallest_solve + "--report r.json").status == 0);
    CHECK(contents_of(folder.file("r.json")).starts_with("{"));
    struct stat status {};
    REQUIRE(stat(folder.file("r.json").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a command that is told to end leaves no half file") {
    const temporary_folder folder;
    // A shell without job control lets its children ignore SIGINT, which has the same handler.
    for (const std::string signal : {"TERM", "HUP"}) {
        const std::string wait_for_part =
            "for i in $(seq 400); do test -e a.mtx.gz.krylith-part && touch seen && break; "
            "sleep 0.05; done; ";
        CHECK(shell(folder, "\"$K\" convert gallery:poisson2d:1200 a.mtx.gz >out 2>err & pid=$!; " +
                                wait_for_part + "kill -" + signal +
                                " $pid; wait $pid; test $? -gt 128") == 0);
        CHECK(fs::exists(folder.file("seen")));
        fs::remove(folder.file("seen"));
        CHECK_FALSE(fs::exists(folder.file("a.mtx.gz.krylith-part")));
        CHECK_FALSE(fs::exists(folder.file("a.mtx.gz")));
    }
}

TEST_CASE("pipes without a reader are refused before the work, with one they get the output") {
    const temporary_folder folder;
    REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    for (const char* option : {"--report", "--solution", "--history"}) {
        CHECK(shell(folder, "timeout 20 \"$K\" " + smallest_solve + option + " pipe >out 2>err") ==
              3);
        CHECK(contains(contents_of(folder.file("err")), "nobody reads from this pipe"));
        CHECK(contents_of(folder.file("out")).empty());
    }
    CHECK(shell(folder, "timeout 20 cat pipe >got & sleep 0.3; timeout 20 \"$K\" " +
                            smallest_solve + "--report pipe >out 2>err && wait") == 0);
    CHECK(contents_of(folder.file("got")).starts_with("{"));
    CHECK(contents_of(folder.file("got")).ends_with("}\n"));
    CHECK(shell(folder,
                "timeout 20 \"$K\" " + smallest_solve + "--report /dev/stdout --quiet >got") == 0);
    CHECK(contents_of(folder.file("got")).starts_with("{"));
}

TEST_CASE("inputs that wait or have no end are refused") {
    const temporary_folder folder;
    for (const char* name : {"/proc/kmsg", "/dev/zero", "/dev/tty"})
        for (const std::string before : {"", "gallery:poisson2d:4 --rhs "}) {
            const std::string line = "timeout 20 \"$K\" solve " + before + name + " >out 2>err";
            CHECK_MESSAGE(shell(folder, line) == 3, line);
        }
}

TEST_CASE("a plot is SVG, and its name says so") {
    const temporary_folder folder;
    for (const std::string command : {"solve", "info"}) {
        const auto refused = run_krylith(folder, command + " gallery:poisson2d:4 --plot f.png");
        CHECK(refused.status == 2);
        CHECK(contains(refused.err, "--plot is 'f.png': its name must end in .svg"));
        CHECK_FALSE(fs::exists(folder.file("f.png")));
        for (const std::string name : {"f.svg", "f.SVG", "-", "/dev/null"})
            CHECK(run_krylith(folder, command + " gallery:poisson2d:4 --plot " + name).status == 0);
    }
}

TEST_CASE("an output has the format that its name says, or is refused before the work") {
    const temporary_folder folder;
    const auto refused = [&](const std::string& line, const std::string& allowed) {
        // The matrix isn't there: nothing has been read.
        const auto run = run_krylith(folder, line);
        CAPTURE(line);
        CHECK(run.status == 2);
        CHECK_MESSAGE(contains(run.err, "its name must end in " + allowed), run.err);
        CHECK_FALSE(fs::exists(folder.file(line.substr(line.rfind(' ') + 1))));
    };
    const std::string vectors = ".mtx, .mtx.gz, .npy, .petsc, .txt or .txt.gz, which says the";
    for (const std::string name : {"x.npz", "x.csv", "x.kcsr", "x.mtx.xz", "x.JSON"}) {
        refused("solve absent.mtx --solution " + name, vectors);
        refused("spmv absent.mtx --output " + name, vectors);
        refused("graph bfs absent.mtx --output " + name, vectors);
        refused("graph bfs absent.mtx --parents " + name, vectors);
    }
    for (const std::string name : {"x.pdf", "x.csv", "x.json.gz", "x.svg"}) {
        refused("solve absent.mtx --report " + name, ".json, .html or .htm, which");
        for (const std::string command : {"spmv absent.mtx", "graph bfs absent.mtx",
                                          "info absent.mtx", "recommend absent.mtx", "devices"})
            refused(command + " --report " + name, ".json, which says the format");
    }
    refused("solve absent.mtx --history x.json", ".csv, which");
    for (const std::string option : {"solve absent.mtx --solution", "spmv absent.mtx --output",
                                     "graph bfs absent.mtx --parents"}) {
        const auto run = run_krylith(folder, option + " -");
        CHECK(run.status == 2);
        CHECK_MESSAGE(contains(run.err, "is '-': allowed is a file; standard output is"), run.err);
    }
    refused("convert absent.mtx x.txt", ".mtx, .mtx.gz, .kcsr, .npz or .petsc");
    refused("convert absent.mtx --vector x.npz", vectors);
    if (has_benchmarks()) {
        refused("bench spmv absent.mtx --report x.csv", ".json, which");
        refused("bench spmv absent.mtx --csv x.json", ".csv, which");
        refused("bench spmspv absent.mtx --report x.csv", ".jsonl or .json, which");
    }
    CHECK(run_krylith(folder, "solve gallery:poisson2d:4 --quiet --backend host --solution x "
                              "--history h --report r --plot p")
              .status == 0);
    CHECK(contents_of(folder.file("x")).starts_with("%%MatrixMarket matrix array"));
}

TEST_CASE("names of files don't steer the terminal") {
    const temporary_folder folder;
    const std::string name = "a\x1b[2J\nkrylith: all well\r\x7f\xc2\x9b.mtx";
    folder.write(name, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    const std::string quoted =
        "\"$(printf 'a\\033[2J\\nkrylith: all well\\r\\177\\302\\233.mtx')\"";
    const std::string shown = "a\\x1b[2J\\nkrylith: all well\\r\\x7f\\xc2\\x9b.mtx";
    std::vector<std::string> commands = {"solve ", "spmv ", "info ", "graph bfs ", "recommend "};
    if (has_benchmarks()) commands.push_back("bench spmv" + fewest_iterations + " ");
    for (const std::string& command : commands) {
        const auto result = run_krylith(folder, command + quoted);
        CHECK_MESSAGE(result.status == 0, result.err);
        for (const char c : {'\x1b', '\r', '\x7f', '\x9b'})
            CHECK(result.out.find(c) == std::string::npos);
        CHECK_MESSAGE(contains(result.out, shown), result.out);
    }
    const auto absent = run_krylith(folder, "solve x" + quoted);
    CHECK(absent.status == 3);
    CHECK(contains(absent.err, "x" + shown));
    CHECK(absent.err.find('\n') == absent.err.size() - 1);
}

TEST_CASE("what can be shown stays, the rest is escaped") {
    using krylith::tool::one_line;
    using krylith::tool::printable;
    CHECK(one_line("Gr\xc3\xb6\xc3\x9f"
                   "e \xe2\x96\x88 \xf0\x9f\x98\x80") == "Gr\xc3\xb6\xc3\x9f"
                                                         "e \xe2\x96\x88 \xf0\x9f\x98\x80");
    CHECK(one_line("a\tb\nc") == "a\\tb\\nc");
    CHECK(printable("a\tb\nc\x1b") == "a\tb\nc\\x1b");
    CHECK(one_line("\xff\xc3(\xe2\x80\xa8\xed\xa0\x80\xc0\xaf") ==
          "\\xff\\xc3(\\xe2\\x80\\xa8\\xed\\xa0\\x80\\xc0\\xaf");
}
