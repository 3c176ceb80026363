//! Ranks on several hosts: network namespaces of this machine, joined by a bridge, each with a name and an address of its own. Open MPI
//! starts its daemons there through a program in the place of ssh. Needs root on Linux, `ip` and `unshare`; elsewhere the tests say that they are
//! skipped.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::output_of;
use crate::launcher::{alone, is_open_mpi, pass_role};

/// A test with its name.
type Test = (&'static str, fn(&Hosts));

/// All tests.
pub(crate) const TESTS: &[Test] = &[
    ("hosts_answer_as_one_machine", hosts_answer_as_one_machine),
    ("a_link_that_is_cut_ends_all", a_link_that_is_cut_ends_all),
];

/// How many there are.
const COUNT: usize = 3;

/// Hosts, numbered from 1, and a bridge in a namespace of its own. They go when this is dropped.
pub(crate) struct Hosts {
    /// Namespaces are named this and their number; that of the bridge is 0.
    prefix: String,
    folder: tempfile::TempDir,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`ip` does not start: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("`ip {arguments}`: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Hosts {
    /// Makes them, or says why that is not possible.
    pub(crate) fn make() -> Result<Self, String> {
        if !is_open_mpi() {
            return Err("the launcher is not Open MPI's".into());
        }
        let unshared = Command::new("unshare").args(["--uts", "true"]).output();
        if !unshared.is_ok_and(|output| output.status.success()) {
            return Err("`unshare --uts` is not possible".into());
        }
        let prefix = format!("warpath{}-", std::process::id());
        let hosts = Hosts { prefix, folder: tempfile::tempdir().map_err(|error| error.to_string())? };
        let prefix = &hosts.prefix;
        ip(&format!("netns add {prefix}0"))?;
        ip(&format!("-n {prefix}0 link add bridge type bridge"))?;
        ip(&format!("-n {prefix}0 link set bridge up"))?;
        for host in 1..=COUNT {
            ip(&format!("netns add {prefix}{host}"))?;
            ip(&format!("-n {prefix}0 link add to{host} type veth peer name eth0 netns {prefix}{host}"))?;
            ip(&format!("-n {prefix}0 link set to{host} master bridge up"))?;
            ip(&format!("-n {prefix}{host} addr add 10.77.0.{host}/24 dev eth0"))?;
            ip(&format!("-n {prefix}{host} link set eth0 up"))?;
            ip(&format!("-n {prefix}{host} link set lo up"))?;
        }
        let agent = hosts.agent();
        let script = format!(
            "#!/bin/sh\nnumber=${{1##*.}}\nshift\nexec ip netns exec \"{prefix}$number\" unshare --uts sh -c \"hostname host$number; $*\"\n"
        );
        std::fs::write(&agent, script).map_err(|error| error.to_string())?;
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).map_err(|error| error.to_string())?;
        Ok(hosts)
    }

    /// How many ranks a host runs.
    fn ranks_of(&self, host: usize) -> usize {
        let pids = Command::new("ip").args(["netns", "pids", &format!("{}{host}", self.prefix)]).output();
        let pids = pids.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let program = std::env::current_exe().expect("a path");
        let is_rank = |pid: &&str| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path == program);
        pids.split_whitespace().filter(is_rank).count()
    }

    fn agent(&self) -> std::path::PathBuf {
        self.folder.path().join("agent")
    }

    /// The command on so many ranks of each of the first hosts, started from the first one. Messages go by TCP.
    fn launch(&self, hosts: usize, ranks: usize, arguments: &[&str]) -> Command {
        let list: Vec<String> = (1..=hosts).map(|host| format!("10.77.0.{host}:{ranks}")).collect();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}1", self.prefix), "unshare", "--uts", "sh", "-c"]);
        command.args(["hostname host1; exec mpirun \"$@\"", "mpirun", "--allow-run-as-root"]);
        for (name, value) in [
            ("plm_rsh_agent", &*self.agent().display().to_string()),
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", "10.77.0.0/24"),
            ("oob_tcp_if_include", "10.77.0.0/24"),
        ] {
            command.args(["--mca", name, value]);
        }
        command.args(["--host", &list.join(","), "-n", &(hosts * ranks).to_string()]);
        pass_role(&mut command);
        command.arg(std::env::current_exe().expect("a path")).args(arguments);
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in (0..=COUNT).rev() {
            let name = format!("{}{host}", self.prefix);
            if let Ok(output) = Command::new("ip").args(["netns", "pids", &name]).output() {
                for process in String::from_utf8_lossy(&output.stdout).split_whitespace() {
                    let _ = Command::new("kill").args(["-KILL", process]).status();
                }
            }
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

fn hosts_answer_as_one_machine(hosts: &Hosts) {
    let file = |name: &str| hosts.folder.path().join(name).display().to_string();
    let list = file("list.txt");
    let lines: String = (0..500_u32).map(|k| format!("{} {} {}\n", k * 7 % 90 * 10, k * k % 90 * 10, k % 9)).collect();
    std::fs::write(&list, lines).expect("a file");
    let searches: [(usize, usize, &[&str]); 3] = [
        (2, 2, &["bfs", "kron:12", "--source", "0", "--verify"]),
        (3, 1, &["sssp", "roads:2000", "--source", "7", "--predecessors", "--verify"]),
        (3, 1, &["sssp", &list, "--source", "10", "--verify"]),
    ];
    for (count, ranks, search) in searches {
        let [together, apart] = ["hosts.csv", "alone.csv"].map(file);
        let with = |engine: &'static str, output: &str| {
            let words = search.iter().copied().chain(["--engine", engine, "--quiet", "--output"]);
            words.map(str::to_owned).chain([output.to_owned()]).collect::<Vec<String>>()
        };
        let words = with("mpi", &together);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (output, _, error) = output_of(&mut hosts.launch(count, ranks, &words));
        assert!(output.status.success(), "{search:?} on {count} hosts: {error}");
        let words = with("cpu", &apart);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(alone(&words).status().expect("it starts").success());
        let bytes = [&together, &apart].map(|path| std::fs::read(path).expect("a file"));
        assert!(bytes[0] == bytes[1], "{search:?} on {count} hosts");
        std::fs::remove_file(together).expect("the file goes");
    }
}

/// All ranks end, those of the host that is cut off, too. Open MPI's launcher may wait for that host's daemon, as long as TCP does, so it is killed.
fn a_link_that_is_cut_ends_all(hosts: &Hosts) {
    let output = hosts.folder.path().join("cut.npy");
    let (to, said) = (output.display().to_string(), hosts.folder.path().join("said.txt"));
    let words = [
        "sssp",
        "grid:2500x2500,weights=1..9",
        "--source",
        "0",
        "--verify",
        "--engine",
        "mpi:timeout=2",
        "--output",
        &to,
    ];
    let mut command = hosts.launch(COUNT, 1, &words);
    command.stdout(Stdio::null()).stderr(std::fs::File::create(&said).expect("a file"));
    let mut launcher = command.spawn().expect("the launcher starts");
    let within_a_minute = |what: &str, is_so: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}: {}", std::fs::read_to_string(&said).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let partial = output.with_file_name("cut.npy.partial");
    within_a_minute("the ranks start", &|| partial.exists());
    std::thread::sleep(Duration::from_millis(800));
    ip(&format!("-n {}0 link set to2 down", hosts.prefix)).expect("the link is cut");
    within_a_minute("all ranks end", &|| (1..=COUNT).all(|host| hosts.ranks_of(host) == 0));
    let error = std::fs::read_to_string(&said).expect("the errors");
    ip(&format!("-n {}0 link set to2 up", hosts.prefix)).expect("the link is back");
    let _ = launcher.kill();
    launcher.wait().expect("it ends");
    assert!(error.contains("waited 2 s for other ranks: one of them, or a link, has failed"), "{error}");
    assert!(!output.exists() && !partial.exists(), "{error}");
}
