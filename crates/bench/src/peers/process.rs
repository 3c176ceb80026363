//! Runs another program, and ends it when its time is up.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warpath::{Control, Error, Result};

/// The result of a program.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a program; `None` if it exceeded its time and was ended.
///
/// # Errors
///
/// [`Error::Interrupted`], and whatever keeps the program from starting.
pub(super) fn run(command: &mut Command, seconds: f64, control: &Control) -> Result<Option<Ended>> {
    let name = command.get_program().to_os_string();
    let failed = |error: io::Error| Error::io(&name, error);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (output, errors) = (child.stdout.take().map(read_all), child.stderr.take().map(read_all));
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        if control.is_cancelled() || Instant::now() > end {
            // The program may have ended by itself in between.
            let _ = child.kill();
            child.wait().map_err(failed)?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: Option<JoinHandle<String>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let (output, errors) = (text(output), text(errors));
    control.check()?;
    Ok(status.map(|status| Ended { status, output, errors }))
}

/// Reads a pipe to its end on a thread of its own.
pub(super) fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        // Keep what was read before an error.
        let _ = pipe.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}
