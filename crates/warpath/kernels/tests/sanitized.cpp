// The tests' kernels and the emulator under AddressSanitizer and UndefinedBehaviorSanitizer:
// `tests/emulator_sanitized.rs` builds and runs this. Without an argument everything must be clean; the name of a
// kernel with a bug runs only that, and a sanitizer must end it. Whether results are right is for `tests/emulator.rs`
// to say.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" int warpath_emulator_launch(const char* kernel, const unsigned grid[3], const unsigned block[3],
                                       unsigned shared_bytes, unsigned cluster_blocks, int cooperative, uint64_t seed,
                                       void** arguments, char* message, size_t message_bytes);

namespace {

struct Launch {
    unsigned blocks, threads, shared_bytes = 0, cluster = 1;
    bool cooperative = false;
    uint64_t seed = 0;
};

char message[2000];

/// 0, or 1 with a message.
template <class... Arguments>
int run(const char* kernel, Launch launch, Arguments... arguments) {
    unsigned grid[3] = {launch.blocks, 1, 1}, block[3] = {launch.threads, 1, 1};
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    return warpath_emulator_launch(kernel, grid, block, launch.shared_bytes, launch.cluster, launch.cooperative,
                                   launch.seed, pointers, message, sizeof message);
}

int run_all() {
    int failures = 0;
    auto expect = [&](bool failed, int outcome) {
        if (failed == (outcome != 0)) return;
        std::printf("%s\n", outcome != 0 ? message : "a bug was not caught");
        failures += 1;
    };
    for (uint64_t seed = 1; seed < 5; ++seed) {
        for (unsigned threads : {32u, 33u, 256u}) {
            unsigned blocks = 4, all = blocks * threads;
            std::vector<uint32_t> in(all, 7), a(all), b(all), c(all), d(all), e(all);
            std::vector<uint64_t> wide_in(all, 7), wide_a(all), wide_b(all), wide_c(all), wide_d(all);
            std::vector<uint32_t> words(8);
            std::vector<uint64_t> wide_words(8);
            uint32_t count = 0;
            uint64_t wide_count = 0;
            Launch launch{.blocks = blocks, .threads = threads, .seed = seed};
            Launch cooperative = launch, cluster = launch, dynamic = launch;
            cooperative.cooperative = true;
            cluster.cluster = 4;
            cluster.shared_bytes = 4 + 4 * threads;
            dynamic.shared_bytes = 4 * threads;
            expect(false, run("test_collectives", launch, in.data(), a.data(), b.data(), c.data(), d.data(), e.data(), &count));
            expect(false, run("test_collectives_u64", launch, wide_in.data(), wide_a.data(), wide_b.data(), wide_c.data(),
                            wide_d.data()));
            expect(false, run("test_grid_barrier", cooperative, a.data(), &count, 4u));
            expect(false, run("test_cluster", cluster, a.data(), b.data()));
            expect(false, run("test_dynamic_shared", dynamic, a.data()));
            expect(false, run("test_atomics", launch, words.data(), &count, wide_words.data(), &wide_count, a.data()));
            expect(false, run("test_claim", launch, a.data(), all, &count));
            // A launch that fails leaves fibers behind in the middle of things; the next one must not suffer.
            expect(true, run("bug_barrier_and_shuffle", launch, a.data()));
        }
    }
    return failures;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        int failures = run_all();
        std::printf("%d failures\n", failures);
        return failures != 0;
    }
    std::vector<uint32_t> words(32);
    if (std::strcmp(arguments[1], "bug_out_of_bounds") == 0)
        return run("bug_out_of_bounds", {.blocks = 1, .threads = 32}, words.data(), 32u);
    if (std::strcmp(arguments[1], "bug_shared_overrun") == 0)
        return run("bug_shared_overrun", {.blocks = 1, .threads = 32, .shared_bytes = 128});
    return 2;
}
