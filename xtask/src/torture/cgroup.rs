//! A control group with a memory limit, below this process's group, if the machine allows making one.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::kernels::at;

/// A control group, which is removed when dropped.
#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
    bytes: u64,
}

impl Cgroup {
    /// Makes a group of version 1 or 2.
    ///
    /// # Errors
    ///
    /// If the group can't be made.
    pub(super) fn new(name: &str, bytes: u64) -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").map_err(at(Path::new("/proc/self/cgroup")))?;
        let mut why = "this process is in no control group for memory".to_owned();
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(own)) = (fields.next(), fields.next()) else { continue };
            let (root, limit) = match controllers {
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ => continue,
            };
            let folder = Path::new(root).join(own.trim_start_matches('/')).join(name);
            if let Err(error) = fs::create_dir(&folder) {
                why = format!("{}: {error}", folder.display());
                continue;
            }
            let group = Cgroup { folder, bytes };
            let file = group.folder.join(limit);
            match fs::write(&file, bytes.to_string()) {
                Ok(()) => return Ok(group),
                Err(error) => why = format!("{}: {error}", file.display()),
            }
        }
        Err(why)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file through which a process joins.
    pub(super) fn members(&self) -> Result<File, String> {
        let path = self.folder.join("cgroup.procs");
        OpenOptions::new().write(true).open(&path).map_err(at(&path))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process that has just ended may still be counted.
        for _ in 0..100 {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}
