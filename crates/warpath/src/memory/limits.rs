//! How much memory this process can still take: the least that the machine, the control groups and the limits of the
//! process itself leave.
//!
//! A batch system, a container or a service manager puts a process into a *control group* of Linux, and those form a
//! tree. Every group on the way from the process to the root may have a limit, and the kernel kills when any of them is
//! exceeded. What a group has in use counts pages of files that it has read (`inactive_file` and `active_file`). They
//! go when memory is asked for, so they are available. Both versions of the interface are read, since
//! machines have the one, the other, or both at once. The limits of the process, as `ulimit -v` sets them, count
//! addresses instead of pages.
//!
//! All of this stands in text files, which are looked for below a root: tests lay out a tree of their own.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Bytes of memory that this process can still take: the least of what the machine has available, what every control
/// group that the process is in leaves it, and what its own limits (`ulimit -v` and `ulimit -d`) do.
pub fn available_memory() -> u64 {
    if cfg!(fuzzing) {
        // An input that asks for more than this is refused: a fuzzer would take it for a leak.
        return 256 << 20;
    }
    if cfg!(miri) {
        // Miri can't query the machine.
        return 1 << 30;
    }
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let machine = system.available_memory();
    left_by_limits(Path::new("/")).map_or(machine, |limit| limit.min(machine))
}

/// The memory that control groups and the limits of the process leave; `None` without limits.
fn left_by_limits(root: &Path) -> Option<u64> {
    left_by_groups(root).into_iter().chain(left_by_process(root)).min()
}

/// The memory that the limits on the process's addresses and data leave.
fn left_by_process(root: &Path) -> Option<u64> {
    let limits = read(&root.join("proc/self/limits"))?;
    let status = read(&root.join("proc/self/status"))?;
    let left = |limit: &str, in_use: &str| {
        let limit =
            limits.lines().find_map(|line| line.strip_prefix(limit))?.split_whitespace().next()?.parse().ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix(in_use))?.split_whitespace().next()?;
        Some(u64::saturating_sub(limit, kilobytes.parse::<u64>().ok()?.saturating_mul(1024)))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
}

/// The memory that the control groups of the process, and the groups above them, leave.
fn left_by_groups(root: &Path) -> Option<u64> {
    let groups = read(&root.join("proc/self/cgroup"))?;
    let mounts = read(&root.join("proc/self/mountinfo"))?;
    let mounts = mounts.lines().filter_map(Mount::parse);
    mounts.filter_map(|mount| mount.left(root, mount.group_in(&groups)?)).min()
}

/// Which interface a tree of control groups has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A place where a tree of control groups that may limit memory is seen.
#[derive(Debug)]
struct Mount {
    version: Version,
    /// The group that is seen at `point`; not always the root of the tree in a container.
    top: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// What a line of `/proc/self/mountinfo` says: `id parent device root point options [more]* - type source options`.
    fn parse(line: &str) -> Option<Mount> {
        let (front, back) = line.split_once(" - ")?;
        let mut front = front.split(' ').skip(3);
        let (top, point) = (front.next()?, front.next()?);
        let mut back = back.split(' ');
        let version = match back.next()? {
            "cgroup2" => Version::Two,
            "cgroup" if back.nth(1)?.split(',').any(|option| option == "memory") => Version::One,
            _ => return None,
        };
        Some(Mount { version, top: unescaped(top), point: unescaped(point) })
    }

    /// The group of the process in this tree, by `/proc/self/cgroup`: lines `number:controllers:path`.
    fn group_in<'a>(&self, groups: &'a str) -> Option<&'a str> {
        groups.lines().find_map(|line| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(':')?;
            let ours = match self.version {
                Version::One => controllers.split(',').any(|controller| controller == "memory"),
                Version::Two => controllers.is_empty(),
            };
            ours.then_some(path)
        })
    }

    /// The least that the group and those above it leave, as far as they are seen.
    fn left(&self, root: &Path, group: &str) -> Option<u64> {
        let point = root.join(self.point.strip_prefix("/").unwrap_or(&self.point));
        // A container may see its own group at the top and still be told the path that the machine knows it by.
        let below = Path::new(group).strip_prefix(&self.top).unwrap_or(Path::new(""));
        let below =
            if below.components().all(|part| matches!(part, Component::Normal(_))) { below } else { Path::new("") };
        // In the first version a group tells the least limit of all above it. Where there is none, nobody else is
        // asked: each answer takes the system a while.
        if self.version == Version::One && hierarchical_limit(&point.join(below)).is_some_and(|limit| limit > BEYOND) {
            return None;
        }
        below.ancestors().filter_map(|group| self.version.left(&point.join(group))).min()
    }
}

impl Version {
    /// What one group leaves; `None` if it has no limit.
    fn left(self, group: &Path) -> Option<u64> {
        let number = |file: &str| read(&group.join(file))?.trim().parse::<u64>().ok();
        // A limit that is not set is `max` in the second version, and beyond all memory in the first.
        let (limits, in_use, reclaimable) = match self {
            Version::One => (
                // The second is the least of this group's and of those above it, seen or not.
                [number("memory.limit_in_bytes"), hierarchical_limit(group)],
                "memory.usage_in_bytes",
                ["total_inactive_file", "total_active_file"],
            ),
            Version::Two => {
                ([number("memory.max"), number("memory.high")], "memory.current", ["inactive_file", "active_file"])
            }
        };
        let limit = limits.into_iter().flatten().min().filter(|&limit| limit <= BEYOND)?;
        let statistics = read(&group.join("memory.stat")).unwrap_or_default();
        let reclaimable = reclaimable.into_iter().filter_map(|name| statistic(&statistics, name)).sum();
        let kept = number(in_use).unwrap_or(0).saturating_sub(reclaimable);
        Some(limit.saturating_sub(kept))
    }
}

/// More than any machine has: a limit beyond it is none.
const BEYOND: u64 = 1 << 60;

/// In the first version, the least limit of a group and of those above it, seen or not.
fn hierarchical_limit(group: &Path) -> Option<u64> {
    statistic(&read(&group.join("memory.stat"))?, "hierarchical_memory_limit")
}

/// A number of `memory.stat`.
fn statistic(statistics: &str, name: &str) -> Option<u64> {
    statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// A path of `/proc/self/mountinfo`, where blanks and some other bytes are a backslash and three octal digits.
fn unescaped(path: &str) -> PathBuf {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        match after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(char::from(byte));
                rest = &after[3..];
            }
            None => {
                text.push('\\');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text.into()
}

fn read(file: &Path) -> Option<String> {
    // These files do not say how long they are: most come at once into so much room.
    let mut text = String::with_capacity(1 << 12);
    fs::File::open(file).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// What is left where these files, by their paths, say what the system is like.
    fn left(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        left_by_limits(root.path())
    }

    const SECOND: &str = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const FIRST: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                         34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                         35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n";
    /// What a group of the first version has that is not limited.
    const UNLIMITED: &str = "9223372036854771712\n";

    #[test]
    fn without_limits_nothing_is_said() {
        assert_eq!(left(&[]), None);
        let free = [("proc/self/cgroup", "0::/a\n"), ("proc/self/mountinfo", SECOND)];
        assert_eq!(left(&free), None);
        let unlimited = [&free[..], &[("sys/fs/cgroup/a/memory.max", "max\n")]].concat();
        assert_eq!(left(&unlimited), None);
        assert!(available_memory() > 0);
    }

    #[test]
    fn every_group_up_to_the_root_counts() {
        let chain = |own: &str, middle: &str, top: &str| {
            left(&[
                ("proc/self/cgroup", "0::/system.slice/job.scope/step\n"),
                ("proc/self/mountinfo", SECOND),
                ("sys/fs/cgroup/system.slice/job.scope/step/memory.max", own),
                ("sys/fs/cgroup/system.slice/job.scope/step/memory.current", "1000"),
                ("sys/fs/cgroup/system.slice/job.scope/memory.max", middle),
                ("sys/fs/cgroup/system.slice/job.scope/memory.current", "2000"),
                ("sys/fs/cgroup/system.slice/memory.max", top),
                ("sys/fs/cgroup/system.slice/memory.current", "3000"),
            ])
        };
        assert_eq!(chain("10000\n", "max", "max"), Some(9000));
        assert_eq!(chain("10000\n", "10000\n", "max"), Some(8000));
        assert_eq!(chain("max\n", "10000\n", "10000\n"), Some(7000));
        assert_eq!(chain("max\n", "1999\n", "max\n"), Some(0));
    }

    #[test]
    fn pages_of_files_are_given_back_and_the_high_mark_counts() {
        let files = [
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", SECOND),
            ("sys/fs/cgroup/a/memory.max", "10000\n"),
            ("sys/fs/cgroup/a/memory.current", "9000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 500\ninactive_file_extra 1\ninactive_file 8000\nactive_file 500\n"),
        ];
        assert_eq!(left(&files), Some(9500));
        assert_eq!(left(&[&files[..], &[("sys/fs/cgroup/a/memory.high", "4000\n")]].concat()), Some(3500));
    }

    #[test]
    fn the_first_version_is_read() {
        let files = [
            ("proc/self/cgroup", "9:cpu:/\n4:hugetlb,memory:/slurm/job_7/step_0\n0::/elsewhere\n"),
            ("proc/self/mountinfo", FIRST),
            ("sys/fs/cgroup/memory/slurm/job_7/step_0/memory.limit_in_bytes", UNLIMITED),
            ("sys/fs/cgroup/memory/slurm/job_7/step_0/memory.usage_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "1073741824\n"),
            ("sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "73741824\n"),
            ("sys/fs/cgroup/memory/slurm/job_7/memory.stat", "inactive_file 1\ntotal_inactive_file 41824\n"),
            ("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", UNLIMITED),
        ];
        assert_eq!(left(&files), Some(GIB - 73_700_000));
    }

    #[test]
    fn both_versions_at_once_are_read() {
        let mounts = format!("{FIRST}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
        let files = |first: &'static str, second: &'static str| {
            left(&[
                ("proc/self/cgroup", "4:memory:/a\n0::/b\n"),
                ("proc/self/mountinfo", &mounts),
                ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", first),
                ("sys/fs/cgroup/unified/b/memory.max", second),
            ])
        };
        assert_eq!(files("7000", "max"), Some(7000));
        assert_eq!(files(UNLIMITED, "6000"), Some(6000));
        assert_eq!(files("7000", "6000"), Some(6000));
    }

    #[test]
    fn in_a_container_the_path_is_that_of_the_machine_or_of_the_container() {
        // The group of the container is at the top, and called what the machine calls it.
        let mount = "35 31 0:32 /docker/af /sys/fs/cgroup/memory ro master:11 - cgroup cgroup rw,memory\n";
        let files = |group: &'static str| {
            left(&[
                ("proc/self/cgroup", group),
                ("proc/self/mountinfo", mount),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000"),
                ("sys/fs/cgroup/memory/below/memory.limit_in_bytes", "4000"),
            ])
        };
        assert_eq!(files("4:memory:/docker/af\n"), Some(5000));
        assert_eq!(files("4:memory:/docker/af/below\n"), Some(4000));
        assert_eq!(files("4:memory:/kubepods/pod1/af\n"), Some(5000));
        // A namespace of its own: the path begins at the container, or leads out of it.
        for group in ["0::/\n", "0::/../other\n"] {
            let files = [
                ("proc/self/cgroup", group),
                ("proc/self/mountinfo", SECOND),
                ("sys/fs/cgroup/memory.max", "3000"),
                ("sys/fs/other/memory.max", "1"),
            ];
            assert_eq!(left(&files), Some(3000), "{group}");
        }
        // A limit above what is seen is known by the statistics of the first version.
        let above = [
            ("proc/self/cgroup", "4:memory:/\n"),
            ("proc/self/mountinfo", FIRST),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED),
            ("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 2000\n"),
        ];
        assert_eq!(left(&above), Some(2000));
    }

    #[test]
    fn names_with_blanks_are_found() {
        let files = [
            ("proc/self/cgroup", "0::/a b:c\n"),
            ("proc/self/mountinfo", "29 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n"),
            ("my groups/a b:c/memory.max", "77"),
        ];
        assert_eq!(left(&files), Some(77));
        assert_eq!(unescaped("a\\134b\\x"), Path::new("a\\b\\x"));
    }

    #[test]
    fn limits_of_the_process_count() {
        let limits = |addresses: &str, data: &str| {
            let limits = format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data:<20} unlimited            bytes     \n\
                 Max address space         {addresses:<20} unlimited            bytes     \n"
            );
            left(&[
                ("proc/self/limits", &limits),
                ("proc/self/status", "Name:\twarpath\nVmSize:\t      10 kB\nVmData:\t       2 kB\n"),
            ])
        };
        assert_eq!(limits("unlimited", "unlimited"), None);
        assert_eq!(limits("20480", "unlimited"), Some(10240));
        assert_eq!(limits("20480", "4096"), Some(2048));
        assert_eq!(limits("1024", "unlimited"), Some(0));
    }
}
