#include <krylith/matrix/number_list/read_list.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <omp.h>

#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/flaw.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/number.hpp>
#include <krylith/matrix/market/ordered_blocks.hpp>
#include <krylith/matrix/market/text_sink.hpp>

namespace krylith::number_list {
namespace {

using market::flaw;

/// A stretch of the text, and what one thread reads from it.
template <class T>
struct list_block {
    std::string storage;
    std::string_view text;
    std::string unreadable; ///< the reason why the text ends here
    std::vector<T> numbers;
    std::int64_t lines = 0; ///< read to their end
    flaw what = flaw::none;
    std::string_view flawed; ///< the word
};

bool starts_comment(char c) {
    return c == '#' || c == '%';
}

/// Reads the text up to its first flaw.
template <class T>
void read_block(list_block<T>& block) {
    block.numbers.clear();
    block.lines = 0;
    block.what = flaw::none;
    market::tally uncounted;
    const char* p = block.text.data();
    const char* const end = p + block.text.size();
    while (p != end) {
        p = market::skip_blanks(p, end);
        if (p != end && starts_comment(*p)) {
            p = std::find(p, end, '\n');
        }
        if (market::at_line_end(p, end)) {
            const char* const feed = std::find(p, end, '\n');
            block.lines += feed != end;
            p = feed == end ? end : feed + 1;
            continue;
        }
        T value{};
        const auto [at, what] = market::read_real(p, end, value, uncounted);
        if (what != flaw::none) {
            block.what = what;
            block.flawed = {p, static_cast<std::size_t>(market::word_end(p, end) - p)};
            return;
        }
        block.numbers.push_back(value);
        p = at;
    }
}

/// Collects the blocks in the order of the file.
template <class T>
class collector {
public:
    explicit collector(const std::string& file) : file_(file) {}

    void add(const list_block<T>& block) {
        if (block.what != flaw::none) {
            market::refuse(file_, lines_ + block.lines + 1,
                           in_words(block.what, block.flawed, {.layout = market::layout::array},
                                    static_cast<double>(std::numeric_limits<T>::max())));
        }
        if (!block.unreadable.empty()) {
            market::refuse(file_, lines_ + 1, block.unreadable);
        }
        const std::size_t wanted = numbers_.size() + block.numbers.size();
        if (wanted > numbers_.capacity()) {
            const std::size_t capacity = std::max(wanted, 2 * numbers_.capacity());
            files::check_memory(file_, static_cast<double>(capacity) * sizeof(T));
            numbers_.reserve(capacity);
        }
        numbers_.insert(numbers_.end(), block.numbers.begin(), block.numbers.end());
        lines_ += block.lines;
    }

    [[nodiscard]] bool empty() const noexcept { return numbers_.empty(); }
    [[nodiscard]] std::vector<T>& numbers() noexcept { return numbers_; }

private:
    const std::string& file_;
    std::vector<T> numbers_;
    std::int64_t lines_ = 0;
};

/// Whether the first number counts those that follow.
template <class T>
bool is_count(const std::vector<T>& numbers, const vector_options& options) {
    const auto all = static_cast<std::int64_t>(numbers.size());
    return static_cast<T>(all - 1) == numbers.front() && options.entries != all;
}

} // namespace

template <class T>
std::vector<T> read_list(files::input_file& file, const vector_options& options) {
    market::line_source source = market::line_source::from_input(file);
    collector<T> all(source.name());
    list_block<T> first;
    std::string_view line;
    while (all.empty() && source.take_line(line)) {
        first.storage = std::string(line) + '\n';
        first.text = first.storage;
        read_block(first);
        all.add(first);
    }
    const bool alone = all.numbers().size() == 1;
    const std::int64_t blocks = source.expected_bytes_left() / source.block_bytes() + 1;
    const auto threads =
        static_cast<int>(std::min({blocks, std::int64_t{16}, std::int64_t{omp_get_max_threads()}}));
    market::for_blocks_in_order<list_block<T>>(
        threads,
        [&](list_block<T>& block) {
            try {
                return source.take_block(block.storage, block.text);
            } catch (const market::unreadable& e) {
                block.text = {};
                block.unreadable = e.what();
                return true;
            }
        },
        [](list_block<T>& block) { read_block(block); },
        [&](list_block<T>& block) { all.add(block); });
    std::vector<T>& numbers = all.numbers();
    if (numbers.empty()) {
        market::refuse(file.name(), "has no numbers, allowed is a text with one or more");
    }
    if (alone && is_count(numbers, options)) {
        numbers.erase(numbers.begin());
    }
    return std::move(all.numbers());
}

template <class T>
void write_list(const std::filesystem::path& path, const vector_pieces<T>& vector,
                std::string_view comment) {
    market::text_sink file(path);
    if (!comment.empty()) {
        file.put("# ");
        file.put(comment.substr(0, comment.find('\n')));
        file.put("\n");
    }
    vector.for_each([&](std::span<const T> piece) {
        for (const T value : piece) {
            file.put_real(value);
            file.put("\n");
        }
    });
    file.close();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<T> read_list(files::input_file&, const vector_options&);                  \
    template void write_list(const std::filesystem::path&, const vector_pieces<T>&,                \
                             std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::number_list
