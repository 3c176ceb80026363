//! What may happen to a GPU from outside while a solver uses it: its context dies, or another program takes its memory.
//! Every request then ends in the right answer or in an error that says so, and never in a hang.
//!
//! A context that died may take all others of its process with it. So each one dies in a process of its own, which is this
//! program again with one test, told by an environment variable what to do. The tests are ignored where all are run: they
//! need a GPU, and ruin or fill it.
//!
//! *Invariants.* Contexts and memory that are ruined here belong to a process that ends with the test.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::requests::{Answer, algorithms};
use super::super::{arguments, images};
use super::*;
use crate::problems::{Problem, ShortestPathTree};
use crate::testing::Random;
use crate::{Engine, Graph, Solver, Sssp};

/// Tells a process what to do.
const ROLE: &str = "WARPATH_HAZARD";
/// How long a test goes on with other moments, in seconds.
const SECONDS: &str = "WARPATH_HAZARD_SECONDS";
/// Nothing takes as long as this.
const HANGS_AFTER: Duration = Duration::from_secs(60);
/// What a process prints for the one that started it begins with this.
const MARK: &str = "hazard: ";

/// A kernel that ends its context.
static TRAP: Image = Image { name: "trap", parts: &[TRAP_PTX; 4] };
const TRAP_PTX: &[u8] =
    b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry ends()\n{\n    trap;\n    ret;\n}\n\0";

/// How a context dies.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// By a kernel that traps.
    Trap(Function),
    /// By one that reads at an address that is not there.
    BadAddress(Function),
}

impl Death {
    /// One or the other, loaded and ready. Where nothing compiles the kernel that traps, it is a bad address.
    fn of(device: &Driver, seed: u64) -> Result<Self> {
        let trap = if seed.is_multiple_of(2) { device.function(&TRAP, "ends").ok() } else { None };
        match trap {
            Some(trap) => Ok(Death::Trap(trap)),
            None => device.function(&images::BFS_QUEUE, "bfs_queue").map(Death::BadAddress),
        }
    }

    /// Begins, beside whatever the device is at.
    fn strike(self, device: &Driver) -> Result<()> {
        let nowhere = 8_u64;
        let shape = LaunchShape::line(1, 32);
        match self {
            // SAFETY: the kernel takes nothing.
            Death::Trap(kernel) => unsafe { device.launch_in(Stream::Peer, kernel, &shape, arguments![]) },
            // SAFETY: none at all: the kernel reads at an address that is not there, which is the purpose.
            Death::BadAddress(kernel) => unsafe {
                let list = arguments!(nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, 1_u32, 1_u32);
                device.launch_in(Stream::Peer, kernel, &shape, list)
            },
        }
    }
}

fn name(problem: Problem, algorithm: Option<&str>) -> String {
    format!("{} {}", problem.name(), algorithm.unwrap_or("auto"))
}

/// A graph that keeps a device busy for some milliseconds. Searches over a hierarchy have one with small separators.
fn middling(problem: Problem, algorithm: Option<&str>, seed: u64) -> &'static str {
    let needs_separators = algorithm.is_some_and(|name| name.starts_with("hierarchy"));
    match problem {
        Problem::Bfs | Problem::Sssp if seed.is_multiple_of(2) || needs_separators => "grid:300x300,weights=1..255",
        Problem::Bfs | Problem::Sssp => "uniform:17,weights=1..255",
        Problem::Apsp => "uniform:11,weights=1..255",
        Problem::Closure => "uniform:12,edges-per-vertex=2",
    }
}

/// Whether the answer is there and right, or the error one of the device; in one word. Anything else is a failure.
#[track_caller]
fn outcome(answer: Result<Answer>, graph: &Graph) -> &'static str {
    match answer {
        Ok(answer) => {
            let where_from = if answer.engine() == "cpu" { "cpu" } else { "gpu" };
            answer.verify(graph).unwrap_or_else(|error| panic!("a wrong answer: {error}"));
            where_from
        }
        Err(Error::Device(message)) if !message.is_empty() => "failed",
        Err(Error::OutOfMemory { .. }) => "no memory",
        Err(Error::NoDevice(_)) => "no device",
        Err(other) => panic!("an error that is none of the device: {other:?}"),
    }
}

/// This program, with one test of this module.
fn another(test: &str, role: &str) -> Command {
    let path = module_path!();
    let path = path.split_once("::").map_or(path, |(_, path)| path);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "--test-threads=1", &format!("{path}::{test}")]);
    command.env(ROLE, role).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a process printed, if it ended well and in time.
fn result_of(mut child: Child) -> std::result::Result<String, String> {
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let errors = thread::spawn(move || BufReader::new(stderr).lines().map_while(|line| line.ok()).collect::<Vec<_>>());
    let lines = thread::spawn(move || BufReader::new(stdout).lines().map_while(|line| line.ok()).collect::<Vec<_>>());
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > 2 * HANGS_AFTER => {
                let _ = child.kill();
                return Err("HANGS".into());
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let (lines, errors) = (lines.join().unwrap(), errors.join().unwrap());
    let said = lines.iter().filter_map(|line| line.split_once(MARK)).map(|(_, said)| said);
    let said = said.collect::<Vec<_>>().join("; ");
    if status.success() && !said.is_empty() {
        return Ok(said);
    }
    let errors = errors.iter().filter(|line| !line.trim().is_empty() && !line.contains("RUST_BACKTRACE"));
    Err(format!("{status}: {said}: {}", errors.map(String::as_str).collect::<Vec<_>>().join(" ")))
}

/// An attempt: a problem, an algorithm or the solver's choice, and whether on all devices.
fn cases() -> Vec<(Problem, Option<&'static str>, bool)> {
    let problems = [Problem::Bfs, Problem::Sssp, Problem::Apsp, Problem::Closure];
    let each = problems.into_iter().flat_map(|problem| algorithms(problem).map(move |info| (problem, Some(info.name))));
    let mut cases: Vec<_> = each.map(|(problem, algorithm)| (problem, algorithm, false)).collect();
    cases.extend([(Problem::Sssp, None, false), (Problem::Apsp, None, false)]);
    if devices().is_ok_and(|devices| devices.len() > 1) {
        cases.push((Problem::Apsp, Some("tiled-floyd-warshall:strip=256,cell-bits=32"), true));
    }
    cases
}

/// How long tests go on.
fn seconds_left(otherwise: u64) -> Instant {
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    Instant::now() + Duration::from_secs(seconds)
}

#[test]
#[ignore = "ruins contexts of a GPU: run it alone, on a machine with one"]
fn a_context_that_dies_is_an_error() {
    // One after another: several contexts that died on one GPU at once have brought its firmware to a stop for minutes
    // (driver 580, Xid 119), and then every program hangs in the driver. Even so, it may take a reset to use the GPU again.
    let until = seconds_left(100);
    let cases = cases();
    let (mut counts, mut failures) = (BTreeMap::<String, usize>::new(), Vec::new());
    for index in 0.. {
        // Every algorithm has its turn.
        if index >= cases.len() && Instant::now() > until {
            break;
        }
        let (case, seed) = (index % cases.len(), index / cases.len());
        let (problem, algorithm, on_all) = cases[case];
        let child = another("one_context_dies", &format!("{case} {seed}")).spawn().unwrap();
        match result_of(child) {
            Ok(said) => *counts.entry(said).or_default() += 1,
            Err(why) => {
                let what = name(problem, algorithm);
                let all = if on_all { " on all devices" } else { "" };
                failures.push(format!("{what}{all}, seed {seed}: {why}"));
            }
        }
    }
    counts.iter().for_each(|(said, count)| println!("{count:5} times: {said}"));
    println!("{} contexts died well, {} did not", counts.values().sum::<usize>(), failures.len());
    failures.iter().for_each(|failure| println!("FAILED {}", failure.chars().take(500).collect::<String>()));
    assert!(failures.is_empty());
}

/// What happens to one context; the process is told which case, and a seed.
#[test]
#[ignore = "started by another test"]
fn one_context_dies() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut numbers = role.split(' ').map(|number| number.parse::<u64>().unwrap());
    let (case, seed) = (numbers.next().unwrap(), numbers.next().unwrap());
    let Some(&(problem, algorithm, on_all)) = cases().get(case as usize) else {
        return println!("{MARK}no second device, since another context died");
    };
    let mut random = Random(case << 32 | seed);
    let graph = crate::generate(middling(problem, algorithm, seed)).unwrap();
    let opened = (0..if on_all { 2 } else { 1 }).map(|ordinal| Driver::open(ordinal).map(Arc::new));
    let opened: Vec<Arc<Driver>> = match opened.collect() {
        Ok(opened) => opened,
        // What dies in other processes meanwhile may be felt here.
        Err(error) => return println!("{MARK}{}, since another context died", outcome(Err(error), &graph)),
    };
    let there: Vec<Arc<dyn Device>> = opened.iter().map(|device| device.clone() as Arc<dyn Device>).collect();
    let victim = opened[(seed / 2) as usize % opened.len()].clone();
    let death = Death::of(&victim, seed).unwrap();
    let solver = || {
        let builder = Solver::builder(graph.clone()).devices(there.clone());
        // With one thread of the host a GPU is predicted to be quicker.
        if algorithm.is_none() { builder.engine(Engine::Auto).threads(1) } else { builder.threads(2) }
    };
    // One run loads everything, and another shows how long it takes.
    let mut takes = Duration::ZERO;
    for _ in 0..2 {
        let start = Instant::now();
        let answer = Answer::of(&solver().open().unwrap(), problem, algorithm);
        takes = start.elapsed();
        match outcome(answer, &graph) {
            "gpu" => {}
            "cpu" if algorithm.is_none() => {}
            other => return println!("{MARK}{other}, since another context died"),
        }
    }
    let dying = solver().open().unwrap();
    let moment = takes.mul_f64(random.below(1300) as f64 / 1000.0);
    let first = thread::scope(|scope| {
        let start = Instant::now();
        let victim = &victim;
        scope.spawn(move || {
            while start.elapsed() < moment {
                std::hint::spin_loop();
            }
            // The context may have died by itself.
            let _ = death.strike(victim);
        });
        Answer::of(&dying, problem, algorithm)
    });
    let first = outcome(first, &graph);
    // Now it is dead for certain, and has to say so.
    assert!(victim.synchronize().is_err(), "the context goes on");
    let again = [(); 2].map(|()| outcome(Answer::of(&dying, problem, algorithm), &graph));
    drop(dying);
    drop((there, victim, opened));
    let fresh = Solver::builder(graph.clone()).engine(Engine::Cuda(vec![0])).open().unwrap();
    let fresh = outcome(Answer::of(&fresh, problem, algorithm.filter(|_| !on_all)), &graph);
    let auto = Solver::builder(graph.clone()).threads(1).open().unwrap();
    let auto = outcome(Answer::of(&auto, problem, None), &graph);
    assert!(["cpu", "gpu"].contains(&auto), "what is left to the solver is always answered, and not {auto}");
    if algorithm.is_none() {
        assert!(["cpu", "gpu"].contains(&first), "what is left to the solver is always answered, and not {first}");
    }
    let kind = if matches!(death, Death::Trap(_)) { "trap" } else { "address" };
    let by = if algorithm.is_some() { "asked" } else { "auto" };
    println!("{MARK}{kind} {by}: {first}, again {} {}, fresh {fresh}, auto {auto}", again[0], again[1]);
}

#[test]
#[ignore = "fills the memory of a GPU: run it alone, on a machine with one"]
fn memory_that_another_program_takes_is_an_error() {
    let until = seconds_left(60);
    let mut hog = another("takes_memory", "7 100000").spawn().unwrap();
    let mut said = BufReader::new(hog.stdout.take().unwrap()).lines().map_while(|line| line.ok());
    assert!(said.any(|line| line.contains(MARK)), "the other program takes no memory");
    let mut counts = BTreeMap::<String, usize>::new();
    let mut failures = Vec::new();
    let watched = Mutex::new((Instant::now(), String::new()));
    let cases: Vec<_> = cases().into_iter().filter(|(.., on_all)| !on_all).collect();
    let small = "grid:20x20,weights=1..9";
    let large = cases.iter().map(|&(problem, algorithm, _)| middling(problem, algorithm, 1));
    let specifications: BTreeSet<_> = large.chain([small]).collect();
    let graphs: BTreeMap<_, _> =
        specifications.into_iter().map(|graph| (graph, crate::generate(graph).unwrap())).collect();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // A hang ends here, since nothing else would end it.
            while !is_done.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                let watched = watched.lock().unwrap();
                if watched.0.elapsed() > HANGS_AFTER {
                    println!("FAILED {} HANGS", watched.1);
                    std::process::exit(99);
                }
            }
        });
        let mut turn = 0;
        while turn < 2 * cases.len() || Instant::now() < until {
            let (problem, algorithm, _) = cases[turn % cases.len()];
            let is_small = (turn / cases.len()).is_multiple_of(2);
            let graph = &graphs[if is_small { small } else { middling(problem, algorithm, 1) }];
            turn += 1;
            // Only some open a context anew: that takes far longer than a solve, and much memory of its own.
            let device = match Driver::open(0) {
                Ok(device) => Arc::new(device) as Arc<dyn Device>,
                Err(error) => {
                    *counts.entry(format!("opening: {}", outcome(Err(error), graph))).or_default() += 1;
                    continue;
                }
            };
            for _ in 0..10 {
                *watched.lock().unwrap() = (Instant::now(), name(problem, algorithm));
                let builder = Solver::builder(graph.clone()).device(device.clone());
                let builder = if algorithm.is_none() { builder.engine(Engine::Auto).threads(1) } else { builder };
                let answer = Answer::of(&builder.open().unwrap(), problem, algorithm);
                let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| outcome(answer, graph)));
                match failed {
                    Ok(word) if algorithm.is_none() && !["cpu", "gpu"].contains(&word) => {
                        failures.push(format!("{}: left to the solver, and {word}", name(problem, algorithm)));
                    }
                    Ok(word) => *counts.entry(word.to_owned()).or_default() += 1,
                    Err(_) => failures.push(name(problem, algorithm)),
                }
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert!(hog.try_wait().unwrap().is_none(), "the program that takes memory ended before it was told to");
    let _ = hog.kill();
    let _ = hog.wait();
    // With all memory back, everything works.
    for (problem, algorithm, _) in cases {
        let graph = &graphs[middling(problem, algorithm, 1)];
        let solver = Solver::builder(graph.clone()).engine(Engine::Cuda(vec![0])).open().unwrap();
        let answer = Answer::of(&solver, problem, algorithm);
        answer.unwrap_or_else(|error| panic!("{}: {error}", name(problem, algorithm))).verify(graph).unwrap();
    }
    counts.iter().for_each(|(word, count)| println!("{count:6} times: {word}"));
    failures.iter().for_each(|failure| println!("FAILED {}", failure.chars().take(300).collect::<String>()));
    assert!(failures.is_empty());
    assert!(counts.get("gpu").is_some_and(|count| *count > 0), "nothing was ever solved on the device");
}

/// Takes nearly all memory of a device, lets go, and takes it again; told a seed, and for how many seconds.
#[test]
#[ignore = "started by another test"]
fn takes_memory() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut numbers = role.split(' ').map(|number| number.parse::<u64>().unwrap());
    let (mut random, seconds) = (Random(numbers.next().unwrap()), numbers.next().unwrap());
    let device = Driver::open(0).unwrap();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut times = 0_u64;
    while Instant::now() < until {
        let leave = [0, 1, 4, 16, 64, 1024][random.below(6) as usize] << 20;
        let mut wanted = device.free_bytes().unwrap().saturating_sub(leave);
        let mut taken = Vec::new();
        // The free memory may be in several pieces, or gone.
        while wanted >= 2 << 20 {
            match device.allocate(wanted) {
                Ok(address) => {
                    taken.push(address);
                    wanted = device.free_bytes().unwrap().saturating_sub(leave);
                }
                Err(_) => wanted /= 2,
            }
        }
        times += 1;
        if times == 1 {
            println!("{MARK}took the memory");
        }
        thread::sleep(Duration::from_micros(random.below(20_000)));
        for address in taken {
            // SAFETY: it was allocated here, and nothing uses it.
            unsafe { device.free(address) };
        }
        thread::sleep(Duration::from_micros(random.below(20_000)));
    }
    println!("{MARK}took the memory {times} times");
}

/// The rest of many searches comes from the CPU when a context dies while trees are handed over, and none comes twice.
#[test]
#[ignore = "ruins contexts of a GPU: run it alone, on a machine with one"]
fn trees_go_on_when_a_context_dies() {
    let graph = crate::generate("uniform:15,weights=1..255").unwrap();
    let device = Arc::new(Driver::open(0).unwrap());
    let death = Death::of(&device, 0).unwrap();
    let solver = Solver::builder(graph.clone()).device(device.clone()).engine(Engine::Auto).threads(1).open().unwrap();
    let sources: Vec<u32> = (0..600).collect();
    let mut engines = BTreeMap::<String, usize>::new();
    let mut expected = 0;
    let each = |tree: ShortestPathTree| {
        assert_eq!(tree.sources(), [expected]);
        expected += 1;
        if expected == 100 {
            death.strike(&device)?;
        }
        *engines.entry(tree.report().engine.clone()).or_default() += 1;
        if expected % 20 == 0 { tree.verify(&graph) } else { Ok(()) }
    };
    solver.solve_each(Sssp::from(0).distances_only(), &sources, each).unwrap();
    assert_eq!(expected, 600);
    println!("trees by engine: {engines:?}");
    assert!(engines.contains_key("cuda:0") && engines.contains_key("cpu"));
}
