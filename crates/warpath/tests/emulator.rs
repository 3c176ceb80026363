//! The emulator runs kernels as CUDA has them, under any schedule, and catches the usual mistakes.
//!
//! The kernels are in `kernels/tests`; kernels named `bug_...` have a bug.
//!
//! *Invariants.* The functions in C++ have the signatures declared here, names are ended by zeros, and arrays have the
//! lengths that are passed.

#![cfg(feature = "emulator")]
#![cfg_attr(not(emulator), allow(dead_code))]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};

#[cfg(emulator)]
unsafe extern "C" {
    fn warpath_emulator_has(kernel: *const c_char) -> c_int;
    fn warpath_emulator_launch(
        kernel: *const c_char,
        grid: *const c_uint,
        block: *const c_uint,
        shared_bytes: c_uint,
        cluster_blocks: c_uint,
        cooperative: c_int,
        seed: u64,
        arguments: *mut *mut c_void,
        message: *mut c_char,
        message_bytes: usize,
    ) -> c_int;
}

/// A launch of blocks and threads in a line, to be changed before it is run.
#[derive(Debug, Clone, Copy)]
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    cluster: u32,
    cooperative: bool,
    seed: u64,
}

fn line(blocks: u32, threads: u32) -> Launch {
    Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, cluster: 1, cooperative: false, seed: 0 }
}

impl Launch {
    fn cooperative(self) -> Self {
        Launch { cooperative: true, ..self }
    }

    fn shared(self, shared_bytes: u32) -> Self {
        Launch { shared_bytes, ..self }
    }

    fn cluster(self, cluster: u32) -> Self {
        Launch { cluster, ..self }
    }

    fn seed(self, seed: u64) -> Self {
        Launch { seed, ..self }
    }

    #[cfg(emulator)]
    fn run(self, kernel: &str, arguments: Arguments) -> Result<(), String> {
        let kernel = CString::new(kernel).expect("a name");
        let mut pointers: Vec<*mut c_void> = arguments.iter().map(|argument| argument.pointer()).collect();
        let mut message = [0_u8; 4096];
        // SAFETY: the arrays have the lengths that the function is told, or always expects; the arguments are each
        // test's responsibility.
        let failed = unsafe {
            warpath_emulator_launch(
                kernel.as_ptr(),
                self.grid.as_ptr(),
                self.block.as_ptr(),
                self.shared_bytes,
                self.cluster,
                c_int::from(self.cooperative),
                self.seed,
                pointers.as_mut_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        let end = message.iter().position(|&byte| byte == 0).expect("the message is ended by a zero");
        let message = String::from_utf8_lossy(&message[..end]).into_owned();
        assert_eq!(failed == 0, message.is_empty());
        if failed == 0 { Ok(()) } else { Err(message) }
    }

    #[cfg(not(emulator))]
    fn run(self, _: &str, _: Arguments) -> Result<(), String> {
        Err("there is no emulator".into())
    }

    /// Runs a kernel that has to fail, and checks that the message says why.
    fn fails(self, kernel: &str, arguments: Arguments, why: &[&str]) {
        let message = self.run(kernel, arguments).expect_err("the mistake must be caught");
        for part in why {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    }
}

/// The arguments of a kernel: numbers, and the addresses of slices.
type Arguments = Vec<Box<dyn Argument>>;

macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        vec![$(Box::new($argument) as Box<dyn Argument>),*]
    };
}

/// An argument in memory: a number, or an address.
trait Argument {
    fn pointer(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast::<c_void>().cast_mut()
    }
}
impl Argument for u32 {}
impl<T: 'static> Argument for *const T {}
impl<T: 'static> Argument for *mut T {}
impl Argument for Cell {}

/// The `Cell` of `kernels/tests/memory.cu`.
#[repr(C)]
#[derive(Debug)]
struct Cell {
    thread: u32,
    padding: [u8; 8],
    check: u32,
}

/// Numbers without a pattern.
fn numbers(count: usize, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..count).map(|_| next()).collect()
}

const SEEDS: std::ops::Range<u64> = 1..9;

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn knows_its_kernels() {
    #[cfg(emulator)]
    {
        // SAFETY: the names are ended by zeros.
        assert_eq!(unsafe { warpath_emulator_has(c"test_nothing".as_ptr()) }, 1);
        // SAFETY: as above.
        assert_eq!(unsafe { warpath_emulator_has(c"test_something".as_ptr()) }, 0);
    }
    line(1, 1).fails("test_something", arguments![], &["no kernel named test_something"]);
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn collectives_for_every_block_size() {
    for (threads, blocks, seed) in [
        (1, 3, 1),
        (2, 2, 2),
        (31, 2, 3),
        (32, 5, 4),
        (33, 2, 5),
        (64, 3, 6),
        (100, 4, 7),
        (256, 4, 8),
        (256, 4, 9),
        (500, 2, 10),
        (1000, 1, 11),
        (1024, 2, 12),
        (1024, 2, 13),
    ] {
        let count = (threads * blocks) as usize;
        let values = numbers(count, seed);
        let [mut before, mut total, mut sum, mut least, mut odd] = [(); 5].map(|()| vec![7_u32; count]);
        let mut odd_count = 0_u32;
        line(blocks, threads)
            .seed(seed)
            .run(
                "test_collectives",
                arguments![
                    values.as_ptr(),
                    before.as_mut_ptr(),
                    total.as_mut_ptr(),
                    sum.as_mut_ptr(),
                    least.as_mut_ptr(),
                    odd.as_mut_ptr(),
                    &raw mut odd_count
                ],
            )
            .expect("it runs");
        for (block, slice) in values.chunks(threads as usize).enumerate() {
            let whole = slice.iter().fold(0_u32, |sum, value| sum.wrapping_add(*value));
            let mut prefix = 0_u32;
            for (thread, value) in slice.iter().enumerate() {
                let at = block * threads as usize + thread;
                assert_eq!((before[at], total[at], sum[at]), (prefix, whole, whole), "{threads} threads, {at}");
                assert_eq!(least[at], *slice.iter().min().expect("a block has threads"));
                prefix = prefix.wrapping_add(*value);
            }
            for (warp, lanes) in slice.chunks(32).enumerate() {
                let packed: Vec<u32> = lanes.iter().copied().filter(|value| value % 2 == 1).collect();
                let at = block * threads as usize + warp * 32;
                assert_eq!(odd[at..at + packed.len()], packed);
            }
        }
        assert_eq!(odd_count as usize, values.iter().filter(|value| *value % 2 == 1).count());

        let values: Vec<u64> = values.iter().map(|value| u64::from(*value) * 0x1_0001_0001).collect();
        let [mut before, mut total, mut sum, mut least] = [(); 4].map(|()| vec![7_u64; count]);
        let arguments =
            arguments![values.as_ptr(), before.as_mut_ptr(), total.as_mut_ptr(), sum.as_mut_ptr(), least.as_mut_ptr()];
        line(blocks, threads).seed(seed).run("test_collectives_u64", arguments).expect("it runs");
        // Sums wrap.
        let sum_of = |values: &[u64]| values.iter().fold(0_u64, |sum, value| sum.wrapping_add(*value));
        for (block, slice) in values.chunks(threads as usize).enumerate() {
            let whole = sum_of(slice);
            for thread in 0..slice.len() {
                let at = block * threads as usize + thread;
                let prefix = sum_of(&slice[..thread]);
                assert_eq!((before[at], total[at], sum[at]), (prefix, whole, whole), "{threads} threads, {at}");
                assert_eq!(least[at], *slice.iter().min().expect("a block has threads"));
            }
        }
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn warp_operations() {
    let values = numbers(32, 3);
    for seed in SEEDS {
        let mut results = vec![0_u32; 256];
        let arguments = arguments![values.as_ptr(), results.as_mut_ptr()];
        line(1, 32).seed(seed).run("test_warp", arguments).expect("it runs");
        for lane in 0..32 {
            let half = if lane < 16 { &values[..16] } else { &values[16..] };
            assert_eq!(results[lane], *half.iter().max().expect("16 values"));
            assert_eq!(results[32 + lane], values[5]);
            assert_eq!(results[64 + lane], values[if lane < 3 { lane } else { lane - 3 }]);
            assert_eq!(results[96 + lane], values[if lane % 8 < 5 { lane + 3 } else { lane }]);
            assert_eq!(results[128 + lane], values[lane ^ 9]);
            assert_eq!(results[160 + lane], 1);
            assert_eq!(results[192 + lane], 1 + 4 * 21);
            assert_eq!(results[224 + lane], values[..lane].iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)));
        }
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn grid_barriers() {
    let mut caught = 0;
    for seed in SEEDS {
        for (blocks, threads) in [(1, 64), (2, 1), (4, 256), (7, 33)] {
            let mut cells = vec![0_u32; (blocks * threads) as usize];
            let mut wrong = 0_u32;
            let arguments = arguments![cells.as_mut_ptr(), &raw mut wrong, 5_u32];
            line(blocks, threads).cooperative().seed(seed).run("test_grid_barrier", arguments).expect("it runs");
            assert_eq!(wrong, 0);
            assert!(cells.iter().all(|cell| *cell == 5));
            let arguments = arguments![cells.as_mut_ptr(), &raw mut wrong, 5_u32];
            line(blocks, threads).cooperative().seed(seed).run("bug_missing_grid_barrier", arguments).expect("it runs");
            caught += u32::from(wrong > 0);
        }
    }
    assert!(caught >= 24, "a missing barrier shows under every schedule of several blocks, or nearly: {caught}");

    let mut cells = vec![0_u32; 64];
    let mut wrong = 0_u32;
    let arguments = arguments![cells.as_mut_ptr(), &raw mut wrong, 5_u32];
    line(2, 32).fails("test_grid_barrier", arguments, &["not cooperative", "barriers.cu"]);
    let why = [
        "deadlock",
        "block 0: threads 0-31 wait at grid_barrier (barriers.cu:",
        "block 1: threads 0-2, 4-31 wait at grid_barrier",
        "block 1: threads 3 exited",
    ];
    line(2, 32).cooperative().fails("bug_grid_barrier_not_reached", arguments![], &why);
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn clusters_share_memory() {
    for seed in SEEDS {
        for (blocks, cluster, threads) in [(4, 4, 64), (12, 4, 33), (16, 16, 100), (3, 1, 32), (32, 16, 8)] {
            let mut received = vec![0_u32; (blocks * threads) as usize];
            let mut counted = vec![0_u32; blocks as usize];
            let arguments = arguments![received.as_mut_ptr(), counted.as_mut_ptr()];
            let launch = line(blocks, threads).cluster(cluster).shared(4 + 4 * threads).seed(seed);
            launch.run("test_cluster", arguments).expect("it runs");
            assert!(counted.iter().all(|count| *count == cluster * threads));
            for block in 0..blocks {
                let before = block / cluster * cluster + (block % cluster + cluster - 1) % cluster;
                for thread in 0..threads {
                    assert_eq!(received[(block * threads + thread) as usize], before * threads + thread);
                }
            }
        }
    }
    // A sanitizer would end the process at the first such access.
    if cfg!(emulator_sanitized) {
        return;
    }
    let ended = SEEDS.filter(|seed| {
        let mut counted = [0_u32; 8];
        let arguments = arguments![counted.as_mut_ptr()];
        let outcome = line(8, 32).cluster(8).shared(4).seed(*seed).run("bug_cluster_block_ends", arguments);
        outcome.is_err_and(|message| message.contains("that block has ended"))
    });
    assert!(ended.count() > 0);
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn dynamic_shared_memory() {
    for seed in SEEDS {
        let mut values: Vec<u32> = (0..1000).collect();
        let launch = line(10, 100).shared(400).seed(seed);
        launch.run("test_dynamic_shared", arguments![values.as_mut_ptr()]).expect("it runs");
        assert!(
            values.chunks(100).zip(0..).all(|(slice, block)| slice
                .iter()
                .rev()
                .copied()
                .eq(block * 100..block * 100 + 100))
        );

        // Without the barrier some thread reads what was never written, and the memory doesn't start as zeros.
        let mut values: Vec<u32> = (0..1000).collect();
        launch.run("bug_missing_barrier", arguments![values.as_mut_ptr()]).expect("it runs");
        assert!(values.contains(&0xa5a5_a5a5));
    }
    let mut values = vec![0_u32; 32];
    let launch = line(1, 32).shared((227 << 10) + 1);
    launch.fails("test_dynamic_shared", arguments![values.as_mut_ptr()], &["too many bytes of dynamic shared memory"]);
    if cfg!(not(emulator_sanitized)) {
        line(1, 32).shared(128).fails(
            "bug_shared_overrun",
            arguments![],
            &["past the end of its dynamic shared memory"],
        );
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn atomics() {
    for seed in SEEDS {
        let (blocks, threads) = (5_u32, 70_u32);
        let all = u64::from(blocks * threads);
        let mut words = [0, 0, u32::MAX, 0, 0, u32::MAX, 0, 0];
        let mut wide_words = [0, 0, u64::MAX, 0, 0, u64::MAX, 0, 0];
        let (mut swapped_out, mut wide_swapped_out) = (0_u32, 0_u64);
        let mut in_shared = [0_u32; 5];
        let arguments = arguments![
            words.as_mut_ptr(),
            &raw mut swapped_out,
            wide_words.as_mut_ptr(),
            &raw mut wide_swapped_out,
            in_shared.as_mut_ptr()
        ];
        line(blocks, threads).seed(seed).run("test_atomics", arguments).expect("it runs");
        let sum = all * (all - 1) / 2;
        assert_eq!(wide_words[..6], [sum, all - 1, 5, all, u64::MAX, 0]);
        assert_eq!(wide_swapped_out + wide_words[6], sum);
        assert_eq!(words[..6], [sum as u32, all as u32 - 1, 5, all as u32, u32::MAX, 0]);
        assert_eq!(u64::from(swapped_out + words[6]), sum);
        assert_eq!(in_shared, [threads; 5]);
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn accesses_and_shapes() {
    #[repr(C, align(16))]
    #[derive(Clone, Copy)]
    struct Quad([u32; 4]);
    let count = 3 * 2 * 2 * 5 * 3 * 2;
    let bytes: Vec<u8> = (0..count).map(|at| at as u8).collect();
    let pairs: Vec<u64> = (0..count as u64).map(|at| at | at << 33).collect();
    let quads: Vec<Quad> = (0..count as u32).map(|at| Quad([at, 1, 2, 3 * at])).collect();
    let mut sums = vec![0_u32; count];
    let mut coordinates = vec![[0_u32; 3]; count];
    let cancelled = 0_u32;
    let launch = Launch { grid: [3, 2, 2], block: [5, 3, 2], ..line(1, 1) };
    let arguments = arguments![
        bytes.as_ptr(),
        pairs.as_ptr(),
        quads.as_ptr(),
        sums.as_mut_ptr(),
        Cell { thread: 1000, padding: [0; 8], check: 5 },
        coordinates.as_mut_ptr(),
        &raw const cancelled
    ];
    launch.run("test_accesses", arguments).expect("it runs");
    for at in 0..count {
        let number = at as u32;
        assert_eq!(
            sums[at],
            3 * u32::from(bytes[at]) + number * (1 + 2 + 1) + number + 3 + 3 * number + 3 * number + 1005
        );
        let (block, thread) = (number / 30, number % 30);
        let (bx, by, bz) = (block % 3, block / 3 % 2, block / 6);
        let (tx, ty, tz) = (thread % 5, thread / 5 % 3, thread / 15);
        assert_eq!(coordinates[at], [tx + 100 * bx, ty + 100 * by, tz + 100 * bz]);
    }
    line(1, 1025).fails("test_nothing", arguments![], &["too many threads a block: 1025, at most 1024"]);
    line(1, 0).fails("test_nothing", arguments![], &["empty"]);
    line(6, 4).cluster(4).fails("test_nothing", arguments![], &["whole clusters"]);
    line(32, 4).cluster(32).fails("test_nothing", arguments![], &["too many blocks a cluster"]);
    line(3000, 1).run("test_nothing", arguments![]).expect("it runs");
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn spinning_lets_others_go_on() {
    for seed in SEEDS {
        let mut flags = [0_u32; 4];
        line(4, 8).cooperative().seed(seed).run("test_spin", arguments![flags.as_mut_ptr()]).expect("it runs");
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn a_claim_without_an_atomic_shows() {
    let mut caught = 0;
    for seed in SEEDS {
        for (kernel, is_right) in [("test_claim", true), ("bug_claim_without_atomic", false)] {
            let mut owners = vec![u32::MAX; 50];
            let mut claims = 0_u32;
            let arguments = arguments![owners.as_mut_ptr(), 50_u32, &raw mut claims];
            line(4, 64).seed(seed).run(kernel, arguments).expect("it runs");
            if is_right {
                assert_eq!(claims, 50);
            } else {
                caught += u32::from(claims > 50);
            }
        }
    }
    assert!(caught >= 6, "under most schedules: {caught}");
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn divergence_is_an_error() {
    for seed in SEEDS {
        let mut values = vec![0_u32; 64];
        let mut run = |kernel: &str, threads: u32, why: &[&str]| {
            line(2, threads).seed(seed).fails(kernel, arguments![values.as_mut_ptr()], why);
        };
        run("bug_divergent_barrier", 64, &["a barrier in divergent code", "__syncthreads (barriers.cu:"]);
        run(
            "bug_barrier_and_shuffle",
            32,
            &[
                "deadlock",
                "threads 0-15 wait at a shuffle (barriers.cu:",
                "mask 0xffffffff",
                "threads 16-31 wait at __syncthreads",
            ],
        );
        run("bug_divergent_shuffle", 32, &["the lanes of a warp diverge", "a shuffle (barriers.cu:"]);
        run("bug_wrong_mask", 32, &["a lane that is not in its own mask"]);
    }
}

#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn misaligned_accesses_are_errors() {
    let words = [0_u64; 4];
    let mut result = 0_u64;
    let arguments = arguments![words.as_ptr(), &raw mut result];
    line(1, 1).fails("bug_misaligned", arguments, &["misaligned address (memory.cu:", "thread 0 of block 0"]);
}

/// The same seed gives the same schedule, whatever else the machine does.
#[test]
#[cfg_attr(not(emulator), ignore = "needs a C++20 compiler")]
fn schedules_can_be_repeated() {
    let owners_under = |seed: u64| {
        let mut owners = vec![u32::MAX; 50];
        let mut claims = 0_u32;
        let arguments = arguments![owners.as_mut_ptr(), 50_u32, &raw mut claims];
        line(6, 100).seed(seed).run("test_claim", arguments).expect("it runs");
        owners
    };
    for seed in SEEDS {
        assert_eq!(owners_under(seed), owners_under(seed));
    }
    assert_ne!(owners_under(2), owners_under(4));
}
