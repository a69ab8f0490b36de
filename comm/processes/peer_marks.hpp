// The order of work on devices of different processes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith {

/// Each rank has a mark for each other one, which that one sets in the order of its work. Marks
/// take the place of events, which belong to a process.
class peer_marks {
public:
    /// `devices` are those of this driver, of which `first` is the first rank. They wait
    /// `timeout_seconds` at most for a mark.
    peer_marks(const device_group& devices, int first, int ranks, double timeout_seconds,
               mark_words words);

    /// The marks of a local rank.
    [[nodiscard]] std::uint64_t* of(int rank) const {
        return marks_[static_cast<std::size_t>(rank - first_)].data();
    }
    /// Where the marks of all ranks are for this driver, [ranks].
    void connect(std::vector<std::uint64_t*> marks) { reached_ = std::move(marks); }
    /// A count that no mark of this driver has had.
    [[nodiscard]] std::uint64_t next() noexcept { return ++count_; }
    /// Sets the mark that rank `after` has for the local rank `before`, after its work so far.
    void set(int before, int after, std::uint64_t count) const;
    /// Has the local rank `after` wait for its mark of `before`.
    void await(int before, int after, std::uint64_t count) const;

private:
    device_group devices_;
    int first_;
    double timeout_seconds_;
    std::vector<buffer<std::uint64_t>> marks_; ///< [local ranks], each [ranks]
    std::vector<std::uint64_t*> reached_;
    mark_words words_;
    std::uint64_t count_ = 0;
};

} // namespace krylith
