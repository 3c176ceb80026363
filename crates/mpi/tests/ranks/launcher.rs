//! Starts ranks.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// What the processes are that the launcher starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Searches,
    Traffic,
    Command,
}

/// Tells a process its role.
const ROLE: &str = "WARPATH_TEST_ROLE";

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Searches => "searches",
            Role::Traffic => "traffic",
            Role::Command => "command",
        }
    }

    pub(crate) fn of_this_process() -> Option<Self> {
        match std::env::var(ROLE).ok()?.as_str() {
            "searches" => Some(Role::Searches),
            "traffic" => Some(Role::Traffic),
            _ => Some(Role::Command),
        }
    }
}

/// A launcher that will start so many ranks with these arguments.
pub(crate) fn launch(role: Role, ranks: usize, arguments: &[&str]) -> Command {
    let mut command = launcher();
    add_ranks(&mut command, ranks, arguments);
    command.env(ROLE, role.name());
    command
}

/// The same for two groups of ranks with arguments of their own.
pub(crate) fn launch_two(one: (usize, &[&str]), other: (usize, &[&str])) -> Command {
    let mut command = launcher();
    add_ranks(&mut command, one.0, one.1);
    command.arg(":");
    add_ranks(&mut command, other.0, other.1);
    command.env(ROLE, "command");
    command
}

/// The same for two ranks with equal arguments, each in a folder of its own.
pub(crate) fn launch_in_folders(folders: [&Path; 2], arguments: &[&str]) -> Command {
    let mut command = launcher();
    for (index, folder) in folders.into_iter().enumerate() {
        if index > 0 {
            command.arg(":");
        }
        command.arg("-wdir").arg(folder);
        add_ranks(&mut command, 1, arguments);
    }
    command.env(ROLE, "command");
    command
}

/// The command on one machine, without MPI's launcher.
pub(crate) fn alone(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(arguments).env(ROLE, "command");
    command
}

fn add_ranks(command: &mut Command, ranks: usize, arguments: &[&str]) {
    command.args(["-n", &ranks.to_string()]).arg(std::env::current_exe().expect("a path")).args(arguments);
}

/// Has Open MPI's launcher tell ranks on other hosts that they are the command.
pub(crate) fn pass_role(command: &mut Command) {
    command.args(["-x", &format!("{ROLE}={}", Role::Command.name())]);
}

fn program() -> String {
    std::env::var("MPIRUN").unwrap_or_else(|_| "mpirun".into())
}

/// Whether the launcher is Open MPI's.
pub(crate) fn is_open_mpi() -> bool {
    static IS_OPEN_MPI: OnceLock<bool> = OnceLock::new();
    *IS_OPEN_MPI.get_or_init(|| {
        let version = Command::new(program()).arg("--version").output().expect("the launcher starts");
        String::from_utf8_lossy(&version.stdout).contains("Open MPI")
    })
}

/// The launcher, allowed to start more ranks than there are cores.
fn launcher() -> Command {
    let mut command = Command::new(program());
    if is_open_mpi() {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    command
}

/// The parent of a process; nothing if there is no such process.
pub(crate) fn parent_of(process: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)).unwrap_or("").to_owned()
}
