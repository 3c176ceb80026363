//! Processes under test: limits of memory and time, signals, and outcomes.
//!
//! *Invariants.* The code between fork and exec makes system calls, and nothing else.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};

use super::cgroup::Cgroup;
use crate::kernels::at;

/// A process that takes longer counts as hung, unless the machine has more to do than it has cores.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The most bytes of a process's output that are read.
const MOST_TEXT: usize = 1 << 20;

/// The limits of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits<'a> {
    /// `RLIMIT_AS`, in bytes.
    pub(super) address_space: Option<u64>,
    /// `RLIMIT_DATA`, in bytes.
    pub(super) data: Option<u64>,
    /// The control group to run in.
    pub(super) cgroup: Option<&'a Cgroup>,
}

impl Limits<'_> {
    /// The limits as a shell prefix of the command line.
    fn describe(&self) -> String {
        let mut text = String::new();
        for (name, limit) in [("v", self.address_space), ("d", self.data)] {
            if let Some(bytes) = limit {
                text += &format!("ulimit -{name} {}; ", bytes >> 10);
            }
        }
        if let Some(cgroup) = self.cgroup {
            text += &format!("in a control group of {} bytes: ", cgroup.bytes());
        }
        text
    }
}

/// A started process. It is killed if nobody waits for its end.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    began: Instant,
    stdout: PathBuf,
    stderr: PathBuf,
    /// The command line for a shell.
    line: String,
}

/// How a process has ended.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The command line for a shell.
    pub(super) line: String,
    /// `None` for a process that hung and was killed.
    status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

impl Process {
    /// Starts a program in `folder`; its output goes to `NAME.stdout` and `NAME.stderr`.
    pub(super) fn start(
        program: &Path,
        arguments: &[String],
        folder: &Path,
        name: &str,
        input: Option<&Path>,
        limits: Limits<'_>,
    ) -> Result<Self, String> {
        let (stdout, stderr) = (folder.join(format!("{name}.stdout")), folder.join(format!("{name}.stderr")));
        let mut line = limits.describe() + "warpath";
        for argument in arguments {
            line += " ";
            line += argument;
        }
        let stdin = match input {
            Some(path) => {
                line += &format!(" <{}", path.display());
                Stdio::from(File::open(folder.join(path)).map_err(at(path))?)
            }
            None => Stdio::null(),
        };
        let mut command = Command::new(program);
        command.current_dir(folder).args(arguments).env("NO_COLOR", "1").env("RUST_BACKTRACE", "1").stdin(stdin);
        command.stdout(File::create(&stdout).map_err(at(&stdout))?);
        command.stderr(File::create(&stderr).map_err(at(&stderr))?);
        let members = limits.cgroup.map(Cgroup::members).transpose()?;
        let (address_space, data) = (limits.address_space, limits.data);
        let prepare = move || {
            let set = |resource, limit: Option<u64>| match limit {
                Some(limit) => setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) }),
                None => Ok(()),
            };
            set(Resource::Core, Some(0))?;
            set(Resource::As, address_space)?;
            set(Resource::Data, data)?;
            // The process ends with its parent thread.
            #[cfg(target_os = "linux")]
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if let Some(members) = &members {
                rustix::io::write(members.as_fd(), b"0")?;
            }
            Ok(())
        };
        // SAFETY: between fork and exec, the closure only makes system calls; it takes no memory and no lock.
        unsafe { command.pre_exec(prepare) };
        let began = Instant::now();
        let child = command.spawn().map_err(at(program))?;
        Ok(Process { child, began, stdout, stderr, line })
    }

    /// Sends a signal, unless the process has ended.
    pub(super) fn signal(&mut self, signal: Signal) {
        // The process id is valid only until somebody has waited for the process.
        if !self.has_ended() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits for the end, and kills a hung process.
    pub(super) fn wait(mut self) -> Result<Outcome, String> {
        let mut pause = Duration::from_micros(200);
        let status = loop {
            if let Some(status) = self.child.try_wait().map_err(|error| format!("waiting: {error}"))? {
                break Some(status);
            }
            if self.began.elapsed() > TIME_LIMIT && self.began.elapsed() > TIME_LIMIT.mul_f64(load()) {
                self.line += &waits_for(self.child.id());
                break None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        };
        let ended = Instant::now();
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let (stdout, stderr) = (text_of(&self.stdout)?, text_of(&self.stderr)?);
        Ok(Outcome { line: std::mem::take(&mut self.line), status, stdout, stderr, began: self.began, ended })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of runnable processes per core, at least 1.
fn load() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load: Option<f64> = load.and_then(|text| text.split(' ').next()?.parse().ok());
    load.map_or(1.0, |load| load / cores as f64).clamp(1.0, 10.0)
}

/// What each thread of a hung process is waiting for.
fn waits_for(process: u32) -> String {
    let mut text = String::from("   # threads:");
    for thread in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let place = fs::read_to_string(thread.path().join("wchan")).unwrap_or_default();
        let state = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = state.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('?');
        text += &format!(" {state} {place}");
    }
    text
}

fn text_of(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_TEXT as u64).read_to_end(&mut bytes)).map_err(at(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Outcome {
    /// The exit code; `None` for a killed process.
    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    pub(super) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }

    /// The outcome in a few words.
    pub(super) fn describe(&self) -> String {
        match (self.status, self.code(), self.signal()) {
            (None, ..) => "hang".to_owned(),
            (_, Some(code), _) => format!("exit {code}"),
            (_, _, Some(signal)) => format!("signal {signal}"),
            _ => "an unknown end".to_owned(),
        }
    }

    /// Fails unless the process ended with one of these exit codes and, if not with 0, printed a reason.
    pub(super) fn expect(&self, codes: &[i32]) -> Result<(), String> {
        let first_error = self.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        if self.stderr.contains("panicked at") {
            return Err(format!("a panic: {first_error}"));
        }
        match self.code() {
            Some(code) if !codes.contains(&code) => {
                Err(format!("exit {code} instead of one of {codes:?}: {first_error}"))
            }
            None => Err(format!("{}: {first_error}", self.describe())),
            Some(1..=3) if first_error.is_empty() => Err(format!("{} without a word", self.describe())),
            Some(_) => Ok(()),
        }
    }
}
