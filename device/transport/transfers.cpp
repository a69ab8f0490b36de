#include <krylith/device/transport/transfers.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include <omp.h>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/staging/staged_transfer.hpp>

namespace krylith {

namespace {

/// Calls the function for all bytes, by several threads where there are many.
template <class Byte>
void in_pieces(const transfer_function<Byte>& function, Byte* memory, std::size_t bytes) {
    const std::size_t pieces = (bytes + staged_piece - 1) / staged_piece;
    const int threads = pieces < 16 ? 1 : omp_get_max_threads();
    in_team(threads, [&](int member, int members) {
        const auto of = static_cast<std::size_t>(members);
        for (auto p = static_cast<std::size_t>(member); p < pieces; p += of) {
            const std::size_t first = p * staged_piece;
            function(memory + first, first, std::min(staged_piece, bytes - first));
        }
    });
}

/// The function of a staged request that writes the slots of an upload.
[[maybe_unused]] auto upload_move(const upload_request& r) {
    return [&r](std::byte* staging, std::size_t first, std::size_t count) {
        if (r.write) return r.write(staging, first, count);
        write_staging(staging, static_cast<const std::byte*>(r.from) + first, count);
    };
}

[[maybe_unused]] auto download_move(const download_request& r) {
    return [&r](const std::byte* staging, std::size_t first, std::size_t count) {
        if (r.take) return r.take(staging, first, count);
        read_staging(static_cast<std::byte*>(r.to) + first, staging, count);
    };
}

void upload_one(const upload_request& r) {
    if (!r.write) return r.device->upload(r.to, r.from, r.bytes);
    const auto aside = std::make_unique_for_overwrite<std::byte[]>(r.bytes);
    in_pieces(r.write, aside.get(), r.bytes);
    r.device->upload(r.to, aside.get(), r.bytes);
}

void download_one(const download_request& r) {
    if (!r.take) return r.device->download(r.to, r.from, r.bytes);
    if (r.device->kind() == backend::host) { // its memory can be read in place
        r.device->synchronize();
        return in_pieces(r.take, static_cast<const std::byte*>(r.from), r.bytes);
    }
    const auto aside = std::make_unique_for_overwrite<std::byte[]>(r.bytes);
    r.device->download(aside.get(), r.from, r.bytes);
    in_pieces(r.take, static_cast<const std::byte*>(aside.get()), r.bytes);
}

#if KRYLITH_HAVE_CUDA

/// Devices on which copies of the runtime were begun. They are over when it goes.
class begun_copies {
public:
    begun_copies() = default;
    begun_copies(const begun_copies&) = delete;
    begun_copies& operator=(const begun_copies&) = delete;
    ~begun_copies() {
        while (!devices_.empty()) {
            try {
                wait();
            } catch (...) { // NOLINT(bugprone-empty-catch): the failure before it is reported
            }
        }
    }
    void add(device* one) {
        if (std::ranges::find(devices_, one) == devices_.end()) devices_.push_back(one);
    }
    void wait() {
        while (!devices_.empty()) {
            device* const one = devices_.back();
            devices_.pop_back();
            one->synchronize();
        }
    }

private:
    std::vector<device*> devices_;
};

int threads_for(std::span<const staged_request> staged, bool gathers) {
    std::set<const staging_wire*> links;
    for (const staged_request& r : staged) links.insert(r.wire);
    return staging_threads(links.size(), gathers ? gathering_threads : copying_threads);
}

void upload_to_gpus(std::span<const upload_request> requests) {
    std::vector<staged_request> staged;
    begun_copies begun;
    bool gathers = false;
    for (const upload_request& r : requests) {
        if (r.bytes == 0) continue;
        gathers = gathers || r.write;
        if (staging_wire* wire = cuda::staging_for(*r.device, r.write ? nullptr : r.from, r.bytes))
            staged.push_back({wire, static_cast<std::byte*>(r.to), r.bytes, upload_move(r)});
        else if (r.write)
            upload_one(r);
        else {
            begun.add(r.device);
            cuda::begin_upload(*r.device, r.to, r.from, r.bytes);
        }
    }
    staged_upload(staged, threads_for(staged, gathers));
    begun.wait();
}

void download_from_gpus(std::span<const download_request> requests) {
    std::vector<staged_request> staged;
    begun_copies begun;
    bool gathers = false;
    for (const download_request& r : requests) {
        if (r.bytes == 0) continue;
        gathers = gathers || r.take;
        auto* const from = static_cast<std::byte*>(const_cast<void*>(r.from));
        if (staging_wire* wire = cuda::staging_for(*r.device, r.take ? nullptr : r.to, r.bytes))
            staged.push_back({wire, from, r.bytes, download_move(r)});
        else if (r.take)
            download_one(r);
        else {
            begun.add(r.device);
            cuda::begin_download(*r.device, r.to, r.from, r.bytes);
        }
    }
    staged_download(staged, threads_for(staged, gathers));
    begun.wait();
}

#endif

} // namespace

void upload_together(std::span<const upload_request> requests) {
#if KRYLITH_HAVE_CUDA
    if (!requests.empty() && requests.front().device->kind() == backend::cuda)
        return upload_to_gpus(requests);
#endif
    for (const upload_request& r : requests)
        if (r.bytes != 0) upload_one(r);
}

void download_together(std::span<const download_request> requests) {
#if KRYLITH_HAVE_CUDA
    if (!requests.empty() && requests.front().device->kind() == backend::cuda)
        return download_from_gpus(requests);
#endif
    for (const download_request& r : requests)
        if (r.bytes != 0) download_one(r);
}

} // namespace krylith
